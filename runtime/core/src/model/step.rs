//! Steps: the work that a chart starts by itself.

use super::{Action, Chart, Component, Expr, Insert, Local, Template, Type};
use crate::arena::{ClientId, EventId, StateId, StepId, ToolId, ToolSetId, TransitionId, VarId};
pub use crate::lost::Lost;
use alloc::string::String;
use alloc::vec::Vec;

/// A unit of work that a turn's walk starts while its state is active.
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
    /// The list that the step runs for, if it has an `each`.
    pub each: Option<Each>,
    /// Whether a call is made again if it is unknown whether it took effect.
    pub retries_doubt: bool,
    /// Whether a text that was cut off at the maximum number of tokens counts as an answer.
    pub accepts_cut: bool,
    /// The variable that stores the answer.
    pub into: Option<VarId>,
    /// The tools that the model of an `llm` step may call before it answers.
    pub tools: Option<StepTools>,
    /// The condition under which the walk ends after this step; `true` for a plain `ends turn`.
    pub ends_turn: Option<Expr>,
    /// The transitions for outcomes of the step, in the order in which they are tried.
    pub outcomes: Vec<TransitionId>,
}

impl Step {
    /// The type of the answer to one call of the step.
    pub fn one_returns(&self) -> &Type {
        self.each.as_ref().map_or(&self.returns, |each| &each.returns)
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

/// The kind of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    /// A model call, whose answer is an action object or of the declared type.
    Llm,
    /// Code that runs at once. It contains only `=`, `if` and `for`.
    Code(Vec<Action>),
    /// A question whose answer is one of the enabled `may` transitions.
    Ask {
        /// The time at which the question is asked.
        on: AskOn,
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

pub use crate::forward::Forward;

/// The chart that a `run` step runs, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The name of the child chart.
    pub chart: String,
    /// The arguments for its params by name, in declared order.
    pub arguments: Vec<(String, Expr)>,
    /// Whether it starts when the macrostep ends in which the step's state was entered, instead of in the walk.
    pub on_entry: bool,
    /// The events of this chart that are forwarded to the child chart.
    pub forward: Forward,
}

/// The time at which a question is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum AskOn {
    /// In the walk of a turn.
    Turn,
    /// When one of these events occurs and no transition is taken for it.
    Event(Vec<EventId>),
}

/// The fallback of an `ask` without a usable answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Otherwise {
    /// `else stay`: nothing is taken.
    Stay,
    /// `else -> T`: this transition, whose trigger is `Trigger::StepElse`, is taken.
    Take(TransitionId),
}

/// The number of retries of a step, and the treatment of the last failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailurePolicy {
    /// The number of attempts after the first.
    pub retries: u32,
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
