//! One view of a trace, which everything that shows traces reads.
//!
//! **The problem.** A trace has some 55 kinds of lines, because it must be enough to run a run again. A reader wants to know less: a call
//! has begun, and has ended like this; a step, an event or an action came to that. If each display told the kinds apart, a new kind would
//! be an edit in each of them.
//!
//! **The idea.** [`TraceEvent`] is what a line tells: when, of which chart, about what, and one of few shapes, [`Happening`]. Kinds that
//! differ only in how something came out share a shape: eight kinds are a [`Happening::CallEnded`]. Only this module matches on the kinds.
//! The words for reasons, which displays share, are in [`TraceEvent::words`] and in the functions below it.
//!
//! **Example.**
//!
//! ```text
//! question, step triage             CallBegun, subject `triage`
//! usage, step triage                CallUsage
//! unusable, why "names no option"   CallEnded, Unusable: "no usable answer", "names no option", bad
//! fallback, why "unusable"          Step, Fallback: "else", "no usable answer, so `else`", bad
//! ```

use super::{HostCall, Line, LineName, What, Which};
use chartc_core::expr::{Duration, Value};
use chartc_core::machine::Instant;
use chartc_core::wording::{counted, error_event};

/// What a line of a trace tells.
#[derive(Debug, Clone, Copy)]
pub struct TraceEvent<'l> {
    /// The time on the run's clock.
    pub at_ms: Instant,
    /// The number of the line.
    pub seq: u64,
    /// The path of the chart; empty for the run's own.
    pub child: &'l str,
    /// The step, or the subject of a note; empty for neither.
    pub subject: &'l str,
    /// The attempt of the step, from 1.
    pub attempt: u32,
    /// What happened.
    pub what: Happening<'l>,
}

/// What happened, by shape.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the fields are those of the kinds of lines")]
pub enum Happening<'l> {
    /// A run begins. The hash is that of its chart; empty if the host has set the calls per turn, which changes it.
    Begun { chart: &'l str, oracle: &'l str, hash: &'l str },
    /// A saved run continues.
    Resumed { chart: &'l str, oracle: &'l str },
    /// A run has ended.
    Ended { status: &'l str, result: &'l Value, summary: Option<&'l str> },
    /// A turn begins.
    Turn(u32),
    /// A turn has ended.
    TurnEnded,
    /// A state was entered.
    Entered(&'l str),
    /// A state was exited.
    Exited(&'l str),
    /// A transition was decided on.
    Transition(&'l LineName, Fate<'l>),
    /// The host has set an input.
    Input { name: &'l str, value: &'l Value },
    /// An event has reached a chart, or not.
    Event { event: &'l str, fate: EventFate<'l> },
    /// The chart has sent an event to another chart.
    Message { event: &'l str, to: &'l str, fate: MessageFate },
    /// A call of a model, a person or a tool begins.
    CallBegun(CallName<'l>, Request<'l>),
    /// A call has ended.
    CallEnded(CallName<'l>, Outcome<'l>),
    /// The use of a call is known.
    CallUsage(CallName<'l>, CallUsage),
    /// A step goes on.
    Step(StepPhase<'l>),
    /// An option was chosen. `is_asked`: by the model.
    Chosen { option: &'l str, is_asked: bool },
    /// A tool was chosen by the model.
    ToolChosen(&'l str),
    /// The model has named a tool that may not be called in this state.
    Forbidden { state: &'l str, tool: &'l str },
    /// The walk of a turn ended before its last step.
    WalkEnded { why: &'l str, region: &'l str },
    /// An error was raised.
    Error(&'l str),
    /// A soft limit was reached.
    Warned(&'l str),
    /// An agent has tried an action, or its turn has chosen none. The reason is empty for success.
    Action { action: Option<(&'l str, &'l Value)>, outcome: ActionOutcome<'l> },
    /// An event of the world.
    World { event: &'l str, data: &'l Value },
    /// A note of the chart's own code, or of a call that it makes.
    Note { text: &'l str, call: Option<&'l HostCall> },
    /// A note of the host.
    HostNote(&'l str),
    /// Nothing that a reader is told.
    Detail,
}

/// The fate of a transition.
#[derive(Debug, Clone, Copy)]
pub enum Fate<'l> {
    /// It was taken; the alternatives of its guard that held.
    Taken(&'l [String]),
    /// It was not taken, because of `guard`, `fault`, `scope` or `preempted`.
    Lost(&'l str),
    /// No `allow` line permits its target.
    Denied,
}

/// The fate of an event at a chart.
#[derive(Debug, Clone, Copy)]
pub enum EventFate<'l> {
    /// It is handled; its data.
    Handled(&'l Value),
    /// An event that the chart has sent itself is handled.
    Delivered,
    /// An active state defers it, so it is kept.
    Deferred,
    /// A deferred event is handled again.
    Recalled,
    /// No transition handles it.
    Refused,
    /// No transition of this chart handles it, so its child charts are offered it.
    PassedOn,
    /// The run does not take it in, because it is `closed` or `busy`.
    NotTaken(&'l str),
}

/// The fate of an event for another chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageFate {
    /// It is on its way.
    Posted,
    /// It did not reach the other chart.
    Undelivered,
    /// It was taken back.
    Canceled,
}

/// The name of a call: what tells it from other open calls of its chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallName<'l> {
    /// The step, or the tool.
    pub name: &'l str,
    /// Who is called.
    pub callee: Callee,
    /// The region or the element.
    pub which: &'l Which,
}

/// Who is called. A line that does not tell a model from a person says `Model`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Callee {
    Model,
    Person,
    Tool,
}

impl CallName<'_> {
    /// Whether it is a call of a tool.
    pub fn is_tool(&self) -> bool {
        self.callee == Callee::Tool
    }
}

/// What a call asks.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the fields are those of the kinds of lines")]
pub enum Request<'l> {
    /// A question to a model or a person.
    Question { client: &'l str, prompt: &'l str, options: &'l [String] },
    /// The arguments of a tool.
    Arguments(&'l Value),
}

/// How a call has ended.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the fields are those of the kinds of lines")]
pub enum Outcome<'l> {
    /// A usable answer.
    Answer {
        text: &'l str,
        rung: &'l str,
        repairs: &'l [String],
        option: Option<&'l str>,
        value: &'l Value,
    },
    /// The result of a tool.
    Returned(&'l Value),
    /// An answer that cannot be used, with the reason.
    Unusable(&'l str),
    /// No answer.
    Failed(CallFailure<'l>),
    /// The call is given up, because its state was left. The line does not say whether a model or a tool was called.
    GivenUp,
    /// The answer came too late.
    Late,
}

/// Why a call brought no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallFailure<'l> {
    /// The kind of the error, such as `timeout`.
    pub error: &'l str,
    /// The reason.
    pub why: &'l str,
    /// Whether it is unknown if the call took effect, so that it is not made again.
    pub doubt: bool,
}

impl CallFailure<'_> {
    /// What became of the call, to follow its name.
    pub fn fate(&self) -> &'static str {
        if self.doubt { "in doubt" } else { "failed" }
    }
}

/// The use of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the fields are those of `usage`")]
pub struct CallUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost: f64,
    pub assumed: bool,
    pub cut: bool,
    pub allowed: Option<u64>,
}

/// How a step goes on.
#[derive(Debug, Clone, Copy)]
pub enum StepPhase<'l> {
    /// It has started for this leaf.
    Started(&'l str),
    /// Its `if` is false.
    Skipped,
    /// It, or this element of it, has succeeded.
    Done(Option<u32>),
    /// It, or this element of it, has failed for good.
    Failed(Option<u32>),
    /// A further attempt is made.
    Retried,
    /// The next attempt waits until this time.
    Waiting(Instant),
    /// The next attempt would have to wait so long, in milliseconds, which is longer than the second number.
    NotRetried(u64, u64),
    /// A fallback is used, for this reason.
    Fallback(&'l str),
}

/// The outcome of an action.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the fields are those of `acted`")]
pub struct ActionOutcome<'l> {
    pub value: &'l Value,
    pub changes: &'l [String],
    /// The name of the failure; empty for none.
    pub failed: &'l str,
    pub why: &'l str,
}

impl Line {
    /// What the line tells.
    pub fn event(&self) -> TraceEvent<'_> {
        let (subject, attempt, what) = seen(&self.what);
        TraceEvent { at_ms: self.at_ms, seq: self.seq, child: &self.child, subject, attempt, what }
    }
}

/// The subject of a line, the attempt, and what happened.
fn seen(what: &What) -> (&str, u32, Happening<'_>) {
    let of_run = match what {
        What::Run { chart, oracle, hash, calls_per_turn, .. } => {
            let hash = if calls_per_turn.is_some() { "" } else { hash };
            Happening::Begun { chart, oracle, hash }
        }
        What::Resumed { chart, oracle, .. } => Happening::Resumed { chart, oracle },
        What::Ended { status, result, summary } => {
            Happening::Ended { status, result, summary: summary.as_deref() }
        }
        What::Turn { turn } => Happening::Turn(*turn),
        What::TurnEnded { .. } => Happening::TurnEnded,
        What::Entered { state } => Happening::Entered(state),
        What::Exited { state } => Happening::Exited(state),
        What::Taken { line, held } => Happening::Transition(line, Fate::Taken(held)),
        What::Lost { line, why } => Happening::Transition(line, Fate::Lost(why)),
        What::Denied { line } => Happening::Transition(line, Fate::Denied),
        What::Input { name, value } => Happening::Input { name, value },
        What::Event { event, data } => event_with(event, EventFate::Handled(data)),
        What::Delivered { event } => event_with(event, EventFate::Delivered),
        What::Deferred { event } => event_with(event, EventFate::Deferred),
        What::Recalled { event } => event_with(event, EventFate::Recalled),
        What::Refused { event } => event_with(event, EventFate::Refused),
        What::PassedOn { event } => event_with(event, EventFate::PassedOn),
        What::NotTaken { input, why, .. } => event_with(input, EventFate::NotTaken(why)),
        What::Posted { event, to } => Happening::Message { event, to, fate: MessageFate::Posted },
        What::Undelivered { event, to } => {
            Happening::Message { event, to, fate: MessageFate::Undelivered }
        }
        What::SendCanceled { event } => {
            Happening::Message { event, to: "", fate: MessageFate::Canceled }
        }
        What::Chosen { option } => Happening::Chosen { option, is_asked: true },
        What::Unasked { option } => Happening::Chosen { option, is_asked: false },
        What::Error { error } => Happening::Error(error),
        What::Warned { limit } => Happening::Warned(limit),
        What::World { event, data } => return ("world", 1, Happening::World { event, data }),
        What::Note { text, call } => Happening::Note { text, call: call.as_ref() },
        What::HostNote { about, text } => return (about, 1, Happening::HostNote(text)),
        _ => return seen_of_step(what),
    };
    ("", 1, of_run)
}

fn event_with<'l>(event: &'l str, fate: EventFate<'l>) -> Happening<'l> {
    Happening::Event { event, fate }
}

/// What a line about a step or a tool tells.
fn seen_of_step(what: &What) -> (&str, u32, Happening<'_>) {
    use Happening::{CallBegun, CallEnded, Step};
    let tool = |name, which| CallName { name, callee: Callee::Tool, which };
    match what {
        What::ToolCall { step, tool: name, arguments, which } => {
            (step, 1, CallBegun(tool(name, which), Request::Arguments(arguments)))
        }
        What::ToolResult { step, tool: name, value, which } => {
            (step, 1, CallEnded(tool(name, which), Outcome::Returned(value)))
        }
        What::ToolFailed { step, tool: name, error, why, doubt, which, .. } => {
            let failure = CallFailure { error, why, doubt: *doubt };
            (step, 1, CallEnded(tool(name, which), Outcome::Failed(failure)))
        }
        What::Started { step, state, attempt, .. } => {
            (step, *attempt, Step(StepPhase::Started(state)))
        }
        What::Called { step, tool, .. } => (step, 1, Happening::ToolChosen(tool)),
        What::Forbidden { step, state, tool } => (step, 1, Happening::Forbidden { state, tool }),
        What::Waiting { step, attempt, until_ms, .. } => {
            (step, *attempt, Step(StepPhase::Waiting(*until_ms)))
        }
        What::NotRetried { step, attempt, wanted_ms, most_ms, .. } => {
            (step, *attempt, Step(StepPhase::NotRetried(*wanted_ms, *most_ms)))
        }
        What::Retried { step, attempt, .. } => (step, *attempt, Step(StepPhase::Retried)),
        What::Skipped { step } => (step, 1, Step(StepPhase::Skipped)),
        What::Done { step, element } => (step, 1, Step(StepPhase::Done(*element))),
        What::Failed { step, element } => (step, 1, Step(StepPhase::Failed(*element))),
        What::Fallback { step, why } => (step, 1, Step(StepPhase::Fallback(why))),
        What::WalkEnded { why, step, region } => {
            (step.as_deref().unwrap_or_default(), 1, Happening::WalkEnded { why, region })
        }
        What::Acted { step, action, arguments, value, changes, failed, why, .. } => {
            let outcome = ActionOutcome { value, changes, failed, why };
            (step, 1, Happening::Action { action: Some((action, arguments)), outcome })
        }
        What::NotActed { step, failed, why } => {
            let outcome = ActionOutcome { value: &Value::None, changes: &[], failed, why };
            (step, 1, Happening::Action { action: None, outcome })
        }
        _ => seen_of_question(what),
    }
}

/// What a line about a question tells.
fn seen_of_question(what: &What) -> (&str, u32, Happening<'_>) {
    use Happening::{CallBegun, CallEnded, CallUsage as Used};
    let model = |name, which| CallName { name, callee: Callee::Model, which };
    // Only a question to a person has an id.
    let whom = |id: &str| if id.is_empty() { Callee::Model } else { Callee::Person };
    let asked = |id: &str, name, which| CallName { name, callee: whom(id), which };
    match what {
        What::Question { id, step, attempt, client, prompt, options, which } => {
            let request = Request::Question { client, prompt, options };
            (step, *attempt, CallBegun(asked(id, step, which), request))
        }
        What::Answer { id, step, attempt, text, rung, repairs, option, value, which } => {
            let option = option.as_deref();
            let outcome = Outcome::Answer { text, rung, repairs, option, value };
            (step, *attempt, CallEnded(asked(id, step, which), outcome))
        }
        What::Unusable { id, step, attempt, why, which, .. } => {
            (step, *attempt, CallEnded(asked(id, step, which), Outcome::Unusable(why)))
        }
        What::CallFailed { step, attempt, error, why, doubt, which, .. } => {
            let failure = CallFailure { error, why, doubt: *doubt };
            (step, *attempt, CallEnded(model(step, which), Outcome::Failed(failure)))
        }
        What::Cancelled { step, attempt, which } => {
            (step, *attempt, CallEnded(model(step, which), Outcome::GivenUp))
        }
        What::Dropped { step, attempt, which } => {
            (step, *attempt, CallEnded(model(step, which), Outcome::Late))
        }
        What::Usage {
            step,
            input_tokens,
            output_tokens,
            cost,
            assumed,
            cut,
            allowed,
            which,
            ..
        } => {
            let usage = CallUsage {
                input_tokens: *input_tokens,
                output_tokens: *output_tokens,
                cost: *cost,
                assumed: *assumed,
                cut: *cut,
                allowed: *allowed,
            };
            (step, 1, Used(model(step, which), usage))
        }
        _ => ("", 1, Happening::Detail),
    }
}

// The words for what happened.

/// How much a reader should mind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Nothing special.
    Plain,
    /// An input, such as an event or a turn.
    Input,
    /// The run has moved.
    Good,
    /// A failure, refusal or fallback.
    Bad,
    /// A detail.
    Faint,
}

/// What happened in few words, beside the subject, and its reason; either may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are described together")]
pub struct Words {
    pub tone: Tone,
    pub text: String,
    pub why: String,
}

impl TraceEvent<'_> {
    /// The number of the tick that the world sums up.
    pub fn tick(&self) -> Option<u64> {
        let Happening::World { event: "tick_summary", data: Value::Map(data) } = self.what else {
            return None;
        };
        match data.get("tick") {
            Some(Value::Int(tick)) => u64::try_from(*tick).ok(),
            Some(_) | None => None,
        }
    }

    /// The decision or the input that the line records, in words. `None` if it is neither.
    pub fn words(&self) -> Option<Words> {
        use Tone::{Bad, Faint, Input, Plain};
        Some(match self.what {
            Happening::Begun { chart, .. } if !self.child.is_empty() => {
                Words::new(Faint, format!("runs {chart}"), "")
            }
            Happening::Resumed { oracle, .. } => {
                Words::new(Input, "goes on", format!("answered by {oracle}"))
            }
            Happening::Ended { status, result, summary } => {
                let why = summary.map_or_else(|| value(result), str::to_owned);
                Words::new(Input, format!("ended {status}"), why)
            }
            Happening::Input { name, value: given } => {
                Words::new(Faint, format!("{name} = {}", value(given)), "")
            }
            Happening::Event { event, fate } => return event_words(event, fate),
            Happening::Message { event, to, fate } => match fate {
                MessageFate::Posted => Words::new(Plain, format!("sends {event} to {to}"), ""),
                MessageFate::Undelivered => {
                    Words::new(Bad, format!("sends {event} to {to}"), "it cannot take it")
                }
                MessageFate::Canceled => Words::new(Faint, format!("takes {event} back"), ""),
            },
            Happening::Transition(_, Fate::Denied) => {
                Words::new(Bad, "denied", "no `allow` line permits it")
            }
            Happening::Error(error) => Words::new(Bad, error_event(error), ""),
            Happening::Warned(limit) => Words::new(Bad, format!("limit.warn.{limit}"), ""),
            Happening::World { event, data } => Words::new(Faint, event, value(data)),
            Happening::Note { text, call: None } | Happening::HostNote(text) => {
                Words::new(Faint, "note", text)
            }
            _ => return self.step_words(),
        })
    }

    fn step_words(&self) -> Option<Words> {
        use Tone::{Bad, Faint, Plain};
        Some(match self.what {
            Happening::Chosen { option, is_asked: false } => {
                Words::new(Plain, option, "the only option")
            }
            Happening::WalkEnded { why: "failed", .. } => Words::new(Bad, "the turn fails", ""),
            Happening::Forbidden { state: at, tool } => {
                Words::new(Bad, tool, format!("it may not be called in {}", state(at)))
            }
            Happening::Action { action: Some((name, arguments)), outcome } => {
                let tone = if outcome.failed.is_empty() { Plain } else { Bad };
                Words::new(tone, action_call(name, arguments), outcome.words())
            }
            Happening::Action { outcome, .. } => Words::new(Bad, "no action", outcome.reason()),
            Happening::Step(StepPhase::Waiting(until)) => {
                let wait = time(until.saturating_sub(self.at_ms));
                Words::new(Faint, format!("waits {wait}"), "")
            }
            Happening::Step(StepPhase::NotRetried(wanted, most)) => {
                let why = format!("wait {} wanted, {} at most", time(wanted), time(most));
                Words::new(Bad, "not tried again", why)
            }
            Happening::Step(StepPhase::Fallback(why)) => {
                Words::new(Bad, if why == "no_line" { "stays" } else { "else" }, fallback(why))
            }
            Happening::CallBegun(call, Request::Arguments(arguments)) => {
                let text = format!("{} {}", call.name, value(arguments));
                Words::new(Plain, text.trim_end(), "")
            }
            Happening::CallUsage(_, CallUsage { output_tokens, allowed: Some(most), .. }) => {
                let why = format!(
                    "the server reports {output_tokens} output tokens, {most} were allowed"
                );
                Words::new(Bad, "too many tokens", why)
            }
            Happening::CallEnded(call, outcome) => outcome_words(call, outcome),
            _ => return None,
        })
    }
}

impl Words {
    fn new(tone: Tone, text: impl Into<String>, why: impl Into<String>) -> Self {
        Self { tone, text: text.into(), why: why.into() }
    }
}

fn event_words(event: &str, fate: EventFate<'_>) -> Option<Words> {
    let named = format!("event {event}");
    Some(match fate {
        EventFate::Handled(data) => {
            Words::new(Tone::Input, format!("{named} {}", value(data)).trim_end(), "")
        }
        EventFate::Delivered => Words::new(Tone::Input, named, "sent by the chart"),
        EventFate::Deferred => Words::new(Tone::Plain, named, "deferred"),
        EventFate::Recalled => Words::new(Tone::Input, named, "recalled"),
        EventFate::Refused => Words::new(Tone::Bad, named, "nothing handles it now"),
        EventFate::NotTaken(why) => {
            let named = if event == "turn" { "a turn" } else { &named };
            Words::new(Tone::Bad, named, not_taken(why))
        }
        EventFate::PassedOn => return None,
    })
}

fn outcome_words(call: CallName<'_>, outcome: Outcome<'_>) -> Words {
    let of_tool = if call.is_tool() { format!("{} ", call.name) } else { String::new() };
    match outcome {
        Outcome::Answer { rung, repairs, option, value, .. } => {
            let how = match rung {
                "mention" => "the only option it mentions".into(),
                _ => repairs.join(", "),
            };
            let why = joined("; ", &[&how, &reason(value)]);
            Words::new(Tone::Plain, decision(option, value), why)
        }
        Outcome::Returned(result) => {
            let text = format!("{of_tool}returns {}", value(result));
            Words::new(Tone::Plain, text.trim_end(), "")
        }
        Outcome::Unusable(why) => Words::new(Tone::Bad, "no usable answer", why),
        Outcome::Failed(failure) => {
            let text = format!("{of_tool}{}: {}", failure.fate(), failure.error);
            Words::new(Tone::Bad, text, failure.why)
        }
        Outcome::GivenUp => Words::new(Tone::Faint, "given up", "its state was left"),
        Outcome::Late => Words::new(Tone::Bad, "too late", "the answer is dropped"),
    }
}

impl ActionOutcome<'_> {
    /// The result and the changes, or the reason of the failure, shortened.
    pub fn words(&self) -> String {
        let changes = self.changes.join(", ");
        match (self.failed, self.value, changes.as_str()) {
            ("", Value::None, "") => "ok".into(),
            ("", Value::None, _) => changes,
            ("", value, "") => short(&json(value)),
            ("", value, _) => format!("{} ({changes})", short(&json(value))),
            _ => short(&self.reason()),
        }
    }

    /// The failure and its reason.
    pub fn reason(&self) -> String {
        format!("{}: {}", self.failed, self.why)
    }
}

/// The parts that are not empty.
pub fn joined(between: &str, parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join(between)
}

/// The maximum number of characters of an answer that are shown.
const SHOWN: usize = 100;

/// A text on one line, shortened.
pub fn short(text: &str) -> String {
    let line = text.replace('\n', " ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// A value as JSON.
pub fn json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A value on one line: a text verbatim, anything else as JSON.
pub fn value(value: &Value) -> String {
    let text = match value {
        Value::Text(text) => text.clone(),
        Value::Map(map) if map.is_empty() => String::new(),
        _ => json(value),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The answer of a model: an option with its arguments, an action, or a value.
pub fn decision(option: Option<&str>, said: &Value) -> String {
    match (option, said) {
        (Some(option), Value::List(arguments)) => {
            let arguments: Vec<String> = arguments.iter().map(value).collect();
            format!("{option}({})", arguments.join(", "))
        }
        (Some(option), Value::None) => option.to_owned(),
        (Some(option), other) => format!("{option} {}", value(other)),
        (None, _) => action_of(said).map_or_else(|| value(said), |(action, _)| action.to_owned()),
    }
}

/// The reason that the model gives for an action; empty if it gives none.
fn reason(said: &Value) -> String {
    action_of(said).map_or_else(String::new, |(_, why)| why.map_or_else(String::new, value))
}

/// The action that a value names, and its reason.
pub fn action_of(said: &Value) -> Option<(&str, Option<&Value>)> {
    let Value::Map(map) = said else { return None };
    let Some(Value::Text(action)) = map.get("action") else { return None };
    Some((action, map.get("reasoning").filter(|why| matches!(why, Value::Text(_)))))
}

/// An action of an agent, with the artifact that it is about.
pub fn action_call(action: &str, arguments: &Value) -> String {
    let about = match arguments {
        Value::Map(map) => map.get("artifact_id").or_else(|| map.get("artifact")),
        _ => None,
    };
    match about {
        Some(Value::Text(id)) => format!("{action} {id}"),
        Some(_) | None => action.to_owned(),
    }
}

/// The reason of a fallback.
pub fn fallback(why: &str) -> &str {
    match why {
        "no_option" => "no option is enabled, so `else`",
        "unusable" => "no usable answer, so `else`",
        "stale" => "the option no longer holds, so `else`",
        "failed" => "the call failed, so `else`",
        "no_line" => "no outcome line holds, so the state stays",
        other => other,
    }
}

/// The reason why an input was not taken.
pub fn not_taken(why: &str) -> &str {
    match why {
        "closed" => "the run has ended",
        "busy" => "a turn is being walked",
        other => other,
    }
}

/// The name of a state; `*` for the chart itself.
pub fn state(path: &str) -> &str {
    if path.is_empty() { "*" } else { path }
}

impl LineName {
    /// The trigger, with the alternatives of the guard that held, as in `when: tries >= 3`.
    pub fn trigger(&self, held: &[String]) -> String {
        joined(": ", &[&self.trigger, &held.join("; ")])
    }

    /// The source and the targets. A target is shortened by the path that it shares with the source, as in `open.sorting -> .drafting`.
    pub fn way(&self) -> String {
        let from = state(&self.state);
        if self.targets.is_empty() {
            return format!("{from} (stays)");
        }
        let targets: Vec<&str> = self.targets.iter().map(|to| beside(from, to)).collect();
        format!("{from} -> {}", targets.join(", "))
    }
}

fn beside<'s>(from: &str, to: &'s str) -> &'s str {
    let mut shared = 0;
    for (end, _) in to.match_indices('.') {
        if from.get(..=end) == to.get(..=end) {
            shared = end;
        }
    }
    &to[shared..]
}

/// A time on the run's clock, or a duration, in at most two units.
pub fn time(ms: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000)];
    if ms < 60_000 && !ms.is_multiple_of(1000) {
        return if ms < 1000 { format!("{ms}ms") } else { format!("{:.1}s", ms as f64 / 1000.0) };
    }
    if ms < 60_000 {
        return Duration(ms).to_string();
    }
    // Two units are precise enough.
    let mut parts = Vec::new();
    let mut rest = ms;
    for (unit, millis) in UNITS {
        if rest >= millis || !parts.is_empty() {
            parts.push(format!("{}{unit}", rest / millis));
            rest %= millis;
        }
    }
    parts.push(format!("{}s", rest / 1000));
    parts.truncate(2);
    parts.concat()
}

/// Tokens and money, in millionths, with a comma before each; empty if no tokens are known.
pub fn spent(tokens: u64, cost: u64) -> String {
    let money = if cost > 0 { format!(", {:.4} spent", cost as f64 / 1e6) } else { String::new() };
    if tokens > 0 { format!(", {}{money}", counted(tokens, "token")) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        for (ms, text) in [
            (0, "0s"),
            (20, "20ms"),
            (1000, "1s"),
            (1500, "1.5s"),
            (60_000, "1m0s"),
            (3_610_000, "1h0m"),
            (93_600_000, "1d2h"),
        ] {
            assert_eq!(time(ms), text);
        }
    }

    #[test]
    fn what_two_states_are_in_is_left_out() {
        for (from, to, seen) in [
            ("a.b", "a.c", ".c"),
            ("a.b.c", "a.b.d.e", ".d.e"),
            ("ab.c", "a.c", "a.c"),
            ("a", "a.b", "a.b"),
            ("a.b", "a", "a"),
            ("*", "a", "a"),
        ] {
            assert_eq!(beside(from, to), seen, "{from} {to}");
        }
    }
}
