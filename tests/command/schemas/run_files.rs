//! `run.schema.json` against the reader of run files.

use super::agents::data;
use super::documents::{at, places, variants};
use super::fits::fits;
use super::{made, pages};
use chartc::keys::RUN;
use chartc_world::RunFile;
use serde_json::json;
use std::collections::BTreeSet;
use test_support::project::{files, read};

#[test]
fn the_reader_and_the_table_know_the_same_keys() {
    for place in places(&RUN) {
        let mut document = place.document.clone();
        at(&mut document, &place.path)["zzz_unheard_of"] = json!(1);
        let fault = RunFile::parse(&document.to_string()).expect_err("there is no such key");
        let (_, known) =
            fault.stranger.clone().unwrap_or_else(|| panic!("{}: {fault:?}", place.path));
        let known: BTreeSet<_> = known.iter().map(String::as_str).collect();
        assert_eq!(known, place.table.names().collect(), "{}", place.path);
    }
}

#[test]
fn the_reader_and_the_schema_of_run_files_refuse_the_same() {
    let schema = made("run");
    let all = variants(&RUN);
    let mut differ = Vec::new();
    for (what, document) in &all {
        let refused = RunFile::parse(&document.to_string()).err();
        // What two keys say of each other is told of the mapping.
        let is_beyond = refused.as_ref().is_some_and(|fault| fault.place == "auction");
        if fits(document, &schema, &schema) == refused.is_some() && !is_beyond {
            differ.push(format!("{what}: the reader says {refused:?}"));
        }
    }
    assert!(all.len() > 1000, "{}", all.len());
    assert!(differ.is_empty(), "{} of {} differ:\n{}", differ.len(), all.len(), differ.join("\n"));
}

#[test]
fn run_files_of_the_project_fit() {
    let schema = made("run");
    let shipped = files("examples", "run.yaml").into_iter().map(|path| (path.clone(), read(&path)));
    let mut count = 0;
    for (name, text) in shipped.chain(pages::heredocs()) {
        let is_run =
            text.lines().any(|line| line.starts_with("agents:") || line.starts_with("execution:"));
        if !is_run || RunFile::parse(&text).is_err() {
            continue;
        }
        let document = data(&text).expect("YAML");
        assert!(fits(&document, &schema, &schema), "{name}");
        count += 1;
    }
    assert!(count > 3, "{count}");
}
