//! Inputs of a machine, and its outputs: effects and trace records. No I/O, no clock, no randomness.

use crate::arena::{ChoiceId, EventId, StateId, StepId, ToolId, TransitionId};

pub use crate::arena::Element;
pub use crate::forward::Receiver;
pub use crate::status::Status;

/// Milliseconds on the host's clock, from any fixed origin; never goes back.
pub type Instant = u64;

/// Identifies an attempt at a step. Unique in a run; an answer with an outdated key is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StepKey {
    /// The step.
    pub step: StepId,
    /// The leaf for which it was started: several regions may ask the same inherited question.
    pub leaf: StateId,
    /// The number of the host event (including turns) during which it was started, or of the start on entry, from 1.
    pub event: u32,
    /// From 1; each retry or repeated question increments it.
    pub attempt: u32,
    /// The element for which it is, if the step has an `each`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub element: Option<Element>,
}

/// An input from the host to a machine. `P` is the payload: a list of values for the interpreter, an enum for generated code.
#[derive(Debug, Clone, PartialEq)]
pub enum Input<P> {
    /// Enter the initial configuration. The first input, given once.
    Start,
    /// A declared host event.
    Event(EventId, P),
    /// The built-in event `turn`; inputs are set before it.
    Turn,
    /// A step has ended.
    Answer(StepKey, Outcome<P>),
    /// The call of an open step may not be made: it would exceed a limit that the host counts, on tokens or cost.
    Exhausted(StepKey, LimitKind),
    /// The call of an attempt was not made, because its step's state was exited while the call waited, or because it would have to wait too
    /// long. It does not count; a step that is still open fails without another attempt.
    Unmade(StepKey),
    /// A soft limit that the host counts is reached.
    Warn(LimitKind),
    /// A call has been paid: this is what it took. Its outcome, if it is still awaited, follows.
    Charge(StepKey, Charge),
    /// Time has passed: due deadlines fire.
    Tick,
    /// The run ends as `canceled`: active states run their `exit`, pending steps are canceled.
    Stop,
}

/// What a call took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Charge {
    /// Tokens, in and out.
    pub tokens: u64,
    /// Millionths of the unit of prices.
    pub cost: u64,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome<P> {
    /// The answer of `llm`, `call`, `human` or `run`, or the result of a tool that an `ask` or `llm` called.
    Done(P),
    /// The option that an `ask` chose, with its arguments.
    Choice(ChoiceId, P),
    /// The tool that an `ask` or an `llm` chose to call, with its arguments.
    Call(ToolId, P),
    /// The model named a tool that was not offered: counted, asked again, then `else`.
    Forbidden(ToolId),
    /// The model's answer names no option or does not fit the type: asked again, then `else`.
    Unusable,
    /// The call failed: retried, then `error` transitions or the failure policy. If a tool that an `ask` called failed, the state stays; if
    /// an `llm` called it, the model learns of the failure.
    Failed(P),
    /// Whether the call took effect is unknown.
    Doubt,
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
    /// The step's state was exited: an answer would be dropped.
    Cancel(StepKey),
    /// The run has ended, in a final child of the root or by a limit.
    Ended(Status),
}

/// Why a candidate was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Loss {
    /// Its guard was false.
    Guard,
    /// Its guard failed, which counts as false.
    Fault,
    /// It is a `from` transition outside its scope.
    Scope,
    /// A transition of a descendant, or of an earlier region, exits the same states.
    Preempted,
}

/// Why a step or turn used a fallback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Fallback {
    /// No option was enabled.
    NoOption,
    /// The model's answers were unusable.
    Unusable,
    /// The chosen option's guard no longer held.
    Stale,
    /// The call failed.
    Failed,
    /// No outcome transition was enabled: the state stays.
    NoLine,
}

/// Errors that become `error.*` events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ErrorKind {
    /// A guard, action or code step failed.
    Execution,
    /// Too many microsteps.
    Livelock,
    /// A hard limit of a state.
    Limit(LimitKind),
    /// A dead end.
    StuckDead,
    /// The model has called a tool with the same arguments too often in succession.
    StuckLoop,
}

/// A tool call that was made as often in succession, with the same arguments, is a loop.
pub const LOOP: u32 = 3;

impl ErrorKind {
    /// Whether a pattern below `error` names loops. Loops are raised only in a chart with such a pattern; there, `error.*` matches them, too.
    pub fn names_loops(pattern: &str) -> bool {
        let stem = pattern.strip_suffix(".*").unwrap_or(pattern);
        stem == "stuck" || stem == "stuck.loop"
    }
}

/// What a limit counts.
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
    /// As it is written in `limits`.
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
    /// A block has sent an event, which is due at this time.
    Sent(EventId, Instant),
    /// The handling of a sent event begins, as for one from the host.
    Delivered(EventId),
    /// An event was sent to another chart.
    Posted(EventId, Receiver),
    /// An event for another chart was lost: the chart does not exist, or has no such event.
    Undelivered(EventId, Receiver),
    /// A sent event was canceled before it was due, or discarded in a livelock.
    SendCanceled(EventId),
    /// A turn begins; its number from 1.
    Turn(u32),
    /// An event that nothing handled.
    Refused(EventId),
    /// A candidate that was not taken.
    Lost(TransitionId, Loss),
    /// A transition was taken.
    Taken(TransitionId),
    /// A state was exited.
    Exited(StateId),
    /// A state was entered.
    Entered(StateId),
    /// No `allow` line permits the target of this transition by a step or choice: the state stays.
    Denied(TransitionId),
    /// A step was started.
    Started(StepKey),
    /// A step was skipped in the walk because its `if` was false.
    Skipped(StepId),
    /// A step succeeded.
    Done(StepId),
    /// An option was chosen by the model.
    Chosen(ChoiceId),
    /// The only option was taken without a question.
    Unasked(ChoiceId),
    /// The model's tool call began, permitted by this `may call` transition; by none for the `tools` of an `llm` step.
    Called(StepKey, Option<ChoiceId>, ToolId),
    /// The tool returned.
    Returned(StepKey, ToolId),
    /// The tool failed: the state stays.
    CallFailed(StepKey, ToolId),
    /// The model named a tool that no enabled transition permits.
    Forbidden(StepKey, ToolId),
    /// An attempt failed; another follows.
    Retried(StepKey),
    /// A step failed for good.
    Failed(StepId),
    /// An element of a step succeeded.
    ElementDone(StepKey),
    /// An element of a step failed for good.
    ElementLost(StepKey),
    /// A fallback was used.
    Fallback(StepId, Fallback),
    /// A late answer, or one for a cancelled step.
    Dropped(StepKey),
    /// A walk ended early; for another reason than its calls, so did all others of the turn.
    WalkEnded(WalkEnd),
    /// An error event was raised.
    Error(ErrorKind),
    /// A soft limit was reached.
    Warned(LimitKind),
    /// A turn ended; its number.
    TurnEnded(u32),
    /// The run ended.
    Ended(Status),
}

/// Why a walk ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum WalkEnd {
    /// The calls of this region in this turn are used up; the root stands for the chart.
    Calls(StateId),
    /// `ends turn`.
    EndsTurn,
    /// A step failed with policy `fail`.
    Failed(StepId),
    /// The run ended.
    Ended,
}

/// Receives effects and trace records in the order in which they happen.
pub trait Sink {
    /// A request to the host.
    fn effect(&mut self, effect: Effect);
    /// A record of what happened.
    fn record(&mut self, record: Record);

    /// Whether it wants [`Sink::held`]. Nothing is evaluated for a sink that does not.
    fn asks_why(&self) -> bool {
        false
    }

    /// Whether anybody reads the notes of the machine that reports to this sink. If nobody does, the machine builds no notes except the
    /// reason why an answer does not fit.
    fn takes_notes(&self) -> bool {
        true
    }

    /// The next record tells that this transition was taken: the alternatives of its guard that hold, as bits from the lowest. Called only
    /// for guards with alternatives, and only if one holds.
    fn held(&mut self, _line: TransitionId, _alternatives: u64) {}
}

/// Ignores everything.
impl Sink for () {
    fn effect(&mut self, _: Effect) {}

    fn record(&mut self, _: Record) {}
}

/// The result of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Receipt {
    /// A transition was taken, or a question was asked.
    Handled,
    /// No transition was triggered: nothing changed.
    Unhandled,
    /// A turn is still being walked: the input has to wait. For `Turn` only.
    Busy,
    /// The run has ended, or was not started.
    Closed,
    /// A question on this event is open already, or the answer's key is not open.
    Refused,
}

/// An expression, action or host function failed. The host's own trace has the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault;
