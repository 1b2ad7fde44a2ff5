//! `config.schema.json` against the reader of `chartc.toml`.

use super::documents::variants;
use super::fits::fits;
use super::made;
use crate::team::{folder, run};
use chartc::keys::CONFIG;
use chartc_compiler::rules::RULES;
use serde_json::{Value, json};

/// An inline value of TOML; `None` for nothing, which TOML does not have.
fn inline(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(value.to_string()),
        Value::Array(items) => {
            let items: Option<Vec<_>> = items.iter().map(inline).collect();
            Some(format!("[{}]", items?.join(", ")))
        }
        Value::Object(map) => {
            let rows: Option<Vec<_>> =
                map.iter().map(|(k, v)| Some(format!("{} = {}", json!(k), inline(v)?))).collect();
            Some(format!("{{{}}}", rows?.join(", ")))
        }
    }
}

fn toml(document: &Value) -> Option<String> {
    let rows = document.as_object().expect("a table").iter();
    rows.map(|(k, v)| Some(format!("{} = {}\n", json!(k), inline(v)?))).collect()
}

#[test]
fn the_reader_and_the_schema_of_chartc_toml_refuse_the_same() {
    const CHART: &str = "chart A {\n  initial a\n  final a\n}\n";
    let schema = made("config");
    let mut all = variants(&CONFIG);
    let level = |name: &str, level: &str| {
        (
            format!("{name}: {level}"),
            json!({"lints": {name: level}, "per-path": {"a/": {name: level}}}),
        )
    };
    let firm = RULES.iter().find(|rule| rule.is_firm()).expect("there are some");
    let soft = RULES.iter().find(|rule| !rule.is_firm()).expect("there are some");
    for name in ["warnings", "C9999", "no-such-rule", firm.name, firm.code, soft.name, soft.code] {
        all.extend(["allow", "warn", "deny", "off"].map(|word| level(name, word)));
    }
    let every = |rules: &mut dyn Iterator<Item = &'static str>, word: &str| {
        let levels: serde_json::Map<_, _> = rules.map(|n| (n.to_owned(), json!(word))).collect();
        ("every rule".to_owned(), json!({"lints": levels}))
    };
    all.push(every(&mut RULES.iter().flat_map(|rule| [rule.name, rule.code]), "deny"));
    let soft = RULES.iter().filter(|rule| !rule.is_firm());
    all.push(every(&mut soft.flat_map(|rule| [rule.name, rule.code]), "allow"));
    let mut differ = Vec::new();
    let mut tried = 0;
    for (what, document) in &all {
        let Some(text) = toml(document) else { continue };
        tried += 1;
        let here = folder("schema-config", &[("chartc.toml", &text), ("a.chart", CHART)]);
        let (code, _, said) = run(&here, &["check", "a.chart"]);
        let refused = code == Some(2);
        if fits(document, &schema, &schema) == refused {
            differ.push(format!("{what}: {text}{said}"));
        }
    }
    assert!(tried > 150, "{tried}");
    assert!(differ.is_empty(), "{} of {tried} differ:\n{}", differ.len(), differ.join("\n"));
}
