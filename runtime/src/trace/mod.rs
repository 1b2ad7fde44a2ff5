//! Traces: the record of everything that happens in a run, one JSON object per line, with names instead of ids. `docs/trace.md` is the
//! reference. An event that takes a transition:
//!
//! ```text
//! {"v":1,"seq":7,"at_ms":0,"kind":"event","event":"reply","data":{"text":"hello"}}
//! {"v":1,"seq":8,"at_ms":0,"kind":"taken","line":{"state":"waiting","nth":1,"trigger":"on reply","targets":["open"]}}
//! {"v":1,"seq":9,"at_ms":0,"kind":"exited","state":"waiting"}
//! {"v":1,"seq":10,"at_ms":0,"kind":"entered","state":"open"}
//! ```

mod describe;
#[cfg(test)]
mod tests;
pub mod view;

pub use describe::describe;
pub(crate) use describe::{taken, which};
pub use view::TraceEvent;

use chartc_core::expr::Value;
use chartc_core::machine::Instant;
use chartc_core::visible;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};

/// The version of the format. New kinds and new fields do not change it; a changed meaning does.
pub const VERSION: u32 = 1;

/// A line of a trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The version of the format, [`VERSION`].
    pub v: u32,
    /// The number of the line, from 1, without gaps.
    pub seq: u64,
    /// The time, in milliseconds on the run's clock.
    pub at_ms: Instant,
    /// The path of the chart: the names of the `run` steps that lead to it, separated by slashes; empty for the run's own chart.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub child: String,
    /// The event that the line records.
    #[serde(flatten)]
    pub what: What,
}

/// The content of a line, by kind. States are dotted paths, empty for the chart itself; steps, events and options are names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the fields are described with their kind")]
pub enum What {
    /// The run begins: the chart, its structural hash in hex, the name of the oracle, and the values of params, inputs and vars before
    /// the
    /// start; then the [`Origin`], as far as it is known.
    Run {
        chart: String,
        hash: String,
        oracle: String,
        variables: Value,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        file: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        calls_per_turn: Option<u32>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        clock: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        children: String,
    },
    /// A saved run continues: the chart, its structural hash in hex, and the name of the oracle now.
    Resumed { chart: String, hash: String, oracle: String },
    /// The host has set an input.
    Input { name: String, value: Value },
    /// The chart handles a host event, with its data.
    Event { event: String, data: Value },
    /// The chart has sent an event, which is due at this time of the run's clock.
    Sent { event: String, due_ms: Instant },
    /// A sent event is due, and is handled like one from the host.
    Delivered { event: String },
    /// The chart has sent an event to another chart: to its `parent`, or to the child chart of a step.
    Posted { event: String, to: String },
    /// An event did not reach another chart: there is none, or it has no such event.
    Undelivered { event: String, to: String },
    /// A sent event was cancelled before it was due, or discarded in a livelock.
    SendCanceled { event: String },
    /// A turn begins; its number, from 1.
    Turn { turn: u32 },
    /// No transition has handled the event, which an active state defers: it is kept.
    Deferred { event: String },
    /// A deferred event is handled again, like one from the host.
    Recalled { event: String },
    /// No transition has handled the event, or a deferred event was still kept when the run ended.
    Refused { event: String },
    /// No transition of this chart has handled the event, so it is passed on to the child charts.
    PassedOn { event: String },
    /// An input of the host was not taken in: the run is `closed` or `busy`. The data of the event, if it has any.
    NotTaken {
        input: String,
        why: String,
        #[serde(default, skip_serializing_if = "is_none")]
        data: Value,
    },
    /// A candidate transition was not taken, because of `guard`, `fault`, `scope` or `preempted`.
    Lost { line: LineName, why: String },
    /// A transition was taken.
    Taken {
        line: LineName,
        /// If its guard is an `or`, the source text of each operand that held, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        held: Vec<String>,
    },
    /// A state was exited.
    Exited { state: String },
    /// A state was entered.
    Entered { state: String },
    /// No `allow` line permits the target of the transition.
    Denied { line: LineName },
    /// A step was started for a leaf. Attempts count from 1.
    Started {
        step: String,
        state: String,
        attempt: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        element: Option<u32>,
    },
    /// A question to a model or a person: the prompt, word for word, and the names of the options.
    Question {
        /// The id by which a person's answer names the question; empty for a question to a model.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        id: String,
        step: String,
        attempt: u32,
        /// The client, if it is a fallback of the step's own client.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        client: String,
        prompt: String,
        options: Vec<String>,
        #[serde(flatten)]
        which: Which,
    },
    /// The answer, word for word, and its meaning: an `option` with its arguments as a list in `value`, or a `value` alone; the rung
    /// (`whole`,
    /// `cleaned`, `mention`) and the repairs.
    Answer {
        /// The id by which a person's answer names the question; empty for a question to a model.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        id: String,
        step: String,
        attempt: u32,
        text: String,
        rung: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        repairs: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<String>,
        #[serde(default, skip_serializing_if = "is_none")]
        value: Value,
        #[serde(flatten)]
        which: Which,
    },
    /// An answer that is unusable, with the reason.
    Unusable {
        /// The id by which a person's answer names the question; empty for a question to a model.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        id: String,
        step: String,
        attempt: u32,
        text: String,
        ambiguous: bool,
        why: String,
        #[serde(flatten)]
        which: Which,
    },
    /// A call has failed. `error` is its kind, such as `timeout`; `retry_after_ms` is the time that the provider asks to wait.
    CallFailed {
        step: String,
        attempt: u32,
        error: String,
        why: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
        /// Whether it is unknown if the call took effect, so that it is not made again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        doubt: bool,
        #[serde(flatten)]
        which: Which,
    },
    /// The use of a call: tokens and, if prices are known, money. `assumed`: nobody reports the use, so what was held for it counts.
    /// `cut`: the
    /// answer was cut off. `allowed`: the maximum number of answer tokens, if the provider reports more.
    Usage {
        step: String,
        attempt: u32,
        input_tokens: u64,
        output_tokens: u64,
        cost: f64,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        assumed: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        allowed: Option<u64>,
        #[serde(flatten)]
        which: Which,
    },
    /// The next attempt waits until this time, because the last one failed.
    Waiting {
        step: String,
        attempt: u32,
        until_ms: Instant,
        #[serde(flatten)]
        which: Which,
    },
    /// The next attempt is not made, because the provider asks for a longer wait than a run allows. The step has failed.
    NotRetried {
        step: String,
        attempt: u32,
        wanted_ms: u64,
        most_ms: u64,
        #[serde(flatten)]
        which: Which,
    },
    /// A call under way was cancelled, because the step's state was exited.
    Cancelled {
        step: String,
        attempt: u32,
        #[serde(flatten)]
        which: Which,
    },
    /// A tool call of the model begins. `option` is the name of the option that permits it, empty for one of the `tools` of an `llm`
    /// step.
    Called { step: String, state: String, option: String, tool: String },
    /// A tool call with its arguments, by the model or by a `call` step.
    ToolCall {
        step: String,
        tool: String,
        arguments: Value,
        #[serde(flatten)]
        which: Which,
    },
    /// The result of a tool call.
    ToolResult {
        step: String,
        tool: String,
        value: Value,
        #[serde(flatten)]
        which: Which,
    },
    /// A tool call has failed. `error` is its kind.
    ToolFailed {
        step: String,
        tool: String,
        error: String,
        why: String,
        /// The time that the tool's server asks to wait.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
        /// Whether it is unknown if the tool took effect, so that it is not called again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        doubt: bool,
        #[serde(flatten)]
        which: Which,
    },
    /// A tool call of the model has ended, and its transition may be taken.
    Returned {
        step: String,
        tool: String,
        #[serde(flatten)]
        which: Which,
    },
    /// A tool call of the model has failed. The state does not change.
    NotReturned {
        step: String,
        tool: String,
        #[serde(flatten)]
        which: Which,
    },
    /// The model has named a tool that may not be called in this state.
    Forbidden { step: String, state: String, tool: String },
    /// A step was skipped, because its `if` is false.
    Skipped { step: String },
    /// A step, or an element of one, has succeeded.
    Done {
        step: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        element: Option<u32>,
    },
    /// The model has chosen an option.
    Chosen { option: String },
    /// The only option was chosen without a question.
    Unasked { option: String },
    /// An attempt has failed, and another follows.
    Retried {
        step: String,
        attempt: u32,
        #[serde(flatten)]
        which: Which,
    },
    /// A step, or an element of one, has failed for good.
    Failed {
        step: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        element: Option<u32>,
    },
    /// A fallback is used, because of `no_option`, `unusable`, `stale`, `failed` or `no_line`.
    Fallback { step: String, why: String },
    /// An answer was dropped, because it is late or its step was cancelled.
    Dropped {
        step: String,
        attempt: u32,
        #[serde(flatten)]
        which: Which,
    },
    /// A walk ended before its last step: `calls`, `ends_turn`, `failed` or `ended`. With `calls`, it is the walk of the `region` (empty
    /// for the
    /// chart); otherwise, all walks of the turn.
    WalkEnded {
        why: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<String>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        region: String,
    },
    /// An error event was raised: `execution`, `livelock`, `limit.calls`, `stuck.dead`, …
    Error { error: String },
    /// A soft limit was reached: `calls`, `turns`, `time`, `tokens` or `cost`.
    Warned { limit: String },
    /// A turn has ended; its number.
    TurnEnded { turn: u32 },
    /// The run has ended, with a status and the arguments of the final state. If a limit has ended it, `summary` says which.
    Ended {
        status: String,
        result: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
    /// An agent has performed the action that a step of its turn has chosen: its arguments, the reason that the model gives for it, its
    /// result and the changes in the world; or the name and the reason of the failure.
    Acted {
        step: String,
        action: String,
        arguments: Value,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reasoning: String,
        #[serde(default, skip_serializing_if = "is_none")]
        value: Value,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<String>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        failed: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// A turn of an agent has chosen no action. `failed` is the name of the failure, `step` the step that failed.
    NotActed { step: String, failed: String, why: String },
    /// The text at the end of prompts from now on, set by the host; empty for none.
    Section { text: String },
    /// What replaces the settings of clients from now on, set by the host from the agent's record.
    Overrides { overrides: Value },
    /// A note of the host about what it has done or not done. `about` is the subject.
    HostNote { about: String, text: String },
    /// An event in the world of many agents, such as `transferred`, `minted`, `spawned` or `tick_summary`, with its data.
    World { event: String, data: Value },
    /// A note of the chart's own code: a `log` line, the reason of a fault, or a call of a host function, which is also given as data.
    Note {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<HostCall>,
    },
}

/// A call of a host function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostCall {
    /// The name of the function.
    pub function: String,
    /// The arguments, in declared order.
    pub arguments: Vec<Value>,
    /// The result as the host returned it, before its conversion to the declared type; `none` for an effect.
    #[serde(default, skip_serializing_if = "is_none")]
    pub value: Value,
    /// The reason of its failure, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

fn is_none(value: &Value) -> bool {
    *value == Value::None
}

/// The name of a transition: its place in the chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineName {
    /// The source state.
    pub state: String,
    /// The number among the lines of that state, from 1, in the order in which they are tried.
    pub nth: u32,
    /// The trigger in words, such as `on e`, `when`, `may ship`, `done observe`.
    pub trigger: String,
    /// The target states; empty for a transition without a target.
    pub targets: Vec<String>,
}

// Types that several kinds of lines share.

/// Distinguishes a call from the other open calls of its step. Both fields are empty if the step can have only one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Which {
    /// The leaf, if several regions may ask the question.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub state: String,
    /// The index of the element, from 0, if the step has an `each`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<u32>,
}

/// The settings with which a run was started, for its first line: what is needed to run it again from the trace alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The path of the chart's file, as it was given; empty if there is none.
    pub file: String,
    /// The maximum number of model calls per turn, if it is not the default.
    pub calls_per_turn: Option<u32>,
    /// Whether the run uses real time, not a virtual clock.
    pub real_clock: bool,
    /// Whether child charts have their turn only after that of their parent, as in runs that earlier versions have begun.
    pub children_last: bool,
}

impl Origin {
    /// No settings.
    pub(crate) const NONE: Self =
        Self { file: String::new(), calls_per_turn: None, real_clock: false, children_last: false };
}

// Parses traces.

/// The reason why a trace cannot be parsed.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The line is not one of a trace.
    #[error("line {line}: {why}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// The error of the JSON parser.
        why: serde_json::Error,
    },
    /// The line has another version.
    #[error("line {line}: version {found} of the trace is not known; this is version {VERSION}")]
    Version {
        /// The number of the line, from 1.
        line: usize,
        /// The version of the line.
        found: u32,
    },
}

/// Parses the text of a trace. Empty lines are skipped.
///
/// # Errors
/// The first line that cannot be parsed.
pub fn read(text: &str) -> Result<Vec<Line>, ReadError> {
    lines(text).collect()
}

/// Parses the lines of a trace one by one, so that a malformed line does not hide the others. Empty lines are skipped.
pub fn lines(text: &str) -> impl Iterator<Item = Result<Line, ReadError>> {
    let lines = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty());
    lines.map(|(i, text)| {
        #[derive(Deserialize)]
        struct Head {
            v: u32,
        }
        let line = i + 1;
        let fault = |why| ReadError::Line { line, why };
        let head: Head = serde_json::from_str(text).map_err(fault)?;
        if head.v != VERSION {
            return Err(ReadError::Version { line, found: head.v });
        }
        serde_json::from_str(text).map_err(fault)
    })
}

// Sinks: the destinations of trace lines.

/// Receives the lines of a trace, each as soon as it is written.
pub trait Sink {
    /// Receives a line.
    ///
    /// # Errors
    /// The line cannot be written. The run ends with this error.
    fn line(&mut self, line: &Line) -> io::Result<()>;

    /// Whether nobody reads the lines. Then they are not built, only counted.
    fn is_deaf(&self) -> bool {
        false
    }
}

/// A sink that discards all lines.
impl Sink for () {
    fn line(&mut self, _line: &Line) -> io::Result<()> {
        Ok(())
    }

    fn is_deaf(&self) -> bool {
        true
    }
}

/// A sink that collects all lines.
impl Sink for Vec<Line> {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.push(line.clone());
        Ok(())
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        (**self).line(line)
    }

    fn is_deaf(&self) -> bool {
        (**self).is_deaf()
    }
}

impl<S: Sink> Sink for Option<S> {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.as_mut().map_or(Ok(()), |sink| sink.line(line))
    }

    fn is_deaf(&self) -> bool {
        self.as_ref().is_none_or(Sink::is_deaf)
    }
}

/// A sink that passes each line to both, in this order.
impl<A: Sink, B: Sink> Sink for (A, B) {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.0.line(line)?;
        self.1.line(line)
    }

    fn is_deaf(&self) -> bool {
        self.0.is_deaf() && self.1.is_deaf()
    }
}

/// Writes one JSON object per line, with invisible characters escaped. Each line is flushed, so that it is there even if the process is
/// killed.
#[derive(Debug)]
pub struct JsonLines<W: Write>(pub W);

impl<W: Write> Sink for JsonLines<W> {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        // One write per line, so that a full disk or a killed process is less likely to leave half a line.
        let text = serde_json::to_string(line)?;
        let mut text = visible::json(&text).into_owned();
        text.push('\n');
        self.0.write_all(text.as_bytes())?;
        self.0.flush()
    }
}

// The log of a world: the trace lines of many agents in one file.

/// A line of the log of a world: a trace line, with the agent to which it belongs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Logged {
    /// The name of the agent; empty for the world itself.
    pub agent: String,
    /// For a host event, the agent that has caused it, and the place in that agent's trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Cause>,
    /// The trace line.
    #[serde(flatten)]
    pub line: Line,
}

/// The cause of an event, as a place in the log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cause {
    /// The agent that has acted; empty for the world itself.
    pub agent: String,
    /// The `seq` of the agent's last line before the action. Its `acted` line is the next one.
    pub seq: u64,
}

impl Logged {
    /// The line as JSON with a line feed at the end. Invisible characters are escaped.
    pub fn text(&self) -> serde_json::Result<String> {
        let mut text = visible::json(&serde_json::to_string(self)?).into_owned();
        text.push('\n');
        Ok(text)
    }
}
