//! From a table of keys to a JSON Schema, of the draft that editors read best.

use chartc::keys::{Case, Key, Mapping, Shape, Sign, Word};
use chartc_compiler::rules::RULES;
use serde_json::{Map, Value, json};

pub(crate) const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

/// The schema of a file.
pub(super) fn schema(top: &'static Mapping, title: &str) -> Value {
    let mut definitions = Map::new();
    let mut made = json!({"$schema": DRAFT, "title": title});
    let body = mapping(top, &mut definitions);
    let made_map = made.as_object_mut().expect("an object");
    made_map.extend(body);
    definitions.sort_keys();
    made_map.insert("definitions".into(), Value::Object(definitions));
    made
}

/// Adds what something means, as plain text and as Markdown.
pub(crate) fn describe(to: &mut Map<String, Value>, doc: &str) {
    to.insert("description".into(), json!(doc.replace('`', "")));
    to.insert("markdownDescription".into(), json!(doc));
}

fn mapping(table: &'static Mapping, definitions: &mut Map<String, Value>) -> Map<String, Value> {
    let mut made = Map::new();
    describe(&mut made, table.doc);
    if !table.is_open {
        made.insert("type".into(), json!("object"));
    }
    let (mut properties, mut patterns) = (Map::new(), Map::new());
    for key in table.keys {
        let schema = Value::Object(of_key(key, definitions));
        match key.name.strip_suffix('*') {
            Some(prefix) => patterns.insert(format!("^{prefix}"), schema),
            None => properties.insert(key.name.to_owned(), schema),
        };
    }
    made.insert("properties".into(), Value::Object(properties));
    if !patterns.is_empty() {
        made.insert("patternProperties".into(), Value::Object(patterns));
    }
    let required: Vec<_> = table.keys.iter().filter(|k| k.is_required).map(|k| k.name).collect();
    if !required.is_empty() {
        made.insert("required".into(), json!(required));
    }
    if !table.is_open {
        made.insert("additionalProperties".into(), json!(false));
    }
    if !table.cases.is_empty() {
        let cases: Vec<_> = table.cases.iter().map(case).collect();
        made.insert("allOf".into(), json!(cases));
    }
    made
}

/// What a mapping needs where a key has a value.
fn case(case: &Case) -> Value {
    let when = match case.value {
        Some(value) => json!({"properties": {case.key: {"const": value}}, "required": [case.key]}),
        None => json!({"not": {"required": [case.key]}}),
    };
    let there =
        |key: &str| json!({"required": [key], "properties": {key: {"not": {"type": "null"}}}});
    let needs = case.needs.iter().map(|need| {
        let mut made = there(need.key);
        if !need.without.is_empty() {
            let without: Vec<_> = need.without.iter().map(|key| there(key)).collect();
            made["not"] = json!({"anyOf": without});
        }
        made
    });
    json!({"if": when, "then": {"anyOf": needs.collect::<Vec<_>>()}})
}

fn of_key(key: &'static Key, definitions: &mut Map<String, Value>) -> Map<String, Value> {
    let mut made = Map::new();
    describe(&mut made, key.doc);
    if let Some(text) = key.default {
        let value = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
        made.insert("default".into(), value);
    }
    if let Some(instead) = key.instead {
        made.insert("deprecationMessage".into(), json!(format!("write {instead}")));
    }
    let mut shape = of_shape(&key.shape, definitions);
    if key.may_be_empty {
        shape = or_null(shape);
    }
    made.extend(shape);
    made
}

/// The schema, or nothing.
fn or_null(mut schema: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.push(Value::Null);
        for descriptions in ["enumDescriptions", "markdownEnumDescriptions"] {
            schema[descriptions]
                .as_array_mut()
                .expect("a list")
                .push(json!("As if it were absent."));
        }
        return schema;
    }
    if let Some(Value::Array(all)) = schema.get_mut("anyOf") {
        all.push(json!({"type": "null"}));
        return schema;
    }
    if schema.is_empty() {
        // Anything is nothing, too.
        return schema;
    }
    match schema.get_mut("type") {
        Some(Value::Array(types)) => types.push(json!("null")),
        Some(one) => *one = json!([one.clone(), "null"]),
        None => {
            let all = json!([Value::Object(schema), {"type": "null"}]);
            return Map::from_iter([("anyOf".to_owned(), all)]);
        }
    }
    schema
}

fn of_shape(shape: &'static Shape, definitions: &mut Map<String, Value>) -> Map<String, Value> {
    let made = match shape {
        Shape::Anything => json!({}),
        Shape::Text => json!({"type": "string"}),
        Shape::Name(_) => json!({"type": "string", "pattern": r"\S"}),
        Shape::Label => json!({"type": ["string", "integer"], "minLength": 1}),
        Shape::Pattern(pattern, example) => {
            json!({"type": "string", "pattern": pattern, "examples": [example]})
        }
        Shape::Words(words) => {
            let each = |of: fn(&Word) -> String| words.iter().map(of).collect::<Vec<_>>();
            json!({
                "enum": each(|word| word.word.to_owned()),
                "enumDescriptions": each(|word| word.doc.replace('`', "")),
                "markdownEnumDescriptions": each(|word| word.doc.to_owned()),
            })
        }
        Shape::Flag => json!({"type": "boolean"}),
        Shape::Switch => json!({
            "type": ["boolean", "string"],
            "pattern": "^([Yy][Ee][Ss]|[Nn][Oo]|[Oo][Nn]|[Oo][Ff][Ff])$",
        }),
        Shape::Count { least, most } => match most {
            Some(most) => json!({"type": "integer", "minimum": least, "maximum": most}),
            None => json!({"type": "integer", "minimum": least}),
        },
        Shape::Number(sign) => match sign {
            Sign::Any => json!({"type": "number"}),
            Sign::NotNegative => json!({"type": "number", "minimum": 0}),
            Sign::Positive => json!({"type": "number", "exclusiveMinimum": 0}),
        },
        Shape::List { of, is_filled } => {
            let mut made = json!({"type": "array", "items": of_shape(of, definitions)});
            if *is_filled {
                made["minItems"] = json!(1);
            }
            made
        }
        Shape::Mapping(table) => {
            if !definitions.contains_key(table.name) {
                // There before its keys, which may lead to it again.
                definitions.insert(table.name.to_owned(), Value::Null);
                let made = mapping(table, definitions);
                definitions.insert(table.name.to_owned(), Value::Object(made));
            }
            json!({"$ref": format!("#/definitions/{}", table.name)})
        }
        Shape::ByName { of, names, is_filled } => {
            let mut made =
                json!({"type": "object", "additionalProperties": of_shape(of, definitions)});
            if let Some(pattern) = names {
                made["propertyNames"] = json!({"pattern": pattern});
            }
            if *is_filled {
                made["minProperties"] = json!(1);
            }
            made
        }
        Shape::Levels => {
            definitions.insert("levels".to_owned(), levels());
            json!({"$ref": "#/definitions/levels"})
        }
        Shape::Either(all) => {
            let all: Vec<_> = all.iter().map(|shape| of_shape(shape, definitions)).collect();
            json!({"anyOf": all})
        }
    };
    let Value::Object(made) = made else { unreachable!("each shape is an object") };
    made
}

/// Every rule by its name and code.
fn levels() -> Value {
    let mut properties = Map::new();
    let all = "The least level of every warning: `deny` makes errors of them.";
    let mut warnings = json!({"enum": ["warn", "deny"]});
    describe(warnings.as_object_mut().expect("an object"), all);
    properties.insert("warnings".into(), warnings);
    for rule in RULES {
        let title = rule.page.lines().next().unwrap_or_default().trim_start_matches('#').trim();
        let words = if rule.is_firm() { json!(["deny"]) } else { json!(["allow", "warn", "deny"]) };
        for (name, other) in [(rule.name, rule.code), (rule.code, rule.name)] {
            let mut made = json!({"enum": words});
            describe(made.as_object_mut().expect("an object"), &format!("{title} ({other})"));
            properties.insert(name.to_owned(), made);
        }
    }
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}
