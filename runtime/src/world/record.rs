//! What an agent has done and what came of it: the part of its context that grows from turn to turn.

use super::action::Action;
use super::event::Event;
use super::host::{Done, Failure, FailureKind};
use chartc_core::expr::{Map, Value};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Actions that are kept.
pub const HISTORY: usize = 15;
/// Failures that are kept.
pub const FAILURES: usize = 5;
/// Bytes of a result that the next turn is told of.
const RESULT: usize = 4000;
/// Bytes of a result in the history.
const SHORT: usize = 120;

/// An agent's record.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Record {
    /// The agent's name in its world.
    pub agent: String,
    /// The actions done last, the oldest first.
    pub history: VecDeque<Entry>,
    /// Actions, refused ones among them; `noop` is none.
    pub taken: u64,
    /// Those that succeeded.
    pub succeeded: u64,
    /// Artifacts that were written.
    pub written: u64,
    /// What failed last, of thinking and of doing, the oldest first.
    pub failures: VecDeque<Entry>,
    /// `SUCCESS: …` or `FAILED: …` of the last action or of the thinking that brought none.
    pub last: String,
    /// What the agent keeps in mind, where its world has no record of it.
    pub working_memory: Map,
    /// It had none when its last turn began, which is told once.
    pub is_mindless: bool,
    /// Bytes of the working memory that was cut when its last turn began, which is told once; 0 where it was not.
    pub cut_from: usize,
}

/// When an action was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct When {
    /// The turn of the agent.
    pub(crate) turn: u32,
    /// The tick of the world, if it has ticks.
    pub(crate) tick: Option<u32>,
    /// The last event of the world; 0 if it has none.
    pub(crate) number: u64,
}

/// An action, or a turn that brought none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number among the actions, from 1; of a turn that brought none 0.
    pub nth: u64,
    /// The turn.
    pub turn: u32,
    /// The tick of the world; the turn in a world without ticks.
    #[serde(default)]
    pub tick: u64,
    /// The last event of the world when it was done; of a world without events the number of the action.
    #[serde(default)]
    pub number: u64,
    /// The action's word, or the step that brought none.
    pub action: String,
    /// What it was about.
    pub artifact: Option<String>,
    /// The name of the failure.
    pub failed: Option<FailureKind>,
    /// What came of it, in short.
    pub result: String,
}

impl Record {
    /// Of an agent that has not done anything.
    pub fn new(agent: &str) -> Self {
        Self { agent: agent.to_owned(), ..Self::default() }
    }

    /// Keeps what came of an action.
    pub(crate) fn act(
        &mut self,
        when: When,
        word: &str,
        action: Option<&Action>,
        result: &Result<Done, Failure>,
    ) {
        self.taken += 1;
        let text = match result {
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

    /// Keeps why a turn brought no action.
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

    /// Whether the last three actions were on one artifact.
    pub fn repeats(&self) -> bool {
        let mut last = self.history.iter().rev().take(3).map(|entry| entry.artifact.as_deref());
        let Some(Some(first)) = last.next() else { return false };
        self.history.len() >= 3 && last.all(|artifact| artifact == Some(first))
    }

    /// The share of actions that succeeded; 0 before the first.
    pub fn success_rate(&self) -> f64 {
        self.succeeded as f64 / self.taken.max(1) as f64
    }

    /// The history as text, a numbered line an action.
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
    /// As an event of its world, done by `agent`, with the `error` and the `result`.
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

/// A result in words: texts as they are, what has none as `ok`.
fn said(value: &Value) -> String {
    match value {
        Value::None => "ok".into(),
        Value::Text(text) => text.clone(),
        Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Duration(_)
        | Value::List(_)
        | Value::Map(_) => serde_json::to_string(value).unwrap_or_default(),
    }
}

/// At most so many bytes and what is missing in words; the cut is between characters.
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
    /// Shares a record.
    pub fn new(record: Record) -> Self {
        Self(Arc::new(Mutex::new(record)))
    }

    /// Looks at the record, or changes it.
    pub fn with<R>(&self, look: impl FnOnce(&mut Record) -> R) -> R {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
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
