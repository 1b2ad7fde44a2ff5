//! Whose tool call it is.

use crate::arena::{StateId, StepId};

/// What a model was asked when it called a tool. Each has one call under way at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Caller {
    /// The question of this leaf.
    Question(StateId),
    /// This `llm` step.
    Step(StepId),
}
