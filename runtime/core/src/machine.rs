//! What goes into a machine and what comes out: inputs, effects, trace records. No I/O, no clock, no randomness.

use crate::arena::{ChoiceId, EventId, StateId, StepId, ToolId, TransitionId};

pub use crate::forward::Receiver;
pub use crate::status::Status;

/// Milliseconds on the host's clock, from any fixed origin; never goes back.
pub type Instant = u64;

/// Which attempt at which step is meant. Unique in a run; an answer under another key is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StepKey {
    /// The step.
    pub step: StepId,
    /// The leaf it was started for: several regions may put one inherited question.
    pub leaf: StateId,
    /// Number of the host event (turns included) that was being handled, or of the start on entry, from 1.
    pub event: u32,
    /// From 1; a retry or re-ask increments it.
    pub attempt: u32,
}

/// What a host tells a machine. `P` is the payload: a list of values for the interpreter, an enum for generated code.
#[derive(Debug, Clone, PartialEq)]
pub enum Input<P> {
    /// Enter the initial configuration. Once, first.
    Start,
    /// A declared host event.
    Event(EventId, P),
    /// The built-in event `turn`; inputs are set before it.
    Turn,
    /// A step has ended.
    Answer(StepKey, Outcome<P>),
    /// The call of an open step may not be made: what the host counts, tokens or money, would be more than a limit allows.
    Exhausted(StepKey, LimitKind),
    /// The call of an attempt was not made, because its step was left while the call waited, or because it would have to wait too long. It
    /// does not count; a step that is still open fails without another attempt.
    Unmade(StepKey),
    /// What the host counts has reached a soft limit.
    Warn(LimitKind),
    /// Time has passed: due deadlines fire.
    Tick,
    /// The run is over, as `canceled`: what is active runs its `exit`, what is pending is cancelled.
    Stop,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome<P> {
    /// The answer of `llm`, `call`, `human`, `run`; for the tool that an `ask` or `llm` called, what it returned.
    Done(P),
    /// The option that an `ask` chose, with its arguments.
    Choice(ChoiceId, P),
    /// The tool that an `ask` or an `llm` chose to call, with its arguments.
    Call(ToolId, P),
    /// The model named a tool that was not offered: counted, re-asked, then `else`.
    Forbidden(ToolId),
    /// The model answered, but meant no option or did not fit the type: re-asked, then `else`.
    Unusable,
    /// The call failed: retried, then `error` lines or the failure policy. A tool that an `ask` called has failed: the state stays; one
    /// that an `llm` called: the model is told.
    Failed(P),
    /// Whether it ran cannot be told.
    Doubt,
}

/// What a machine wants done. Answers come back as [`Input::Answer`] under the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Start (or try again) an `llm`, `call`, `human` or `run` step; for an `llm` also ask again, when the tool that it called has ended.
    Start(StepKey),
    /// Put a question. The options are those enabled now for `key.leaf`.
    Ask(StepKey),
    /// Call the tool that the answer to this question chose. What comes of it is told under the same key.
    Call(StepKey, ToolId),
    /// The step's state was left: an answer would be dropped.
    Cancel(StepKey),
    /// The run has ended in a final state below the root, or by a limit.
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
    /// A `from` line outside its scope.
    Scope,
    /// A line of a descendant, or of an earlier region, exits the same states.
    Preempted,
}

/// Why a step or turn did not do what it might have.
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
    /// No outcome line held: the state stays.
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
    /// Nothing can ever happen again.
    StuckDead,
    /// The same configuration and data too often.
    StuckLoop,
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

/// One line of a trace. Ids only: names are in the tables, data in what the host records beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Record {
    /// A host event begins.
    Event(EventId),
    /// A block has sent an event, which is due then.
    Sent(EventId, Instant),
    /// A sent event begins: handled as one from the host.
    Delivered(EventId),
    /// An event leaves for another chart.
    Posted(EventId, Receiver),
    /// An event for another chart that did not reach it: there is none, or it has no such event.
    Undelivered(EventId, Receiver),
    /// A sent event was taken back before it was due, or given up in a livelock.
    SendCanceled(EventId),
    /// A turn begins; its number from 1.
    Turn(u32),
    /// An event that nothing handled.
    Refused(EventId),
    /// A candidate that was not taken.
    Lost(TransitionId, Loss),
    /// A line was taken.
    Taken(TransitionId),
    /// A state was left.
    Exited(StateId),
    /// A state was entered.
    Entered(StateId),
    /// No `allow` line permits the target of this step's or choice's line: the state stays.
    Denied(TransitionId),
    /// A step was started.
    Started(StepKey),
    /// A step was passed over in the walk because its `if` was false.
    Skipped(StepId),
    /// A step ended well.
    Done(StepId),
    /// An option was chosen by the model.
    Chosen(ChoiceId),
    /// The only option was taken unasked.
    Unasked(ChoiceId),
    /// The model's tool call began, by this `may call` line; by none for the `tools` of an `llm` step.
    Called(StepKey, Option<ChoiceId>, ToolId),
    /// The tool returned.
    Returned(StepKey, ToolId),
    /// The tool failed: the state stays.
    CallFailed(StepKey, ToolId),
    /// The model named a tool that no enabled line permits.
    Forbidden(StepKey, ToolId),
    /// An attempt failed; another follows.
    Retried(StepKey),
    /// A step failed for good.
    Failed(StepId),
    /// Something fell back.
    Fallback(StepId, Fallback),
    /// A late answer, or one for a cancelled step.
    Dropped(StepKey),
    /// The walk ended before the end of the list.
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
    /// The calls of this turn are used up.
    Calls,
    /// `ends turn`.
    EndsTurn,
    /// A step failed with policy `fail`.
    Failed(StepId),
    /// The run ended.
    Ended,
}

/// Where effects and trace records go, in the order they happen.
pub trait Sink {
    /// Something for the host to do.
    fn effect(&mut self, effect: Effect);
    /// Something that happened.
    fn record(&mut self, record: Record);
}

/// Nobody listens.
impl Sink for () {
    fn effect(&mut self, _: Effect) {}

    fn record(&mut self, _: Record) {}
}

/// What became of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    /// A line was taken, or a question was put.
    Handled,
    /// No line matched: nothing changed.
    Unhandled,
    /// A turn is still being walked: the input has to wait. For `Turn` only.
    Busy,
    /// The run has ended, or was not started.
    Closed,
    /// A question on this event is open already, or the answer's key is not open.
    Refused,
}

/// An expression, action or host function failed. The reason goes to the host's own trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault;
