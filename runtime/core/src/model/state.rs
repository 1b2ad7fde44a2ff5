//! States and the lines that leave them.

use super::{Action, Expr, Field, Limits, Template};
use crate::arena::{ChoiceId, EventId, StateId, StepId, ToolSetId, TransitionId, VarId};
use crate::status::Status;
use alloc::string::String;
use alloc::vec::Vec;

/// One state.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Its own name; the root's is the chart's.
    pub name: String,
    /// Dotted path below the root, as `stuck.search`; empty for the root.
    pub path: String,
    /// The `///` text.
    pub doc: String,
    /// What kind of vertex it is.
    pub kind: StateKind,
    /// `None` for the root only.
    pub parent: Option<StateId>,
    /// One past the last state of the subtree.
    pub end: StateId,
    /// The `enter` blocks, none of them empty: run in order when the state is entered, each as a block of its own.
    pub entry: Vec<Vec<Action>>,
    /// The `exit` blocks, likewise.
    pub exit: Vec<Vec<Action>>,
    /// Of a compound, what is run when `initial` is entered by default; of a history, when its default is. After the parent's `enter`,
    /// before that of what is entered.
    pub default_actions: Vec<Action>,
    /// Own lines in the order they are tried: document order, then `from` lines in document order.
    pub transitions: Vec<TransitionId>,
    /// Own steps in document order.
    pub steps: Vec<StepId>,
    /// What prompts show as `{advice}` while inside.
    pub advice: Option<Template>,
    /// Bounds charged while inside.
    pub limits: Limits,
}

/// What kind of vertex a state is.
#[derive(Debug, Clone, PartialEq)]
pub enum StateKind {
    /// Without children. A chart without states has an atomic root.
    Atomic,
    /// Exactly one child is active.
    Compound {
        /// Descendants that can be active together, in the order written; at least one.
        initial: Vec<StateId>,
    },
    /// Every child (region) is active.
    Parallel,
    /// The end of its parent, or of the run if its parent is the root.
    Final {
        /// Arguments that a target must give.
        params: Vec<Field>,
        /// How a run that ends here is judged.
        status: Status,
    },
    /// A pseudo-state: never in a configuration.
    History {
        /// All active descendants, instead of the active child.
        deep: bool,
        /// Entered when nothing is recorded: descendants of the parent, no histories, as for `initial`.
        default: Vec<StateId>,
    },
}

/// A line with a trigger.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// The state whose line it is.
    pub source: StateId,
    /// What makes it a candidate.
    pub trigger: Trigger,
    /// What the line calls the values that come with it, in order, as far as it names them.
    pub bound: Vec<String>,
    /// Where a `from` line holds; `None` for an ordinary line.
    pub scope: Option<Scope>,
    /// Taken only while this holds.
    pub guard: Option<Expr>,
    /// Empty for a targetless line.
    pub targets: Vec<Target>,
    /// Internal, external or targetless.
    pub kind: TransitionKind,
    /// Run between exit and entry.
    pub actions: Vec<Action>,
}

/// The states in which a `from` line holds: in one of `any_of` (empty is everywhere) and in none of `none_of`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Written `from *`.
    pub wildcard: bool,
    /// `from a | b`; empty for `*`.
    pub any_of: Vec<StateId>,
    /// `except` states; for `*` also the target and the final children of the source.
    pub none_of: Vec<StateId>,
}

/// A state to enter, with the arguments of a final.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Any kind of state but the root.
    pub state: StateId,
    /// One for each parameter of a final, read before the exit.
    pub arguments: Vec<Expr>,
}

/// Source: SCXML 3.13.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransitionKind {
    /// Nothing is exited or entered.
    Targetless,
    /// Targets are proper descendants of a compound source, which is not exited.
    Internal,
    /// The source is exited.
    External,
}

/// What makes a line a candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum Trigger {
    /// One of these host events (a name and all that it is a dotted prefix of), ascending.
    Event(Vec<EventId>),
    /// `on *`: any declared host event.
    AnyEvent,
    /// `on **`: whatever happens that a line can be `on`: events, turns, completions, outcomes of steps, errors, warnings.
    AnyOccurrence,
    /// The built-in event `turn`.
    Turn,
    /// `when`: no event, at a stable point.
    When,
    /// `on done(state)`.
    StateDone(StateId),
    /// `after 60s`: milliseconds since `source` was entered.
    After(Expr),
    /// `after n turns`: whole turns since `source` was entered.
    AfterTurns(Expr),
    /// A `may` line.
    Choice(ChoiceId),
    /// `done` of a step, or `on done(step)`. The payload is the step's answer.
    StepDone(StepId),
    /// `error` of a step. The payload is the reason, a Text.
    StepError(StepId),
    /// `timeout` of a step: milliseconds since it was started.
    StepTimeout(StepId, Expr),
    /// `doubt` of a step: whether it ran cannot be told.
    StepDoubt(StepId),
    /// The `else T` of an `ask`, or the `then -> T` of a retry policy.
    StepElse(StepId),
    /// `on error.*`: a dotted pattern below `error`, such as `execution`, `livelock`, `limit.*`, `stuck.*`, `*`.
    Error(String),
    /// `on limit.warn.*`: a dotted pattern below `limit.warn`.
    LimitWarn(String),
}

impl Trigger {
    /// The step whose outcome the line is.
    pub const fn step(&self) -> Option<StepId> {
        match self {
            Self::StepDone(step)
            | Self::StepError(step)
            | Self::StepTimeout(step, _)
            | Self::StepDoubt(step)
            | Self::StepElse(step) => Some(*step),
            Self::Event(_)
            | Self::AnyEvent
            | Self::AnyOccurrence
            | Self::Turn
            | Self::When
            | Self::StateDone(_)
            | Self::After(_)
            | Self::AfterTurns(_)
            | Self::Choice(_)
            | Self::Error(_)
            | Self::LimitWarn(_) => None,
        }
    }
}

/// A `may` line: an option offered to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// What the model answers; for `may call` the set's name.
    pub name: String,
    /// What the model is told of it.
    pub text: Option<Template>,
    /// The line.
    pub transition: TransitionId,
    /// A plain option or a tool permission.
    pub kind: ChoiceKind,
}

/// A plain option or a tool permission.
#[derive(Debug, Clone, PartialEq)]
pub enum ChoiceKind {
    /// `may x(arg: T)`.
    Option(Vec<Field>),
    /// `may call SET into v`.
    Call(ToolSetId, Option<VarId>),
}
