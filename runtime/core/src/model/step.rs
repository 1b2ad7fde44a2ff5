//! Steps: the work of a turn.

use super::{Action, Expr, Template, Type};
use crate::arena::{ClientId, EventId, StateId, ToolId, ToolSetId, TransitionId, VarId};
use alloc::string::String;
use alloc::vec::Vec;

/// A unit of work that a turn's walk starts while its state is active.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// As written, or made from kind and number.
    pub name: String,
    /// The `///` text.
    pub doc: String,
    /// The state whose step it is; the root for one at chart level.
    pub state: StateId,
    /// What it does.
    pub kind: StepKind,
    /// Skipped unless this holds.
    pub guard: Option<Expr>,
    /// The model to call; `None` is the host's default.
    pub client: Option<ClientId>,
    /// The step's own prompt, before components.
    pub prompt: Option<Template>,
    /// What a failure does; resolved against the chart's `defaults`.
    pub failure: FailurePolicy,
    /// Type of the answer; `Json` without `returns`.
    pub returns: Type,
    /// Where the answer is kept.
    pub into: Option<VarId>,
    /// What an `llm` step's model may call before it answers.
    pub tools: Option<StepTools>,
    /// The walk ends after this step while this holds (`true` for a plain `ends turn`).
    pub ends_turn: Option<Expr>,
    /// Outcome lines in the order tried: rows of `Chart::transitions` whose trigger names this step.
    pub outcomes: Vec<TransitionId>,
}

/// `tools SET calls N` of an `llm` step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepTools {
    /// Which tools.
    pub set: ToolSetId,
    /// Calls of tools that one run of the step may make.
    pub calls: u32,
}

impl StepTools {
    /// Calls of tools unless said otherwise.
    pub const CALLS: u32 = 10;
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    /// A model call whose answer is an action or the declared type.
    Llm,
    /// Run at once; `=`, `if` and `for` only.
    Code(Vec<Action>),
    /// A question whose answer is one of the enabled `may` lines.
    Ask {
        /// When it is put.
        on: AskOn,
        /// Asked even with a single option.
        always: bool,
        /// What no usable answer does.
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
    /// Started at the end of the macrostep in which the step's state was entered, not in the walk of a turn.
    pub on_entry: bool,
    /// Which events of this chart it is passed.
    pub forward: Forward,
}

/// When a question is put.
#[derive(Debug, Clone, PartialEq)]
pub enum AskOn {
    /// In the walk of a turn.
    Turn,
    /// When one of these events came and no line took it.
    Event(Vec<EventId>),
}

/// What an `ask` without a usable answer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Otherwise {
    /// `else stay`.
    Stay,
    /// `else T`: a line with `Trigger::StepElse`.
    Take(TransitionId),
}

/// How often to try again, and what then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailurePolicy {
    /// Further attempts after the first.
    pub retries: u32,
    /// After the last.
    pub then: Failure,
}

/// What a step that has used up its attempts does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The walk ends with the turn's error.
    Fail,
    /// The walk goes on.
    Skip,
    /// A line with `Trigger::StepElse`.
    Take(TransitionId),
}
