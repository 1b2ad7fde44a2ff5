//! Parses data from outside: the payloads of events, and files of events.
//!
//! A file of events is a JSON array, or has one JSON object per line. An entry is one of `{"event": "e", "data": {…}}`,
//! `{"turn": {"an_input": 1}}` (or `{"event": "turn"}`) and `{"input": {"an_input": 1}}`. In a simulation, which asks no model,
//! it can also be `{"answer": …, "data": {…}, "step": "s"}`, `{"fail": "why"}`, `{"unusable": true}` or `{"doubt": true}`. With
//! `"after_ms": N`, that many milliseconds pass before the entry.

use crate::error::RunError;
use chartc_core::arena::EventId;
use chartc_core::expr::{Map, Value};
use chartc_core::tables::{FailureKind, Tables};
use std::borrow::Cow;
use std::mem::take;

/// Returns the id of an event and its payload: a value for each declared field, in order; `none` for a field that the data lacks. A chart
/// that accepts any event also accepts any data, and puts all of it into the event's only field, if there is one.
///
/// # Errors
/// There is no such event, or the data has fields that the event does not declare.
pub fn payload(
    tables: &Tables,
    event: &str,
    data: &Map,
) -> Result<(EventId, Vec<Value>), RunError> {
    payload_of(tables, event, Cow::Borrowed(data))
}

/// Like [`payload`], but moves the values of owned data instead of copying them.
pub(crate) fn payload_of(
    tables: &Tables,
    event: &str,
    data: Cow<'_, Map>,
) -> Result<(EventId, Vec<Value>), RunError> {
    let Some(id) = tables.event_named(event) else {
        let known = tables.events.iter().map(|e| String::from(&e.name)).collect();
        return Err(RunError::UnknownEvent { name: event.into(), known });
    };
    let fields = tables.events[id.index()].fields.of(&tables.name_pool);
    let is_declared = |key: &str| fields.iter().any(|field| *field == *key);
    // A chart that accepts any event gets data with undeclared names as a whole.
    if tables.is_open() && fields.len() <= 1 && !data.iter().all(|(key, _)| is_declared(key)) {
        return Ok((id, fields.iter().map(|_| Value::Map((*data).clone())).collect()));
    }
    if let Some((stranger, _)) = data.iter().find(|(key, _)| !is_declared(key)) {
        let why = if fields.is_empty() {
            format!("it declares no data, so no `{stranger}`")
        } else {
            format!("it declares no `{stranger}`, only `{}`", fields.join("`, `"))
        };
        return Err(RunError::Event { name: event.into(), why });
    }
    let values = match data {
        Cow::Borrowed(data) => {
            fields.iter().map(|f| data.get(f).cloned().unwrap_or_default()).collect()
        }
        Cow::Owned(mut data) => {
            fields.iter().map(|f| data.get_mut(f).map(take).unwrap_or_default()).collect()
        }
    };
    Ok((id, values))
}

/// The data of an event whose fields are given by position, for [`payload`]. Surplus values, and those of an unknown event, get their
/// positions (from 1) as names, so that `payload` reports them.
pub fn by_position(tables: &Tables, event: &str, values: Vec<Value>) -> Map {
    let fields = tables.event_named(event).map(|id| tables.events[id.index()].fields);
    let fields = fields.map_or(&[][..], |fields| fields.of(&tables.name_pool));
    let mut data = Map::new();
    for (nth, value) in values.into_iter().enumerate() {
        let name = fields.get(nth).map_or_else(|| (nth + 1).to_string(), String::from);
        data.insert(name, value);
    }
    data
}

/// An entry of a file of events.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The time that passes before the entry, in milliseconds. Without it, the session waits for the calls under way.
    pub after_ms: Option<u64>,
    /// The inputs that are set before anything is sent.
    pub inputs: Map,
    /// The event, turn or answer that is sent.
    pub what: Sent,
}

/// The action of an entry.
#[derive(Debug, Clone, PartialEq)]
pub enum Sent {
    /// Nothing is sent; the entry only sets inputs or lets time pass.
    Nothing,
    /// A turn begins.
    Turn,
    /// An event of the host: its name and data.
    Event(String, Map),
    /// The answer to an open question or step.
    Answer {
        /// The name of the option, or the answer of the step.
        value: Value,
        /// The arguments of the option. For a step, this is the answer if it is set.
        data: Option<Value>,
        /// The name of the step; optional if only one is open.
        step: Option<String>,
    },
    /// The failure of an open question or step.
    Fail {
        /// The reason.
        why: String,
        /// The kind of the failure, as traces name it; `other` if none is given.
        kind: FailureKind,
        /// The name of the step; optional if only one is open.
        step: Option<String>,
    },
    /// An unusable answer to an open question or step.
    Unusable {
        /// The name of the step; optional if only one is open.
        step: Option<String>,
    },
    /// The doubt whether an open step took effect.
    Doubt {
        /// The name of the step; optional if only one is open.
        step: Option<String>,
    },
}

/// The reason why a file of events cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// The text is not JSON.
    #[error("not a JSON array of entries, and not one JSON object a line: {0}")]
    Json(String),
    /// An entry is malformed.
    #[error("entry {nth}: {why}")]
    Entry {
        /// The number of the entry, from 1.
        nth: usize,
        /// The reason.
        why: String,
    },
}

/// Parses a file of events.
///
/// # Errors
/// The first malformed entry, with its number from 1.
pub fn entries(text: &str) -> Result<Vec<Entry>, EntryError> {
    let values: Vec<Value> = if text.trim_start().starts_with('[') {
        serde_json::from_str(text).map_err(|e| EntryError::Json(e.to_string()))?
    } else {
        let lines = text.lines().filter(|l| !l.trim().is_empty()).enumerate();
        lines
            .map(|(i, line)| {
                serde_json::from_str(line)
                    .map_err(|e| EntryError::Entry { nth: i + 1, why: e.to_string() })
            })
            .collect::<Result<_, _>>()?
    };
    values
        .into_iter()
        .enumerate()
        .map(|(i, value)| entry(value).map_err(|why| EntryError::Entry { nth: i + 1, why }))
        .collect()
}

fn entry(value: Value) -> Result<Entry, String> {
    let Value::Map(map) = value else {
        return Err("it is not an object".into());
    };
    let mut after_ms = None;
    let mut inputs = Map::new();
    let mut data = None;
    let (mut step, mut kind) = (None, None);
    let mut sent = Vec::new();
    for (key, value) in map {
        match (key.as_str(), value) {
            ("event", Value::Text(name)) if name == "turn" => sent.push(Sent::Turn),
            ("event", Value::Text(name)) => sent.push(Sent::Event(name, Map::new())),
            ("turn", Value::Map(map)) => {
                inputs = map;
                sent.push(Sent::Turn);
            }
            ("input", Value::Map(map)) => inputs = map,
            ("answer", value) => sent.push(Sent::Answer { value, data: None, step: None }),
            ("fail", Value::Text(why)) => {
                sent.push(Sent::Fail { why, kind: FailureKind::Other, step: None });
            }
            ("kind", Value::Text(word)) => kind = Some(known(&word)?),
            ("unusable", Value::Bool(true)) => sent.push(Sent::Unusable { step: None }),
            ("doubt", Value::Bool(true)) => sent.push(Sent::Doubt { step: None }),
            ("data", value) => data = Some(value),
            ("step", Value::Text(name)) => step = Some(name),
            ("after_ms", Value::Int(ms)) if ms >= 0 => after_ms = Some(ms as u64),
            ("after_ms", _) => return Err("`after_ms` is a whole number of milliseconds".into()),
            ("event" | "fail" | "kind" | "step", _) => return Err(format!("`{key}` is a string")),
            ("unusable" | "doubt", _) => return Err(format!("`{key}` is `true`")),
            ("turn" | "input", _) => return Err(format!("`{key}` is an object of inputs")),
            _ => {
                return Err(format!(
                    "`{key}` is unknown; there are event, turn, input, answer, fail, kind, unusable, doubt, data, step, after_ms"
                ));
            }
        }
    }
    let what = match (sent.pop(), sent.is_empty()) {
        (None, _) if after_ms.is_some() || !inputs.is_empty() => Sent::Nothing,
        (Some(what), true) => what,
        (None, _) => {
            return Err("it sends nothing: `event`, `turn`, `input` or `answer` is missing".into());
        }
        (Some(_), false) => return Err("it sends two things at once".into()),
    };
    let what = complete(what, data, step)?;
    let what = match (what, kind) {
        (Sent::Fail { why, step, .. }, Some(kind)) => Sent::Fail { why, kind, step },
        (_, Some(_)) => return Err("`kind` goes with `fail`".into()),
        (what, None) => what,
    };
    Ok(Entry { after_ms, inputs, what })
}

/// Adds the data and the step that are given beside it.
fn complete(what: Sent, data: Option<Value>, step: Option<String>) -> Result<Sent, String> {
    Ok(match (what, data, step) {
        (Sent::Event(name, _), None | Some(Value::None), None) => Sent::Event(name, Map::new()),
        (Sent::Event(name, _), Some(Value::Map(data)), None) => Sent::Event(name, data),
        (Sent::Event(..), Some(_), None) => return Err("`data` of an event is an object".into()),
        (Sent::Turn, None, None) => Sent::Turn,
        (Sent::Turn, Some(Value::Map(map)), None) if map.is_empty() => Sent::Turn,
        (Sent::Nothing, None, None) => Sent::Nothing,
        (Sent::Answer { value, .. }, data, step) => Sent::Answer { value, data, step },
        (Sent::Fail { why, kind, .. }, None, step) => Sent::Fail { why, kind, step },
        (Sent::Unusable { .. }, None, step) => Sent::Unusable { step },
        (Sent::Doubt { .. }, None, step) => Sent::Doubt { step },
        (_, Some(_), _) => return Err("`data` goes with `event` or `answer`".into()),
        (_, None, Some(_)) => {
            return Err("`step` goes with `answer`, `fail`, `unusable` or `doubt`".into());
        }
    })
}

/// The kind of failures with this name.
fn known(word: &str) -> Result<FailureKind, String> {
    let mut kinds = FailureKind::ALL.into_iter().filter(|kind| kind.is_of_charts());
    kinds.clone().find(|kind| kind.word() == word).ok_or_else(|| {
        let words: Vec<&str> = kinds.by_ref().map(FailureKind::word).collect();
        format!("`{word}` is no kind of failure; there are {}", words.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(name: &str, value: Value) -> Map {
        [(name.to_owned(), value)].into_iter().collect()
    }

    #[test]
    fn an_array_and_lines_mean_the_same() {
        let array =
            r#"[{"event":"e","data":{"a":1},"after_ms":5}, {"turn":{"b":2}}, {"event":"turn"}]"#;
        let lines = "{\"event\":\"e\",\"data\":{\"a\":1},\"after_ms\":5}\n\n{\"turn\":{\"b\":2}}\n{\"event\":\"turn\"}\n";
        let read = entries(array).expect("an array");
        assert_eq!(read, entries(lines).expect("lines"));
        assert_eq!(read[0].what, Sent::Event("e".into(), map("a", Value::Int(1))));
        assert_eq!(read[0].after_ms, Some(5));
        assert_eq!((&read[1].what, &read[1].inputs), (&Sent::Turn, &map("b", Value::Int(2))));
        assert_eq!((&read[2].what, read[2].after_ms), (&Sent::Turn, None));
    }

    #[test]
    fn an_answer_carries_data_and_step() {
        let read = entries(
            r#"[{"answer":"go","data":{"a":1},"step":"s"},{"fail":"gone"},{"after_ms":1}]"#,
        );
        let read = read.expect("an array");
        let data = Some(Value::Map(map("a", Value::Int(1))));
        assert_eq!(
            read[0].what,
            Sent::Answer { value: Value::Text("go".into()), data, step: Some("s".into()) }
        );
        let kind = FailureKind::Other;
        assert_eq!(read[1].what, Sent::Fail { why: "gone".into(), kind, step: None });
        assert_eq!(read[2].what, Sent::Nothing);
    }

    #[test]
    fn a_faulty_entry_is_named_by_its_number() {
        for (text, why) in [
            ("[1", "not a JSON array"),
            ("[{\"event\":\"e\"}, 3]", "entry 2: it is not an object"),
            ("{\"event\":\"e\"}\n\n{\"event\"", "entry 2: EOF"),
            (r#"[{"evnt":"e"}]"#, "entry 1: `evnt` is unknown; there are event,"),
            (r#"[{"event":3}]"#, "entry 1: `event` is a string"),
            (r#"[{"event":"e","answer":"a"}]"#, "entry 1: it sends two things"),
            (r#"[{"data":{}}]"#, "entry 1: it sends nothing"),
            (r#"[{"event":"e","data":[]}]"#, "`data` of an event is an object"),
            (r#"[{"event":"e","after_ms":-1}]"#, "whole number"),
            (r#"[{"event":"e","step":"s"}]"#, "`step` goes with `answer`"),
            (r#"[{"turn":{},"data":{"a":1}}]"#, "`data` goes with"),
        ] {
            let fault = entries(text).expect_err(text).to_string();
            assert!(fault.contains(why), "{text}: {fault}");
        }
    }
}
