//! The form of an answer: in words for the system message, and as the schema that is sent with the request.

use crate::schema::Schema;
use chartc_runtime::oracle::{Kind, Question};
use serde_json::{Map, Value, json};

/// Under which a value stands whose schema is not that of an object, which is all that OpenAI takes.
pub(crate) const WRAPPED: &str = "value";

/// What an action looks like.
const ACTION: &str = "{\"reasoning\": \"why\", \"action\": \"its name\"}, with what the action needs beside them. The action `noop` does nothing.";

pub(crate) struct Form {
    /// For the system message.
    pub(crate) words: String,
    /// What the schema is called: letters, digits and `_`.
    pub(crate) name: String,
    /// Any JSON object without one.
    pub(crate) schema: Option<Schema>,
    /// Whether the value stands under [`WRAPPED`].
    pub(crate) wrapped: bool,
}

pub(crate) fn of(question: &Question) -> Form {
    let (words, schema, wrapped) = parts(question);
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name = question.step.chars().map(plain).take(60).collect();
    Form { words, name, schema: schema.map(Schema::new), wrapped }
}

/// Words, schema, and whether the value is wrapped.
type Parts = (String, Option<Value>, bool);

fn parts(question: &Question) -> Parts {
    match question.kind {
        Kind::Ask => choice(question),
        Kind::Llm if !question.options.is_empty() => tool_or_answer(question),
        Kind::Llm | Kind::Human => match serde_json::from_str::<Value>(question.wanted()) {
            Ok(schema) => value(schema),
            Err(_) => {
                (format!("Answer with one JSON object and nothing else: {ACTION}"), None, false)
            }
        },
    }
}

/// One of the options, by name; with arguments, if any option has some.
fn choice(question: &Question) -> Parts {
    let names: Vec<&str> = question.options.iter().map(|o| &*o.offer.name).collect();
    let mut definitions = Map::new();
    let mut arguments: Vec<Value> = Vec::new();
    for option in &question.options {
        let Ok(Value::Object(mut schema)) = serde_json::from_str(&option.schema) else { continue };
        if let Some(Value::Object(own)) = schema.remove("$defs") {
            definitions.extend(own);
        }
        let schema = Value::Object(schema);
        if !arguments.contains(&schema) {
            arguments.push(schema);
        }
    }
    let mut properties = json!({"choice": {"type": "string", "enum": names}});
    let mut required = vec!["choice"];
    let mut words = "Choose exactly one of the options. Answer with one JSON object and nothing else: {\"choice\": \"its name\"".to_owned();
    if arguments.is_empty() {
        words.push_str("}.");
    } else {
        words.push_str(
            ", \"arguments\": {…}}, with the arguments of the option, or null if it has none.",
        );
        arguments.push(json!({"type": "null"}));
        properties["arguments"] = json!({"anyOf": arguments});
        required.push("arguments");
    }
    let mut schema = json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    if !definitions.is_empty() {
        schema["$defs"] = Value::Object(definitions);
    }
    (words, Some(schema), false)
}

/// A tool call, or the answer. An answer that has a schema may stand for itself: what is no object cannot be told from a call else.
fn tool_or_answer(question: &Question) -> Parts {
    let mut words = "Answer with one JSON object and nothing else: a tool call, {\"tool\": \"its name\", \"arguments\": {…}}, or ".to_owned();
    let Ok(Value::Object(mut answer)) = serde_json::from_str::<Value>(question.wanted()) else {
        words.push_str(ACTION);
        return (words, None, false);
    };
    let mut definitions = Map::new();
    if let Some(Value::Object(own)) = answer.remove("$defs") {
        definitions.extend(own);
    }
    let answer = Value::Object(answer);
    let mut any: Vec<Value> = Vec::new();
    for tool in &question.options {
        let mut properties = json!({"tool": {"type": "string", "enum": [tool.offer.name]}});
        let mut required = vec!["tool"];
        if let Ok(Value::Object(mut schema)) = serde_json::from_str(&tool.schema) {
            if let Some(Value::Object(own)) = schema.remove("$defs") {
                definitions.extend(own);
            }
            properties["arguments"] = Value::Object(schema);
            required.push("arguments");
        }
        any.push(json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}));
    }
    any.push(answer.clone());
    let mut schema = json!({
        "type": "object", "properties": {WRAPPED: {"anyOf": any}}, "required": [WRAPPED], "additionalProperties": false
    });
    let mut told = answer;
    if !definitions.is_empty() {
        told["$defs"] = Value::Object(definitions.clone());
        schema["$defs"] = Value::Object(definitions);
    }
    words = format!(
        "{words}what fits this schema: {told}. Put it under the key {WRAPPED:?}: {{{WRAPPED:?}: …}}."
    );
    (words, Some(schema), true)
}

fn value(mut schema: Value) -> Parts {
    let words = format!("Answer with JSON that fits this schema, and nothing else: {schema}");
    let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
    if is_object {
        return (words, Some(schema), false);
    }
    let definitions = schema.as_object_mut().and_then(|map| map.remove("$defs"));
    let mut outer = json!({
        "type": "object", "properties": {WRAPPED: schema}, "required": [WRAPPED], "additionalProperties": false
    });
    if let Some(definitions) = definitions {
        outer["$defs"] = definitions;
    }
    let words = format!("Answer with JSON that fits this schema, and nothing else: {outer}");
    (words, Some(outer), true)
}
