//! Rows of the kinds of steps, and of their failure policies.

use super::Span;
use crate::arena::TransitionId;
use crate::forward::Forward;

/// The kind of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepRowKind {
    /// A model call: `llm`.
    Llm,
    /// Code that runs at once, inside the machine.
    Code,
    /// A question to a model, answered by one of the enabled options.
    Ask {
        /// The events that cause the question, in `event_pool`; `None` if the walk of a turn does.
        on: Option<Span>,
        /// Whether a model is asked even if there is a single option.
        always: bool,
        /// The transition of `else -> T`; `None` for `else stay`.
        otherwise: Option<TransitionId>,
    },
    /// A tool call by the chart itself.
    Call,
    /// A question to a person; the walk does not wait for it.
    Human,
    /// A child chart; the walk does not wait for it.
    Run {
        /// Whether it starts when the macrostep ends in which the step's state was entered, instead of in the walk.
        on_entry: bool,
        /// The events of this chart that are forwarded to the child chart.
        forward: Forward,
    },
}

/// The treatment of a step that has failed in its last attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureRow {
    /// The walk ends with the error of the turn.
    Fail,
    /// The walk continues.
    Skip,
    /// This transition is taken.
    Take(TransitionId),
}
