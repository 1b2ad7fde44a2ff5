//! Steps: the work of a turn.

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
    /// The `///` text.
    pub doc: String,
    /// The state to which it belongs; the root for a step at chart level.
    pub state: StateId,
    /// What it does.
    pub kind: StepKind,
    /// Skipped unless this holds.
    pub guard: Option<Expr>,
    /// The model to call; `None` is the host's default.
    pub client: Option<ClientId>,
    /// The step's own prompt, before components.
    pub prompt: Option<Template>,
    /// What a failure does, with the chart's `defaults` applied.
    pub failure: FailurePolicy,
    /// Type of the answer; `Json` without `returns`. With an `each` a list of what each element returns.
    pub returns: Type,
    /// The work is done for each element of a list.
    pub each: Option<Each>,
    /// A call of which nobody knows whether it was made is made again.
    pub retries_doubt: bool,
    /// A text that was cut off at the maximum number of tokens is an answer.
    pub accepts_cut: bool,
    /// The variable that stores the answer.
    pub into: Option<VarId>,
    /// The tools that the model of an `llm` step may call before it answers.
    pub tools: Option<StepTools>,
    /// The walk ends after this step while this holds (`true` for a plain `ends turn`).
    pub ends_turn: Option<Expr>,
    /// Outcome transitions in the order in which they are tried: rows of `Chart::transitions` whose trigger names this step.
    pub outcomes: Vec<TransitionId>,
}

impl Step {
    /// The type of what one call of the step returns.
    pub fn one_returns(&self) -> &Type {
        self.each.as_ref().map_or(&self.returns, |each| &each.returns)
    }
}

impl Chart {
    /// The text of a step's prompt before components: of a `human` step its question.
    pub fn own_prompt(&self, step: StepId) -> Option<&Template> {
        let row = self.steps.get(step.index())?;
        match &row.kind {
            StepKind::Human(question) => Some(question),
            StepKind::Llm
            | StepKind::Code(_)
            | StepKind::Ask { .. }
            | StepKind::Call(..)
            | StepKind::Run(..) => row.prompt.as_ref(),
        }
    }

    /// The components that go into a step's prompt, in the order declared.
    pub fn inserts(&self, step: StepId) -> impl Iterator<Item = (&Component, &Insert)> {
        let all = self.components.iter().flat_map(|c| c.inserts.iter().map(move |i| (c, i)));
        all.filter(move |(_, insert)| insert.step == step)
    }
}

/// `each x in list` of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Each {
    /// Bound to each element in the prompt and the arguments of the step.
    pub local: Local,
    /// Evaluated once, when the step starts.
    pub list: Expr,
    /// Type of an element's answer.
    pub returns: Type,
    /// The maximum number of elements under way at once.
    pub at_a_time: u32,
    /// The maximum number of elements.
    pub most: u32,
    /// So many good answers end the step.
    pub enough: Option<u32>,
    /// What a failed element means.
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
    /// Which tools.
    pub set: ToolSetId,
    /// The maximum number of tool calls in one run of the step.
    pub calls: u32,
}

impl StepTools {
    /// The default maximum of tool calls.
    pub const CALLS: u32 = 10;
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    /// A model call whose answer is an action or the declared type.
    Llm,
    /// Run at once; `=`, `if` and `for` only.
    Code(Vec<Action>),
    /// A question whose answer is one of the enabled `may` transitions.
    Ask {
        /// When it is asked.
        on: AskOn,
        /// Asked even with a single option.
        always: bool,
        /// What happens without a usable answer.
        otherwise: Otherwise,
    },
    /// A tool call by the chart itself.
    Call(ToolId, Vec<Expr>),
    /// A question to a person.
    Human(Template),
    /// A child chart.
    Run(Run),
}

pub use crate::forward::Forward;

/// Which chart a `run` step runs, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its name.
    pub chart: String,
    /// Its params by name, in the order declared.
    pub arguments: Vec<(String, Expr)>,
    /// Whether it starts at the end of the macrostep in which the step's state was entered, not in the walk of a turn.
    pub on_entry: bool,
    /// Which events of this chart are forwarded to it.
    pub forward: Forward,
}

/// When a question is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum AskOn {
    /// In the walk of a turn.
    Turn,
    /// When one of these events occurs and no transition is taken for it.
    Event(Vec<EventId>),
}

/// What an `ask` without a usable answer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Otherwise {
    /// `else stay`.
    Stay,
    /// `else T`: a transition with `Trigger::StepElse`.
    Take(TransitionId),
}

/// The number of retries, and what follows the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailurePolicy {
    /// Further attempts after the first.
    pub retries: u32,
    /// What follows the last attempt.
    pub then: Failure,
}

/// What a step does after its last failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The walk ends with the turn's error.
    Fail,
    /// The walk goes on.
    Skip,
    /// A transition with `Trigger::StepElse`.
    Take(TransitionId),
}
