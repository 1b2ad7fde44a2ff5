//! The form of an answer, twice: in words for the system message, and as the JSON Schema that is sent with the request.
//!
//! Every question has a schema, because the schema limits what the model can answer. OpenAI accepts only an object as root: a record and
//! a choice are objects already, any other value is wrapped under the key [`VALUE`].

use crate::schema::Schema;
use chartc_runtime::oracle::{Alternative, Kind, Question};
use serde_json::{Map, Value, json};

/// The key under which a value that is no object is wrapped. The reader of answers (`chartc_runtime::answer`) unwraps it.
const VALUE: &str = "value";

const CHOICE: &str = "Choose exactly one of the options. Answer with one JSON object and nothing else. \
    Its key `choice` holds the name of the option.";

const CHOICE_WITH_ARGUMENTS: &str = "Choose exactly one of the options. Answer with one JSON object and nothing else. \
    Its key `choice` holds an object: the name of the option under `name` and, if it has any, an object of its arguments under `arguments`.";

/// Describes the four built-in actions of agents in words; the schema lists their fields.
const ACTIONS: &str = "\nThe actions:\
\n- noop: do nothing\
\n- read_artifact: read the artifact `artifact_id`\
\n- write_artifact: make the artifact `artifact_id`, or replace its content by `content`; `artifact_type` says what it is\
\n- invoke_artifact: call `method` of the artifact `artifact_id` with the arguments `args`, in order";

/// The schema for an action of a host that does not list its actions. The name must be one word: a sentence would be no action.
const ANY_ACTION: &str = r#"{"type":"object","properties":{"reasoning":{"type":"string"},"action":{"type":"string","pattern":"^[a-z][a-z0-9_]{1,39}$"}},"required":["reasoning","action"]}"#;

/// The system message's description of where such an action has its parameters.
const ANY_ACTION_WORDS: &str = "\nWhat the action needs stands beside `action`, under its own names. The action `noop` does nothing.";

pub(crate) struct Form {
    /// The text for the system message.
    pub(crate) words: String,
    /// The name of the schema, made of letters, digits and `_`, as OpenAI demands.
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
    // OpenAI's limit is 64 characters.
    let name = question.step.chars().map(plain).take(60).collect();
    Form { words, name, schema: Schema::new(schema) }
}

/// The definitions of named types, collected while a schema is built.
#[derive(Default)]
struct Parts {
    definitions: Map<String, Value>,
}

impl Parts {
    /// Parses a schema of the question and moves its `$defs` into `self.definitions`. `None` if the text is empty or no JSON.
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

    /// The schema of a choice among the options: an enum of names or, if any option has arguments, one object per option, so that a model
    /// cannot combine one option with the arguments of another.
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

    /// The schema of a tool call or the answer, whichever the model chooses.
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

    /// The schema of the answer alone. A record is sent as the root itself, anything else under [`VALUE`].
    fn answer(&mut self, question: &Question) -> (String, Value) {
        let mut schema = self.wanted(question);
        if let Some(name) = definition(&schema)
            && let Some(record) = self.definitions.get(name).filter(|one| is_object(one)).cloned()
        {
            let name = name.to_owned();
            schema = record;
            // The record is now the root. Its definition stays only if some type refers to it.
            if !refers(&schema, &name) && !self.definitions.values().any(|one| refers(one, &name)) {
                self.definitions.shift_remove(&name);
            }
        }
        let schema = if is_object(&schema) { schema } else { object(&[(VALUE, schema)]) };
        let told = self.with_definitions(schema.clone());
        (format!("Answer with JSON that fits this schema, and nothing else: {told}"), schema)
    }

    /// The schema of the declared type; without one, that of an action (for `llm`) or of a string.
    fn wanted(&mut self, question: &Question) -> Value {
        let otherwise = match question.kind {
            Kind::Llm => ANY_ACTION,
            Kind::Ask | Kind::Human => r#"{"type":"string"}"#,
        };
        self.read(question.wanted()).or_else(|| self.read(otherwise)).unwrap_or_default()
    }
}

/// The schema of an object with exactly these fields, all required.
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

/// Whether the schema describes an object with listed fields. A map has none, so it is wrapped under [`VALUE`].
fn is_object(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
        && schema.get("properties").is_some()
}

/// The name of the definition to which a `$ref` schema refers.
fn definition(schema: &Value) -> Option<&str> {
    schema.get("$ref").and_then(Value::as_str)?.strip_prefix("#/$defs/")
}

/// Whether a schema refers to a definition, at any depth.
fn refers(schema: &Value, name: &str) -> bool {
    match schema {
        Value::Object(map) => {
            definition(schema) == Some(name) || map.values().any(|one| refers(one, name))
        }
        Value::Array(items) => items.iter().any(|one| refers(one, name)),
        _ => false,
    }
}
