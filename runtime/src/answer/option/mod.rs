//! Which option of a question an answer means.

use super::prose::{mentions, taken_back, words};
use super::{Reading, Rung, Unusable, bounded, clean, json};
use crate::oracle::Alternative;
use chartc_core::expr::{Map, Value};

/// The place of a chosen option in the list, and its arguments in declared order.
pub(super) type Chosen = (usize, Vec<Value>);

/// Keys under which models name what they chose.
const KEYS: [&str; 9] =
    ["choice", "option", "tool", "action", "decision", "answer", "selected", "next", "name"];
/// Keys under which they put its arguments.
/// Keys under which nothing else stands.
const CHOOSING: [&str; 4] = ["choice", "option", "decision", "selected"];
/// Marks before a name that stands alone, within it, and behind it.
const OPENING: &str = "\"'`*_#([-•“‘";
const JOINING: &str = "_-.'’";
const CLOSING: &str = "\"'`*_)].,;:!”’";
/// Keys under which they say why.
const REASONS: [&str; 4] = ["reasoning", "reason", "thought", "thought_process"];
const ARGUMENTS: [&str; 6] = ["arguments", "args", "data", "parameters", "payload", "input"];

/// Reads `text` as one of `options`.
///
/// # Errors
/// None is meant, or more than one may be.
pub fn option(text: &str, options: &[Alternative]) -> Result<Reading<Chosen>, Unusable> {
    let text = bounded(text)?.trim();
    let mut repairs = Vec::new();
    if let Some(index) = options.iter().position(|o| o.offer.name == text) {
        return complete(index, &Map::new(), options, Rung::Whole, repairs);
    }
    let bare = match clean::unfenced(text) {
        Some(inner) => inner.trim(),
        None => text,
    };
    if let Some(read) = json::read(bare, 0).filter(|r| r.repairs.is_empty() && r.end == bare.len())
    {
        return chosen(&read.value, options, Rung::Whole, repairs);
    }
    if let Some(index) = named(bare, options)? {
        return complete(index, &Map::new(), options, Rung::Whole, repairs);
    }
    let (cleaned, found) = clean::without_reasoning(bare);
    if found {
        repairs.push("reasoning removed".to_owned());
    }
    let cleaned = cleaned.trim();
    if cleaned.is_empty() {
        return Err(Unusable::none("there is nothing but reasoning"));
    }
    let cleaned = clean::unfenced(cleaned).map_or(cleaned, str::trim);
    if let Some(index) = named(cleaned, options)? {
        return complete(index, &Map::new(), options, Rung::Cleaned, repairs);
    }
    let objects = json::find(cleaned, '{');
    let mut readings: Vec<Reading<Chosen>> = Vec::new();
    let (mut fault, mut strange) = (None, false);
    let (before, after) = clean::around(cleaned, &objects);
    for object in objects {
        // What a second object that is cut off would have said, nobody knows.
        strange |= object.end == cleaned.len() && object.is_cut;
        let mut repairs = repairs.clone();
        repairs.extend(object.repairs);
        match chosen(&object.value, options, Rung::Cleaned, repairs) {
            Ok(reading) => readings.push(reading),
            Err(why) if why.ambiguous => return Err(why),
            Err(why) => (fault, strange) = (Some(why), true),
        }
    }
    if strange && let (Some(why), false) = (&fault, readings.is_empty()) {
        return Err(Unusable::ambiguous(format!("several answers, of one of which {}", why.why)));
    }
    if readings.iter().any(|r| r.meant != readings[0].meant) {
        return Err(Unusable::ambiguous("several answers that differ"));
    }
    if let Some(mut reading) = readings.into_iter().next() {
        unopposed(before, &after, reading.meant.0, options)?;
        if !cleaned.starts_with('{') {
            reading.repairs.push("prose around the answer".to_owned());
        }
        return Ok(reading);
    }
    if let Some(why) = fault {
        return Err(why);
    }
    mentioned(cleaned, options, repairs)
}

/// Whether `text` holds a tool call rather than an answer: an object with the key `tool`, and nothing beside it but arguments and
/// reasons. Which tool, [`option`] says.
pub fn calls(text: &str) -> bool {
    let Ok(text) = bounded(text) else { return false };
    let (cleaned, _) = clean::without_reasoning(text.trim());
    let is_call = |value: &Value| {
        let Value::Map(map) = value else { return false };
        map.get("tool").is_some_and(|tool| matches!(tool, Value::Text(_)))
            && map.iter().all(|(key, _)| {
                let beside = ARGUMENTS.iter().chain(&REASONS);
                key == "tool" || beside.into_iter().any(|known| *known == key)
            })
    };
    json::find(&cleaned, '{').iter().any(|object| is_call(&object.value))
}

/// What stands around an answer in JSON names no other option, has no other JSON in it, and does not take the answer back.
fn unopposed(
    before: &str,
    after: &str,
    index: usize,
    options: &[Alternative],
) -> Result<(), Unusable> {
    let name = &options[index].offer.name;
    for text in [before, after] {
        if clean::has_shreds(text) || text.contains(['[', ']']) {
            return Err(Unusable::ambiguous(format!("`{name}` stands beside shreds of JSON")));
        }
        let other = mentions(text, &told(options)).names.into_iter().find(|i| *i != index);
        if let Some(other) = other {
            return Err(both(&options[other].offer.name, name));
        }
    }
    match taken_back(before, after) {
        Some(word) => Err(beside(name, &word)),
        None => Ok(()),
    }
}

fn both(one: &str, other: &str) -> Unusable {
    Unusable::ambiguous(format!("both `{one}` and `{other}` are named"))
}

fn beside(name: &str, word: &str) -> Unusable {
    Unusable::ambiguous(format!("`{name}` is named beside `{word}`, which may take it back"))
}

/// Names and descriptions.
fn told(options: &[Alternative]) -> Vec<(&str, &str)> {
    options.iter().map(|o| (&*o.offer.name, &*o.offer.text)).collect()
}

fn mentioned(
    text: &str,
    options: &[Alternative],
    mut repairs: Vec<String>,
) -> Result<Reading<Chosen>, Unusable> {
    let names = told(options);
    let mentions = mentions(text, &names);
    match (mentions.names.as_slice(), mentions.turn) {
        ([], _) => Err(Unusable::none("no option is named")),
        ([index], None) => {
            repairs.push("prose around the answer".to_owned());
            complete(*index, &Map::new(), options, Rung::Mention, repairs)
        }
        ([index], Some(word)) => Err(beside(names[*index].0, &word)),
        ([a, b, ..], _) => Err(both(names[*a].0, names[*b].0)),
    }
}

/// The option whose name `text` is, exactly or as words, whatever their case and what joins them; `ShipIt` is `ship_it`, too. Only
/// marks that emphasise, quote or end a sentence may stand around it.
fn named(text: &str, options: &[Alternative]) -> Result<Option<usize>, Unusable> {
    if let Some(index) = options.iter().position(|o| o.offer.name == text.trim()) {
        return Ok(Some(index));
    }
    if text.contains("```") {
        // What stands behind a fence is its language.
        return Ok(None);
    }
    let inside = |c: char| c.is_alphanumeric();
    let (Some(start), Some(end)) = (text.find(inside), text.rfind(inside)) else { return Ok(None) };
    let end = end + text[end..].chars().next().map_or(0, char::len_utf8);
    let is = |part: &str, marks: &str| part.chars().all(|c| c.is_whitespace() || marks.contains(c));
    let between: String = text[start..end].chars().filter(|c| !c.is_alphanumeric()).collect();
    if !is(&text[..start], OPENING) || !is(&between, JOINING) || !is(&text[end..], CLOSING) {
        return Ok(None);
    }
    let said = words(text);
    let whole = |name: &str| -> String { words(name).into_iter().map(|word| word.text).collect() };
    let is_it = |name: &str| {
        let name_words = words(name);
        name_words.iter().map(|w| &w.text).eq(said.iter().map(|w| &w.text))
            || said.len() == 1 && whole(name) == said[0].text
    };
    let mut hits = options.iter().enumerate().filter(|(_, o)| is_it(&o.offer.name));
    match (hits.next(), hits.next()) {
        (Some((_, a)), Some((_, b))) => Err(Unusable::ambiguous(format!(
            "`{}` and `{}` are spelled alike",
            a.offer.name, b.offer.name
        ))),
        (hit, _) => Ok(hit.map(|(index, _)| index)),
    }
}

fn chosen(
    value: &Value,
    options: &[Alternative],
    rung: Rung,
    repairs: Vec<String>,
) -> Result<Reading<Chosen>, Unusable> {
    let Value::Map(map) = value else {
        let word = scalar(value).ok_or_else(|| Unusable::none("a list names no option"))?;
        return match named(&word, options)? {
            Some(index) => complete(index, &Map::new(), options, rung, repairs),
            None => Err(Unusable::none(format!("`{word}` is no option"))),
        };
    };
    let mut hit: Option<(usize, &str)> = None;
    let mut strangers: Vec<(&str, String)> = Vec::new();
    for key in KEYS {
        let Some(word) = map.get(key).and_then(scalar) else { continue };
        match (named(&word, options)?, hit) {
            (Some(index), Some((other, first))) if index != other => {
                // `answer` may be an argument of the option that `choice` names.
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
        let rest: Map =
            map.iter().filter(|(k, _)| *k != key).map(|(k, v)| (k.to_owned(), v.clone())).collect();
        return complete(index, &rest, options, rung, repairs);
    }
    if let Some((name, Value::Map(arguments))) = map.iter().next().filter(|_| map.len() == 1)
        && let Some(index) = named(name, options)?
    {
        return complete(index, arguments, options, rung, repairs);
    }
    Err(Unusable::none(match strangers.first() {
        Some((_, word)) => format!("`{word}` is no option"),
        None => "the object names no option under `choice`".to_owned(),
    }))
}

/// Nothing else in the object says something else: no other key that chooses, no option's name as a key.
fn one_only(
    map: &Map,
    index: usize,
    by: &str,
    strangers: &[(&str, String)],
    options: &[Alternative],
) -> Result<(), Unusable> {
    let offer = &options[index].offer;
    let declared = |key: &str| offer.arguments.iter().any(|(name, _)| name == key);
    let choosing = |key: &&str| CHOOSING.contains(key) && !declared(key);
    if let Some((key, word)) = strangers.iter().find(|(key, _)| choosing(key)) {
        return Err(Unusable::ambiguous(format!(
            "`{by}` is `{}`, and `{key}` is `{word}`",
            offer.name
        )));
    }
    for (key, value) in map.iter() {
        if declared(key) || KEYS.contains(&key) || ARGUMENTS.contains(&key) {
            continue;
        }
        match named(key, options)? {
            Some(other) if other != index => {
                return Err(both(&options[other].offer.name, &offer.name));
            }
            Some(_) if matches!(value, Value::Bool(false) | Value::None) => {
                return Err(beside(&offer.name, "false"));
            }
            Some(_) | None => {}
        }
    }
    Ok(())
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Bool(b) => Some(b.to_string()),
        Value::Int(i) => Some(i.to_string()),
        Value::Float(x) => Some(x.to_string()),
        Value::None | Value::Duration(_) | Value::List(_) | Value::Map(_) => None,
    }
}

/// Puts the arguments in declared order; one may be missing only if its type is optional.
fn complete(
    index: usize,
    given: &Map,
    options: &[Alternative],
    rung: Rung,
    mut repairs: Vec<String>,
) -> Result<Reading<Chosen>, Unusable> {
    let offer = &options[index].offer;
    let declared = |key: &str| offer.arguments.iter().any(|(name, _)| name == key);
    let nested =
        ARGUMENTS.iter().filter(|key| !declared(key)).find_map(|key| match given.get(key) {
            Some(Value::Map(map)) => Some(map),
            Some(_) | None => None,
        });
    let mut arguments = Vec::new();
    for (name, ty) in &offer.arguments {
        let value = nested.and_then(|map| map.get(name)).or_else(|| given.get(name));
        match value {
            Some(value) => arguments.push(value.clone()),
            None if ty.ends_with('?') => arguments.push(Value::None),
            None => {
                return Err(Unusable::none(format!(
                    "`{}` lacks its argument `{name}: {ty}`",
                    offer.name
                )));
            }
        }
    }
    for (key, _) in nested.into_iter().flat_map(|map| map.iter()) {
        if !declared(key) {
            repairs.push(format!("ignored argument `{key}`"));
        }
    }
    Ok(Reading { meant: (index, arguments), rung, repairs })
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod table;
