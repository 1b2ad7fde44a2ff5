//! Lowering: names, types and structure of charts, and the model that comes of them.
//!
//! What is found in faulty charts stands in `.cases` files.

mod imports;
mod invariants;
mod model;
mod names;
mod steps;
mod structure;
mod types;

use crate::listed;
use chartc::Compilation;
use chartc::load::Memory;
use chartc::report::short;
use chartc_core::model::Chart;
use std::sync::Arc;
use test_support::cases::{Form, compare};

#[track_caller]
fn found(file: &str) {
    compare(&format!("tests/language/lower/{file}.cases"), Form::File("a.chart"), &listed::all);
}

#[test]
fn names_found() {
    found("names");
}

#[test]
fn types_found() {
    found("types");
}

#[test]
fn structure_found() {
    found("structure");
}

#[test]
fn steps_found() {
    found("steps");
}

#[test]
fn imports_found() {
    found("imports");
}

/// Checks one chart file.
pub(crate) fn check(text: &str) -> Compilation {
    chartc::check(&["a.chart".to_owned()], &Memory::of("a.chart", text))
}

/// The model of the only chart of a text without errors.
pub(crate) fn chart(text: &str) -> Arc<Chart> {
    let compilation = check(text);
    let shown = short(&compilation.diagnostics, &compilation.sources);
    assert_eq!(compilation.charts.len(), 1, "{shown}");
    compilation.charts[0].chart().clone()
}
