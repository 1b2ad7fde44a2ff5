//! Reads an answer as an action of an agent: `{reasoning, action, …}`.

use super::fit::plain;
use super::{Reading, Rung, Unusable, clean, found, lines};
use chartc_core::expr::{Map, Value};

/// The keys under which models write the name of an action.
const NAMES: [&str; 4] = ["action", "action_type", "name", "type"];
/// The keys under which models nest the fields of an action.
const FIELDS: [&str; 4] = ["arguments", "args", "parameters", "input"];
/// Placeholders for the name in prompts, without punctuation. A model that repeats one has chosen nothing.
const PLACEHOLDERS: [&str; 9] = [
    "",
    "itsname",
    "name",
    "why",
    "action",
    "actionname",
    "actiontype",
    "string",
    "nameoftheaction",
];
/// The maximum number of words in the name of an action. Longer texts are sentences.
const NAME_WORDS: usize = 4;
/// The name of the action that does nothing.
const NOOP: &str = "noop";

/// Reads an answer as an action. Other spellings are changed to `{reasoning, action, …}`.
///
/// # Errors
/// The answer names no action, or may name several.
pub(super) fn read(said: &clean::CleanAnswer, is_whole: bool) -> Result<Reading<Value>, Unusable> {
    let mut repairs = said.repairs.clone();
    let bare = said.text.trim_matches(|c: char| !c.is_alphanumeric());
    // `Noop.` alone, or `action: noop`, needs no JSON.
    if plain(bare) == NOOP && bare.split_whitespace().count() < 3 {
        let mut map = Map::new();
        map.insert("action".to_owned(), Value::Text(NOOP.to_owned()));
        let rung = if is_whole { Rung::Whole } else { Rung::Cleaned };
        return Ok(Reading { meant: Value::Map(map), rung, repairs });
    }
    let (value, rung) = match found::json(&said.text, &['{'])? {
        Some(json) => {
            let rung = if json.is_whole && is_whole { Rung::Whole } else { Rung::Cleaned };
            repairs.extend(json.repairs);
            (json.value, rung)
        }
        None => {
            let map = lines::fields(&said.text)
                .filter(|map| map.iter().any(|(key, _)| plain(key) == "action"))
                .ok_or_else(|| Unusable::none("there is no JSON in the answer"))?;
            repairs.push("fields in lines".to_owned());
            (Value::Map(map), Rung::Cleaned)
        }
    };
    let map = object(value, &mut repairs)?;
    let (map, is_respelled) = flattened(map);
    if is_respelled {
        repairs.push("spelled as `{reasoning, action, …}`".to_owned());
    }
    named(&map)?;
    Ok(Reading { meant: Value::Map(map), rung, repairs })
}

/// Unwraps the object of an action from `{"value": …}` and from lists with one item.
fn object(value: Value, repairs: &mut Vec<String>) -> Result<Map, Unusable> {
    let mut value = value;
    // Bounded, as each wrapper may hold another one.
    for _ in 0..4 {
        value = match value {
            Value::List(mut items) if items.len() == 1 => {
                repairs.push("taken out of `[…]`".to_owned());
                items.remove(0)
            }
            Value::Map(map) => match map.get("value") {
                Some(inner) if map.len() == 1 => {
                    repairs.push("taken out of `value`".to_owned());
                    inner.clone()
                }
                Some(_) | None => return Ok(map),
            },
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) => break,
            Value::Text(_) | Value::Duration(_) | Value::List(_) => break,
        };
    }
    Err(Unusable::none("an object with `reasoning` and `action` is wanted"))
}

/// Normalises the keys: `thought_process`, or else `action_rationale`, becomes `reasoning`; `action: {action_type: "x", …}` becomes
/// `action: "x", …`. Returns whether anything was changed, other than by copying `action_rationale`.
fn flattened(map: Map) -> (Map, bool) {
    let known = ["action", "reasoning", "thought_process", "action_rationale", "action_type"];
    let mut respelled = false;
    let mut lowered = Map::new();
    for (key, value) in map {
        let low = known.into_iter().find(|known| plain(known) == plain(&key) && *known != key);
        respelled |= low.is_some();
        lowered.insert(low.map_or(key, str::to_owned), value);
    }
    let map = lowered;
    // Another key names the action only if there is no key `action`.
    let by_name = map.get("action").is_none();
    let name = NAMES[..3].iter().copied().find(|key| by_name && map.get(key).is_some_and(is_text));
    let has_reasoning = map.get("reasoning").is_some();
    let has_thoughts = has_reasoning || map.get("thought_process").is_some();
    let mut out = Map::new();
    for (key, value) in map {
        match (key.as_str(), value) {
            ("thought_process", value) if !has_reasoning => {
                respelled = true;
                out.insert("reasoning".to_owned(), value);
            }
            ("action_rationale", value) if !has_thoughts => {
                out.insert("reasoning".to_owned(), value.clone());
                out.insert(key, value);
            }
            ("action", Value::List(mut items)) if items.len() == 1 => {
                respelled = true;
                out.insert(key, items.remove(0));
            }
            ("action", Value::Map(inner)) => {
                let named = NAMES.into_iter().find(|key| inner.get(key).is_some());
                let Some(named) = named else {
                    out.insert(key, Value::Map(inner));
                    continue;
                };
                respelled = true;
                for (name, value) in inner {
                    let name = if name == named { "action".to_owned() } else { name };
                    // Fields beside the action take precedence over those inside it.
                    if name == "action" || out.get(&name).is_none() {
                        out.insert(name, value);
                    }
                }
            }
            (named, value) if Some(named) == name => {
                respelled = true;
                out.insert("action".to_owned(), value);
            }
            (fields, Value::Map(inner)) if name.is_some() && FIELDS.contains(&fields) => {
                for (name, value) in inner {
                    if out.get(&name).is_none() {
                        out.insert(name, value);
                    }
                }
            }
            (_, value) => out.insert(key, value),
        }
    }
    let is_noop =
        |value: &Value| matches!(value, Value::Text(text) if text != NOOP && plain(text) == NOOP);
    if out.get("action").is_some_and(is_noop) {
        respelled = true;
        out.insert("action".to_owned(), Value::Text(NOOP.to_owned()));
    }
    (out, respelled)
}

fn is_text(value: &Value) -> bool {
    matches!(value, Value::Text(_))
}

/// Checks that an action has a name, and not a sentence or a placeholder of the prompt.
fn named(map: &Map) -> Result<(), Unusable> {
    match map.get("action") {
        Some(Value::Text(name)) => {
            let is_marked = name.trim().starts_with(['<', '[', '{', '…']);
            let is_sentence = name.contains([',', '?', '!', ':', ';', '\n'])
                || name.split_whitespace().count() > NAME_WORDS;
            if is_marked || is_sentence || PLACEHOLDERS.contains(&&*plain(name)) {
                return Err(Unusable::none(format!("`{}` is no action", name.trim())));
            }
            Ok(())
        }
        Some(_) => Err(Unusable::none("`action` is not the name of an action")),
        None => Err(Unusable::none("an object with `reasoning` and `action` is wanted")),
    }
}
