//! What a chart offers to clients.

use chartc_core::model::{Chart, Field, VariableKind, schema};
use serde_json::{Map, Value, json};

/// What clients may give to a chart and send to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// Name of the chart.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// The params that clients give.
    pub params: Vec<Part>,
    /// The inputs.
    pub inputs: Vec<Part>,
    /// The events of the host, with their data.
    pub events: Vec<(String, String, Vec<Part>)>,
    /// Turns that a run makes unless its client says how many.
    pub turns: u32,
}

/// A value by its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// As the chart calls it.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// JSON Schema of its type.
    pub schema: Value,
    /// Whether it has to be given.
    pub is_needed: bool,
}

impl Offer {
    /// What a chart offers, without the params that the host has `fixed`.
    pub fn new(chart: &Chart, turns: u32, fixed: &dyn Fn(&str) -> bool) -> Self {
        let of = |wanted: fn(&VariableKind) -> bool| {
            let all = chart.variables.iter().filter(move |v| wanted(&v.kind) && !fixed(&v.name));
            all.map(|variable| Part {
                name: variable.name.clone(),
                doc: variable.doc.clone(),
                schema: read(&schema::of_type(chart, &variable.ty)),
                is_needed: variable.default.is_none()
                    && matches!(variable.kind, VariableKind::Param { .. }),
            })
            .collect()
        };
        let field = |field: &Field| Part {
            name: field.name.clone(),
            doc: String::new(),
            schema: read(&schema::of_type(chart, &field.ty)),
            is_needed: true,
        };
        let events = chart.events.iter().map(|event| {
            (event.name.clone(), event.doc.clone(), event.fields.iter().map(field).collect())
        });
        Self {
            name: chart.name.clone(),
            doc: chart.doc.clone(),
            params: of(|kind| matches!(kind, VariableKind::Param { .. })),
            inputs: of(|kind| matches!(kind, VariableKind::Input)),
            events: events.collect(),
            turns,
        }
    }

    pub(crate) fn json(&self) -> Value {
        let whole = |parts: &[Part]| {
            let mut definitions = Map::new();
            let schema = object(parts, &mut definitions);
            with(schema, definitions)
        };
        let event = |(name, doc, data): &(String, String, Vec<Part>)| json!({"event": name, "doc": doc, "data": whole(data)});
        json!({
            "chart": self.name,
            "doc": self.doc,
            "params": whole(&self.params),
            "inputs": whole(&self.inputs),
            "events": self.events.iter().map(event).collect::<Vec<_>>(),
            "turns": self.turns,
        })
    }
}

fn read(schema: &str) -> Value {
    serde_json::from_str(schema).unwrap_or_else(|_| json!({}))
}

/// The schema of an object with these parts. The definitions to which it refers come into `definitions`, which belong at the root.
pub(crate) fn object(parts: &[Part], definitions: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    for part in parts {
        let mut schema = part.schema.clone();
        if let Value::Object(schema) = &mut schema {
            if let Some(Value::Object(found)) = schema.remove("$defs") {
                definitions.extend(found);
            }
            if !part.doc.is_empty() {
                schema.insert("description".into(), part.doc.clone().into());
            }
        }
        properties.insert(part.name.clone(), schema);
    }
    let needed: Vec<&str> =
        parts.iter().filter(|part| part.is_needed).map(|part| part.name.as_str()).collect();
    json!({"type": "object", "properties": properties, "required": needed, "additionalProperties": false})
}

/// A schema with the definitions to which it refers.
pub(crate) fn with(mut schema: Value, definitions: Map<String, Value>) -> Value {
    if let (Value::Object(schema), false) = (&mut schema, definitions.is_empty()) {
        schema.insert("$defs".into(), definitions.into());
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::{Part, object, with};
    use serde_json::{Map, json};

    #[test]
    fn definitions_stand_at_the_root_where_references_look_for_them() {
        let note = json!({"$ref": "#/$defs/Note", "$defs": {"Note": {"type": "object"}}});
        let kind = json!({"$ref": "#/$defs/Kind", "$defs": {"Kind": {"enum": ["a", "b"]}}});
        let part = |name: &str, doc: &str, schema, is_needed| Part {
            name: name.into(),
            doc: doc.into(),
            schema,
            is_needed,
        };
        let mut definitions = Map::new();
        let params = object(
            &[part("note", "What is noted.", note.clone(), true), part("other", "", note, false)],
            &mut definitions,
        );
        let inputs = object(&[part("kind", "", kind, false)], &mut definitions);
        let whole = json!({"type": "object", "properties": {"params": params, "inputs": inputs}});
        let whole = with(whole, definitions);
        assert_eq!(
            whole,
            json!({
                "type": "object",
                "properties": {
                    "params": {
                        "type": "object",
                        "properties": {
                            "note": {"$ref": "#/$defs/Note", "description": "What is noted."},
                            "other": {"$ref": "#/$defs/Note"},
                        },
                        "required": ["note"],
                        "additionalProperties": false,
                    },
                    "inputs": {
                        "type": "object",
                        "properties": {"kind": {"$ref": "#/$defs/Kind"}},
                        "required": [],
                        "additionalProperties": false,
                    },
                },
                "$defs": {"Note": {"type": "object"}, "Kind": {"enum": ["a", "b"]}},
            })
        );
        // Without references there are none.
        assert_eq!(with(json!({"type": "object"}), Map::new()), json!({"type": "object"}));
    }
}
