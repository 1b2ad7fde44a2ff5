//! Names that parts of a chart had in earlier versions.

use crate::arena::{StateId, StepId, VarId};
use alloc::string::String;

/// `renamed_from old`: runs that were saved with the old name go on with the new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    /// What has a new name.
    pub what: Renamed,
    /// The old name; of a state without those of its ancestors.
    pub old: String,
}

/// What has a new name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renamed {
    /// A state, also a final or history state.
    State(StateId),
    /// A step.
    Step(StepId),
    /// A param, input or var.
    Variable(VarId),
}
