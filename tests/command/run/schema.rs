//! `docs/trace.schema.json`: made from the lines that the runtime knows (`SCHEMA=write` writes it anew), and true of the lines of runs.

use super::command::{chartc, folder};
use super::replay::world::{charts, record};
use crate::schemas::fits::fits;
use crate::schemas::{DRAFT, describe, keep};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use test_support::project::{read, root};

/// What a field means, where all lines that have it mean the same and its source does not say it.
const FIELDS: &[(&str, &str)] = &[
    ("about", "Which part of the host it is about: `action`, `working_memory`."),
    ("action", "The action that the turn has chosen."),
    ("allowed", "The limit of output tokens, where the provider reports more."),
    ("ambiguous", "Whether the answer can be read in several ways."),
    ("arguments", "What it was called with."),
    ("assumed", "Nobody says what the call took, and what was held for it counts."),
    ("attempt", "The number of the attempt, from 1."),
    ("call", "The call of a host function, with its whole values."),
    ("calls_per_turn", "The most model calls of a turn, where it is not the chart's own bound."),
    ("changes", "What the action has changed, in words."),
    ("chart", "The name of the chart."),
    (
        "children",
        "`concurrent`, where child charts have their turn during that of their parent. Without it, after that.",
    ),
    ("clock", "`real`, where the computer's time passes. Without it, time is virtual."),
    ("cost", "Money, by the client's prices."),
    ("cut", "The answer ended because it had as many tokens as it might have."),
    ("data", "The values of its fields, or its particulars."),
    ("due_ms", "When it is due, on the run's clock."),
    ("element", "The index of the element, from 0, of a step with an `each`."),
    ("error", "The kind of error, such as `timeout` or `livelock`."),
    ("event", "The name of the event."),
    (
        "failed",
        "The name of the failure, such as `not_found`; empty or absent where there is none.",
    ),
    ("file", "The file of the chart, as it was named."),
    ("hash", "The hash of the chart's structure, in hex."),
    ("input", "What the host sent."),
    ("input_tokens", "Tokens that the model read."),
    ("limit", "The limit: `calls`, `tokens`, `cost`, `turns`, `time`."),
    ("line", "The line of the chart."),
    ("most_ms", "The longest time that a run waits, in milliseconds."),
    ("name", "The name of the input."),
    ("option", "The name of the option, or of the set of tools."),
    ("options", "The names of the options."),
    ("oracle", "Who answers."),
    ("output_tokens", "Tokens that the model wrote."),
    (
        "overrides",
        "What replaces the settings of clients: `system_prompt`, `llm_model`, `temperature`, `max_tokens`; an absent one is that of the client.",
    ),
    ("prompt", "What the model is sent, word for word."),
    ("reasoning", "The reason that the model gave for it."),
    ("region", "The region whose walk ended; empty for the chart."),
    ("repairs", "What was put right in the answer."),
    ("result", "The arguments of the final state."),
    ("retry_after_ms", "How long the provider wants to be left alone, in milliseconds."),
    ("rung", "How far the answer had to be searched: `whole`, `cleaned`, `mention`."),
    ("state", "The state, as a dotted path; empty for the chart itself."),
    ("status", "How the run ended."),
    ("step", "The name of the step."),
    ("summary", "What forced an end without a final state."),
    ("text", "The words."),
    ("to", "`parent`, or the step that runs the other chart."),
    ("tool", "The name of the tool."),
    ("turn", "The number of the turn, from 1."),
    ("until_ms", "When the attempt begins, on the run's clock."),
    ("value", "What it gave, or what the answer means."),
    ("variables", "Params, inputs and variables just before the start."),
    ("wanted_ms", "How long the provider wants to be left alone, in milliseconds."),
    ("why", "The reason."),
];

/// The comment of an item, as one text.
fn comment(attributes: &[syn::Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => {
                Some(text.value().trim().to_owned())
            }
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join(" ").replace("[`", "`").replace("`]", "`")
}

/// A schema with what the field means: by its comment, else as all fields with this name.
fn told(name: &str, comment: &str, schema: Value) -> Value {
    let known = FIELDS.iter().find(|(field, _)| *field == name).map(|(_, doc)| *doc);
    let doc = if comment.is_empty() { known } else { Some(comment) };
    let mut schema = schema;
    let doc = doc.unwrap_or_else(|| panic!("nothing says what `{name}` means"));
    describe(schema.as_object_mut().expect("an object"), doc);
    schema
}

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
        name @ ("LineName" | "HostCall" | "Cause") => {
            json!({"$ref": format!("#/definitions/{name}")})
        }
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
            let leaf = "The leaf of a question that several regions may be asked.";
            properties.insert("state".into(), told("state", leaf, json!({"type": "string"})));
            let index = json!({"type": "integer", "minimum": 0});
            properties.insert("element".into(), told("element", "", index));
            continue;
        }
        let is_optional = has("skip_serializing_if");
        if !is_optional {
            required.push(name.clone());
        }
        let schema = told(&name, &comment(&field.attrs), of_type(&field.ty));
        properties.insert(name, schema);
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
    let (mut definitions, mut kinds) = (Map::new(), Vec::new());
    let mut line = (Map::new(), Vec::new());
    for file in ["runtime/src/trace/mod.rs"] {
        for item in syn::parse_file(&read(file)).expect("it is Rust").items {
            match item {
                syn::Item::Struct(found) => match found.ident.to_string().as_str() {
                    name @ ("LineName" | "HostCall" | "Cause") => {
                        let (properties, required) = of_fields(&found.fields);
                        let mut object = json!({"type": "object", "properties": properties, "required": required});
                        describe(
                            object.as_object_mut().expect("an object"),
                            &comment(&found.attrs),
                        );
                        definitions.insert(name.to_owned(), object);
                    }
                    // Whose line it is: a trace of one run does not say.
                    "Logged" => line.0.extend(of_fields(own(&found.fields)).0),
                    "Line" => {
                        let (properties, required) = of_fields(own(&found.fields));
                        line.0.extend(properties);
                        line.1.extend(required);
                    }
                    _ => {}
                },
                syn::Item::Enum(found) if found.ident == "What" => {
                    kinds.extend(found.variants.iter().map(kind));
                }
                _ => {}
            }
        }
    }
    line.0["v"] = told("v", "The version of this schema.", json!({"const": 1}));
    line.0["seq"]["minimum"] = json!(1);
    json!({
        "$schema": DRAFT,
        "title": "A line of a trace, version 1",
        "description": "What chartc run --trace and chartc_runtime::Session write, a JSON object a line; with agent and by what chartc run DIR --log writes of a world of many agents. trace.md says when each kind is written. New kinds and fields do not change the version.",
        "type": "object",
        "properties": line.0,
        "required": line.1,
        "oneOf": kinds,
        "definitions": definitions,
    })
}

/// The fields that are not those of another type.
fn own(fields: &syn::Fields) -> impl Iterator<Item = &syn::Field> {
    fields
        .iter()
        .filter(|field| field.ident.as_ref().is_some_and(|name| name != "line" && name != "what"))
}

/// The schema of a kind of line.
fn kind(found: &syn::Variant) -> Value {
    let kind = snake(&found.ident.to_string());
    let (mut properties, required) = of_fields(&found.fields);
    properties.insert("kind".into(), told("kind", "What happened.", json!({"const": kind})));
    let required: Vec<String> = ["kind".to_owned()].into_iter().chain(required).collect();
    let mut made = json!({"properties": properties, "required": required});
    describe(made.as_object_mut().expect("an object"), &comment(&found.attrs));
    made
}

#[test]
fn the_schema_is_that_of_the_runtime() {
    keep("trace", &schema());
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

/// All lines of a text fit.
pub(super) fn assert_fits(text: &str) {
    let schema = schema();
    for line in text.lines() {
        let read: Value = serde_json::from_str(line).expect("JSON");
        assert!(fits(&read, &schema, &schema), "{line}");
    }
}

#[test]
fn lines_of_a_world_fit_it() {
    let log = folder("schema-world").join("log.jsonl");
    let shown = log.to_str().expect("the target folder is text");
    let world = ["run", "examples/ecology", "--ticks", "40", "--log", shown];
    let (code, _, errors) = chartc(root(), &world);
    assert_eq!((code, errors.as_str()), (0, ""));
    let text = std::fs::read_to_string(&log).expect("a log");
    assert!(text.contains(r#""by":{"agent":"#) && text.lines().count() > 500);
    assert_fits(&text);
    let schema = schema();
    let line: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    for (name, value) in [("agent", json!(1)), ("by", json!({"agent": "a"})), ("by", json!("a"))] {
        let mut changed = line.clone();
        changed[name] = value;
        assert!(!fits(&changed, &schema, &schema), "{changed}");
    }
}
