//! States and transitions.

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
    /// The parent; `None` for the root only.
    pub parent: Option<StateId>,
    /// One past the last state of the subtree.
    pub end: StateId,
    /// The `enter` blocks, none of them empty. They run in order when the state is entered, each as a separate block.
    pub entry: Vec<Vec<Action>>,
    /// The `exit` blocks, none of them empty.
    pub exit: Vec<Vec<Action>>,
    /// The actions of a compound's `initial` or of a history's default. They run when it is entered by default: after `enter` of the
    /// parent, before `enter` of the states inside.
    pub default_actions: Vec<Action>,
    /// Its own transitions in the order in which they are tried: document order, with `from` transitions last.
    pub transitions: Vec<TransitionId>,
    /// Own steps in document order.
    pub steps: Vec<StepId>,
    /// The text of `{advice}` in prompts while the state is active.
    pub advice: Option<Template>,
    /// Limits charged while the state is active.
    pub limits: Limits,
}

/// The kind of a vertex.
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
        /// The status of a run that ends here.
        status: Status,
    },
    /// A pseudostate: never in a configuration.
    History {
        /// Whether it records all active descendants, instead of the active child.
        deep: bool,
        /// The states entered when nothing is recorded: descendants of the parent, no histories, as for `initial`.
        default: Vec<StateId>,
    },
}

/// A transition.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// The source.
    pub source: StateId,
    /// What makes it a candidate.
    pub trigger: Trigger,
    /// The names that the transition gives to the values of its trigger, in order, as far as it names them.
    pub bound: Vec<String>,
    /// The scope of a `from` transition; `None` for an ordinary one.
    pub scope: Option<Scope>,
    /// The guard.
    pub guard: Option<Expr>,
    /// The targets; none for a targetless transition.
    pub targets: Vec<Target>,
    /// Internal, external or targetless.
    pub kind: TransitionKind,
    /// Actions that run between exit and entry.
    pub actions: Vec<Action>,
}

/// The states in which a `from` transition applies: in one of `any_of` (in all if empty) and in none of `none_of`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Whether it is written `from *`.
    pub wildcard: bool,
    /// `from a | b`; empty for `*`.
    pub any_of: Vec<StateId>,
    /// `except` states; for `*` also the target and the final children of the source.
    pub none_of: Vec<StateId>,
}

/// A state to enter, with the arguments of a final state.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Any kind of state but the root.
    pub state: StateId,
    /// One argument for each parameter of a final state, evaluated before the exit.
    pub arguments: Vec<Expr>,
}

/// The kind of a transition. Source: SCXML 3.13.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransitionKind {
    /// Nothing is exited or entered.
    Targetless,
    /// Targets are proper descendants of a compound source, which is not exited.
    Internal,
    /// The source is exited.
    External,
}

/// What a transition waits for.
#[derive(Debug, Clone, PartialEq)]
pub enum Trigger {
    /// One of these host events (a name and all that it is a dotted prefix of), ascending.
    Event(Vec<EventId>),
    /// `on *`: any declared host event.
    AnyEvent,
    /// `on **`: any occurrence that can trigger `on` transitions: events, turns, completions, outcomes of steps, errors, warnings.
    AnyOccurrence,
    /// The built-in event `turn`.
    Turn,
    /// `when`: no event; taken as soon as its guard holds.
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
    /// `doubt` of a step: whether its call took effect is unknown.
    StepDoubt(StepId),
    /// The `else T` of an `ask`, or the `then -> T` of a retry policy.
    StepElse(StepId),
    /// `on error.*`: a dotted pattern below `error`, such as `execution`, `livelock`, `limit.*`, `stuck.*`, `*`.
    Error(String),
    /// `on limit.warn.*`: a dotted pattern below `limit.warn`.
    LimitWarn(String),
}

impl Trigger {
    /// The step whose outcome triggers the transition.
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

/// A `may` transition: an option offered to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The model's answer; for `may call` the name of the tool set.
    pub name: String,
    /// The description for the model.
    pub text: Option<Template>,
    /// The transition.
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
