//! Converts a value that was read to the wanted type. All tolerance about values is here, and each conversion is recorded as a repair.

use super::words::is_label;
use super::written;
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
        (Form::Map(of), Value::Map(map)) => {
            let mut out = Map::new();
            for (key, value) in map.iter() {
                let value = match of {
                    Some(of) => fit(value, *of, repairs, depth + 1)
                        .map_err(|why| under(&format!(".{key}"), &why))?,
                    None => value.clone(),
                };
                out.insert(key.to_owned(), value);
            }
            Ok(Value::Map(out))
        }
        (_, Value::Text(text)) => {
            let read = written::inside(text, wanted, repairs, depth + 1);
            read.map_err(|why| format!("{why}; expected {}, found Text", name_of(&form)))
        }
        (_, _) => expected(name_of(&form)),
    }
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
