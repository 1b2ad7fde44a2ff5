//! Whether a value fits a schema, for the keywords that the schemas here use.

use serde_json::Value;

/// Whether a value fits.
pub(crate) fn fits(value: &Value, schema: &Value, root: &Value) -> bool {
    let schema = match schema {
        Value::Bool(all) => return *all,
        Value::Object(schema) => schema,
        _ => panic!("{schema} is no schema"),
    };
    let list = |wanted: &Value| wanted.as_array().expect("a list").clone();
    let there = |wanted: &Value, name: &str| wanted.get(name).is_some();
    schema.iter().all(|(word, wanted)| match word.as_str() {
        "$ref" => {
            let path = wanted.as_str().and_then(|r| r.strip_prefix('#')).expect("a reference");
            fits(value, root.pointer(path).expect("a definition"), root)
        }
        "const" => value == wanted,
        "enum" => list(wanted).contains(value),
        "type" => match wanted {
            Value::Array(types) => types.iter().any(|name| is(value, name)),
            name => is(value, name),
        },
        "minimum" => value.as_f64().is_none_or(|n| n >= number(wanted)),
        "maximum" => value.as_f64().is_none_or(|n| n <= number(wanted)),
        "exclusiveMinimum" => value.as_f64().is_none_or(|n| n > number(wanted)),
        "minLength" => {
            value.as_str().is_none_or(|text| text.chars().count() as f64 >= number(wanted))
        }
        "pattern" => value.as_str().is_none_or(|text| finds(wanted, text)),
        "minItems" => value.as_array().is_none_or(|all| all.len() as f64 >= number(wanted)),
        "items" => {
            value.as_array().is_none_or(|all| all.iter().all(|item| fits(item, wanted, root)))
        }
        "minProperties" => value.as_object().is_none_or(|all| all.len() as f64 >= number(wanted)),
        "properties" => wanted
            .as_object()
            .expect("an object")
            .iter()
            .all(|(name, schema)| value.get(name).is_none_or(|value| fits(value, schema, root))),
        "patternProperties" => entries(value).all(|(name, value)| {
            let all = wanted.as_object().expect("an object").iter();
            all.filter(|(pattern, _)| prefixed(pattern, name))
                .all(|(_, schema)| fits(value, schema, root))
        }),
        "additionalProperties" => entries(value).all(|(name, value)| {
            let is_known = schema.get("properties").is_some_and(|all| there(all, name));
            let patterns = schema.get("patternProperties").and_then(Value::as_object);
            let is_matched = patterns.is_some_and(|all| all.keys().any(|p| prefixed(p, name)));
            is_known || is_matched || fits(value, wanted, root)
        }),
        "propertyNames" => entries(value).all(|(name, _)| fits(&Value::from(name), wanted, root)),
        "required" => {
            !value.is_object()
                || list(wanted).iter().all(|name| there(value, name.as_str().expect("a name")))
        }
        "oneOf" => list(wanted).iter().filter(|schema| fits(value, schema, root)).count() == 1,
        "anyOf" => list(wanted).iter().any(|schema| fits(value, schema, root)),
        "allOf" => list(wanted).iter().all(|schema| fits(value, schema, root)),
        "not" => !fits(value, wanted, root),
        "if" => !fits(value, wanted, root) || fits(value, &schema["then"], root),
        "$schema"
        | "definitions"
        | "title"
        | "description"
        | "markdownDescription"
        | "default"
        | "deprecationMessage"
        | "enumDescriptions"
        | "markdownEnumDescriptions"
        | "examples"
        | "then" => true,
        other => panic!("`{other}` is not known here"),
    })
}

fn number(wanted: &Value) -> f64 {
    wanted.as_f64().expect("a number")
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

fn is(value: &Value, name: &Value) -> bool {
    match name.as_str().expect("the name of a type") {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|n| n.fract() == 0.0),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("type {other}"),
    }
}

/// Patterns of properties are prefixes.
fn prefixed(pattern: &str, name: &str) -> bool {
    name.starts_with(pattern.strip_prefix('^').expect("a prefix"))
}

/// The few regular expressions of the tables.
fn finds(pattern: &Value, text: &str) -> bool {
    let blank = |text: &str| text.chars().all(char::is_whitespace);
    match pattern.as_str().expect("a text") {
        r"\S" => !blank(text),
        r"\S.*->.*\S" => text.lines().any(|line| {
            line.match_indices("->").any(|(at, _)| !blank(&line[..at]) && !blank(&line[at + 2..]))
        }),
        "^([Yy][Ee][Ss]|[Nn][Oo]|[Oo][Nn]|[Oo][Ff][Ff])$" => {
            ["yes", "no", "on", "off"].iter().any(|word| word.eq_ignore_ascii_case(text))
        }
        "^[A-Za-z][A-Za-z0-9_]*$" => {
            text.starts_with(|c: char| c.is_ascii_alphabetic())
                && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        }
        r"^\s*[^\s/][^/]*/.*\S" => {
            text.split_once('/').is_some_and(|(provider, model)| !blank(provider) && !blank(model))
        }
        r"^[0-9]+(ms|s|m|h|d)$" => digits(text).is_some(),
        r"^0*[1-9][0-9]*(ms|s|m|h|d)$" => {
            digits(text).is_some_and(|digits| digits.chars().any(|c| c != '0'))
        }
        "^C[0-9]{4}$" | "^[a-z][a-z-]*$" => !text.is_empty(),
        other => panic!("the pattern {other} is not known here"),
    }
}

/// The digits of a duration.
fn digits(text: &str) -> Option<&str> {
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    (!digits.is_empty() && ["ms", "s", "m", "h", "d"].contains(&unit)).then_some(digits)
}

#[test]
fn what_fits_and_what_does_not() {
    use serde_json::json;
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": ["integer", "null"], "minimum": 1}, "k": {"enum": ["x", "y"]}},
        "patternProperties": {"^p": {"type": "boolean"}},
        "required": ["k"],
        "additionalProperties": false,
        "allOf": [{"if": {"properties": {"k": {"const": "y"}}}, "then": {"required": ["a"]}}],
    });
    for good in [json!({"k": "x"}), json!({"k": "y", "a": null}), json!({"k": "x", "pq": true})] {
        assert!(fits(&good, &schema, &schema), "{good}");
    }
    for bad in [
        json!(1),
        json!({}),
        json!({"k": "z"}),
        json!({"k": "y"}),
        json!({"k": "x", "a": 0}),
        json!({"k": "x", "a": 1.5}),
        json!({"k": "x", "p": 1}),
        json!({"k": "x", "b": 1}),
    ] {
        assert!(!fits(&bad, &schema, &schema), "{bad}");
    }
}
