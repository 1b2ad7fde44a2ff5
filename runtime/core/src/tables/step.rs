//! What steps do.

use super::Span;
use crate::arena::TransitionId;
use crate::forward::Forward;

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepRowKind {
    /// A model call.
    Llm,
    /// Runs at once inside the machine.
    Code,
    /// A question.
    Ask {
        /// The events that cause it to be asked, in `event_pool`; `None` for the turn's walk.
        on: Option<Span>,
        /// Asked even with a single option.
        always: bool,
        /// The transition of `else T`; `None` for `stay`.
        otherwise: Option<TransitionId>,
    },
    /// A tool call.
    Call,
    /// A question to a person; the walk does not wait for it.
    Human,
    /// A child chart; the walk does not wait for it.
    Run {
        /// Whether it starts at the end of the macrostep in which the step's state was entered, not in the walk.
        on_entry: bool,
        /// Which events of this chart are forwarded to it.
        forward: Forward,
    },
}

/// What a step does after its last failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureRow {
    /// The walk ends with the turn's error.
    Fail,
    /// The walk goes on.
    Skip,
    /// This transition is taken.
    Take(TransitionId),
}
