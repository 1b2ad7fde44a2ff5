//! Rows of the walks of a turn.

use super::{Span, StepRowKind, Tables};
use crate::arena::{StateId, StepId};

/// A walk of a turn: over the steps of the chart, or over those of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalkRow {
    /// The root or the region, which is a child of a parallel state.
    pub state: StateId,
    /// The index of the walk that forks this one; the first walk's is its own.
    pub outer: u32,
    /// The steps of the state and of its descendants, a range of `Tables::steps`.
    pub steps: Span,
}

impl WalkRow {
    /// The walk of a chart without steps.
    pub const PLAIN: Self = Self { state: StateId(0), outer: 0, steps: Span::EMPTY };
}

impl Tables<'_> {
    /// Whether an `ask` may be open in several leaves at once, because its state contains regions.
    pub fn is_asked_in_regions(&self, step: StepId) -> bool {
        let row = &self.steps[step.index()];
        let own = self.states[row.state.index()].walk as usize;
        let inside = |walk: &WalkRow| self.contains(row.state, walk.state);
        matches!(row.kind, StepRowKind::Ask { .. }) && self.walks.iter().skip(own + 1).any(inside)
    }
}
