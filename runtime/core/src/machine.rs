//! Inputs of a machine, and its outputs: effects and trace records. No I/O, no clock, no randomness.

use crate::arena::{ChoiceId, EventId, StateId, StepId, ToolId, TransitionId};

pub use crate::arena::Element;
pub use crate::forward::Receiver;
pub use crate::status::Status;

/// Milliseconds on the host's clock, from any fixed origin; never goes back.
pub type Instant = u64;

/// Identifies one attempt at a step. Keys are unique in a run; an answer with an outdated key is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StepKey {
    /// The step.
    pub step: StepId,
    /// The leaf for which it was started: several regions may ask the same inherited question.
    pub leaf: StateId,
    /// The number of the host event (including turns) during which it was started, or of the start on entry, from 1.
    pub event: u32,
    /// The number of the attempt, from 1. Each retry or repeated question increments it.
    pub attempt: u32,
    /// The element of the step's list that the attempt is for, if the step has an `each`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub element: Option<Element>,
}

/// An input from the host to a machine. `P` is the payload: a list of values for the interpreter, an enum for generated code.
#[derive(Debug, Clone, PartialEq)]
pub enum Input<P> {
    /// Enter the initial configuration. The first input, given once.
    Start,
    /// A declared host event, with its data.
    Event(EventId, P),
    /// The built-in event `turn`; inputs are set before it.
    Turn,
    /// The outcome of an attempt, a question or a tool call.
    Answer(StepKey, Outcome<P>),
    /// The host may not make the call of an open step, because the call would exceed a limit that the host counts: on tokens or cost.
    Exhausted(StepKey, LimitKind),
    /// The call of an attempt was not made, because its step's state was exited while the call waited, or because the call would have to
    /// wait too long. It does not count; a step that is still open fails without another attempt.
    Unmade(StepKey),
    /// A soft limit that the host counts was reached.
    Warn(LimitKind),
    /// The tokens and the cost of a call that was made. Its outcome, if the step still awaits it, follows as [`Input::Answer`].
    Charge(StepKey, Charge),
    /// Time has passed: the deadlines that are due by now fire.
    Tick,
    /// The run ends as `canceled`: active states run their `exit`, pending steps are canceled.
    Stop,
}

/// The tokens and the cost of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Charge {
    /// Tokens of the prompt and of the answer together.
    pub tokens: u64,
    /// The cost in millionths of the unit of prices.
    pub cost: u64,
}

/// The reason of a doubt where nothing else is known about the call.
pub const DOUBT: &str = "it is not known whether its call was made";

/// The outcome of an attempt at a step, of a question, or of a tool call that a model chose.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome<P> {
    /// The answer of `llm`, `call`, `human` or `run`, or the result of a tool that an `ask` or `llm` called.
    Done(P),
    /// The option that an `ask` chose, with its arguments.
    Choice(ChoiceId, P),
    /// The tool that an `ask` or an `llm` chose to call, with its arguments.
    Call(ToolId, P),
    /// The model named a tool that was not offered. The failure is counted, and the question is repeated; then `else` is taken.
    Forbidden(ToolId),
    /// The model's answer names no option or does not fit the type. The question is repeated; then `else` is taken.
    Unusable,
    /// The call failed. It is retried; then `error` transitions are taken or the failure policy applies. If a tool that an `ask` called
    /// failed, the state stays; if an `llm` called it, the model learns of the failure.
    Failed(P),
    /// The call failed in a way after which the step makes no further attempt. Otherwise as [`Self::Failed`].
    Final(P),
    /// Whether the call took effect is unknown: no usable answer arrived. Another attempt might repeat the effect, so none is made: `doubt`
    /// transitions are taken, or the step has failed for this reason.
    Doubt(P),
}

/// A request of a machine to its host. Answers return as [`Input::Answer`] with the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Start (or retry) an `llm`, `call`, `human` or `run` step; for an `llm`, also ask again after the tool that it called has ended.
    Start(StepKey),
    /// Ask a question. The options are those enabled now for `key.leaf`.
    Ask(StepKey),
    /// Call the tool that the answer to this question chose. The result has the same key.
    Call(StepKey, ToolId),
    /// The step's state was exited. The host may give up the call: an answer would be dropped.
    Cancel(StepKey),
    /// The run has ended, in a final child of the root or by a limit.
    Ended(Status),
}

/// The reason why a candidate was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Loss {
    /// Its guard was false.
    Guard,
    /// Its guard failed to evaluate, which counts as false.
    Fault,
    /// It is a `from` transition outside its scope.
    Scope,
    /// A transition of a descendant, or of an earlier region, was taken and exits some of the same states.
    Preempted,
}

/// The reason why a step or turn used a fallback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Fallback {
    /// No option of the question was enabled.
    NoOption,
    /// The model's answers were unusable.
    Unusable,
    /// The chosen option's guard no longer held.
    Stale,
    /// The call failed.
    Failed,
    /// No transition for the outcome was enabled: the state stays.
    NoLine,
}

/// Errors that are raised as `error.*` events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ErrorKind {
    /// A guard, action or code step failed to evaluate.
    Execution,
    /// A macrostep took too many microsteps.
    Livelock,
    /// A hard limit of a state was reached.
    Limit(LimitKind),
    /// The run is in a dead end: nothing can happen any more.
    StuckDead,
    /// The model has called a tool with the same arguments too often in succession.
    StuckLoop,
    /// The run has stayed in a state for as many turns as its host allows by default, and nothing there handles that.
    StuckTimeout,
}

/// The number of tool calls in succession with the same arguments that count as a loop.
pub const LOOP: u32 = 3;

/// The number of deferred events that may wait.
pub const DEFERRED: u32 = 256;

impl ErrorKind {
    /// The name of its event below `error`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Execution => "execution",
            Self::Livelock => "livelock",
            Self::Limit(LimitKind::Calls) => "limit.calls",
            Self::Limit(LimitKind::Turns) => "limit.turns",
            Self::Limit(LimitKind::Time) => "limit.time",
            Self::Limit(LimitKind::Tokens) => "limit.tokens",
            Self::Limit(LimitKind::Cost) => "limit.cost",
            Self::StuckDead => "stuck.dead",
            Self::StuckLoop => "stuck.loop",
            Self::StuckTimeout => "stuck.timeout",
        }
    }

    /// Whether a pattern below `error` names loops. Only a chart with such a pattern has them raised; in such a chart, `error.*` matches
    /// them, too.
    pub fn names_loops(pattern: &str) -> bool {
        let stem = pattern.strip_suffix(".*").unwrap_or(pattern);
        stem == "stuck" || stem == "stuck.loop"
    }
}

/// The quantity that a limit bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[allow(missing_docs, reason = "the words are the language's own")]
pub enum LimitKind {
    Calls,
    Turns,
    Time,
    Tokens,
    Cost,
}

impl LimitKind {
    /// The word for the quantity in a chart's `limits`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Turns => "turns",
            Self::Time => "time",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
        }
    }
}

/// One record of a trace. It contains ids only: names are in the tables, data in the host's own records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// A host event begins.
    Event(EventId),
    /// An action block sent an event, which is due at this time.
    Sent(EventId, Instant),
    /// The handling of a sent event begins. It is handled like an event of the host.
    Delivered(EventId),
    /// An event was sent to another chart.
    Posted(EventId, Receiver),
    /// An event for another chart was lost: the chart does not exist, or has no such event.
    Undelivered(EventId, Receiver),
    /// A sent event was canceled before it was due, or discarded in a livelock.
    SendCanceled(EventId),
    /// A turn begins, with its number from 1.
    Turn(u32),
    /// No transition and no question handled an event. A deferred event was kept until the run ended, or it was recalled.
    Refused(EventId),
    /// An active state defers an event, which is kept.
    Deferred(EventId),
    /// The handling of a deferred event begins. It is handled like an event of the host.
    Recalled(EventId),
    /// A candidate that was not taken.
    Lost(TransitionId, Loss),
    /// A transition was taken.
    Taken(TransitionId),
    /// A state was exited.
    Exited(StateId),
    /// A state was entered.
    Entered(StateId),
    /// No `allow` line permits a step or choice to enter the target of this transition: the state stays.
    Denied(TransitionId),
    /// A step was started.
    Started(StepKey),
    /// A step was skipped in the walk because its `if` was false.
    Skipped(StepId),
    /// A step succeeded.
    Done(StepId),
    /// An option was chosen by the model.
    Chosen(ChoiceId),
    /// The only enabled option was taken without a question.
    Unasked(ChoiceId),
    /// The model's tool call began. It is permitted by this `may call` transition, or by the `tools` of an `llm` step if there is none.
    Called(StepKey, Option<ChoiceId>, ToolId),
    /// The tool returned.
    Returned(StepKey, ToolId),
    /// The tool failed: the state stays.
    CallFailed(StepKey, ToolId),
    /// The model named a tool that no enabled transition permits.
    Forbidden(StepKey, ToolId),
    /// An attempt failed; another follows.
    Retried(StepKey),
    /// A step failed, and no further attempt follows.
    Failed(StepId),
    /// An element of a step succeeded.
    ElementDone(StepKey),
    /// An element of a step failed, and no further attempt follows.
    ElementLost(StepKey),
    /// A fallback was used.
    Fallback(StepId, Fallback),
    /// An answer was dropped, because its attempt had ended or its step was canceled.
    Dropped(StepKey),
    /// A walk ended early. Unless the reason is [`WalkEnd::Calls`], all other walks of the turn ended with it.
    WalkEnded(WalkEnd),
    /// An error event was raised.
    Error(ErrorKind),
    /// A soft limit was reached.
    Warned(LimitKind),
    /// A turn ended, with its number.
    TurnEnded(u32),
    /// The run ended.
    Ended(Status),
}

/// The reason why a walk ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum WalkEnd {
    /// The region has used up its model calls of this turn; the root stands for the whole chart.
    Calls(StateId),
    /// The step's `ends turn` held.
    EndsTurn,
    /// A step with the failure policy `fail` failed.
    Failed(StepId),
    /// The run ended.
    Ended,
}

/// Receives the effects and trace records of a machine, in the order in which they happen.
pub trait Sink {
    /// Receives a request to the host.
    fn effect(&mut self, effect: Effect);
    /// Receives a record of what happened.
    fn record(&mut self, record: Record);

    /// Whether this sink wants [`Sink::held`]. If not, the machine does not evaluate the alternatives.
    fn asks_why(&self) -> bool {
        false
    }

    /// Whether anybody reads the machine's notes. If not, the machine builds none but the reason why an answer does not fit.
    fn takes_notes(&self) -> bool {
        true
    }

    /// Whether the machine has reported so much in this input that it has to stop as in a livelock.
    fn is_full(&self) -> bool {
        false
    }

    /// Receives the alternatives of a transition's guard that hold, as bits from the lowest. The next record is that this transition was
    /// taken. Called only for guards with alternatives, and only if at least one holds.
    fn held(&mut self, _line: TransitionId, _alternatives: u64) {}
}

/// A sink that discards all effects and records.
impl Sink for () {
    fn effect(&mut self, _: Effect) {}

    fn record(&mut self, _: Record) {}
}

/// The result of handling an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Receipt {
    /// A transition was taken, a question was asked, or the event is kept because an active state defers it.
    Handled,
    /// No transition was triggered: nothing changed.
    Unhandled,
    /// The current turn is still being walked, so this `Turn` has to wait. No other input is answered so.
    Busy,
    /// The run has ended, or was not started.
    Closed,
    /// A question on this event is already open, too many deferred events wait, or the answer's key is not open.
    Refused,
}

/// The error of an expression, action or host function that failed. It has no details: the program notes the reason for the host's trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault;
