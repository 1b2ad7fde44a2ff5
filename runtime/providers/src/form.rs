//! The form of an answer: in words for the system message, and as the schema that is sent with the request.
//!
//! The schema decides what can be answered, so each question has one. OpenAI takes no other root than an object: a record and a choice
//! are sent as themselves, any other value under [`VALUE`].

use crate::schema::Schema;
use chartc_runtime::oracle::{Alternative, Kind, Question};
use serde_json::{Map, Value, json};

/// The key of a value whose schema is not that of an object. The reader of answers takes it out again.
const VALUE: &str = "value";

const CHOICE: &str = "Choose exactly one of the options. Answer with one JSON object and nothing else. \
    Its key `choice` holds the name of the option.";

const CHOICE_WITH_ARGUMENTS: &str = "Choose exactly one of the options. Answer with one JSON object and nothing else. \
    Its key `choice` holds an object: the name of the option under `name` and, if it has any, an object of its arguments under `arguments`.";

/// What the four actions of agents do; their fields are in the schema.
const ACTIONS: &str = "\nThe actions:\
\n- noop: do nothing\
\n- read_artifact: read the artifact `artifact_id`\
\n- write_artifact: make the artifact `artifact_id`, or replace its content by `content`; `artifact_type` says what it is\
\n- invoke_artifact: call `method` of the artifact `artifact_id` with the arguments `args`, in order";

/// Any action of a host that does not say which ones it has: its name is one word, as a sentence would be no action.
const ANY_ACTION: &str = r#"{"type":"object","properties":{"reasoning":{"type":"string"},"action":{"type":"string","pattern":"^[a-z][a-z0-9_]{1,39}$"}},"required":["reasoning","action"]}"#;

/// What such an action needs beside its name.
const ANY_ACTION_WORDS: &str = "\nWhat the action needs stands beside `action`, under its own names. The action `noop` does nothing.";

pub(crate) struct Form {
    /// For the system message.
    pub(crate) words: String,
    /// What the schema is called: letters, digits and `_`.
    pub(crate) name: String,
    pub(crate) schema: Schema,
}

pub(crate) fn of(question: &Question) -> Form {
    let mut parts = Parts::default();
    let (mut words, schema) = match question.kind {
        Kind::Ask => parts.choice(question),
        Kind::Llm if !question.options.is_empty() => parts.call_or_answer(question),
        Kind::Llm | Kind::Human => parts.answer(question),
    };
    if question.kind == Kind::Llm && question.schema.is_empty() {
        let is_known = !question.wanted().is_empty();
        words.push_str(if is_known { ACTIONS } else { ANY_ACTION_WORDS });
    }
    let schema = parts.with_definitions(schema);
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name = question.step.chars().map(plain).take(60).collect();
    Form { words, name, schema: Schema::new(schema) }
}

/// The definitions of the named types in a schema under construction.
#[derive(Default)]
struct Parts {
    definitions: Map<String, Value>,
}

impl Parts {
    /// A schema of the question; its definitions are kept apart.
    fn read(&mut self, text: &str) -> Option<Value> {
        let mut schema: Value = serde_json::from_str(text).ok()?;
        if let Some(Value::Object(own)) = schema.as_object_mut().and_then(|map| map.remove("$defs"))
        {
            self.definitions.extend(own);
        }
        Some(schema)
    }

    fn with_definitions(&self, mut schema: Value) -> Value {
        if !self.definitions.is_empty() {
            schema["$defs"] = Value::Object(self.definitions.clone());
        }
        schema
    }

    /// One of the options: its name or, where any has arguments, an object for each option, so that arguments belong to their option.
    fn choice(&mut self, question: &Question) -> (String, Value) {
        let has_arguments = |option: &&Alternative| !option.schema.is_empty();
        let (rich, bare): (Vec<_>, Vec<_>) = question.options.iter().partition(has_arguments);
        let bare: Vec<&str> = bare.iter().map(|option| &*option.offer.name).collect();
        if rich.is_empty() {
            return (CHOICE.to_owned(), object(&[("choice", names(&bare))]));
        }
        let mut forms: Vec<Value> = Vec::new();
        for option in rich {
            let arguments = self.read(&option.schema).unwrap_or_else(|| json!({}));
            forms.push(object(&[("name", names(&[&option.offer.name])), ("arguments", arguments)]));
        }
        if !bare.is_empty() {
            forms.push(object(&[("name", names(&bare))]));
        }
        (CHOICE_WITH_ARGUMENTS.to_owned(), object(&[("choice", any_of(forms))]))
    }

    /// A call of one of the tools, or the answer.
    fn call_or_answer(&mut self, question: &Question) -> (String, Value) {
        let mut forms: Vec<Value> = Vec::new();
        for tool in &question.options {
            let mut fields = vec![("tool", names(&[&tool.offer.name]))];
            fields.extend(self.read(&tool.schema).map(|schema| ("arguments", schema)));
            forms.push(object(&fields));
        }
        let answer = self.wanted(question);
        let words = format!(
            "Answer with one JSON object and nothing else. Its key `{VALUE}` holds either a tool call, an object with the name of the tool \
             under `tool` and an object of its arguments under `arguments`, or the answer, which fits this schema: {}",
            self.with_definitions(answer.clone())
        );
        forms.push(answer);
        (words, object(&[(VALUE, any_of(forms))]))
    }

    /// The answer alone: a record as itself.
    fn answer(&mut self, question: &Question) -> (String, Value) {
        let mut schema = self.wanted(question);
        if let Some(name) = definition(&schema)
            && let Some(record) = self.definitions.get(name).filter(|one| is_object(one)).cloned()
        {
            let name = name.to_owned();
            schema = record;
            if !refers(&schema, &name) && !self.definitions.values().any(|one| refers(one, &name)) {
                self.definitions.shift_remove(&name);
            }
        }
        let schema = if is_object(&schema) { schema } else { object(&[(VALUE, schema)]) };
        let told = self.with_definitions(schema.clone());
        (format!("Answer with JSON that fits this schema, and nothing else: {told}"), schema)
    }

    /// The schema of the declared type, of an action, or of what a person writes.
    fn wanted(&mut self, question: &Question) -> Value {
        let otherwise = match question.kind {
            Kind::Llm => ANY_ACTION,
            Kind::Ask | Kind::Human => r#"{"type":"string"}"#,
        };
        self.read(question.wanted()).or_else(|| self.read(otherwise)).unwrap_or_default()
    }
}

/// An object with exactly these fields.
fn object(fields: &[(&str, Value)]) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn names(names: &[&str]) -> Value {
    json!({"type": "string", "enum": names})
}

fn any_of(mut forms: Vec<Value>) -> Value {
    if forms.len() == 1 { forms.remove(0) } else { json!({"anyOf": forms}) }
}

/// Whether the fields of what it describes are listed: a map has none of its own, and stands under [`VALUE`].
fn is_object(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
        && schema.get("properties").is_some()
}

/// The name of the definition that the schema stands for.
fn definition(schema: &Value) -> Option<&str> {
    schema.get("$ref").and_then(Value::as_str)?.strip_prefix("#/$defs/")
}

/// Whether the definition is named anywhere in the schema.
fn refers(schema: &Value, name: &str) -> bool {
    match schema {
        Value::Object(map) => {
            definition(schema) == Some(name) || map.values().any(|one| refers(one, name))
        }
        Value::Array(items) => items.iter().any(|one| refers(one, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
