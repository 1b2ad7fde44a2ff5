//! JSON Schemas of answers, and the adaptations that providers need.

use serde_json::{Map, Value, json};

/// A JSON Schema that was generated from a chart type.
pub(crate) struct Schema(Value);

impl Schema {
    pub(crate) fn new(schema: Value) -> Self {
        Self(schema)
    }

    pub(crate) fn json(&self) -> &Value {
        &self.0
    }

    /// Whether the schema lists all fields that a value may have: no part of it is a map or arbitrary JSON. OpenAI's strict mode and
    /// Anthropic's structured output demand this.
    pub(crate) fn is_closed(&self) -> bool {
        is_closed(&self.0)
    }

    /// A copy in which all properties are required, as OpenAI's strict mode demands. Optional ones already allow `null`.
    pub(crate) fn all_required(&self) -> Value {
        let mut schema = self.0.clone();
        require_all(&mut schema);
        schema
    }

    /// Whether a definition refers to itself, directly or through others. Anthropic refuses such schemas.
    pub(crate) fn is_recursive(&self) -> bool {
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

fn require_all(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else { return };
    if let Some(properties) = map.get("properties").and_then(Value::as_object) {
        let names: Vec<String> = properties.keys().cloned().collect();
        map.insert("required".into(), json!(names));
    }
    for key in ["properties", "$defs"] {
        if let Some(inner) = map.get_mut(key).and_then(Value::as_object_mut) {
            inner.values_mut().for_each(require_all);
        }
    }
    if let Some(inner) = map.get_mut("anyOf").and_then(Value::as_array_mut) {
        inner.iter_mut().for_each(require_all);
    }
    if let Some(items) = map.get_mut("items") {
        require_all(items);
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
