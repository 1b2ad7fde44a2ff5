//! `agent.schema.json` and `component.schema.json` against the reader of agents.

use super::documents::variants;
use super::fits::fits;
use super::{made, pages};
use chartc::diagnostic::Severity;
use chartc::keys::{AGENT, COMPONENT, Mapping};
use chartc::source::Source;
use chartc::span::FileId;
use chartc_compiler::rules::{MISSING_FIELD, UNKNOWN_FIELD, WRONG_TYPE};
use serde_json::{Value, json};
use test_support::project::{cases, corpus};

const COMPONENT_NAME: &str = "_components/behaviors/a.yaml";

/// Whether the reader refuses keys or values, or misses some.
fn is_refused(name: &str, text: &str) -> bool {
    let mut findings = Vec::new();
    chartc_compiler::front::parse(FileId(0), &Source::new(name, text), &mut findings);
    findings.iter().any(|found| match found.rule.code {
        code if code == UNKNOWN_FIELD.code || code == WRONG_TYPE.code => true,
        code => code == MISSING_FIELD.code && found.severity == Severity::Error,
    })
}

/// The data of a YAML text.
pub(super) fn data(text: &str) -> Option<Value> {
    let options = serde_yaml::options! { strict_booleans: true };
    serde_yaml::from_str_with_options(text, options).ok()
}

fn compare(top: &'static Mapping, schema: &str, name: &str, excuses: &[&str]) {
    let schema = made(schema);
    let all = variants(top);
    assert!(all.len() > 300, "{}", all.len());
    let mut differ = Vec::new();
    for (what, document) in &all {
        let refused = is_refused(name, &document.to_string());
        let fits = fits(document, &schema, &schema);
        if fits == refused && !excuses.iter().any(|excuse| what.contains(excuse)) {
            differ.push(format!("{what}: the reader {refused}, the schema {}", !fits));
        }
    }
    assert!(differ.is_empty(), "{} of {} differ:\n{}", differ.len(), all.len(), differ.join("\n"));
}

#[test]
fn the_reader_and_the_schema_of_agents_refuse_the_same() {
    compare(&AGENT, "agent", "agent.yaml", &[]);
}

#[test]
fn the_reader_and_the_schema_of_components_refuse_the_same() {
    compare(&COMPONENT, "component", COMPONENT_NAME, &[]);
}

/// All places of mappings in a value, as JSON pointers with the names of their keys.
fn keys(value: &Value, path: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(map) => {
            for (name, inner) in map {
                found.push((path.to_owned(), name.clone()));
                let step = name.replace('~', "~0").replace('/', "~1");
                keys(inner, &format!("{path}/{step}"), found);
            }
        }
        Value::Array(items) => {
            for (nth, inner) in items.iter().enumerate() {
                keys(inner, &format!("{path}/{nth}"), found);
            }
        }
        _ => {}
    }
}

/// The document with a key renamed, taken out, or given another kind of value.
fn mutants(document: &Value) -> Vec<(String, Value)> {
    let mut places = Vec::new();
    keys(document, "", &mut places);
    let mut made = Vec::new();
    for (path, name) in places {
        let mut vary = |what: &str, change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
            let mut document = document.clone();
            let map = document.pointer_mut(&path).and_then(Value::as_object_mut);
            change(map.expect("a mapping"));
            made.push((format!("{what} {path}/{name}"), document));
        };
        vary("rename", &|map| {
            let value = map.remove(&name).expect("a key");
            map.insert(format!("{name}_x"), value);
        });
        vary("remove", &|map| {
            map.remove(&name);
        });
        for value in [json!(7), json!(true), json!([[1]]), json!({"zz": 1}), json!("zz -")] {
            vary(&format!("{value} at"), &|map| {
                map.insert(name.clone(), value.clone());
            });
        }
    }
    made
}

#[test]
fn agents_that_the_reader_takes_fit_and_their_mutants_do_not() {
    let (agent, component) = (made("agent"), made("component"));
    let all = corpus().into_iter().chain(pages::heredocs());
    let (mut taken, mut refused, mut missed) = (0, 0, Vec::new());
    for (name, text) in all.filter(|(name, _)| name.ends_with(".yaml")) {
        let is_component = name.contains("_components/");
        let (schema, read_as) =
            if is_component { (&component, COMPONENT_NAME) } else { (&agent, "agent.yaml") };
        let Some(document) = data(&text).filter(|document| !document.is_null()) else { continue };
        if is_refused(read_as, &text) {
            continue;
        }
        assert!(fits(&document, schema, schema), "{name} does not fit");
        taken += 1;
        let mutants = mutants(&document);
        let step = mutants.len().div_ceil(cases(40)).max(1);
        for (what, mutant) in mutants.iter().step_by(step) {
            let is_wrong = is_refused(read_as, &mutant.to_string());
            let fits = fits(mutant, schema, schema);
            assert!(is_wrong || fits, "{name}: {what} is right, and does not fit");
            refused += usize::from(is_wrong);
            if is_wrong && fits {
                missed.push(format!("{name}: {what}"));
            }
        }
    }
    println!("{taken} agents fit; of {refused} mutants, {} fit, too", missed.len());
    assert!(taken > 60 && refused > 1000, "{taken} agents, {refused} mutants");
    assert!(missed.is_empty(), "{} of {refused}:\n{}", missed.len(), missed.join("\n"));
}
