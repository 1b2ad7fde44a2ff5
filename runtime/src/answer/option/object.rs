//! Finds the option that a JSON value chooses.

use super::arguments::{Given, complete};
use super::{Chosen, beside, candidates, in_words, named};
use crate::answer::claim::{described, refused};
use crate::answer::fit::{plain, scalar};
use crate::answer::{Reading, Rung, Unusable, bounded, clean, json};
use crate::oracle::Alternative;
use chartc_core::expr::{Map, Value};

/// The keys under which models write the name of their choice.
const KEYS: [&str; 13] = [
    "choice",
    "option",
    "tool",
    "action",
    "decision",
    "answer",
    "selected",
    "next",
    "name",
    "selectedoption",
    "chosenoption",
    "selection",
    "chosen",
];
/// Those of these keys that hold nothing but a choice.
const CHOOSING: [&str; 8] = [
    "choice",
    "option",
    "decision",
    "selected",
    "selectedoption",
    "chosenoption",
    "selection",
    "chosen",
];
/// The keys under which models explain their choice.
const REASONS: [&str; 6] =
    ["reasoning", "reason", "thought", "thoughtprocess", "explanation", "rationale"];
/// The keys under which models wrap the whole answer.
const WRAPPERS: [&str; 7] =
    ["value", "result", "response", "output", "function", "toolcall", "toolcalls"];
/// The keys under which models nest the arguments.
pub(super) const ARGUMENTS: [&str; 6] =
    ["arguments", "args", "data", "parameters", "payload", "input"];
/// The maximum number of nested wrappers that are removed.
const LAYERS: usize = 4;

/// Whether `text` contains a tool call rather than an answer: an object with the key `tool`, and beside it only arguments and reasons;
/// possibly wrapped under `value`. [`option`](super::option) then finds the tool.
pub fn calls(text: &str) -> bool {
    let Ok(text) = bounded(text) else { return false };
    let said = clean::said(text);
    json::find(&said.text, '{').iter().any(|object| is_call(&object.value, 0))
}

fn is_call(value: &Value, depth: usize) -> bool {
    let Value::Map(map) = value else { return false };
    if let Some(inner) = map.get("value").filter(|_| map.len() == 1 && depth < LAYERS) {
        return is_call(inner, depth + 1);
    }
    let known = |key: &str| ARGUMENTS.contains(&key) || REASONS.contains(&&*plain(key));
    map.get("tool").is_some_and(|tool| matches!(tool, Value::Text(_)))
        && map.iter().all(|(key, _)| key == "tool" || known(key))
}

/// The option that `value` names, with its arguments.
///
/// # Errors
/// The value names no option, or several.
pub(super) fn chosen(
    value: &Value,
    options: &[Alternative],
    rung: Rung,
    repairs: Vec<String>,
) -> Result<Reading<Chosen>, Unusable> {
    layer(value, options, rung, repairs, 0)
}

fn layer(
    value: &Value,
    options: &[Alternative],
    rung: Rung,
    mut repairs: Vec<String>,
    depth: usize,
) -> Result<Reading<Chosen>, Unusable> {
    let map = match value {
        Value::Map(map) => map,
        Value::List(items) => match items.as_slice() {
            [one] if depth < LAYERS => {
                repairs.push("taken out of `[…]`".to_owned());
                return layer(one, options, rung, repairs, depth + 1);
            }
            _ => return Err(Unusable::none("a list names no option")),
        },
        _ => {
            let word = scalar(value).ok_or_else(|| Unusable::none("null is no option"))?;
            return match named(&word, options)? {
                Some(index) => complete(index, Given::Nothing, options, rung, repairs),
                None => in_words(&word, options, repairs).map_err(|why| no_option(&word, &why)),
            };
        }
    };
    let mut hit: Option<(usize, &str)> = None;
    let mut strangers: Vec<(&str, String)> = Vec::new();
    let mut deeper: Option<(&str, &Value)> = None;
    for (key, value) in KEYS.iter().filter_map(|known| by_key(map, known)) {
        // An object or a list under such a key may contain the choice itself.
        let Some(word) = scalar(value) else {
            if depth < LAYERS && matches!(value, Value::Map(_) | Value::List(_)) {
                deeper = deeper.or(Some((key, value)));
            }
            continue;
        };
        match (named(&word, options)?, hit) {
            (Some(index), Some((other, first))) if index != other => {
                // `answer` may be an argument of the option that is named under `choice`.
                if !options[other].offer.arguments.iter().any(|(name, _)| name == key) {
                    return Err(Unusable::ambiguous(format!(
                        "`{first}` and `{key}` name different options"
                    )));
                }
            }
            (Some(_), Some(_)) => {}
            (Some(index), None) => hit = Some((index, key)),
            (None, _) => strangers.push((key, word)),
        }
    }
    if let Some((index, key)) = hit {
        one_only(map, index, key, &strangers, options)?;
        not_denied(map, index, options)?;
        let rest: Map =
            map.iter().filter(|(k, _)| *k != key).map(|(k, v)| (k.to_owned(), v.clone())).collect();
        return complete(index, Given::Beside(rest), options, rung, repairs);
    }
    if strangers.is_empty() {
        let wrapped = || WRAPPERS.iter().find_map(|known| by_key(map, known));
        let is_inner =
            |(_, value): &(&str, &Value)| matches!(value, Value::Map(_) | Value::List(_));
        let inner = deeper.or_else(|| wrapped().filter(is_inner));
        if let Some((key, inner)) = inner.filter(|_| depth < LAYERS) {
            repairs.push(format!("taken out of `{key}`"));
            return layer(inner, options, rung, repairs, depth + 1);
        }
    }
    // Only now: a key such as `close` may be an argument or a reason of an option that is named elsewhere.
    if let Some((index, given)) = by_name(map, options)? {
        return complete(index, given, options, rung, repairs);
    }
    match strangers.as_slice() {
        [] => Err(Unusable::none("the object names no option under `choice`")),
        [(_, word)] => by_words(word, options, repairs),
        [(_, word), ..] => Err(Unusable::none(format!("`{word}` is no option"))),
    }
}

/// The option that a sentence under a choosing key chooses.
fn by_words(
    word: &str,
    options: &[Alternative],
    repairs: Vec<String>,
) -> Result<Reading<Chosen>, Unusable> {
    let mut reading = in_words(word, options, repairs).map_err(|why| no_option(word, &why))?;
    if described(word, &candidates(options)).is_none() && reading.rung == Rung::Mention {
        reading.repairs.push(format!("`{word}` as an option"));
    }
    Ok(reading)
}

fn no_option(word: &str, why: &Unusable) -> Unusable {
    let lacks = why.why.contains("argument");
    if why.ambiguous || lacks {
        why.clone()
    } else {
        Unusable::none(format!("`{word}` is no option"))
    }
}

fn by_key<'m>(map: &'m Map, known: &str) -> Option<(&'m str, &'m Value)> {
    map.iter().find(|(key, _)| *key == known || plain(key) == known)
}

/// Reads `{"ship": {…}}`, or an object of option names of which one is `true`.
fn by_name(map: &Map, options: &[Alternative]) -> Result<Option<(usize, Given)>, Unusable> {
    let mut hit = None;
    for (key, value) in map.iter() {
        let Some(index) = named(key, options)? else {
            if REASONS.contains(&&*plain(key)) {
                continue;
            }
            return Ok(None);
        };
        let given = match value {
            // `{"ship": false, "pivot": true}` chooses `pivot`.
            Value::Bool(false) => continue,
            Value::Bool(true) => Given::Nothing,
            Value::Map(arguments) => Given::Beside(arguments.clone()),
            Value::None | Value::Int(_) | Value::Float(_) => return Ok(None),
            Value::Text(_) | Value::Duration(_) | Value::List(_) => return Ok(None),
        };
        if hit.is_some() {
            return Ok(None);
        }
        hit = Some((index, given));
    }
    Ok(hit)
}

/// Checks that nothing else in the object contradicts the choice: no other key that chooses, no other option's name as a key.
fn one_only(
    map: &Map,
    index: usize,
    by: &str,
    strangers: &[(&str, String)],
    options: &[Alternative],
) -> Result<(), Unusable> {
    let offer = &options[index].offer;
    let declared = |key: &str| offer.arguments.iter().any(|(name, _)| name == key);
    let choosing = |key: &str| CHOOSING.contains(&&*plain(key)) && !declared(key);
    if let Some((key, word)) = strangers.iter().find(|(key, _)| choosing(key)) {
        return Err(Unusable::ambiguous(format!(
            "`{by}` is `{}`, and `{key}` is `{word}`",
            offer.name
        )));
    }
    for (key, value) in map.iter() {
        if declared(key) || KEYS.contains(&&*plain(key)) || ARGUMENTS.contains(&key) {
            continue;
        }
        match named(key, options)? {
            Some(other) if other != index => {
                let other = &options[other].offer.name;
                return Err(Unusable::ambiguous(format!(
                    "both `{other}` and `{}` are named",
                    offer.name
                )));
            }
            Some(_) if matches!(value, Value::Bool(false) | Value::None) => {
                return Err(beside(&offer.name, "false"));
            }
            Some(_) | None => {}
        }
    }
    Ok(())
}

/// Checks that no reason in the object declines the choice, as in `I would not ship`.
fn not_denied(map: &Map, index: usize, options: &[Alternative]) -> Result<(), Unusable> {
    let reasons = map.iter().filter(|(key, _)| REASONS.contains(&&*plain(key)));
    let texts = reasons.filter_map(|(_, value)| scalar(value));
    let candidates = candidates(options);
    match texts.into_iter().find_map(|text| refused(&text, &candidates, index)) {
        Some(word) => Err(beside(&options[index].offer.name, &word)),
        None => Ok(()),
    }
}
