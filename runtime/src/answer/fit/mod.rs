//! Converts a value that was read to the wanted type. All tolerance about values is here, and each conversion is recorded as a repair.
//!
//! **The problem.** A model writes nearly the JSON that was asked for: a Float where an Int is wanted, a key in another case, the value
//! inside `{"answer": …}`. Refusing all of this costs attempts. Guessing too freely moves the chart by mistake.
//!
//! **The idea.** [`Wanted`] points into the JSON Schema of the question, and [`Form`] is its kind. `fitted` removes wrappers from outside
//! to inside until `fit` accepts the value. `fit` recurses along schema and value, and allows only conversions that keep the meaning. Each
//! one becomes a text in `repairs`, which the trace shows and which lowers the rung from [`Rung::Whole`] to [`Rung::Cleaned`]. What may
//! have two meanings is unusable.
//!
//! **Example.** The answer `{"value": {"Score": 4.0, "mood": "fine"}}`, where a record with the field `score: Int` is wanted:
//!
//! ```text
//! fitted, layer 0   no field `score`; the map has the key `value`     repair: taken out of `value`
//! fitted, layer 1   `Score` has the spelling of `score`               repair: `Score` as `score`
//! fit               4.0 is a whole number                             repair: Float as Int
//! record            `mood` is not declared                            repair: ignored field `mood`
//! result            {"score": 4}, rung `cleaned`
//! ```
//!
//! Order of the file: types and conversions; whole answers to `llm` and `human` steps ([`value()`]); actions of agents. `written` reads
//! values in words, such as `twelve` or `yes`.

pub(super) mod written;

use super::claim::{Candidate, mentioned};
use super::words::is_label;
use super::{Reading, Rung, Unusable, bounded, json};
use crate::answer;
use crate::schema::resolve;
use chartc_core::expr::{Map, Value};
use serde_json::Value as Json;

/// The maximum number of nested wrappers that are removed.
const LAYERS: usize = 4;
/// The maximum nesting of values.
const DEPTH: usize = 64;
/// The key under which a value is wrapped if its schema is not that of an object.
const WRAPPER: &str = "value";
/// The keys beside the answer under which models explain it.
const BESIDE: &[&str] = &[
    "reasoning",
    "reason",
    "reasons",
    "thought",
    "thoughts",
    "thoughtprocess",
    "explanation",
    "rationale",
    "why",
    "justification",
    "confidence",
    "note",
    "notes",
    "comment",
];
/// Keys that never hold the answer: those of JSON Schema, of quoted input, and of what the model rejects.
const OTHERS: &[&str] = &[
    "properties",
    "defs",
    "enum",
    "items",
    "type",
    "anyof",
    "required",
    "example",
    "examples",
    "format",
    "schema",
    "input",
    "question",
    "options",
    "choices",
    "not",
    "rejected",
    "excluded",
    "avoid",
    "wrong",
    "error",
    "alternative",
    "alternatives",
    "previous",
    "old",
    "title",
    "description",
];

/// A wanted type, as a JSON Schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'s> {
    root: &'s Json,
    schema: &'s Json,
}

/// The kind of a wanted type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form<'s> {
    Names(Vec<&'s str>),
    Bool,
    Int,
    Float,
    Text,
    List(Wanted<'s>),
    Record(&'s serde_json::Map<String, Json>),
    Map(Option<Wanted<'s>>),
    Optional(Wanted<'s>),
    Any,
}

impl PartialEq for Wanted<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.schema == other.schema
    }
}

impl<'s> Wanted<'s> {
    /// The type that a complete schema describes.
    pub(super) fn of(root: &'s Json) -> Self {
        Self { root, schema: root }
    }

    /// The type of a field or argument.
    pub(super) fn property(self, name: &str) -> Option<Self> {
        let schema = self.schema.get("properties")?.get(name)?;
        Some(Self { schema, ..self })
    }

    fn at(self, schema: &'s Json) -> Self {
        Self { schema, ..self }
    }

    /// The kind of this type, with `$ref`s resolved.
    pub(super) fn form(self) -> Form<'s> {
        let schema = resolve(self.schema, self.root);
        if let Some(names) = schema.get("enum").and_then(Json::as_array) {
            return Form::Names(names.iter().filter_map(Json::as_str).collect());
        }
        if let Some(all) = schema.get("anyOf").and_then(Json::as_array) {
            let is_none = |one: &&Json| one.get("type").and_then(Json::as_str) == Some("null");
            let mut present = all.iter().filter(|one| !is_none(one));
            return match (present.next(), present.next()) {
                (Some(one), None) => Form::Optional(self.at(one)),
                _ => Form::Any,
            };
        }
        match schema.get("type").and_then(Json::as_str) {
            Some("boolean") => Form::Bool,
            Some("integer") => Form::Int,
            Some("number") => Form::Float,
            Some("string") => Form::Text,
            Some("array") => schema.get("items").map_or(Form::Any, |of| Form::List(self.at(of))),
            Some("object") => match schema.get("properties").and_then(Json::as_object) {
                Some(fields) => Form::Record(fields),
                None => Form::Map(schema.get("additionalProperties").map(|of| self.at(of))),
            },
            Some(_) | None => Form::Any,
        }
    }

    /// The value, if it is no number outside of the bounds.
    fn within(self, value: Value) -> Result<Value, String> {
        let number = match &value {
            Value::Int(n) => serde_json::Number::from(*n),
            Value::Float(x) => match serde_json::Number::from_f64(*x) {
                Some(number) => number,
                None => return Ok(value),
            },
            _ => return Ok(value),
        };
        let schema = resolve(self.schema, self.root);
        let (low, high) = (schema.get("minimum"), schema.get("maximum"));
        let (Some(low), Some(high)) = (low, high) else { return Ok(value) };
        let of = number.as_f64();
        if of < low.as_f64() || of > high.as_f64() {
            return Err(format!("{number} is not in {low}..{high}"));
        }
        Ok(value)
    }

    fn requires(self, field: &str) -> bool {
        let required = resolve(self.schema, self.root).get("required").and_then(Json::as_array);
        required.is_some_and(|names| names.iter().any(|name| name.as_str() == Some(field)))
    }

    /// The name of the type in lower case. A sentence that chooses may contain it.
    pub(super) fn words(self) -> Vec<String> {
        let name = self.schema.get("$ref").and_then(Json::as_str).unwrap_or_default();
        let name = name.strip_prefix("#/$defs/").unwrap_or_default();
        vec![name.to_lowercase()]
    }
}

/// The letters and digits of a text in lower case: `Not-spam` and `not_spam` have the same spelling.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Removes wrappers around `value` until it can be converted to the wanted type.
///
/// # Errors
/// The reason why the value does not fit: that of the outermost attempt.
pub(super) fn fitted(
    value: &Value,
    wanted: Wanted<'_>,
    repairs: &mut Vec<String>,
) -> Result<Value, String> {
    let form = wanted.form();
    let (mut value, mut why) = (value, None);
    for layer in 0..LAYERS {
        // These types accept anything, so the wrapper must be removed before the value is accepted.
        let any = matches!(form, Form::Any | Form::Text);
        let within = if any { only(value, &[WRAPPER]) } else { None };
        if within.is_none() {
            let mut told = repairs.clone();
            match fit(value, wanted, &mut told, 0) {
                Ok(fitting) => {
                    *repairs = told;
                    return Ok(fitting);
                }
                Err(fault) => why = why.or(Some(fault)),
            }
        }
        let Some((key, inner)) = within.or_else(|| unwrapped(value, &form, wanted)) else { break };
        if key == WRAPPER {
            why = None;
        }
        // If the schema itself has this wrapper, it is what was asked for, and not worth a note.
        let is_asked_for = !matches!(form, Form::Record(_) | Form::Map(_));
        if !is_asked_for || layer > 0 || only(value, &[WRAPPER]).is_none() {
            note(repairs, &format!("taken out of `{key}`"));
        }
        value = inner;
    }
    Err(why.unwrap_or_else(|| "it is wrapped too often".to_owned()))
}

fn note(repairs: &mut Vec<String>, what: &str) {
    if !repairs.iter().any(|repair| repair == what) {
        repairs.push(what.to_owned());
    }
}

/// The only entry of a map, if its key is one of `keys`.
fn only<'v>(value: &'v Value, keys: &[&str]) -> Option<(&'v str, &'v Value)> {
    let Value::Map(map) = value else { return None };
    map.iter().next().filter(|(key, _)| map.len() == 1 && keys.contains(key))
}

/// The content of a wrapper and its key: the value under `value` or a label, the only one that is no explanation, or the only item.
fn unwrapped<'v>(
    value: &'v Value,
    form: &Form<'_>,
    wanted: Wanted<'_>,
) -> Option<(&'v str, &'v Value)> {
    match value {
        Value::List(items) if items.len() == 1 && !matches!(form, Form::List(_)) => {
            Some(("[…]", &items[0]))
        }
        Value::Map(map) => {
            let wrapper = map.iter().find(|(key, _)| *key == WRAPPER);
            let is_label = |key: &str| is_label(key) || wanted.words().contains(&plain(key));
            let mut labels = map.iter().filter(|(key, _)| is_label(&plain(key)));
            let label = labels.next().filter(|_| labels.next().is_none());
            let label = label.filter(|_| matches!(form, Form::Names(_) | Form::Bool));
            wrapper.or(label).or_else(|| {
                let mut rest = map.iter().filter(|(key, _)| !BESIDE.contains(&&*plain(key)));
                let one = rest.next().filter(|(key, _)| !OTHERS.contains(&&*plain(key)))?;
                rest.next().is_none().then_some(one)
            })
        }
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) => None,
        Value::Text(_) | Value::Duration(_) | Value::List(_) => None,
    }
}

/// The text within `{"value": …}`, or within an object with one of the other keys that models use. Other entries beside `value` are
/// ignored.
pub(super) fn text_within(value: &Value) -> Option<Value> {
    let Value::Map(map) = value else { return None };
    let one = map.iter().find(|(key, _)| *key == WRAPPER).or_else(|| {
        only(value, &["answer", "text", "response", "result", "output", "content", "message"])
    })?;
    match one.1 {
        inner @ Value::Map(_) => text_within(inner).or_else(|| Some(inner.clone())),
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) => Some(one.1.clone()),
        Value::Text(_) | Value::Duration(_) | Value::List(_) => Some(one.1.clone()),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::None => "none",
        Value::Bool(_) => "Bool",
        Value::Int(_) => "Int",
        Value::Float(_) => "Float",
        Value::Text(_) => "Text",
        Value::Duration(_) => "Duration",
        Value::List(_) => "List",
        Value::Map(_) => "Map",
    }
}

/// Converts `value` to the wanted type, without removing wrappers.
///
/// # Errors
/// The reason why the value does not fit.
pub(super) fn fit(
    value: &Value,
    wanted: Wanted<'_>,
    repairs: &mut Vec<String>,
    depth: usize,
) -> Result<Value, String> {
    converted(value, wanted, repairs, depth).and_then(|value| wanted.within(value))
}

fn converted(
    value: &Value,
    wanted: Wanted<'_>,
    repairs: &mut Vec<String>,
    depth: usize,
) -> Result<Value, String> {
    if depth > DEPTH {
        return Err("it nests too deep".to_owned());
    }
    let form = wanted.form();
    let expected = |what: &str| Err(format!("expected {what}, found {}", kind(value)));
    match (&form, value) {
        (Form::Any, _)
        | (Form::Text, Value::Text(_) | Value::Duration(_))
        | (Form::Bool, Value::Bool(_))
        | (Form::Int, Value::Int(_))
        | (Form::Float, Value::Int(_) | Value::Float(_))
        | (Form::Optional(_), Value::None) => Ok(value.clone()),
        (Form::Optional(of), Value::Text(text))
            if of.form() != Form::Text && matches!(&*plain(text), "" | "null" | "none" | "na") =>
        {
            note(repairs, "a word for nothing");
            Ok(Value::None)
        }
        (Form::Optional(of), _) => fit(value, *of, repairs, depth + 1),
        (Form::Text, Value::Int(_) | Value::Float(_) | Value::Bool(_)) => {
            note(repairs, &format!("{} as Text", kind(value)));
            Ok(Value::Text(scalar(value).unwrap_or_default()))
        }
        // Above 9e15, not every whole `f64` is exact.
        (Form::Int, Value::Float(x)) if x.fract() == 0.0 && x.abs() < 9e15 => {
            note(repairs, "Float as Int");
            Ok(Value::Int(*x as i64))
        }
        (Form::Names(names), Value::Bool(_) | Value::Int(_)) => {
            let word = scalar(value).unwrap_or_default();
            if names.contains(&&*word) { Ok(Value::Text(word)) } else { expected("a name") }
        }
        (Form::List(of), Value::List(items)) => {
            let one = |(nth, item)| {
                fit(item, *of, repairs, depth + 1).map_err(|why| under(&format!("[{nth}]"), &why))
            };
            items.iter().enumerate().map(one).collect::<Result<_, _>>().map(Value::List)
        }
        (Form::Record(fields), Value::Map(map)) => record(map, fields, wanted, repairs, depth),
        (Form::Map(of), Value::Map(map)) => entries(map, *of, repairs, depth),
        (_, Value::Text(text)) => {
            let read = written::inside(text, wanted, repairs, depth + 1);
            read.map_err(|why| format!("{why}; expected {}, found Text", name_of(&form)))
        }
        (_, _) => expected(name_of(&form)),
    }
}

/// Converts the values of a map.
fn entries(
    map: &Map,
    of: Option<Wanted<'_>>,
    repairs: &mut Vec<String>,
    depth: usize,
) -> Result<Value, String> {
    let mut out = Map::new();
    for (key, value) in map.iter() {
        let value = match of {
            Some(of) => {
                fit(value, of, repairs, depth + 1).map_err(|why| under(&format!(".{key}"), &why))?
            }
            None => value.clone(),
        };
        out.insert(key.to_owned(), value);
    }
    Ok(Value::Map(out))
}

fn under(place: &str, why: &str) -> String {
    match why.strip_prefix(['.', '[']) {
        Some(_) => format!("{place}{why}"),
        None => format!("{place}: {why}"),
    }
}

fn name_of(form: &Form<'_>) -> &'static str {
    match form {
        Form::Names(_) => "one of the names",
        Form::Bool => "Bool",
        Form::Int => "Int",
        Form::Float => "Float",
        Form::Text => "Text",
        Form::List(_) => "List",
        Form::Record(_) | Form::Map(_) => "an object",
        Form::Optional(_) | Form::Any => "a value",
    }
}

/// Converts an object to a record. A key may differ from the field in case and punctuation; undeclared fields are dropped.
fn record(
    map: &Map,
    fields: &serde_json::Map<String, Json>,
    wanted: Wanted<'_>,
    repairs: &mut Vec<String>,
    depth: usize,
) -> Result<Value, String> {
    let mut out = Map::new();
    let mut strange = Vec::new();
    for (key, value) in map.iter() {
        let alike = || {
            let spelled = plain(key);
            let mut hits = fields.keys().filter(move |name| plain(name) == spelled);
            hits.next().filter(|_| hits.next().is_none())
        };
        let Some(name) = fields.keys().find(|name| *name == key).or_else(alike) else {
            strange.push(key);
            continue;
        };
        if name != key {
            note(repairs, &format!("`{key}` as `{name}`"));
        }
        let fitting = fit(value, wanted.at(&fields[name]), repairs, depth + 1);
        let fitting = fitting.map_err(|why| under(&format!(".{name}"), &why))?;
        if out.get(name).is_some_and(|other| *other != fitting) {
            return Err(format!("field `{name}` stands there twice"));
        }
        out.insert(name.clone(), fitting);
    }
    if let Some(name) = fields.keys().find(|name| wanted.requires(name) && out.get(name).is_none())
    {
        return Err(format!("no field `{name}`"));
    }
    if let (Some(key), true) = (strange.first(), out.is_empty()) {
        return Err(format!("no field `{key}` is declared"));
    }
    for key in strange {
        note(repairs, &format!("ignored field `{key}`"));
    }
    Ok(Value::Map(out))
}

/// A number, truth value or text as text; `None` for other values.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Bool(b) => Some(b.to_string()),
        Value::Int(i) => Some(i.to_string()),
        Value::Float(x) => Some(x.to_string()),
        _ => None,
    }
}

// Reads an answer to an `llm` or `human` step as a value of the wanted type.

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
    let said = answer::said(text);
    if said.text.is_empty() {
        return Err(Unusable::none("there is nothing but reasoning"));
    }
    let is_whole = said.repairs.is_empty();
    if wanted.is_empty() {
        return read(&said, is_whole);
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
    if let Some(json) = answer::json(&said.text, opening)? {
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
    let flat = answer::flat(&said.text);
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
    let answer::CleanAnswer { text, mut repairs } = answer::said(bounded(text)?);
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
fn words(said: answer::CleanAnswer, is_whole: bool) -> Result<Reading<Value>, Unusable> {
    let answer::CleanAnswer { text, mut repairs } = said;
    let rung = if is_whole { Rung::Whole } else { Rung::Cleaned };
    let whole = json::read(&text, 0).filter(|read| read.end == text.len());
    let scalar = |value: &Value| match value {
        Value::Int(_) | Value::Float(_) | Value::Bool(_) => self::scalar(value),
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
    let (before, after) = answer::around(text, std::slice::from_ref(first));
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

// Reads an answer as an action of an agent: `{reasoning, action, …}`.

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
pub(super) fn read(said: &answer::CleanAnswer, is_whole: bool) -> Result<Reading<Value>, Unusable> {
    let mut repairs = said.repairs.clone();
    let bare = said.text.trim_matches(|c: char| !c.is_alphanumeric());
    // `Noop.` alone, or `action: noop`, needs no JSON.
    if plain(bare) == NOOP && bare.split_whitespace().count() < 3 {
        let mut map = Map::new();
        map.insert("action".to_owned(), Value::Text(NOOP.to_owned()));
        let rung = if is_whole { Rung::Whole } else { Rung::Cleaned };
        return Ok(Reading { meant: Value::Map(map), rung, repairs });
    }
    let (value, rung) = match answer::json(&said.text, &['{'])? {
        Some(json) => {
            let rung = if json.is_whole && is_whole { Rung::Whole } else { Rung::Cleaned };
            repairs.extend(json.repairs);
            (json.value, rung)
        }
        None => {
            let map = written::fields(&said.text)
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
    let (map, mut respelled) = lowered(map);
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

/// Spells the known keys as they are known. Returns whether any was spelled otherwise.
fn lowered(map: Map) -> (Map, bool) {
    let known = ["action", "reasoning", "thought_process", "action_rationale", "action_type"];
    let mut respelled = false;
    let mut lowered = Map::new();
    for (key, value) in map {
        let low = known.into_iter().find(|known| plain(known) == plain(&key) && *known != key);
        respelled |= low.is_some();
        lowered.insert(low.map_or(key, str::to_owned), value);
    }
    (lowered, respelled)
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
