//! The caller of a tool.

use crate::arena::{StateId, StepId};

/// The caller of a tool: the question or step whose model called it. A caller has at most one tool call under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Caller {
    /// The question that is open for this leaf.
    Question(StateId),
    /// An `llm` step.
    Step(StepId),
}
