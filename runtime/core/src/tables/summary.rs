//! Properties of all rows together, computed once for all machines of a chart.

use super::{Reacts, Tables};
use core::ops::Deref;

/// Properties of all rows of a chart together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// The maximum number of leaves that are active together.
    pub leaves: u32,
    /// The maximum number of states that are active together. Every `StateRow::place` is less than this.
    pub together: u32,
    /// The union of the kinds of occurrences that the states react to.
    pub reacts: Reacts,
    /// Whether any state has limits.
    pub limits: bool,
    /// Whether any `initial` or default of a history has actions.
    pub default_actions: bool,
    /// Whether the chart has an `ask`.
    pub asks: bool,
    /// Whether any step starts on entry.
    pub entry_runs: bool,
    /// Whether the chart has histories.
    pub histories: bool,
    /// Whether the entry set of any transition is computed when it is taken.
    pub computed: bool,
}

impl Summary {
    /// The summary of a chart with one state that does nothing.
    pub const PLAIN: Self = Self {
        leaves: 1,
        together: 1,
        reacts: Reacts::NOTHING,
        limits: false,
        default_actions: false,
        asks: false,
        entry_runs: false,
        histories: false,
        computed: false,
    };
}

/// Tables that a machine holds by value, because they are borrowed from an owner that does not hold them as [`Tables`].
#[derive(Debug, Clone, Copy)]
pub struct Own<'t>(pub Tables<'t>);

impl<'t> Deref for Own<'t> {
    type Target = Tables<'t>;

    #[inline(always)]
    fn deref(&self) -> &Tables<'t> {
        &self.0
    }
}
