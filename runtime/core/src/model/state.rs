//! States and transitions.

pub use crate::failure::{FailureKind, FailureKinds, Lost};
pub use crate::forward::Forward;

use super::{Action, Chart, Component, Expr, Field, Insert, Limits, Local, Template, Type, Within};
use crate::arena::{
    ChoiceId, ClientId, EventId, StateId, StepId, ToolId, ToolSetId, TransitionId, VarId,
};
use crate::status::Status;
use alloc::string::String;
use alloc::vec::Vec;

/// A state.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The name of the state itself; for the root, the name of the chart.
    pub name: String,
    /// The dotted path below the root, such as `stuck.search`; empty for the root.
    pub path: String,
    /// The text of the `///` lines.
    pub doc: String,
    /// The kind of the state.
    pub kind: StateKind,
    /// The parent; `None` for the root.
    pub parent: Option<StateId>,
    /// The first state behind the subtree.
    pub end: StateId,
    /// The `enter` blocks, none of them empty. They run in order when the state is entered. A block that fails does not stop the next one.
    pub entry: Vec<Vec<Action>>,
    /// The `exit` blocks, none of them empty. They run in order when the state is exited.
    pub exit: Vec<Vec<Action>>,
    /// The actions of a compound's `initial` or of a history's default. They run when the state is entered by default: after `enter` of the
    /// parent, and before `enter` of the states inside.
    pub default_actions: Vec<Action>,
    /// The transitions of the state in the order in which they are tried: document order, with `from` transitions last.
    pub transitions: Vec<TransitionId>,
    /// The steps of the state, in document order.
    pub steps: Vec<StepId>,
    /// The events that the state defers, in ascending order. A name in the source stands for all events of which it is a dotted prefix, too.
    pub defers: Vec<EventId>,
    /// The text of `{advice}` in prompts while the state is active.
    pub advice: Option<Template>,
    /// The limits that are charged while the state is active.
    pub limits: Limits,
}

/// The kind of a state.
#[derive(Debug, Clone, PartialEq)]
pub enum StateKind {
    /// A state without children. The root of a chart without states is atomic.
    Atomic,
    /// A state with exactly one active child.
    Compound {
        /// The descendants that are entered by default, in the order written; at least one. They can be active together.
        initial: Vec<StateId>,
    },
    /// A state whose children, its regions, are all active.
    Parallel,
    /// A final state: it ends its parent, or the run if its parent is the root.
    Final {
        /// The params for which a transition's target must give arguments.
        params: Vec<Field>,
        /// The status of a run that ends in this state.
        status: Status,
    },
    /// A pseudostate, which is never active.
    History {
        /// Whether it records the active leaves instead of the active child.
        deep: bool,
        /// The states to enter if nothing is recorded: descendants of the parent, none of them a history.
        default: Vec<StateId>,
    },
}

/// A transition.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// The source state.
    pub source: StateId,
    /// The trigger, which makes the transition a candidate.
    pub trigger: Trigger,
    /// The names that the transition gives to the values of its trigger, in order. There may be fewer names than values.
    pub bound: Vec<String>,
    /// The scope of a `from` transition; `None` for an ordinary one.
    pub scope: Option<Scope>,
    /// The guard; `None` if it always holds.
    pub guard: Option<Expr>,
    /// The targets; empty for a targetless transition.
    pub targets: Vec<Target>,
    /// The kind of the transition: internal, external or targetless.
    pub kind: TransitionKind,
    /// The actions, which run between exit and entry.
    pub actions: Vec<Action>,
}

/// The states in which a `from` transition applies: in one of `any_of` (in all if empty) and in none of `none_of`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Whether it was written as `from *`.
    pub wildcard: bool,
    /// The states of `from a | b`; empty for `*`.
    pub any_of: Vec<StateId>,
    /// The states of `except`; for `*` also the target and the final children of the source.
    pub none_of: Vec<StateId>,
}

/// A state to enter, with arguments if it is a final state.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The state, of any kind, but never the root.
    pub state: StateId,
    /// The arguments for the params of a final state. They are evaluated before the exit.
    pub arguments: Vec<Expr>,
}

/// The kind of a transition. Source: SCXML 1.0, 3.13.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransitionKind {
    /// Nothing is exited or entered, because there is no target.
    Targetless,
    /// The source, a compound, is not exited, because the targets are its proper descendants.
    Internal,
    /// The source is exited, even if a target is inside it.
    External,
}

/// The trigger of a transition.
#[derive(Debug, Clone, PartialEq)]
pub enum Trigger {
    /// One of these host events, in ascending order. A name in the source stands for all events of which it is a dotted prefix, too.
    Event(Vec<EventId>),
    /// `on *`: any declared host event.
    AnyEvent,
    /// `on **`: any occurrence that can trigger `on` transitions: events, turns, completions, outcomes of steps, errors, warnings.
    AnyOccurrence,
    /// The built-in event `turn`.
    Turn,
    /// `when`: no event. The transition is taken as soon as its guard holds.
    When,
    /// `on done(state)`: the completion of a state.
    StateDone(StateId),
    /// `after 60s`: a time in milliseconds since `source` was entered.
    After(Expr),
    /// `after n turns`: a number of whole turns since `source` was entered.
    AfterTurns(Expr),
    /// The choice of the option that a `may` transition offers.
    Choice(ChoiceId),
    /// `done` of a step, or `on done(step)`. The payload is the step's answer.
    StepDone(StepId),
    /// `error` of a step. The payload is the reason, a Text.
    StepError(StepId),
    /// `timeout` of a step: a time in milliseconds since the step was started.
    StepTimeout(StepId, Expr),
    /// `doubt` of a step: its call was interrupted, and whether it took effect is unknown.
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
            _ => None,
        }
    }
}

/// The option that a `may` transition offers to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The text with which the model chooses it; for `may call` the name of the tool set.
    pub name: String,
    /// The description for the model.
    pub text: Option<Template>,
    /// The `may` transition itself.
    pub transition: TransitionId,
    /// An option, or a permission to call tools.
    pub kind: ChoiceKind,
}

/// The kind of a `may` transition.
#[derive(Debug, Clone, PartialEq)]
pub enum ChoiceKind {
    /// `may x(arg: T)`: an option with these arguments.
    Option(Vec<Field>),
    /// `may call SET into v`: a permission to call tools. The variable stores the result.
    Call(ToolSetId, Option<VarId>),
}

// Steps: the work that a chart starts by itself.

/// A unit of work that the chart starts by itself while its state is active.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The name as written, or generated from kind and number.
    pub name: String,
    /// The text of the `///` lines.
    pub doc: String,
    /// The state that the step belongs to; the root for a step at chart level.
    pub state: StateId,
    /// The kind of the step.
    pub kind: StepKind,
    /// The moment at which it starts.
    pub starts: Starts,
    /// The condition of the step; the step is skipped if it is false.
    pub guard: Option<Expr>,
    /// The model to call; `None` is the host's default.
    pub client: Option<ClientId>,
    /// The step's own prompt, before components.
    pub prompt: Option<Template>,
    /// The treatment of failures, with the chart's `defaults` applied.
    pub failure: FailurePolicy,
    /// The type of the answer; `Json` without `returns`. With an `each`, a list of the elements' answers.
    pub returns: Type,
    /// The range of the answer, or of the answer for each element, if `returns` has one.
    pub range: Option<Within>,
    /// The list that the step runs for, if it has an `each`.
    pub each: Option<Each>,
    /// Whether a call is made again if it is unknown whether it took effect.
    pub retries_doubt: bool,
    /// Whether a text that was cut off at the maximum number of tokens counts as an answer.
    pub accepts_cut: bool,
    /// Whether only the name of an option or JSON that fits the schema counts as an answer to its question.
    pub is_exact: bool,
    /// Assignments to what the question shows ([`crate::model::VariableKind::Asked`]), which run when it is asked.
    pub asking: Vec<Action>,
    /// The variable that stores the answer.
    pub into: Option<VarId>,
    /// The tools that the model of an `llm` step may call before it answers.
    pub tools: Option<StepTools>,
    /// The conditions of single tools of `tools`, in the order written.
    pub tool_lines: Vec<ToolLine>,
    /// The `llm` step whose tool call this step, a question to a person, approves. Such a step begins with the call, and not in the walk.
    pub approves: Option<StepId>,
    /// The condition under which the walk ends after this step; `true` for a plain `ends turn`. For a step that approves a tool call,
    /// whether its answer does.
    pub ends_turn: Option<Expr>,
    /// The transitions for outcomes of the step, in the order in which they are tried.
    pub outcomes: Vec<TransitionId>,
}

impl Step {
    /// The type of the answer to one call of the step.
    pub fn one_returns(&self) -> &Type {
        self.each.as_ref().map_or(&self.returns, |each| &each.returns)
    }

    /// Whether the walk of a turn starts the step, rather than an event, the entry of its state, or a tool call of a model.
    pub const fn is_walked(&self) -> bool {
        matches!(self.starts, Starts::InTurn) && self.approves.is_none()
    }

    /// The events that start the step; none if it starts otherwise.
    pub fn events(&self) -> &[EventId] {
        if let Starts::OnEvent(events) = &self.starts { events } else { &[] }
    }

    /// Whether events start the step.
    pub const fn is_on_event(&self) -> bool {
        matches!(self.starts, Starts::OnEvent(_))
    }
}

impl Chart {
    /// The text of a step's prompt without components; for a `human` step its question.
    pub fn own_prompt(&self, step: StepId) -> Option<&Template> {
        let row = self.steps.get(step.index())?;
        match &row.kind {
            StepKind::Human(question) => Some(question),
            _ => row.prompt.as_ref(),
        }
    }

    /// The components that are added to a step's prompt, in declared order.
    pub fn inserts(&self, step: StepId) -> impl Iterator<Item = (&Component, &Insert)> {
        let all = self.components.iter().flat_map(|c| c.inserts.iter().map(move |i| (c, i)));
        all.filter(move |(_, insert)| insert.step == step)
    }
}

/// `each x in list` of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Each {
    /// The variable that is bound to each element in the prompt and the arguments of the step.
    pub local: Local,
    /// The list, evaluated once when the step starts.
    pub list: Expr,
    /// The type of an element's answer.
    pub returns: Type,
    /// The maximum number of elements that are under way together.
    pub at_a_time: u32,
    /// The maximum number of elements.
    pub most: u32,
    /// The number of elements that end the step when they have succeeded; `None` for all.
    pub enough: Option<u32>,
    /// The effect of an element that fails.
    pub lost: Lost,
}

impl Each {
    /// The default of `at_a_time`.
    pub const AT_A_TIME: u32 = 8;
    /// The default of `most`.
    pub const MOST: u32 = 1000;
}

/// `tools SET calls N` of an `llm` step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepTools {
    /// The set of tools.
    pub set: ToolSetId,
    /// The maximum number of tool calls in one run of the step.
    pub calls: u32,
}

impl StepTools {
    /// The default of `calls`.
    pub const CALLS: u32 = 10;
}

/// A `tool` line of an `llm` step: what its model must observe when it calls some of the step's tools.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolLine {
    /// The tools, in ascending order.
    pub tools: Vec<ToolId>,
    /// The condition under which they are offered and may be called. With a bound, its first conjunct compares the number of calls.
    pub guard: Option<Expr>,
    /// The bound on their calls in one run of the step, which is part of the condition.
    pub most: Option<u32>,
    /// Assignments that run when the model wants to call one of them: they count the call.
    pub calling: Vec<Action>,
    /// The step that asks a person before the call is made.
    pub asks: Option<StepId>,
}

/// The kind of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    /// A model call, whose answer is an action object or of the declared type.
    Llm,
    /// Code that runs at once. It contains only `=`, `if` and `for`.
    Code(Vec<Action>),
    /// A question whose answer is one of the enabled `may` transitions.
    Ask {
        /// Whether a model is asked even if there is a single option.
        always: bool,
        /// The fallback without a usable answer.
        otherwise: Otherwise,
    },
    /// A tool call by the chart itself.
    Call(ToolId, Vec<Expr>),
    /// A question to a person, with its text.
    Human(Template),
    /// A child chart that runs beside this one.
    Run(Run),
}

/// The chart that a `run` step runs, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The name of the child chart.
    pub chart: String,
    /// The arguments for its params by name, in declared order.
    pub arguments: Vec<(String, Expr)>,
    /// The events of this chart that are forwarded to the child chart.
    pub forward: Forward,
}

/// The moment at which a step starts, while its state is active.
#[derive(Debug, Clone, PartialEq)]
pub enum Starts {
    /// In the walk of a turn.
    InTurn,
    /// When the macrostep ends in which its state was entered.
    OnEntry,
    /// When one of these events comes and no transition is taken for it.
    OnEvent(Vec<EventId>),
}

/// The fallback of an `ask` without a usable answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Otherwise {
    /// `else stay`: nothing is taken.
    Stay,
    /// `else -> T`: this transition, whose trigger is `Trigger::StepElse`, is taken.
    Take(TransitionId),
}

/// How often a failed step is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// The number of attempts after the first.
    pub times: u32,
    /// The kinds of failures after which another attempt is made.
    pub on: FailureKinds,
    /// The first and the longest wait before another attempt, in milliseconds; `None` for those of the host.
    pub wait: Option<[u64; 2]>,
}

impl Retry {
    /// This number of attempts after the first, after any failure.
    pub const fn times(times: u32) -> Self {
        Self { times, on: FailureKinds::ALL, wait: None }
    }
}

/// The retries of a step, and the treatment of the last failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailurePolicy {
    /// The attempts after the first.
    pub retry: Retry,
    /// The treatment of a failure of the last attempt.
    pub then: Failure,
}

/// The treatment of a step that has failed in its last attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The walk ends with the error of the turn.
    Fail,
    /// The walk continues.
    Skip,
    /// This transition, whose trigger is `Trigger::StepElse`, is taken.
    Take(TransitionId),
}
