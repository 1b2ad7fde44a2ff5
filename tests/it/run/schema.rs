//! `docs/trace.schema.json`: made from the lines that the runtime knows (`SCHEMA=write` writes it anew), and true of the lines of runs.

use super::replay::world::{charts, record};
use crate::project::{read, root};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const FILE: &str = "docs/trace.schema.json";

/// The JSON Schema of a Rust type, as it is serialized.
fn of_type(ty: &syn::Type) -> Value {
    let syn::Type::Path(path) = ty else { panic!("a field is of a named type") };
    let last = path.path.segments.last().expect("a path has a name");
    let inner = || match &last.arguments {
        syn::PathArguments::AngleBracketed(list) => match list.args.first() {
            Some(syn::GenericArgument::Type(ty)) => of_type(ty),
            _ => panic!("a type in brackets"),
        },
        _ => panic!("brackets"),
    };
    match last.ident.to_string().as_str() {
        "String" => json!({"type": "string"}),
        "bool" => json!({"type": "boolean"}),
        "u32" | "u64" | "Instant" => json!({"type": "integer", "minimum": 0}),
        "f64" => json!({"type": "number"}),
        // Any JSON.
        "Value" => json!({}),
        "Vec" => json!({"type": "array", "items": inner()}),
        "Option" => inner(),
        name @ ("LineName" | "HostCall") => json!({"$ref": format!("#/$defs/{name}")}),
        name => panic!("the schema of `{name}` is not known here"),
    }
}

/// Properties, and the names of those that are always there.
fn of_fields<'f>(
    fields: impl IntoIterator<Item = &'f syn::Field>,
) -> (Map<String, Value>, Vec<String>) {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for field in fields {
        let has = |word: &str| {
            field.attrs.iter().any(|attribute| {
                attribute.path().is_ident("serde")
                    && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string().contains(word))
            })
        };
        let name = field.ident.as_ref().expect("fields have names").to_string();
        if has("flatten") {
            // `Which`, whose fields are optional.
            properties.insert("state".into(), json!({"type": "string"}));
            properties.insert("element".into(), json!({"type": "integer", "minimum": 0}));
            continue;
        }
        let is_optional = has("skip_serializing_if");
        if !is_optional {
            required.push(name.clone());
        }
        properties.insert(name, of_type(&field.ty));
    }
    (properties, required)
}

/// `CallFailed` is `call_failed`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// The schema of a line, from the source of the runtime.
fn schema() -> Value {
    let file = syn::parse_file(&read("runtime/src/trace/mod.rs")).expect("it is Rust");
    let mut definitions = Map::new();
    let mut kinds = Vec::new();
    for item in &file.items {
        match item {
            syn::Item::Struct(found) if found.ident == "LineName" || found.ident == "HostCall" => {
                let (properties, required) = of_fields(&found.fields);
                let object =
                    json!({"type": "object", "properties": properties, "required": required});
                definitions.insert(found.ident.to_string(), object);
            }
            syn::Item::Enum(found) if found.ident == "What" => {
                for variant in &found.variants {
                    let kind = snake(&variant.ident.to_string());
                    let (mut properties, required) = of_fields(&variant.fields);
                    properties.insert("kind".into(), json!({"const": kind}));
                    let required: Vec<String> =
                        ["kind".to_owned()].into_iter().chain(required).collect();
                    kinds.push(json!({"properties": properties, "required": required}));
                }
            }
            _ => {}
        }
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of a trace, version 1",
        "description": "What chartc run --trace and chartc_runtime::Session write, a JSON object a line. trace.md says when each kind is written. New kinds and fields do not change the version.",
        "type": "object",
        "properties": {
            "v": {"const": 1},
            "seq": {"type": "integer", "minimum": 1},
            "at_ms": {"type": "integer", "minimum": 0},
            "child": {"type": "string"},
        },
        "required": ["v", "seq", "at_ms"],
        "oneOf": kinds,
        "$defs": definitions,
    })
}

/// Whether a value fits a schema of the few words that ours has.
fn fits(value: &Value, schema: &Value, root: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return false };
    schema.iter().all(|(word, wanted)| match word.as_str() {
        "$ref" => {
            let name =
                wanted.as_str().and_then(|r| r.strip_prefix("#/$defs/")).expect("a reference");
            fits(value, &root["$defs"][name], root)
        }
        "const" => value == wanted,
        "type" => match wanted.as_str() {
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("integer") => value.is_u64(),
            Some("number") => value.is_number(),
            Some("array") => value.is_array(),
            Some("object") => value.is_object(),
            other => panic!("type {other:?}"),
        },
        "minimum" => value.as_u64() >= wanted.as_u64(),
        "items" => {
            value.as_array().is_some_and(|all| all.iter().all(|item| fits(item, wanted, root)))
        }
        "properties" => wanted
            .as_object()
            .expect("an object")
            .iter()
            .all(|(name, schema)| value.get(name).is_none_or(|value| fits(value, schema, root))),
        "required" => wanted
            .as_array()
            .expect("a list")
            .iter()
            .all(|name| value.get(name.as_str().expect("a name")).is_some()),
        "oneOf" => {
            let all = wanted.as_array().expect("a list").iter();
            all.filter(|schema| fits(value, schema, root)).count() == 1
        }
        "$schema" | "$defs" | "title" | "description" => true,
        other => panic!("`{other}` is not known here"),
    })
}

#[test]
fn the_schema_is_that_of_the_runtime() {
    let mut wanted = serde_json::to_string_pretty(&schema()).expect("JSON");
    wanted.push('\n');
    if std::env::var("SCHEMA").is_ok_and(|word| word == "write") {
        std::fs::write(root().join(FILE), &wanted).expect("the docs can be written");
    }
    assert_eq!(
        read(FILE),
        wanted,
        "write it anew: SCHEMA=write cargo test -p chartc --test it schema"
    );
}

/// Kinds and their fields, as the schema has them.
fn kinds(schema: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let rows = schema["oneOf"].as_array().expect("kinds").iter().map(|kind| {
        let fields = kind["properties"].as_object().expect("fields").keys();
        let fields = fields.filter(|name| *name != "kind").cloned().collect();
        (kind["properties"]["kind"]["const"].as_str().expect("a name").to_owned(), fields)
    });
    rows.collect()
}

#[test]
fn the_page_tells_of_every_kind_and_field() {
    let page = read("docs/trace.md");
    let mut told: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let words = |cell: &str| -> BTreeSet<String> {
            cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
        };
        for kind in words(cells[1]) {
            told.entry(kind).or_default().extend(words(cells[2]));
        }
    }
    for (kind, fields) in kinds(&schema()) {
        let of_kind = told.get(&kind).unwrap_or_else(|| panic!("no row of `{kind}`"));
        // A field that many kinds have may have a row of its own.
        let is_missing = |field: &&String| !told.contains_key(*field) && !of_kind.contains(*field);
        let missing: Vec<_> = fields.iter().filter(is_missing).collect();
        assert!(missing.is_empty(), "`{kind}` has {missing:?}");
    }
}

#[test]
fn lines_of_runs_fit_it_and_others_do_not() {
    let schema = schema();
    let charts = charts();
    let mut seen = BTreeSet::new();
    for seed in 0..200 {
        for line in record(&charts[seed as usize % charts.len()], seed, false).lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            assert!(fits(&line, &schema, &schema), "{line}");
            if !seen.insert(line["kind"].as_str().expect("a kind").to_owned()) {
                continue;
            }
            let mut changed = line.clone();
            changed["kind"] = json!("no_such_kind");
            assert!(!fits(&changed, &schema, &schema), "{changed}");
            for name in line.as_object().expect("an object").keys() {
                // Of a field that may hold anything only its absence can be noticed.
                let mut changed = line.clone();
                changed[name] = json!([{"a": 1}, 2]);
                let is_any = matches!(
                    name.as_str(),
                    "value" | "data" | "variables" | "arguments" | "result" | "child"
                );
                assert!(is_any || !fits(&changed, &schema, &schema), "{changed}");
            }
        }
    }
    assert!(seen.len() > 40, "{seen:?}");
}
