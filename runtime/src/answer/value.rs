//! Reads an answer to an `llm` or `human` step as a value of the wanted type.

use super::claim::{Candidate, mentioned};
use super::fit::{Form, Wanted, fitted, text_within};
use super::{Reading, Rung, Unusable, action, bounded, clean, found, json, written};
use chartc_core::expr::Value;
use serde_json::Value as Json;

/// The maximum length of prose around a text in `{"value": …}`, in bytes. With more prose, the whole answer is the text.
const AROUND: usize = 300;
/// The beginning of the wrapper around a text, without blanks.
const OPENING: &str = "{\"value\"";
/// The maximum length of an incomplete escape sequence at the end of a text, as in `\\ud83d\\ude0`.
const ESCAPE: usize = 12;

/// Reads `text` as a value of the type whose JSON Schema is `wanted`, and converts it to that type. An empty schema asks for an action:
/// `{reasoning, action, …}`, to which other spellings are changed.
///
/// # Errors
/// The answer contains no value, may contain several, or the value does not fit the type.
pub fn value(text: &str, wanted: &str) -> Result<Reading<Value>, Unusable> {
    let text = bounded(text)?.trim();
    let said = clean::said(text);
    if said.text.is_empty() {
        return Err(Unusable::none("there is nothing but reasoning"));
    }
    let is_whole = said.repairs.is_empty();
    if wanted.is_empty() {
        return action::read(&said, is_whole);
    }
    let schema: Json = serde_json::from_str(wanted).unwrap_or_default();
    let wanted = Wanted::of(&schema);
    let form = wanted.form();
    let opening: &[char] = match &form {
        Form::Text => return words(said, is_whole),
        Form::List(_) | Form::Any => &['{', '['],
        Form::Names(_) | Form::Bool | Form::Int | Form::Float | Form::Optional(_) => &['{'],
        Form::Record(_) | Form::Map(_) => &['{'],
    };
    let mut repairs = said.repairs;
    // A bare `ok` or `7` is not searched for JSON: it is read as words, with the same result.
    if let Some(json) = found::json(&said.text, opening)? {
        repairs.extend(json.repairs);
        let count = repairs.len();
        let meant = fitted(&json.value, wanted, &mut repairs).map_err(Unusable::none)?;
        // Prose around the JSON may name another name of the enum.
        if let (Form::Names(names), Value::Text(name)) = (&form, &meant) {
            apart(name, names, [json.before, &json.after])?;
        }
        let is_asked_for = is_whole && json.is_whole && repairs.len() == count;
        let rung = if is_asked_for { Rung::Whole } else { Rung::Cleaned };
        return Ok(Reading { meant, rung, repairs });
    }
    let count = repairs.len();
    let flat = clean::flat(&said.text);
    let (meant, in_prose) = written::read(&flat, wanted, &mut repairs, 0)?;
    let rung = match in_prose {
        true => Rung::Mention,
        false if is_whole && repairs.len() == count => Rung::Whole,
        false => Rung::Cleaned,
    };
    Ok(Reading { meant, rung, repairs })
}

/// Reads an answer that was cut off at the token limit as the text up to there, also within `{"value": "…`.
///
/// # Errors
/// The answer was cut off before the text began.
pub fn cut_text(text: &str) -> Result<Reading<Value>, Unusable> {
    let clean::CleanAnswer { text, mut repairs } = clean::said(bounded(text)?);
    repairs.push("cut off at `max_tokens`".to_owned());
    // The JSON string is closed at the last position where it can be parsed, which drops an incomplete escape sequence at the end.
    let ends = text.char_indices().rev().map(|(at, _)| at).take(ESCAPE);
    let closed = std::iter::once(text.len()).chain(ends).find_map(|end| {
        let whole = format!("{}\"}}", &text[..end]);
        let read = json::read(&whole, 0).filter(|read| read.end == whole.len() && !read.is_cut)?;
        text_within(&read.value)
    });
    let meant = match closed {
        Some(Value::Text(inner)) => inner,
        Some(_) | None if opens_wrapper(&text) => {
            return Err(Unusable::none("cut off before the text began"));
        }
        Some(_) | None => text,
    };
    if meant.trim().is_empty() {
        return Err(Unusable::none("cut off before the text began"));
    }
    Ok(Reading { meant: Value::Text(meant), rung: Rung::Cleaned, repairs })
}

/// Checks that the prose around a name in JSON mentions no other name.
fn apart(name: &str, names: &[&str], around: [&str; 2]) -> Result<(), Unusable> {
    let candidates: Vec<Candidate> = names.iter().map(|name| Candidate::new(name, "")).collect();
    let own = names.iter().position(|one| *one == name).unwrap_or(names.len());
    match around.into_iter().find_map(|text| mentioned(text, &candidates, own)) {
        Some(other) => {
            Err(Unusable::ambiguous(format!("both `{}` and `{name}` are named", names[other])))
        }
        None => Ok(()),
    }
}

/// Reads a text: the whole answer, or the content of `{"value": …}`.
fn words(said: clean::CleanAnswer, is_whole: bool) -> Result<Reading<Value>, Unusable> {
    let clean::CleanAnswer { text, mut repairs } = said;
    let rung = if is_whole { Rung::Whole } else { Rung::Cleaned };
    let whole = json::read(&text, 0).filter(|read| read.end == text.len());
    let scalar = |value: &Value| match value {
        Value::Int(_) | Value::Float(_) | Value::Bool(_) => super::fit::scalar(value),
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    let within = match &whole {
        Some(json::Read { value: Value::Text(text), is_cut: false, repairs: odd, .. })
            if odd.is_empty() =>
        {
            return Ok(Reading { meant: Value::Text(text.clone()), rung, repairs });
        }
        Some(read) => text_within(&read.value).map(|inner| (inner, read.is_cut)),
        None => around(&text)?,
    };
    match within {
        Some((_, true)) => Err(Unusable::none("the JSON in the answer is cut off")),
        Some((inner, false)) => match scalar(&inner) {
            Some(meant) => {
                let is_asked_for = whole.is_some_and(|read| is_wrapper(&read));
                if !is_asked_for {
                    repairs.push("taken out of `value`".to_owned());
                }
                let rung = if is_asked_for { rung } else { Rung::Cleaned };
                Ok(Reading { meant: Value::Text(meant), rung, repairs })
            }
            None => Err(Unusable::none("`value` is no text")),
        },
        None if opens_wrapper(&text) => Err(Unusable::none("the JSON in the answer is cut off")),
        None => Ok(Reading { meant: Value::Text(text), rung, repairs }),
    }
}

/// Whether a text begins like a wrapper, or is the beginning of one.
fn opens_wrapper(text: &str) -> bool {
    let head: String = text.chars().filter(|c| !c.is_whitespace()).take(OPENING.len()).collect();
    !head.is_empty() && OPENING.starts_with(&head)
}

/// Whether a value is `{"value": …}` without other entries.
fn is_wrapper(read: &json::Read) -> bool {
    matches!(&read.value, Value::Map(map) if map.len() == 1 && map.get("value").is_some())
}

/// The text in a `{"value": …}` with a little prose around it, and whether it is cut off.
fn around(text: &str) -> Result<Option<(Value, bool)>, Unusable> {
    let found = json::find(text, '{');
    let Some(first) = found.iter().find(|read| is_wrapper(read)) else { return Ok(None) };
    let (before, after) = clean::around(text, std::slice::from_ref(first));
    let begins = before.trim_end_matches(' ');
    let stands_apart = (begins.is_empty() || begins.ends_with('\n'))
        && (after.trim().is_empty() || after.trim_start_matches(['\n', ' ']).len() < after.len());
    if !stands_apart || before.len() + after.len() > AROUND {
        return Ok(None);
    }
    if found.iter().any(|read| read.value != first.value) {
        return Err(Unusable::ambiguous("several values that differ"));
    }
    Ok(text_within(&first.value).map(|inner| (inner, first.is_cut)))
}
