//! SCXML documents: what they become, what is said of them, what they do.

mod bound;
mod invoke;
mod meaning;

use crate::agent_front::findings;
use crate::listed;
use chartc::Compilation;
use chartc::load::Memory;
use std::path::PathBuf;
use test_support::cases::{Form, compare};
use test_support::project::root;

/// A document by itself.
fn check(text: &str) -> Compilation {
    chartc::check(&["t.scxml".to_owned()], &Memory::of("t.scxml", text))
}

/// What is translated, or refused at its place.
#[test]
fn bound_found() {
    let path = "tests/language/scxml/bound.cases";
    compare(path, Form::File("t.scxml"), &listed::all);
}

fn fixture(name: &str) -> Compilation {
    let path = root().join("tests/language/fixtures/scxml").join(name);
    let text = std::fs::read_to_string(path).expect("the project has its fixtures");
    chartc::check(&[name.to_owned()], &Memory::of(name, &text))
}

/// Checks that the document, written as a chart, lowers to the same model.
fn same_as_chart(done: &Compilation) -> String {
    let text = chartc_compiler::syntax::print::print(&done.files[0]);
    let again = chartc::check(&["t.chart".to_owned()], &Memory::of("t.chart", &text));
    let [first, second] =
        [done, &again].map(|c| c.lowered.iter().map(|l| &l.chart).collect::<Vec<_>>());
    let found = chartc::report::short(&again.diagnostics, &again.sources);
    assert!(!first.is_empty() && first == second, "the charts are others:\n{text}\n{found}");
    text
}

#[test]
fn a_document_is_written_as_a_chart() {
    for (name, charts) in [("door", 1), ("letters", 1), ("invokes", 4)] {
        let done = fixture(&format!("{name}.scxml"));
        assert_eq!(done.charts.len(), charts, "{}", findings(&done));
        insta::assert_snapshot!(format!("convert_{name}"), same_as_chart(&done));
    }
}

#[test]
fn every_fault_is_told_at_its_place() {
    insta::assert_snapshot!("findings", findings(&fixture("faults.scxml")));
}

/// The shared cases, in folders of an SCXML test suite.
fn shared() -> Option<Vec<PathBuf>> {
    let home = std::env::var("CHARTC_SHARED").map_or(root().join("../shared"), PathBuf::from);
    let folders = std::fs::read_dir(home.join("conformance/scion")).ok()?;
    let below = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten();
    let files = folders.flatten().flat_map(|folder| below(folder.path())).flatten();
    let mut files: Vec<PathBuf> = files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|e| e == "scxml"))
        .collect();
    files.sort();
    Some(files)
}

#[test]
fn shared_documents_are_written_as_charts() {
    let Some(files) = shared() else {
        println!("skipped, not found: conformance/scion");
        return;
    };
    for path in files {
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let done = check(&text);
        if !done.diagnostics.iter().any(|d| d.rule.code == "C0503") {
            same_as_chart(&done);
        }
    }
}
