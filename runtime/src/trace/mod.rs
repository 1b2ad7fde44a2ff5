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
mod logged;
mod parts;
mod read;
mod sink;

pub use describe::describe;
pub(crate) use describe::{taken, which};
pub use logged::{Cause, Logged};
pub use parts::{Origin, Which};
pub use read::{ReadError, lines, read};
pub use sink::{JsonLines, Sink};

use chartc_core::expr::Value;
use chartc_core::machine::Instant;
use serde::{Deserialize, Serialize};

/// The version of the format. New kinds and new fields do not change it; a changed meaning does.
pub const VERSION: u32 = 1;

/// A line of a trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// [`VERSION`].
    pub v: u32,
    /// From 1, without gaps.
    pub seq: u64,
    /// Milliseconds on the run's clock.
    pub at_ms: Instant,
    /// Which chart's record it is: the names of the `run` steps that lead to it, with slashes between; empty for the chart itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub child: String,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

/// The content of a line, by kind. States are dotted paths, empty for the chart itself; steps, events and options are names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the fields are described with their kind")]
pub enum What {
    /// The run begins: chart, its structural hash in hex, who answers, and params, inputs and vars just before the start; where the chart
    /// stands and how it is run, as far as that is said: [`Origin`].
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
    },
    /// The run was saved and goes on: chart, its structural hash in hex, and who answers now.
    Resumed { chart: String, hash: String, oracle: String },
    /// The host set an input.
    Input { name: String, value: Value },
    /// A host event begins, with its data.
    Event { event: String, data: Value },
    /// The chart has sent an event, which is due then on the run's clock.
    Sent { event: String, due_ms: Instant },
    /// A sent event begins: it is handled as one from the host.
    Delivered { event: String },
    /// An event leaves for another chart: `parent`, or the step that runs it.
    Posted { event: String, to: String },
    /// An event for another chart that did not reach it: there is none, or it has no such event.
    Undelivered { event: String, to: String },
    /// A sent event was taken back before it was due, or given up in a livelock.
    SendCanceled { event: String },
    /// A turn begins; its number from 1.
    Turn { turn: u32 },
    /// An event that nothing handled.
    Refused { event: String },
    /// An event that nothing in this chart handled, and that the charts it runs are offered.
    PassedOn { event: String },
    /// What the host sent was not taken: `closed` or `busy`. An event with its data, unless it has none.
    NotTaken {
        input: String,
        why: String,
        #[serde(default, skip_serializing_if = "is_none")]
        data: Value,
    },
    /// A candidate that was not taken: `guard`, `fault`, `scope`, `preempted`.
    Lost { line: LineName, why: String },
    /// A line was taken.
    Taken {
        line: LineName,
        /// If its guard is an `or`: the source text of each operand that held, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        held: Vec<String>,
    },
    /// A state was left.
    Exited { state: String },
    /// A state was entered.
    Entered { state: String },
    /// No `allow` line permits the line's target.
    Denied { line: LineName },
    /// A step was started for a leaf; attempts count from 1.
    Started {
        step: String,
        state: String,
        attempt: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        element: Option<u32>,
    },
    /// What was sent to the model, word for word, with the names of the options.
    Question {
        /// What an answer of a person names the question by; empty for a question to a model.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        id: String,
        step: String,
        attempt: u32,
        /// The client, where it is another than the step's own: one that the step's falls back to.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        client: String,
        prompt: String,
        options: Vec<String>,
        #[serde(flatten)]
        which: Which,
    },
    /// What it said, word for word, and what that means: `option` with `value` a list of arguments, or `value` alone; the rung of the
    /// ladder (`whole`, `cleaned`, `mention`) and what was put right.
    Answer {
        /// What an answer of a person names the question by; empty for a question to a model.
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
    /// What it said could not be used.
    Unusable {
        /// What an answer of a person names the question by; empty for a question to a model.
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
    /// The call brought no answer; `error` is its kind, such as `timeout`; how long the provider wants to be left alone.
    CallFailed {
        step: String,
        attempt: u32,
        error: String,
        why: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
        #[serde(flatten)]
        which: Which,
    },
    /// What a call took: tokens and, where prices are known, money; `assumed` where nobody says and what was held for it counts. `cut` where the
    /// answer was cut off at its limit of tokens, and `allowed` is that limit where the provider reports more.
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
    /// The next attempt begins only then, because the last one failed.
    Waiting {
        step: String,
        attempt: u32,
        until_ms: Instant,
        #[serde(flatten)]
        which: Which,
    },
    /// That attempt is not made, because the provider wants to be left alone for longer than a run waits at most: the step has failed.
    NotRetried {
        step: String,
        attempt: u32,
        wanted_ms: u64,
        most_ms: u64,
        #[serde(flatten)]
        which: Which,
    },
    /// A call under way was given up: the step's state was left.
    Cancelled {
        step: String,
        attempt: u32,
        #[serde(flatten)]
        which: Which,
    },
    /// The model's tool call began; `option` is the set that permits it, nothing for one of the `tools` of an `llm` step.
    Called { step: String, state: String, option: String, tool: String },
    /// What a tool was called with, by the model or by a `call` step.
    ToolCall {
        step: String,
        tool: String,
        arguments: Value,
        #[serde(flatten)]
        which: Which,
    },
    /// What it returned.
    ToolResult {
        step: String,
        tool: String,
        value: Value,
        #[serde(flatten)]
        which: Which,
    },
    /// It failed; `error` is the kind.
    ToolFailed {
        step: String,
        tool: String,
        error: String,
        why: String,
        #[serde(flatten)]
        which: Which,
    },
    /// The model's tool call ended, and its line may be taken.
    Returned {
        step: String,
        tool: String,
        #[serde(flatten)]
        which: Which,
    },
    /// The model's tool call failed: the state stays.
    NotReturned {
        step: String,
        tool: String,
        #[serde(flatten)]
        which: Which,
    },
    /// The model named a tool that may not be called in this state.
    Forbidden { step: String, state: String, tool: String },
    /// A step was passed over because its `if` was false.
    Skipped { step: String },
    /// A step, or an element of one, ended well.
    Done {
        step: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        element: Option<u32>,
    },
    /// The model chose an option.
    Chosen { option: String },
    /// The only option was taken unasked.
    Unasked { option: String },
    /// An attempt failed; another follows.
    Retried {
        step: String,
        attempt: u32,
        #[serde(flatten)]
        which: Which,
    },
    /// A step, or an element of one, failed for good.
    Failed {
        step: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        element: Option<u32>,
    },
    /// Something fell back: `no_option`, `unusable`, `stale`, `failed`, `no_line`.
    Fallback { step: String, why: String },
    /// A late answer, or one for a cancelled step.
    Dropped {
        step: String,
        attempt: u32,
        #[serde(flatten)]
        which: Which,
    },
    /// A walk ended before the end of the list: `calls`, `ends_turn`, `failed`, `ended`. With `calls` that of the `region`, empty for the
    /// chart; otherwise all walks of the turn.
    WalkEnded {
        why: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<String>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        region: String,
    },
    /// An error event was raised: `execution`, `livelock`, `limit.calls`, `stuck.dead`, …
    Error { error: String },
    /// A soft limit was reached: `calls`, `turns`, `time`.
    Warned { limit: String },
    /// A turn ended; its number.
    TurnEnded { turn: u32 },
    /// The run ended with this status, and the arguments of the final state; `summary` says what forced an end without one.
    Ended {
        status: String,
        result: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
    /// An agent has done what its turn has chosen: by which step, and with which arguments. What it brought and what that has
    /// changed, or the name of the failure and why.
    Acted {
        step: String,
        action: String,
        arguments: Value,
        #[serde(default, skip_serializing_if = "is_none")]
        value: Value,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<String>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        failed: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// An agent's turn has brought no action: `failed` is the name of the failure, `step` where it was.
    NotActed { step: String, failed: String, why: String },
    /// What prompts end with from now on, by the host; empty for nothing.
    Section { text: String },
    /// What the host says of what it did or left: `about` which part of it.
    HostNote { about: String, text: String },
    /// Something in the world of many agents, such as `transferred`, `minted`, `spawned` or `tick_summary`, with its particulars.
    World { event: String, data: Value },
    /// What the chart's own code says: `log`, reasons of faults, host calls; of these what a machine can read, too.
    Note {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<HostCall>,
    },
}

/// A call of a host function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostCall {
    /// Its name.
    pub function: String,
    /// What it was called with, in declared order.
    pub arguments: Vec<Value>,
    /// What it gave, before that was fitted to the declared type; none for an effect.
    #[serde(default, skip_serializing_if = "is_none")]
    pub value: Value,
    /// Why it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

fn is_none(value: &Value) -> bool {
    *value == Value::None
}

/// Which line of the chart is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineName {
    /// The state whose line it is.
    pub state: String,
    /// Its number among the lines of that state, from 1, in the order they are tried.
    pub nth: u32,
    /// Its first words, as `on e`, `when`, `may ship`, `done observe`.
    pub trigger: String,
    /// Where it leads; empty for a line that stays.
    pub targets: Vec<String>,
}

#[cfg(test)]
mod tests;
