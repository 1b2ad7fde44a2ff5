//! The record of an agent: its actions and their results. It is the part of the context that grows from turn to turn.

use super::{Done, Event, Failure, FailureKind};
use chartc_core::expr::{Map, Value};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of actions in the history.
pub const HISTORY: usize = 15;
/// The maximum number of failures that are kept.
pub const FAILURES: usize = 5;
/// The maximum length of the last result in the context, in bytes.
const RESULT: usize = 4000;
/// The maximum length of a result in the history, in bytes.
const SHORT: usize = 120;

/// The record of an agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Record {
    /// The name of the agent in its world.
    pub agent: String,
    /// The latest actions, oldest first; at most [`HISTORY`].
    pub history: VecDeque<Entry>,
    /// The number of actions, including failed ones. `noop` does not count.
    pub taken: u64,
    /// The number of actions that succeeded.
    pub succeeded: u64,
    /// The number of artifacts that were written.
    pub written: u64,
    /// The latest failures of actions and of turns without one, oldest first; at most [`FAILURES`].
    pub failures: VecDeque<Entry>,
    /// The result of the last action, or of the last turn that failed to choose one: `SUCCESS: …` or `FAILED: …`.
    pub last: String,
    /// The working memory, if the world does not keep the agent's record.
    pub working_memory: Map,
    /// Whether the agent had no working memory when its last turn began. It is noted once.
    pub is_mindless: bool,
    /// The size of the working memory that was cut when the last turn began, in bytes; 0 if it was not. It is noted once.
    pub cut_from: usize,
}

/// The time of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct When {
    /// The number of the agent's turn.
    pub(crate) turn: u32,
    /// The tick of the world, if it has ticks.
    pub(crate) tick: Option<u32>,
    /// The number of the world's last event; 0 if it has none.
    pub(crate) number: u64,
}

/// An action in a record, or a turn that failed to choose one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The number of the action, from 1; 0 for a turn without one.
    pub nth: u64,
    /// The number of the turn.
    pub turn: u32,
    /// The tick of the world; in a world without ticks, the turn.
    #[serde(default)]
    pub tick: u64,
    /// The number of the world's last event at that time; in a world without events, the number of the action.
    #[serde(default)]
    pub number: u64,
    /// The name of the action, or of the step that failed to choose one.
    pub action: String,
    /// The id of the artifact that it concerned.
    pub artifact: Option<String>,
    /// The kind of failure; `None` if it succeeded.
    pub failed: Option<FailureKind>,
    /// The result in words, shortened.
    pub result: String,
}

impl Record {
    /// Creates the record of an agent that has done nothing yet.
    pub fn new(agent: &str) -> Self {
        Self { agent: agent.to_owned(), ..Self::default() }
    }

    /// Adds an action and its result.
    pub(crate) fn act(
        &mut self,
        when: When,
        word: &str,
        action: Option<&Action>,
        result: &Result<Done, Failure>,
    ) {
        self.taken += 1;
        let text = match result {
            // A write has no value: the agent wants to know the changes.
            Ok(done) if done.value == Value::None && !done.changes.is_empty() => {
                done.changes.join(", ")
            }
            Ok(done) => said(&done.value),
            Err(failure) => failure.to_string(),
        };
        let mut entry = Entry {
            nth: self.taken,
            turn: when.turn,
            tick: u64::from(when.tick.unwrap_or(when.turn)),
            number: if when.number == 0 { self.taken } else { when.number },
            action: word.to_owned(),
            artifact: action.and_then(Action::artifact).map(str::to_owned),
            failed: None,
            result: cut(&text, SHORT),
        };
        match result {
            Ok(_) => {
                self.succeeded += 1;
                self.written += u64::from(matches!(action, Some(Action::Write { .. })));
                self.last = format!("SUCCESS: {}", cut(&text, RESULT));
            }
            Err(failure) => {
                entry.failed = Some(failure.kind);
                self.fail(entry.clone(), &text);
            }
        }
        self.history.push_back(entry);
        while self.history.len() > HISTORY {
            self.history.pop_front();
        }
    }

    /// Adds a turn that failed to choose an action.
    pub(crate) fn not_act(&mut self, when: When, step: &str, failure: &Failure) {
        let text = failure.to_string();
        let failed = Some(failure.kind);
        let result = cut(&text, SHORT);
        let (turn, tick) = (when.turn, u64::from(when.tick.unwrap_or(when.turn)));
        let (number, action) =
            (if when.number == 0 { self.taken } else { when.number }, step.to_owned());
        let entry = Entry { nth: 0, turn, tick, number, action, artifact: None, failed, result };
        self.fail(entry, &text);
    }

    fn fail(&mut self, entry: Entry, text: &str) {
        self.last = format!("FAILED: {}", cut(text, RESULT));
        self.failures.push_back(entry);
        while self.failures.len() > FAILURES {
            self.failures.pop_front();
        }
    }

    /// Whether the last three actions concerned the same artifact.
    pub fn repeats(&self) -> bool {
        let mut last = self.history.iter().rev().take(3).map(|entry| entry.artifact.as_deref());
        let Some(Some(first)) = last.next() else { return false };
        self.history.len() >= 3 && last.all(|artifact| artifact == Some(first))
    }

    /// The share of actions that succeeded, from 0 to 1; 0 before the first action.
    pub fn success_rate(&self) -> f64 {
        self.succeeded as f64 / self.taken.max(1) as f64
    }

    /// The history as text, one numbered line per action.
    pub fn told(&self) -> String {
        let line = |entry: &Entry| {
            let about = entry.artifact.as_deref().unwrap_or_default();
            let how = if entry.failed.is_some() { "FAILED" } else { "SUCCESS" };
            format!("{}. {}({about}) -> {how}: {}", entry.nth, entry.action, entry.result)
        };
        self.history.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

impl Entry {
    /// The entry as an event that `agent` has caused, with `error` and `result` as further fields.
    pub(crate) fn value(&self, agent: &str) -> Value {
        let text = |text: &str| Value::Text(text.to_owned());
        let event = match (self.failed, self.action.as_str()) {
            (Some(_), _) => "failed",
            (None, "read_artifact") => "read",
            (None, "write_artifact") => "written",
            (None, _) => "invoked",
        };
        let error = self.failed.map(|failed| ("error", text(failed.word())));
        let more: Vec<(&str, Value)> =
            error.into_iter().chain([("result", text(&self.result))]).collect();
        let event = Event {
            number: self.number,
            tick: self.tick,
            event,
            by: agent,
            action: &self.action,
            artifact: self.artifact.as_deref().unwrap_or_default(),
            success: self.failed.is_none(),
        };
        event.value(more.iter().map(|(name, value)| (*name, value)))
    }
}

/// A result in words. A text stays as it is; no value is `ok`.
fn said(value: &Value) -> String {
    match value {
        Value::None => "ok".into(),
        Value::Text(text) => text.clone(),
        _ => serde_json::to_string(value).unwrap_or_default(),
    }
}

/// Cuts a text to at most `most` bytes, at a character boundary, and adds how much is missing.
fn cut(text: &str, most: usize) -> String {
    let kept = super::working::cut(text, most);
    match text.len() - kept.len() {
        0 => kept.to_owned(),
        more => format!("{kept}… ({more} more bytes)"),
    }
}

/// A record that an agent and the functions of its chart share. Clones are the same record.
#[derive(Debug, Clone, Default)]
pub struct SharedRecord(Arc<Mutex<Record>>);

impl SharedRecord {
    /// Wraps a record.
    pub fn new(record: Record) -> Self {
        Self(Arc::new(Mutex::new(record)))
    }

    /// Calls `look` with the locked record.
    pub fn with<R>(&self, look: impl FnOnce(&mut Record) -> R) -> R {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

// Actions: reads the answer of an `llm` step as an action of the agent.

/// The actions of agents.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Does nothing.
    Noop,
    /// `read_artifact`: reads the content of an artifact.
    Read {
        /// The id of the artifact.
        artifact: String,
    },
    /// `write_artifact`: creates an artifact, or replaces its content.
    Write {
        /// The id of the artifact.
        artifact: String,
        /// The type of the artifact; `None` leaves it unchanged, or means `data` for a new one.
        ty: Option<String>,
        /// The content: a text, or any other JSON value.
        content: Value,
    },
    /// `invoke_artifact`: calls a method of an artifact.
    Invoke {
        /// The id of the artifact.
        artifact: String,
        /// The name of the method.
        method: String,
        /// The arguments, in order.
        arguments: Vec<Value>,
    },
}

/// The names of all actions.
pub const ACTIONS: [&str; 4] = [NOOP, "read_artifact", "write_artifact", "invoke_artifact"];
/// The name of the action that does nothing.
const NOOP: &str = "noop";
/// The keys of an answer that are not parameters of its action: the action itself and the model's reasons.
pub(crate) const REASONS: [&str; 5] =
    ["action", "reasoning", "thought_process", "situation_assessment", "action_rationale"];

/// The model's reason for an action: the first that its answer gives.
pub(crate) fn reason(action: &Map) -> Option<String> {
    let said = |name: &&str| match action.get(name) {
        Some(Value::Text(said)) if !said.trim().is_empty() => Some(said.clone()),
        Some(_) | None => None,
    };
    REASONS.iter().filter(|name| **name != "action").find_map(said)
}

impl Action {
    /// Reads an answer such as `{"action": "write_artifact", "artifact_id": "…", …}`. Also returns the keys of the answer that are not
    /// used.
    ///
    /// # Errors
    /// [`FailureKind::IntentRejected`]: the action is unknown, or a parameter is missing or has the wrong type.
    pub fn read(answer: &Map) -> Result<(Self, Vec<String>), Failure> {
        let word = word(answer)?;
        let mut used: Vec<&str> = REASONS.to_vec();
        let mut take = |names: [&'static str; 2]| {
            used.extend(names);
            names.iter().find_map(|name| answer.get(name)).cloned()
        };
        let text = |value: Option<Value>, name: &str| match value {
            Some(Value::Text(text)) if !text.is_empty() => Ok(text),
            Some(Value::Text(_)) => {
                Err(rejected(format!("`{name}` of `{word}` is empty: it is a text")))
            }
            Some(other) => {
                Err(rejected(format!("`{name}` of `{word}` is a text, not {}", other.kind())))
            }
            None => Err(rejected(format!("`{word}` needs `{name}`, a text"))),
        };
        let action = match word {
            NOOP => Self::Noop,
            "read_artifact" => {
                Self::Read { artifact: text(take(["artifact_id", "artifact"]), "artifact_id")? }
            }
            "write_artifact" => Self::Write {
                artifact: text(take(["artifact_id", "artifact"]), "artifact_id")?,
                ty: match take(["artifact_type", "type"]) {
                    None | Some(Value::None) => None,
                    some => Some(text(some, "artifact_type")?),
                },
                content: take(["content", "content"]).ok_or_else(|| {
                    rejected(format!("`{word}` needs `content`, a text or other data"))
                })?,
            },
            "invoke_artifact" => Self::Invoke {
                artifact: text(take(["artifact_id", "artifact"]), "artifact_id")?,
                method: text(take(["method", "method"]), "method")?,
                arguments: match take(["args", "arguments"]) {
                    None | Some(Value::None) => Vec::new(),
                    Some(Value::List(items)) => items,
                    // An object has the arguments by name, and is passed as one argument.
                    Some(named @ Value::Map(_)) => vec![named],
                    Some(other) => {
                        let why = format!("`args` of `{word}` is a list, not {}", other.kind());
                        return Err(rejected(why));
                    }
                },
            },
            _ => {
                return Err(rejected(format!(
                    "there is no action `{}`; there are {}",
                    super::cut(word, 60),
                    ACTIONS.join(", ")
                )));
            }
        };
        let unused = answer.iter().map(|(name, _)| name).filter(|name| !used.contains(name));
        let unused = unused.map(str::to_owned).collect();
        Ok((action, unused))
    }

    /// The id of the artifact that the action concerns.
    pub fn artifact(&self) -> Option<&str> {
        match self {
            Self::Noop => None,
            Self::Read { artifact }
            | Self::Write { artifact, .. }
            | Self::Invoke { artifact, .. } => Some(artifact),
        }
    }
}

fn rejected(why: String) -> Failure {
    Failure::new(FailureKind::IntentRejected, why)
}

/// The action that an answer names.
fn word(answer: &Map) -> Result<&str, Failure> {
    let why = match answer.get("action") {
        Some(Value::Text(word)) => return Ok(word),
        None => "the answer names no action",
        Some(_) => "`action` of the answer is not a text",
    };
    Err(rejected(format!("{why}: it is one of {}", ACTIONS.join(", "))))
}

/// Whether an answer asks for an action other than `noop`. It may be an unknown or malformed one.
pub(crate) fn is_action(answer: &Map) -> bool {
    !matches!(answer.get("action"), Some(Value::Text(word)) if word == NOOP)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(turn: u32) -> When {
        When { turn, ..When::default() }
    }

    fn read(id: &str) -> Action {
        Action::Read { artifact: id.to_owned() }
    }

    fn ok(value: Value) -> Result<Done, Failure> {
        Ok(Done { value, changes: Vec::new() })
    }

    #[test]
    fn history_and_failures_are_bounded_and_counts_are_not() {
        let mut record = Record::new("ada");
        for turn in 1..=40 {
            let result = if turn % 4 == 0 {
                Err(Failure::new(FailureKind::NotFound, "no"))
            } else {
                ok(Value::None)
            };
            record.act(at(turn), "read_artifact", Some(&read("a")), &result);
        }
        record.not_act(at(41), "think", &Failure::new(FailureKind::LlmError, "gone"));
        assert_eq!((record.taken, record.succeeded), (40, 30));
        assert_eq!((record.history.len(), record.failures.len()), (HISTORY, FAILURES));
        assert!(record.told().starts_with("26. read_artifact(a) -> SUCCESS: ok\n"));
        assert!(record.told().ends_with("\n40. read_artifact(a) -> FAILED: not_found: no"));
        assert_eq!(record.last, "FAILED: llm_error: gone");
        assert_eq!(record.failures.back().map(|f| f.nth), Some(0), "thinking is no action");
    }

    #[test]
    fn three_actions_on_one_artifact_repeat() {
        let mut record = Record::new("ada");
        let mut then = |id: &str| {
            record.act(at(1), "read_artifact", Some(&read(id)), &ok(Value::None));
            record.repeats()
        };
        let found = ["a", "a", "a", "b", "b", "a", "a", "a"].map(&mut then);
        assert_eq!(found, [false, false, true, false, false, false, false, true]);
        record.act(at(2), "dance", None, &Err(Failure::new(FailureKind::IntentRejected, "no")));
        assert!(!record.repeats(), "what is about nothing repeats nothing");
        for _ in 0..3 {
            record.act(at(2), "dance", None, &Err(Failure::new(FailureKind::IntentRejected, "no")));
        }
        assert!(!record.repeats());
    }

    #[test]
    fn a_long_result_is_cut_between_characters() {
        let mut record = Record::new("ada");
        record.act(at(1), "read_artifact", Some(&read("a")), &ok(Value::Text("👍".repeat(2000))));
        assert!(record.last.ends_with("👍… (4000 more bytes)"), "{}", record.last.len());
        assert!(record.history[0].result.ends_with("👍… (7880 more bytes)"));
    }
}

#[cfg(test)]
mod action_tests {
    use super::*;
    use crate::answer;
    use crate::form::{ActionForm, schema};
    use chartc_core::expr::Value;

    /// Whatever fits the schema is an action that can be done.
    #[test]
    fn what_fits_is_an_action() {
        for form in [ActionForm::Simple, ActionForm::Ooda] {
            let schema = schema(form);
            for seed in 0..40_u64 {
                let mut draws = seed;
                let mut pick = |below: u64| {
                    draws = draws.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (draws >> 33) % below.max(1)
                };
                let text =
                    crate::schema::example(schema, &mut pick).expect("it is small").to_string();
                let reading =
                    answer::value(&text, "").unwrap_or_else(|why| panic!("{text}: {why:?}"));
                let Value::Map(answer) = reading.meant else { panic!("{text}") };
                assert!(answer.get("reasoning").is_some(), "{text}");
                match Action::read(&answer) {
                    Ok((_, unused)) => assert_eq!(unused, [""; 0], "{text}"),
                    // A text may be empty, by the schema; an id may not.
                    Err(why) => assert!(why.to_string().contains("is a text"), "{text}: {why}"),
                }
            }
        }
    }
}
