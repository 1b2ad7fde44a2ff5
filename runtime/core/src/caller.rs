//! The caller of a tool.

use crate::arena::{StateId, StepId};

/// The question or step whose model called a tool. Each has at most one call under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Caller {
    /// The question of this leaf.
    Question(StateId),
    /// This `llm` step.
    Step(StepId),
}
