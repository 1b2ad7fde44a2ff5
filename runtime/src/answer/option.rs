//! Finds the option of a question that an answer means.
//!
//! **The problem.** A model should answer with the name of an option, alone or in JSON. It also writes `Approved.`, `I would ship it`, a
//! call with arguments, or two names. One wrong choice moves the chart, so doubt must win over cleverness.
//!
//! **The idea.** [`option`] tries the readings from strict to tolerant, and the first that finds something decides:
//!
//! 1. the text is exactly a name, or is JSON as a whole (`chosen`);
//! 2. the text is a name, apart from case, marks and joints (`named`);
//! 3. JSON within the text names an option, and nothing around it names another or takes the answer back (`in_json`, `unopposed`);
//! 4. the prose is a description, a call, or a sentence that does nothing but choose (`in_words`).
//!
//! [`exact_option`] takes only the first of them, without any repair, and in the form that the question asks for.
//!
//! Each reading checks that nothing contradicts it. If something does, the answer is ambiguous, and no later reading is tried. Then
//! `complete` puts the arguments into declared order and fits their types. A missing argument is an error, unless its type is optional.
//!
//! **Example.** With the options `ship` and `finish(answer: Text)`:
//!
//! | answer | result |
//! |---|---|
//! | `Ship!` | `ship`, by `named` |
//! | `{"choice": "finish", "answer": 42}` | `finish("42")`, with the repair "Int as Text" |
//! | `finish("done")` | `finish("done")`, rung `cleaned`: written as a call |
//! | `{"choice": "ship"}, or finish?` | ambiguous: both are named |

#[cfg(test)]
mod tests;

use super::claim::{Candidate, claim, described, mentioned, refused, taken_back};
use super::fit::{Wanted, fit, plain, scalar};
use super::words::{Token, without_bullet, words};
use super::{Reading, Rung, Unusable, bounded, json};
use crate::answer;
use crate::oracle::Alternative;
use chartc_core::expr::{Map, Value};
use serde_json::Value as Json;
use std::borrow::Cow;

/// The index of a chosen option, and its arguments in declared order.
pub(super) type Chosen = (usize, Vec<Value>);

/// The marks that may precede a name that stands alone.
const OPENING: &str = "\"'`*_#([-•“‘✅✓✔👉→";
/// The marks that may join the words of such a name.
const JOINING: &str = "_-.'’";
/// The marks that may follow such a name.
const CLOSING: &str = "\"'`*_)].,;:!”’";

/// Reads `text` as one of `options`, and converts the arguments to their types.
///
/// # Errors
/// No option is meant, several may be, or an argument is missing or does not fit.
pub fn option(text: &str, options: &[Alternative]) -> Result<Reading<Chosen>, Unusable> {
    let text = bounded(text)?.trim();
    if let Some(index) = options.iter().position(|o| o.offer.name == text) {
        return complete(index, Given::Nothing, options, Rung::Whole, Vec::new());
    }
    let said = answer::said(text);
    if said.text.is_empty() {
        return Err(Unusable::none("there is nothing but reasoning"));
    }
    let rung = if said.repairs.is_empty() { Rung::Whole } else { Rung::Cleaned };
    let text = said.text.as_str();
    // Valid JSON comes first, as a text such as `"close"` is JSON and a name at once.
    let whole = json::read(text, 0).filter(|r| r.end == text.len() && r.repairs.is_empty());
    if let Some(read) = whole {
        return chosen(&read.value, options, rung, said.repairs);
    }
    if let Some(index) = named(text, options)? {
        return complete(index, Given::Nothing, options, rung, said.repairs);
    }
    if let Some(reading) = in_json(text, options, &said.repairs)? {
        return Ok(reading);
    }
    in_words(&answer::flat(text), options, said.repairs)
}

/// Reads `text` as one of `options` only if it is the bare name of an option, or JSON of the form that the schema of the question has:
/// `{"choice": "close"}`, `{"choice": {"name": "finish", "arguments": {…}}}`, or `{"tool": "web.read", "arguments": {…}}`. The arguments
/// may stand beside `choice`.
///
/// # Errors
/// The text is anything else, or an argument is missing, unknown or of another type.
pub fn exact_option(text: &str, options: &[Alternative]) -> Result<Reading<Chosen>, Unusable> {
    let text = bounded(text)?.trim();
    let named = |name: &str| options.iter().position(|o| o.offer.name == name);
    if let Some(index) = named(text) {
        return complete(index, Given::Nothing, options, Rung::Whole, Vec::new());
    }
    let no_form = || {
        Unusable::none(
            "the answer is neither the name of an option alone nor JSON that fits the schema",
        )
    };
    let read = json::read(text, 0)
        .filter(|read| read.end == text.len() && !read.is_cut && read.repairs.is_empty());
    let Some(Value::Map(map)) = read.map(|read| read.value) else { return Err(no_form()) };
    let mut chosen = Choice::default();
    chosen.add(&map).ok_or_else(no_form)?;
    let index = chosen.name.and_then(named).ok_or_else(no_form)?;
    let given = chosen.arguments.cloned().unwrap_or_default();
    let declared = &options[index].offer.arguments;
    if let Some((key, _)) =
        given.iter().find(|(key, _)| declared.iter().all(|(name, _)| name != key))
    {
        let name = &options[index].offer.name;
        return Err(Unusable::none(format!("`{name}` has no argument `{key}`")));
    }
    let reading = complete(index, Given::Beside(given), options, Rung::Whole, Vec::new())?;
    match reading.repairs.first() {
        Some(repair) => {
            Err(Unusable::none(format!("the answer does not fit the schema: {repair}")))
        }
        None => Ok(reading),
    }
}

/// The parts of a choice in exact JSON.
#[derive(Default)]
struct Choice<'v> {
    name: Option<&'v str>,
    arguments: Option<&'v Map>,
}

impl<'v> Choice<'v> {
    /// Adds the keys of an object. `None` if one of them is unknown, has another type, or is there twice.
    fn add(&mut self, map: &'v Map) -> Option<()> {
        for (key, value) in map.iter() {
            match (key, value) {
                ("choice" | "tool" | "name", Value::Text(name)) if self.name.is_none() => {
                    self.name = Some(name);
                }
                ("choice", Value::Map(inner)) if self.name.is_none() => self.add(inner)?,
                ("arguments", Value::Map(arguments)) if self.arguments.is_none() => {
                    self.arguments = Some(arguments);
                }
                _ => return None,
            }
        }
        Some(())
    }
}

/// The option that JSON within the text chooses; `None` if there is no JSON.
fn in_json(
    text: &str,
    options: &[Alternative],
    repairs: &[String],
) -> Result<Option<Reading<Chosen>>, Unusable> {
    let mut objects = json::find(text, '{');
    // A scalar in prose is no answer; only a text that is one as a whole may be.
    if objects.is_empty() {
        objects.extend(json::read(text, 0).filter(|read| read.end == text.len()));
    }
    let (before, after) = answer::around(text, &objects);
    let mut readings: Vec<Reading<Chosen>> = Vec::new();
    let mut fault = None;
    for object in objects {
        if object.is_cut {
            return Err(Unusable::none("the JSON in the answer is cut off"));
        }
        let mut repairs = repairs.to_vec();
        repairs.extend(object.repairs);
        match chosen(&object.value, options, Rung::Cleaned, repairs) {
            Ok(reading) => readings.push(reading),
            Err(why) if why.ambiguous => return Err(why),
            Err(why) => fault = Some(why),
        }
    }
    let Some(first) = readings.first() else { return fault.map_or(Ok(None), Err) };
    if let Some(why) = fault {
        return Err(Unusable::ambiguous(format!("several answers, of one of which {}", why.why)));
    }
    if readings.iter().any(|reading| reading.meant != first.meant) {
        return Err(Unusable::ambiguous("several answers that differ"));
    }
    unopposed(before, &after, first.meant.0, options)?;
    let mut reading = readings.swap_remove(0);
    if !before.trim().is_empty() || !after.trim().is_empty() {
        reading.repairs.push("prose around the answer".to_owned());
    }
    Ok(Some(reading))
}

/// Checks that the text around an answer in JSON names no other option, contains no other JSON, and does not take the answer back.
fn unopposed(
    before: &str,
    after: &str,
    index: usize,
    options: &[Alternative],
) -> Result<(), Unusable> {
    let name = &options[index].offer.name;
    let candidates = candidates(options);
    for text in [before, after] {
        if answer::has_shreds(text) || text.contains(['[', ']']) {
            return Err(Unusable::ambiguous(format!("`{name}` stands beside shreds of JSON")));
        }
        if let Some(other) = mentioned(text, &candidates, index) {
            let other = &options[other].offer.name;
            return Err(Unusable::ambiguous(format!("both `{other}` and `{name}` are named")));
        }
    }
    match taken_back(before, after) {
        Some(word) => Err(beside(name, &word)),
        None => Ok(()),
    }
}

fn beside(name: &str, word: &str) -> Unusable {
    Unusable::ambiguous(format!("`{name}` is named beside `{word}`, which may take it back"))
}

fn candidates(options: &[Alternative]) -> Vec<Candidate> {
    options.iter().map(|o| Candidate::new(&o.offer.name, &o.offer.text)).collect()
}

/// The option that prose chooses by its name or description, or in the form of a call.
fn in_words(
    text: &str,
    options: &[Alternative],
    mut repairs: Vec<String>,
) -> Result<Reading<Chosen>, Unusable> {
    let candidates = candidates(options);
    if let Some(index) = described(text, &candidates) {
        repairs.push("chosen by its description".to_owned());
        return complete(index, Given::Nothing, options, Rung::Mention, repairs);
    }
    if let Some((index, given)) = call(text, options)? {
        repairs.push("written as a call".to_owned());
        return complete(index, given, options, Rung::Cleaned, repairs);
    }
    let index = claim(text, &candidates, &[])?;
    repairs.push("prose around the answer".to_owned());
    complete(index, Given::Nothing, options, Rung::Mention, repairs)
}

/// The option whose name `text` is, exactly or word by word, ignoring case and the characters that join the words; `ShipIt` is `ship_it`,
/// too. Only marks that emphasise, quote or end a sentence may surround it.
fn named(text: &str, options: &[Alternative]) -> Result<Option<usize>, Unusable> {
    if let Some(index) = options.iter().position(|o| o.offer.name == text.trim()) {
        return Ok(Some(index));
    }
    if text.contains("```") {
        // The word after a fence is the language of the code.
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
    let joined =
        |words: &[Token]| -> String { words.iter().map(|word| word.text.as_str()).collect() };
    let is_it = |name: &str| {
        let spelled = words(name);
        spelled.iter().map(|w| &w.text).eq(said.iter().map(|w| &w.text))
            || said.len() == 1 && joined(&spelled) == said[0].text
    };
    // `Approved.` means `approve`, unless `approved` is an option itself.
    let is_past = |name: &str| match (words(name).as_slice(), said.as_slice()) {
        ([verb], [one]) => is_past_of(&one.text, &verb.text),
        _ => false,
    };
    let is_exact = options.iter().any(|o| is_it(&o.offer.name));
    let is_it = |name: &str| if is_exact { is_it(name) } else { is_past(name) };
    let mut hits = options.iter().enumerate().filter(|(_, o)| is_it(&o.offer.name));
    match (hits.next(), hits.next()) {
        (Some((_, a)), Some((_, b))) => Err(Unusable::ambiguous(format!(
            "`{}` and `{}` are spelled alike",
            a.offer.name, b.offer.name
        ))),
        (hit, _) => Ok(hit.map(|(index, _)| index)),
    }
}

/// Whether `word` is the regular past form of `verb`: `approved`, `shipped`, `denied`.
fn is_past_of(word: &str, verb: &str) -> bool {
    let Some(stem) = word.strip_suffix("ed") else { return false };
    let doubled = verb.chars().last().is_some_and(|last| stem == format!("{verb}{last}"));
    let from_y = verb.strip_suffix('y').is_some_and(|start| stem == format!("{start}i"));
    let from_e = verb.strip_suffix('e') == Some(stem);
    !verb.is_empty() && (stem == verb || doubled || from_y || from_e)
}

// Reads the arguments of a chosen option.

/// The name and the type of a declared argument.
type Argument = (Cow<'static, str>, Cow<'static, str>);

/// The arguments that came with the name of an option.
enum Given {
    Nothing,
    /// The other keys of the object that names the option.
    Beside(Map),
    /// The only argument, without its name.
    One(Value),
}

/// Puts the arguments into declared order and converts them to their types. Only arguments of optional types may be missing.
fn complete(
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

/// The value under this key, or else under one that differs only in case and punctuation.
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
fn call(text: &str, options: &[Alternative]) -> Result<Option<(usize, Given)>, Unusable> {
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

// Finds the option that a JSON value chooses.

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
const ARGUMENTS: [&str; 6] = ["arguments", "args", "data", "parameters", "payload", "input"];
/// The maximum number of nested wrappers that are removed.
const LAYERS: usize = 4;

/// Whether `text` contains a tool call rather than an answer: an object with the key `tool`, and beside it only arguments and reasons;
/// possibly wrapped under `value`. [`option`](option) then finds the tool.
pub fn calls(text: &str) -> bool {
    let Ok(text) = bounded(text) else { return false };
    let said = answer::said(text);
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
fn chosen(
    value: &Value,
    options: &[Alternative],
    rung: Rung,
    repairs: Vec<String>,
) -> Result<Reading<Chosen>, Unusable> {
    layer(value, options, rung, repairs, 0)
}

/// Reads one layer of wrappers. `depth` counts those that have been removed, because a hostile answer could nest without end.
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
    let Naming { hit, strangers, deeper } = naming(map, options, depth)?;
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

/// What the choosing keys of an object contain.
#[derive(Default)]
struct Naming<'v> {
    /// The option that is named, and the key.
    hit: Option<(usize, &'v str)>,
    /// The keys with words that name no option.
    strangers: Vec<(&'v str, String)>,
    /// The first key with an object or a list, which may contain the choice itself.
    deeper: Option<(&'v str, &'v Value)>,
}

/// Reads all choosing keys of an object. Two that name different options are ambiguous, unless the second is an argument of the first.
fn naming<'v>(map: &'v Map, options: &[Alternative], depth: usize) -> Result<Naming<'v>, Unusable> {
    let mut found = Naming::default();
    for (key, value) in KEYS.iter().filter_map(|known| by_key(map, known)) {
        let Some(word) = scalar(value) else {
            if depth < LAYERS && matches!(value, Value::Map(_) | Value::List(_)) {
                found.deeper = found.deeper.or(Some((key, value)));
            }
            continue;
        };
        match (named(&word, options)?, found.hit) {
            (Some(index), Some((other, first))) if index != other => {
                // `answer` may be an argument of the option that is named under `choice`.
                if !options[other].offer.arguments.iter().any(|(name, _)| name == key) {
                    return Err(Unusable::ambiguous(format!(
                        "`{first}` and `{key}` name different options"
                    )));
                }
            }
            (Some(_), Some(_)) => {}
            (Some(index), None) => found.hit = Some((index, key)),
            (None, _) => found.strangers.push((key, word)),
        }
    }
    Ok(found)
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
