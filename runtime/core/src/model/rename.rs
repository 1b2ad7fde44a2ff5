//! The names that parts of a chart had in earlier versions.

use crate::arena::{StateId, StepId, VarId};
use alloc::string::String;

/// `renamed_from old`: runs that were saved with the old name continue with the new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    /// The part that was renamed.
    pub what: Renamed,
    /// The old name. For a state, without the names of its ancestors.
    pub old: String,
}

/// A part of a chart that was renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renamed {
    /// A state, which may be a final or history state.
    State(StateId),
    /// A step.
    Step(StepId),
    /// A param, input or var.
    Variable(VarId),
}
