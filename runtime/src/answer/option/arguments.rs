//! Reads the arguments of a chosen option.

use super::object::ARGUMENTS;
use super::{Chosen, named};
use crate::answer::fit::{Wanted, fit, plain};
use crate::answer::tokens::{without_bullet, words};
use crate::answer::{Reading, Rung, Unusable, json};
use crate::oracle::Alternative;
use chartc_core::expr::{Map, Value};
use serde_json::Value as Json;
use std::borrow::Cow;

/// The name and the type of a declared argument.
type Argument = (Cow<'static, str>, Cow<'static, str>);

/// The arguments that came with the name of an option.
pub(super) enum Given {
    Nothing,
    /// The other keys of the object that names the option.
    Beside(Map),
    /// The only argument, without its name.
    One(Value),
}

/// Puts the arguments into declared order and converts them to their types. Only arguments of optional types may be missing.
pub(super) fn complete(
    index: usize,
    given: Given,
    options: &[Alternative],
    rung: Rung,
    mut repairs: Vec<String>,
) -> Result<Reading<Chosen>, Unusable> {
    let option = &options[index];
    let offer = &option.offer;
    let declared = |key: &str| offer.arguments.iter().any(|(name, _)| name == key);
    let given = match given {
        Given::Nothing => Map::new(),
        Given::Beside(map) => map,
        Given::One(value) => match offer.arguments.first() {
            Some((name, _)) => std::iter::once((name.to_string(), value)).collect(),
            None => Map::new(),
        },
    };
    // Models nest arguments under `arguments` or put them beside the name. A declared argument of that name is no nesting.
    let nested = ARGUMENTS.iter().filter(|key| !declared(key)).find_map(|key| given.get(key));
    let nested = nested.and_then(|value| arguments(value, option));
    let schema: Json = serde_json::from_str(&option.schema).unwrap_or_default();
    let mut values = Vec::new();
    for (name, ty) in &offer.arguments {
        let value =
            nested.as_ref().and_then(|map| under(map, name)).or_else(|| under(&given, name));
        let Some(value) = value else {
            if !ty.ends_with('?') {
                let name = format!("`{}` lacks its argument `{name}: {ty}`", offer.name);
                return Err(Unusable::none(name));
            }
            values.push(Value::None);
            continue;
        };
        // A model that repeats the placeholder of the prompt has not filled in the argument.
        if matches!(value, Value::Text(text) if is_placeholder(text, ty)) {
            let why = format!("argument `{name}` of `{}` is not filled in", offer.name);
            return Err(Unusable::none(why));
        }
        values.push(match Wanted::of(&schema).property(name) {
            Some(wanted) => fit(value, wanted, &mut repairs, 0).map_err(|why| {
                Unusable::none(format!("argument `{name}` of `{}`: {why}", offer.name))
            })?,
            None => value.clone(),
        });
    }
    for (key, _) in nested.iter().flat_map(|map| map.iter()) {
        if !offer.arguments.iter().any(|(name, _)| plain(name) == plain(key)) {
            repairs.push(format!("ignored argument `{key}`"));
        }
    }
    Ok(Reading { meant: (index, values), rung, repairs })
}

/// Whether a text is the placeholder of the prompt for an argument, such as its type.
fn is_placeholder(text: &str, ty: &str) -> bool {
    text.trim_end_matches('?') == ty.trim_end_matches('?')
        || matches!(text.trim(), "…" | "..." | "its name")
}

fn under<'m>(map: &'m Map, name: &str) -> Option<&'m Value> {
    map.get(name).or_else(|| map.iter().find(|(key, _)| plain(key) == plain(name)).map(|(_, v)| v))
}

/// The content of the key `arguments`: an object, an object in a string, or the only argument itself.
fn arguments(value: &Value, option: &Alternative) -> Option<Map> {
    let one = |value: &Value| match option.offer.arguments.as_slice() {
        [(name, _)] => Some(std::iter::once((name.to_string(), value.clone())).collect()),
        _ => None,
    };
    match value {
        Value::Map(map) => Some(map.clone()),
        Value::Text(text) => {
            let read = json::read(text.trim(), 0).filter(|read| read.end == text.trim().len());
            match read.map(|read| read.value) {
                Some(Value::Map(map)) => Some(map),
                Some(_) | None => one(value),
            }
        }
        Value::List(items) => match items.as_slice() {
            [Value::Map(map)] => Some(map.clone()),
            [item] => one(item),
            _ => None,
        },
        Value::Int(_) | Value::Float(_) | Value::Bool(_) => one(value),
        Value::None | Value::Duration(_) => None,
    }
}

/// Reads an option that is written as a call: `finish(answer="42")`, or, with a single argument, `finish: 42`.
pub(super) fn call(
    text: &str,
    options: &[Alternative],
) -> Result<Option<(usize, Given)>, Unusable> {
    let text = text.trim().trim_matches('`').trim();
    let text = without_bullet(text).unwrap_or(text);
    let Some(at) = text.find(['(', ':']) else { return Ok(None) };
    let name = text[..at].trim_matches(|c: char| c == '*' || c.is_whitespace());
    if name.contains(['"', '\'', ',']) {
        return Ok(None);
    }
    let Some(index) = named(name, options)? else { return Ok(None) };
    let offer = &options[index].offer;
    if offer.arguments.is_empty() {
        return Ok(None);
    }
    let lacks = || {
        let (name, ty) = &offer.arguments[0];
        Unusable::none(format!("`{}` lacks its argument `{name}: {ty}`", offer.name))
    };
    if let Some(inner) = text[at..].strip_prefix('(') {
        let inner = inner.trim_end_matches(['.', ';']).trim_end().strip_suffix(')');
        let inner = inner.ok_or_else(lacks)?.trim();
        return match in_parentheses(inner, offer.arguments.as_slice()) {
            Some(given) => Ok(Some((index, given))),
            None => Err(lacks()),
        };
    }
    let said = text[at + 1..].trim().trim_start_matches('*').trim();
    let spelled = |text: &str| words(text).into_iter().map(|word| word.text).collect::<Vec<_>>();
    // `finish: give the final answer` repeats the list of options in the prompt, and gives no argument.
    if said.is_empty() || options.iter().any(|one| spelled(said) == spelled(&one.offer.text)) {
        return Err(lacks());
    }
    match offer.arguments.as_slice() {
        [_] => Ok(Some((index, Given::One(plain_value(said))))),
        _ => Err(lacks()),
    }
}

/// Reads the arguments of a call: `a="x", b=2`, or `a: "x"`, or the only argument without its name.
fn in_parentheses(text: &str, declared: &[Argument]) -> Option<Given> {
    let is_named = declared.iter().any(|(name, _)| text.starts_with(&**name));
    if declared.len() == 1 && !is_named && !text.is_empty() {
        return Some(Given::One(plain_value(text)));
    }
    let mut map = Map::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, _) = declared.iter().find(|(name, _)| {
            let behind = rest.strip_prefix(&**name).map(str::trim_start);
            behind.is_some_and(|behind| behind.starts_with(['=', ':']))
        })?;
        let behind = rest[name.len()..].trim_start()[1..].trim_start();
        let (value, after) = match json::read(behind, 0).filter(|read| !read.is_cut) {
            Some(read) => (read.value, behind[read.end..].trim_start()),
            // Without quotes, the single argument extends to the closing parenthesis.
            None if declared.len() == 1 => (Value::Text(behind.to_owned()), ""),
            None => return None,
        };
        if map.get(name).is_some() || !after.is_empty() && !after.starts_with(',') {
            return None;
        }
        map.insert(name.to_string(), value);
        rest = after.trim_start_matches(',').trim_start();
    }
    (!map.is_empty()).then_some(Given::Beside(map))
}

fn plain_value(text: &str) -> Value {
    match json::read(text, 0).filter(|read| read.end == text.len() && !read.is_cut) {
        Some(read) => read.value,
        None => Value::Text(text.to_owned()),
    }
}
