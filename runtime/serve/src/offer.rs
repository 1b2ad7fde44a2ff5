//! The interface of a chart as its clients see it: params, inputs and events, with JSON Schemas.

use chartc_core::model::{Chart, Field, VariableKind, schema};
use serde_json::{Map, Value, json};

/// The interface of a chart: what clients may give to a run and send to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// The name of the chart.
    pub name: String,
    /// The chart's `///` comment.
    pub doc: String,
    /// The params that clients may set, without those that the host has fixed.
    pub params: Vec<Part>,
    /// The inputs that clients may set.
    pub inputs: Vec<Part>,
    /// The events that clients may send: name, `///` comment and data.
    pub events: Vec<(String, String, Vec<Part>)>,
    /// The number of turns that a run makes unless its client sets one.
    pub turns: u32,
}

/// A named value: a param, an input, or a field of an event's data.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The name in the chart.
    pub name: String,
    /// The `///` comment; empty if there is none.
    pub doc: String,
    /// The JSON Schema of the type.
    pub schema: Value,
    /// Whether clients must give a value.
    pub is_needed: bool,
}

impl Offer {
    /// Collects the interface of a chart, without the variables for which `fixed` holds: the host has set those.
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

/// Builds the schema of an object with these parts. Definitions of the parts are moved to `definitions`, as `$ref`s find them only at
/// the root of the whole schema.
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

/// Adds definitions to the root of a schema.
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
