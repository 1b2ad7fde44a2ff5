//! Makes up values that fit a JSON Schema, of the kind that chart types become.

use serde_json::{Map, Value, json};

/// How deep made-up values nest before optional parts are left out.
const DEPTH: usize = 6;

/// A value that fits `schema`. `pick(n)` chooses below `n`; always 0 gives the least value: `false`, 0, empty, absent.
pub fn example(schema: &str, pick: &mut dyn FnMut(u64) -> u64) -> Value {
    match serde_json::from_str(schema) {
        Ok(root) => value(&root, &root, pick, 0),
        Err(_) => Value::Null,
    }
}

/// The names of an enum, if `schema` is one.
pub fn names(schema: &str) -> Option<Vec<String>> {
    let root: Value = serde_json::from_str(schema).ok()?;
    let names = resolve(&root, &root).get("enum")?.as_array()?;
    names.iter().map(|n| n.as_str().map(str::to_owned)).collect()
}

/// The word under `type`, if `schema` has one.
pub fn kind(schema: &str) -> Option<String> {
    let root: Value = serde_json::from_str(schema).ok()?;
    Some(resolve(&root, &root).get("type")?.as_str()?.to_owned())
}

fn resolve<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/"));
    name.and_then(|n| root.get("$defs")?.get(n)).unwrap_or(schema)
}

fn value(schema: &Value, root: &Value, pick: &mut dyn FnMut(u64) -> u64, depth: usize) -> Value {
    if depth > 4 * DEPTH {
        return Value::Null;
    }
    let schema = resolve(schema, root);
    if let Some(names) = schema.get("enum").and_then(Value::as_array).filter(|n| !n.is_empty()) {
        return names[pick(names.len() as u64) as usize % names.len()].clone();
    }
    if let Some(all) = schema.get("anyOf").and_then(Value::as_array) {
        let is_none = |one: &Value| one.get("type").and_then(Value::as_str) == Some("null");
        if all.iter().any(is_none) && (depth > DEPTH || pick(2) == 0) {
            return Value::Null;
        }
        let present: Vec<&Value> = all.iter().filter(|one| !is_none(one)).collect();
        return match present.as_slice() {
            [] => Value::Null,
            [one] => value(one, root, pick, depth + 1),
            all => value(all[pick(all.len() as u64) as usize % all.len()], root, pick, depth + 1),
        };
    }
    // Of several types the first one will do.
    let ty = schema.get("type").and_then(|ty| ty.get(0).unwrap_or(ty).as_str());
    match ty {
        Some("boolean") => json!(pick(2) == 1),
        Some("integer") => json!(pick(100)),
        Some("number") => json!(pick(1000) as f64 / 10.0),
        Some("string") if schema.get("pattern").is_some() => json!(format!("{}s", pick(60))),
        Some("string") => json!(["", "some text", "another text"][pick(3) as usize % 3]),
        Some("array") => {
            let count = if depth > DEPTH { 0 } else { pick(3) };
            let items = schema.get("items").unwrap_or(&Value::Null);
            (0..count).map(|_| value(items, root, pick, depth + 1)).collect()
        }
        Some("object") => {
            let mut object = Map::new();
            if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
                for (name, field) in fields {
                    object.insert(name.clone(), value(field, root, pick, depth + 1));
                }
            }
            Value::Object(object)
        }
        Some(_) | None => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = r##"{"$defs":{"Tree":{"type":"object","properties":{"mood":{"enum":["good","bad"]},
        "left":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]}},"required":["mood"]}},"$ref":"#/$defs/Tree"}"##;

    #[test]
    fn the_least_value_leaves_optional_parts_out() {
        assert_eq!(example(TREE, &mut |_| 0), json!({"mood": "good", "left": null}));
    }

    #[test]
    fn a_type_that_holds_itself_ends() {
        let text = example(TREE, &mut |n| n - 1).to_string();
        assert!(text.contains("bad") && text.len() < 1000, "{text}");
    }

    #[test]
    fn an_enum_is_found_behind_its_name() {
        let schema = r##"{"$defs":{"M":{"enum":["a","b"]}},"$ref":"#/$defs/M"}"##;
        assert_eq!(names(schema), Some(vec!["a".into(), "b".into()]));
        assert_eq!(names(r#"{"type":"string"}"#), None);
    }
}
