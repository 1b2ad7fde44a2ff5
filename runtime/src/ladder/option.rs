//! Which option of a question an answer means.

use super::prose::mentions;
use super::{Reading, Rung, Unusable, bounded, clean, json};
use crate::oracle::Alternative;
use chartc_core::expr::{Map, Value};

/// The place of a chosen option in the list, and its arguments in declared order.
pub(super) type Chosen = (usize, Vec<Value>);

/// Keys under which models name what they chose.
const KEYS: [&str; 9] =
    ["choice", "option", "tool", "action", "decision", "answer", "selected", "next", "name"];
/// Keys under which they put its arguments.
const ARGUMENTS: [&str; 6] = ["arguments", "args", "data", "parameters", "payload", "input"];

/// Reads `text` as one of `options`.
///
/// # Errors
/// None is meant, or more than one may be.
pub fn option(text: &str, options: &[Alternative]) -> Result<Reading<Chosen>, Unusable> {
    let text = bounded(text)?.trim();
    let mut repairs = Vec::new();
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
    let mut fault = None;
    for object in objects {
        let mut repairs = repairs.clone();
        repairs.extend(object.repairs);
        match chosen(&object.value, options, Rung::Cleaned, repairs) {
            Ok(reading) => readings.push(reading),
            Err(why) if why.ambiguous => return Err(why),
            Err(why) => fault = Some(why),
        }
    }
    if readings.iter().any(|r| r.meant != readings[0].meant) {
        return Err(Unusable::ambiguous("several answers that differ"));
    }
    if let Some(mut reading) = readings.into_iter().next() {
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

fn mentioned(
    text: &str,
    options: &[Alternative],
    mut repairs: Vec<String>,
) -> Result<Reading<Chosen>, Unusable> {
    // A model that repeats the option's own words says nothing against it.
    let mut text = text.to_owned();
    for option in options.iter().filter(|o| !o.offer.text.is_empty()) {
        text = text.replace(option.offer.text.as_str(), " ");
    }
    let names: Vec<&str> = options.iter().map(|o| o.offer.name.as_str()).collect();
    let mentions = mentions(&text, &names);
    match (mentions.names.as_slice(), mentions.turn) {
        ([], _) => Err(Unusable::none("no option is named")),
        ([index], None) => {
            repairs.push("prose around the answer".to_owned());
            complete(*index, &Map::new(), options, Rung::Mention, repairs)
        }
        ([index], Some(word)) => Err(Unusable::ambiguous(format!(
            "`{}` is named beside `{word}`, which may take it back",
            names[*index]
        ))),
        ([a, b, ..], _) => {
            Err(Unusable::ambiguous(format!("both `{}` and `{}` are named", names[*a], names[*b])))
        }
    }
}

/// The option whose name `text` is, letters and digits compared; exactly written names go first.
fn named(text: &str, options: &[Alternative]) -> Result<Option<usize>, Unusable> {
    if let Some(index) = options.iter().position(|o| o.offer.name == text.trim()) {
        return Ok(Some(index));
    }
    let bare = plain(text);
    if bare.is_empty() {
        return Ok(None);
    }
    let mut hits = options.iter().enumerate().filter(|(_, o)| plain(&o.offer.name) == bare);
    match (hits.next(), hits.next()) {
        (Some((_, a)), Some((_, b))) => Err(Unusable::ambiguous(format!(
            "`{}` and `{}` are spelled alike",
            a.offer.name, b.offer.name
        ))),
        (hit, _) => Ok(hit.map(|(index, _)| index)),
    }
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
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
    let mut stranger = None;
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
            (None, _) => stranger = stranger.or(Some(word)),
        }
    }
    if let Some((index, key)) = hit {
        let rest: Map =
            map.iter().filter(|(k, _)| *k != key).map(|(k, v)| (k.to_owned(), v.clone())).collect();
        return complete(index, &rest, options, rung, repairs);
    }
    if let Some((name, Value::Map(arguments))) = map.iter().next().filter(|_| map.len() == 1)
        && let Some(index) = named(name, options)?
    {
        return complete(index, arguments, options, rung, repairs);
    }
    Err(Unusable::none(match stranger {
        Some(word) => format!("`{word}` is no option"),
        None => "the object names no option under `choice`".to_owned(),
    }))
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
