//! Generates values that fit a JSON Schema of a chart type, for tests and for answers by chance.

use serde_json::{Map, Value, json};

/// The nesting depth beyond which optional parts are left out.
const DEPTH: usize = 6;

/// The maximum number of values within one generated value. Without it, a record that holds two records would double with each level.
pub(crate) const PARTS: usize = 10_000;

/// Generates a value that fits `schema`. `pick(n)` chooses a number below `n`; with 0 every time, the value is minimal: `false`, 0,
/// empty, absent. `None` if the value would consist of more than [`PARTS`] values.
pub(crate) fn example(schema: &str, pick: &mut dyn FnMut(u64) -> u64) -> Option<Value> {
    match serde_json::from_str(schema) {
        Ok(root) => Making { root: &root, pick, left: PARTS }.value(&root, 0),
        Err(_) => Some(Value::Null),
    }
}

/// The names of an enum; `None` if the schema is no enum.
pub(crate) fn names(schema: &str) -> Option<Vec<String>> {
    let root: Value = serde_json::from_str(schema).ok()?;
    let names = resolve(&root, &root).get("enum")?.as_array()?;
    names.iter().map(|n| n.as_str().map(str::to_owned)).collect()
}

/// A number with bounds, in words.
pub(crate) fn range(schema: &str) -> Option<String> {
    let root: Value = serde_json::from_str(schema).ok()?;
    let (low, high) = (root.get("minimum")?, root.get("maximum")?);
    let is_whole = root.get("type")? == "integer";
    Some(format!("a {}number from {low} to {high}", if is_whole { "whole " } else { "" }))
}

/// The definition to which a `$ref` schema refers; any other schema itself.
pub(crate) fn resolve<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/"));
    name.and_then(|n| root.get("$defs")?.get(n)).unwrap_or(schema)
}

/// The generation of one value.
struct Making<'m> {
    root: &'m Value,
    pick: &'m mut dyn FnMut(u64) -> u64,
    /// The number of values that may still be generated.
    left: usize,
}

impl Making<'_> {
    fn value(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        self.left = self.left.checked_sub(1)?;
        // A recursive type without an optional part never ends: it is cut off with a value that does not fit.
        if depth > 4 * DEPTH {
            return Some(Value::Null);
        }
        let schema = resolve(schema, self.root);
        if let Some(names) = schema.get("enum").and_then(Value::as_array).filter(|n| !n.is_empty())
        {
            return Some(names[(self.pick)(names.len() as u64) as usize % names.len()].clone());
        }
        if let Some(all) = schema.get("anyOf").and_then(Value::as_array) {
            return self.any_of(all, depth);
        }
        // A type may be a list such as `["string", "null"]`: the first one is chosen.
        let ty = schema.get("type").and_then(|ty| ty.get(0).unwrap_or(ty).as_str());
        Some(match ty {
            Some("boolean") => json!((self.pick)(2) == 1),
            Some("integer") => self.whole(schema),
            Some("number") => self.number(schema),
            Some("string") if schema.get("pattern").is_some() => {
                json!(format!("{}s", (self.pick)(60)))
            }
            Some("string") => json!(["", "some text", "another text"][(self.pick)(3) as usize % 3]),
            Some("array") => {
                let count = if depth > DEPTH { 0 } else { (self.pick)(3) };
                let items = schema.get("items").unwrap_or(&Value::Null);
                let items = (0..count).map(|_| self.value(items, depth + 1));
                Value::Array(items.collect::<Option<_>>()?)
            }
            Some("object") => {
                let mut object = Map::new();
                if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
                    for (name, field) in fields {
                        object.insert(name.clone(), self.value(field, depth + 1)?);
                    }
                }
                Value::Object(object)
            }
            Some(_) | None => Value::Null,
        })
    }

    fn whole(&mut self, schema: &Value) -> Value {
        let ends = ["minimum", "maximum"].map(|key| schema.get(key).and_then(Value::as_i64));
        let [Some(low), Some(high)] = ends else { return json!((self.pick)(100)) };
        let count = high.abs_diff(low).saturating_add(1);
        json!(low.saturating_add_unsigned((self.pick)(count)).min(high))
    }

    fn number(&mut self, schema: &Value) -> Value {
        let tenths = (self.pick)(1000) as f64 / 10.0;
        let ends = ["minimum", "maximum"].map(|key| schema.get(key).and_then(Value::as_f64));
        let [Some(low), Some(high)] = ends else { return json!(tenths) };
        json!((low + (high - low) * (tenths / 100.0)).clamp(low, high))
    }

    fn any_of(&mut self, all: &[Value], depth: usize) -> Option<Value> {
        let is_none = |one: &Value| one.get("type").and_then(Value::as_str) == Some("null");
        if all.iter().any(is_none) && (depth > DEPTH || (self.pick)(2) == 0) {
            return Some(Value::Null);
        }
        let present: Vec<&Value> = all.iter().filter(|one| !is_none(one)).collect();
        match present.as_slice() {
            [] => Some(Value::Null),
            [one] => self.value(one, depth + 1),
            all => {
                let nth = (self.pick)(all.len() as u64) as usize % all.len();
                self.value(all[nth], depth + 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = r##"{"$defs":{"Tree":{"type":"object","properties":{"mood":{"enum":["good","bad"]},
        "left":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]}},"required":["mood"]}},"$ref":"#/$defs/Tree"}"##;

    #[test]
    fn the_least_value_leaves_optional_parts_out() {
        assert_eq!(example(TREE, &mut |_| 0), Some(json!({"mood": "good", "left": null})));
    }

    #[test]
    fn a_type_that_holds_itself_ends() {
        let text = example(TREE, &mut |n| n - 1).expect("it is small").to_string();
        assert!(text.contains("bad") && text.len() < 1000, "{text}");
    }

    #[test]
    fn records_that_double_are_given_up() {
        let records = |count: usize| {
            let of = |nth: usize| format!(r##"{{"$ref":"#/$defs/T{nth}"}}"##);
            let one = |nth: usize| {
                let inner = if nth == 0 { r#"{"type":"integer"}"#.to_owned() } else { of(nth - 1) };
                format!(r#""T{nth}":{{"type":"object","properties":{{"a":{inner},"b":{inner}}}}}"#)
            };
            let all: Vec<String> = (0..count).map(one).collect();
            format!(r##"{{"$defs":{{{}}},"$ref":"#/$defs/T{}"}}"##, all.join(","), count - 1)
        };
        assert!(example(&records(10), &mut |_| 0).is_some());
        assert_eq!(example(&records(20), &mut |_| 0), None);
    }

    #[test]
    fn numbers_are_within_their_bounds() {
        for (ty, low, high) in [("integer", -3, 2), ("number", -3, 2), ("integer", 7, 7)] {
            let schema = format!(r#"{{"type":"{ty}","minimum":{low},"maximum":{high}}}"#);
            for nth in [0, 1, 5, 99, 999] {
                let value = example(&schema, &mut |n| nth.min(n - 1)).expect("it is small");
                let number = value.as_f64().expect("a number");
                assert!(f64::from(low) <= number && number <= f64::from(high), "{value}");
            }
        }
        assert_eq!(range(r#"{"type":"string"}"#), None);
        let words = range(r#"{"type":"integer","minimum":1,"maximum":5}"#);
        assert_eq!(words.as_deref(), Some("a whole number from 1 to 5"));
    }

    #[test]
    fn an_enum_is_found_behind_its_name() {
        let schema = r##"{"$defs":{"M":{"enum":["a","b"]}},"$ref":"#/$defs/M"}"##;
        assert_eq!(names(schema), Some(vec!["a".into(), "b".into()]));
        assert_eq!(names(r#"{"type":"string"}"#), None);
    }
}
