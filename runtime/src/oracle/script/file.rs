//! Parses the text of a script.

use super::function::function;
use super::{Entry, Reply, ScriptError, Series, State, Then};
use crate::budget::Usage;
use crate::oracle::OracleError;
use chartc_core::expr::Duration;
use chartc_core::expr::{Map, Value};
use std::collections::BTreeMap;

/// The delay of a `timeout` without a time, in milliseconds.
const TIMEOUT: u64 = 60_000;

pub(super) fn parse(text: &str) -> Result<State, ScriptError> {
    // Only `true` and `false` are booleans: an answer `no` is a word.
    let options = serde_yaml::options! { strict_booleans: true };
    let value: Value =
        serde_yaml::from_str_with_options(text, options).map_err(|e| ScriptError(e.to_string()))?;
    let root = match value {
        Value::Map(map) => map,
        Value::None => Map::new(),
        _ => {
            return fault("a script", "is a mapping with `answers`, `functions` and `tools`");
        }
    };
    let mut state = State::default();
    for (key, value) in root {
        match key.as_str() {
            "answers" => state.answers = table("answers", value, answers)?,
            "functions" => state.functions = table("functions", value, function)?,
            "tools" => state.tools = table("tools", value, function)?,
            _ => {
                return fault(
                    &format!("`{key}`"),
                    "is unknown; there are `answers`, `functions` and `tools`",
                );
            }
        }
    }
    Ok(state)
}

pub(super) fn fault<T>(place: &str, why: &str) -> Result<T, ScriptError> {
    Err(ScriptError(format!("{place} {why}")))
}

fn table<T>(
    name: &str,
    value: Value,
    read: fn(&str, Value) -> Result<T, ScriptError>,
) -> Result<BTreeMap<String, T>, ScriptError> {
    let Value::Map(map) = value else {
        return fault(&format!("`{name}`"), "is a mapping");
    };
    map.into_iter()
        .map(|(key, value)| {
            let row = read(&format!("`{name}.{key}`"), value)?;
            Ok((key, row))
        })
        .collect()
}

fn answers(place: &str, value: Value) -> Result<Series, ScriptError> {
    match value {
        Value::List(items) => series(place, items, Then::Error),
        Value::Map(map) if map.get("answers").is_some() => with_then(place, map, "answers"),
        _ => fault(
            place,
            "is a list, one entry for each attempt as in `- yes`, or a mapping with `answers` and `then`",
        ),
    }
}

pub(super) fn results(place: &str, value: Value) -> Result<Series, ScriptError> {
    if let Value::List(items) = value {
        return series(place, items, Then::Error);
    }
    if let Value::Map(map) = &value
        && map.get("results").is_some()
    {
        return with_then(place, map.clone(), "results");
    }
    series(place, vec![value], Then::Repeat)
}

fn with_then(place: &str, map: Map, key: &str) -> Result<Series, ScriptError> {
    let mut items = Vec::new();
    let mut then = Then::Error;
    for (name, value) in map {
        match (name.as_str(), value) {
            ("then", Value::Text(word)) => {
                then = match word.as_str() {
                    "error" => Then::Error,
                    "repeat" => Then::Repeat,
                    "last" => Then::Last,
                    _ => {
                        return fault(
                            place,
                            &format!(
                                "`then: {word}` is unknown; there are `error`, `repeat`, `last`"
                            ),
                        );
                    }
                }
            }
            (name, Value::List(list)) if name == key => items = list,
            (name, _) if name == key => return fault(place, &format!("`{key}` is a list")),
            (name, _) => {
                return fault(place, &format!("`{name}` is unknown; there are `{key}` and `then`"));
            }
        }
    }
    series(place, items, then)
}

fn series(place: &str, items: Vec<Value>, then: Then) -> Result<Series, ScriptError> {
    if items.is_empty() && then != Then::Error {
        return fault(place, "is empty, so nothing can be repeated");
    }
    let entries = items
        .into_iter()
        .enumerate()
        .map(|(i, item)| entry(&format!("{place}, entry {}", i + 1), item))
        .collect::<Result<_, _>>()?;
    Ok(Series::new(entries, then))
}

/// The keys that describe an answer. A mapping with any other key is an answer itself.
const CONTROL: [&str; 9] =
    ["text", "answer", "option", "data", "fail", "timeout", "after", "usage", "retry_after"];

pub(super) fn entry(place: &str, value: Value) -> Result<Entry, ScriptError> {
    let is_control = |map: &Map| !map.is_empty() && map.iter().all(|(k, _)| CONTROL.contains(&k));
    let map = match value {
        Value::Map(map) if is_control(&map) => map,
        _ => return Ok(Entry { reply: Reply::Value(value), after: 0, usage: None }),
    };
    let mut after = 0;
    let mut replies = Vec::new();
    let mut data = None;
    let mut option = None;
    let mut usage = None;
    let mut retry_after = None;
    for (key, value) in map {
        match (key.as_str(), value) {
            ("text", Value::Text(text)) => replies.push(Reply::Text(text)),
            ("answer", value) => replies.push(Reply::Value(value)),
            ("option", Value::Text(name)) => option = Some(name),
            ("data", value @ Value::Map(_)) => data = Some(value),
            ("fail", Value::Text(why)) => replies.push(Reply::Fail(failure(why))),
            ("timeout", value) => {
                after = milliseconds(place, &value)?;
                replies.push(Reply::Fail(OracleError::Timeout(after)));
            }
            ("after", value) => after = milliseconds(place, &value)?,
            ("usage", value) => usage = Some(tokens(place, &value)?),
            ("retry_after", value) => retry_after = Some(milliseconds(place, &value)?),
            (key, _) => return fault(place, &format!("`{key}` has the wrong type")),
        }
    }
    if let Some(name) = option {
        let mut answer = Map::new();
        answer.insert("choice".into(), Value::Text(name));
        if let Some(data) = data.take() {
            answer.insert("arguments".into(), data);
        }
        replies.push(Reply::Value(Value::Map(answer)));
    }
    if data.is_some() {
        return fault(place, "has `data` without `option`");
    }
    if let Some(said) = retry_after {
        match replies.first_mut() {
            Some(Reply::Fail(
                OracleError::RateLimited { retry_after } | OracleError::Server { retry_after, .. },
            )) => *retry_after = Some(said),
            _ => return fault(place, "has `retry_after` without `fail: rate_limited` or `server`"),
        }
    }
    match (replies.pop(), replies.is_empty()) {
        (Some(reply), true) => {
            // A call that times out takes as long as its timeout.
            if reply == Reply::Fail(OracleError::Timeout(TIMEOUT)) && after == 0 {
                after = TIMEOUT;
            }
            Ok(Entry { reply, after, usage })
        }
        _ => fault(place, "says one of `text`, `answer`, `option`, `fail`, `timeout`"),
    }
}

fn failure(why: String) -> OracleError {
    match why.as_str() {
        "timeout" => OracleError::Timeout(TIMEOUT),
        "rate_limited" => OracleError::RateLimited { retry_after: None },
        "server" => OracleError::Server { status: 500, why: String::new(), retry_after: None },
        "connection" => OracleError::Connection("dropped".into()),
        "refusal" => OracleError::Refusal("it will not".into()),
        "empty" => OracleError::Empty,
        _ => OracleError::Other(why),
    }
}

fn tokens(place: &str, value: &Value) -> Result<Usage, ScriptError> {
    let Value::Map(map) = value else {
        return fault(place, "`usage` is `{input: N, output: N}`");
    };
    let read = |key: &str| match map.get(key) {
        Some(Value::Int(n)) => u64::try_from(*n).ok(),
        None => Some(0),
        Some(_) => None,
    };
    match (read("input"), read("output")) {
        (Some(input_tokens), Some(output_tokens))
            if map.iter().all(|(key, _)| ["input", "output"].contains(&key)) =>
        {
            Ok(Usage { input_tokens, output_tokens, cost: None })
        }
        _ => fault(place, "`usage` is `{input: N, output: N}`"),
    }
}

fn milliseconds(place: &str, value: &Value) -> Result<u64, ScriptError> {
    let read = match value {
        Value::Int(ms) => u64::try_from(*ms).ok(),
        Value::Text(text) => text.parse().ok().map(|d: Duration| d.0),
        _ => None,
    };
    read.map_or_else(|| fault(place, "wants a time such as `250ms`, `30s`, `5m`"), Ok)
}
