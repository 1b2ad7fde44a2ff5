//! The form of an answer, twice: in words for the system message, and as the JSON Schema that is sent with the request.
//!
//! Every question has a schema, because the schema limits what the model can answer. OpenAI accepts only an object as root: a record and
//! a choice are objects already, any other value is wrapped under the key [`VALUE`].

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

pub(super) struct Form {
    /// The text for the system message.
    pub(super) words: String,
    /// The name of the schema, made of letters, digits and `_`, as OpenAI demands.
    pub(super) name: String,
    pub(super) schema: Schema,
}

pub(super) fn of(question: &Question) -> Form {
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

// JSON Schemas of answers, and the adaptations that providers need.

/// A JSON Schema that was generated from a chart type.
pub(super) struct Schema(Value);

impl Schema {
    pub(super) fn new(schema: Value) -> Self {
        Self(schema)
    }

    pub(super) fn json(&self) -> &Value {
        &self.0
    }

    /// Whether the schema lists all fields that a value may have: no part of it is a map or arbitrary JSON. OpenAI's strict mode and
    /// Anthropic's structured output demand this.
    pub(super) fn is_closed(&self) -> bool {
        is_closed(&self.0)
    }

    /// A copy in which all properties are required, as OpenAI's strict mode demands. Optional ones already allow `null`.
    pub(super) fn all_required(&self) -> Value {
        let mut schema = self.0.clone();
        each_part(&mut schema, &|part| {
            if let Some(properties) = part.get("properties").and_then(Value::as_object) {
                let names: Vec<String> = properties.keys().cloned().collect();
                part.insert("required".into(), json!(names));
            }
        });
        schema
    }

    /// A copy without ranges of numbers, which Anthropic refuses. The words of the question say them, and the answer is checked.
    pub(super) fn without_ranges(&self) -> Value {
        let mut schema = self.0.clone();
        each_part(&mut schema, &|part| {
            part.remove("minimum");
            part.remove("maximum");
        });
        schema
    }

    /// Whether a definition refers to itself, directly or through others. Anthropic refuses such schemas.
    pub(super) fn is_recursive(&self) -> bool {
        let Some(definitions) = self.0.get("$defs").and_then(Value::as_object) else {
            return false;
        };
        let names: Vec<&String> = definitions.keys().collect();
        // A definition is on a cycle, or leads to one, exactly if this elimination does not remove it: repeatedly drop the definitions
        // that refer to no remaining one.
        let mut left: Vec<(&String, Vec<String>)> = names
            .iter()
            .map(|name| {
                let mut used = Vec::new();
                references(&definitions[name.as_str()], &mut used);
                (*name, used)
            })
            .collect();
        loop {
            let open: Vec<String> = left.iter().map(|(name, _)| (*name).clone()).collect();
            let before = left.len();
            left.retain(|(_, used)| used.iter().any(|name| open.contains(name)));
            if left.len() == before {
                return before > 0;
            }
        }
    }
}

fn subschemas(schema: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let maps = ["properties", "$defs"].into_iter().filter_map(|key| schema.get(key)?.as_object());
    let lists = ["anyOf"].into_iter().filter_map(|key| schema.get(key)?.as_array());
    let items = schema.get("items").into_iter();
    maps.flat_map(Map::values).chain(lists.flatten()).chain(items)
}

// The parsers bound the nesting of a written type, and thereby the recursion.
fn is_closed(schema: &Value) -> bool {
    let Some(map) = schema.as_object() else { return false };
    let is_object = map.get("type").and_then(Value::as_str) == Some("object");
    let is_open = is_object && map.get("additionalProperties") != Some(&Value::Bool(false));
    let says_something = ["type", "enum", "anyOf", "$ref"].iter().any(|key| map.contains_key(*key));
    !is_open && says_something && subschemas(map).all(is_closed)
}

/// Changes the schema and those in it.
fn each_part(schema: &mut Value, change: &dyn Fn(&mut Map<String, Value>)) {
    let Some(map) = schema.as_object_mut() else { return };
    change(map);
    for key in ["properties", "$defs"] {
        if let Some(inner) = map.get_mut(key).and_then(Value::as_object_mut) {
            for part in inner.values_mut() {
                each_part(part, change);
            }
        }
    }
    if let Some(inner) = map.get_mut("anyOf").and_then(Value::as_array_mut) {
        for part in inner {
            each_part(part, change);
        }
    }
    if let Some(items) = map.get_mut("items") {
        each_part(items, change);
    }
}

fn references(schema: &Value, out: &mut Vec<String>) {
    let Some(map) = schema.as_object() else { return };
    let name = map.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/"));
    out.extend(name.map(str::to_owned));
    for inner in subschemas(map).chain(map.get("additionalProperties")) {
        references(inner, out);
    }
}

#[cfg(test)]
mod tests {
    use super::Schema;
    use serde_json::json;

    #[test]
    fn ranges_are_left_out_at_any_depth() {
        let ranged = json!({"type": "integer", "minimum": 1, "maximum": 9});
        let schema = json!({
            "type": "object",
            "properties": {"minimum": ranged, "list": {"type": "array", "items": ranged}, "maybe": {"anyOf": [ranged, {"type": "null"}]}},
            "$defs": {"Party": {"type": "object", "properties": {"maximum": ranged}}},
        });
        let plain = json!({"type": "integer"});
        let expected = json!({
            "type": "object",
            "properties": {"minimum": plain, "list": {"type": "array", "items": plain}, "maybe": {"anyOf": [plain, {"type": "null"}]}},
            "$defs": {"Party": {"type": "object", "properties": {"maximum": plain}}},
        });
        assert_eq!(Schema::new(schema).without_ranges(), expected);
    }

    #[test]
    fn what_leaves_something_open_is_not_closed() {
        let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": [], "additionalProperties": false});
        assert!(Schema::new(closed.clone()).is_closed());
        assert_eq!(Schema::new(closed.clone()).all_required()["required"], json!(["a"]));
        let map = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let any = json!({"description": "any JSON"});
        for open in [map, any] {
            let held = json!({"type": "array", "items": open});
            assert!(!Schema::new(held).is_closed());
            let mut around = closed.clone();
            around["properties"]["b"] = open;
            assert!(!Schema::new(around).is_closed());
        }
    }

    #[test]
    fn definitions_that_lead_to_themselves_are_recursive() {
        let to = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
        let of = |a: &str, b: &str| json!({"$defs": {"A": {"anyOf": [to(a)]}, "B": {"type": "array", "items": to(b)}, "C": {"enum": ["x"]}}});
        assert!(!Schema::new(of("B", "C")).is_recursive());
        assert!(Schema::new(of("B", "A")).is_recursive());
        assert!(Schema::new(of("C", "B")).is_recursive());
        assert!(!Schema::new(json!({"type": "string"})).is_recursive());
    }
}
