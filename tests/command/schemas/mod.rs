//! `docs/*.schema.json`: made from the tables of keys (`SCHEMA=write` writes them anew), and as strict as the readers of the files.

mod agents;
mod config;
mod documents;
pub(crate) mod fits;
mod pages;
#[cfg(feature = "run")]
mod run_files;
mod write;

use chartc::keys::{AGENT, COMPONENT, CONFIG, RUN};
use serde_json::Value;
use test_support::project::{read, root};
#[cfg(feature = "run")]
pub(crate) use write::{DRAFT, describe};

/// The schema of `docs/NAME.schema.json`, made anew.
fn made(name: &str) -> Value {
    match name {
        "agent" => write::schema(&AGENT, "An agent.yaml"),
        "component" => write::schema(&COMPONENT, "A component of an agent.yaml"),
        "config" => write::schema(&CONFIG, "A chartc.toml"),
        "run" => write::schema(&RUN, "A run file of chartc"),
        _ => panic!("no table makes {name}"),
    }
}

/// Writes a schema, or compares it with the one that is there.
pub(crate) fn keep(name: &str, schema: &Value) {
    let file = format!("docs/{name}.schema.json");
    let mut wanted = serde_json::to_string_pretty(schema).expect("JSON");
    wanted.push('\n');
    if std::env::var("SCHEMA").is_ok_and(|word| word == "write") {
        std::fs::write(root().join(&file), &wanted).expect("the docs can be written");
    }
    let anew = "write it anew: SCHEMA=write cargo test --test command schema";
    assert!(read(&file) == wanted, "{file} is not what the tables say; {anew}");
}

#[test]
fn the_schemas_are_those_of_the_tables() {
    for name in ["agent", "component", "config", "run"] {
        keep(name, &made(name));
    }
}
