//! What follows from all rows together, so that no machine works it out again.

use super::{Reacts, Tables};
use core::ops::Deref;

/// What follows from all rows of a chart together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// The maximum number of leaves that are active together.
    pub leaves: u32,
    /// The maximum number of states that are active together. Every `StateRow::place` is less than this.
    pub together: u32,
    /// The union of what all states react to.
    pub reacts: Reacts,
    /// Whether a state has limits.
    pub limits: bool,
    /// Whether an `initial` or the default of a history has actions.
    pub default_actions: bool,
    /// Whether there is an `ask`.
    pub asks: bool,
    /// Whether a step starts on entry.
    pub entry_runs: bool,
    /// Whether there are histories.
    pub histories: bool,
    /// Whether the entry set of a transition is computed when it is taken.
    pub computed: bool,
}

impl Summary {
    /// Of a chart with one state that does nothing.
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

/// Tables that a machine holds itself, because what they refer to has no owner that lasts as long.
#[derive(Debug, Clone, Copy)]
pub struct Own<'t>(pub Tables<'t>);

impl<'t> Deref for Own<'t> {
    type Target = Tables<'t>;

    #[inline(always)]
    fn deref(&self) -> &Tables<'t> {
        &self.0
    }
}
