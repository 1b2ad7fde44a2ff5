//! Findings about behaviour, situation by situation. A section of these `.cases` files contains the items of a chart, and below them
//! every finding in the order of the places. Enums, types and tools stand above the chart, other charts below it.

use crate::found::{checked, one_line};
use chartc::diagnostic::Diagnostic;
use test_support::cases::{Files, Form, Found, HEAD, compare};

/// The findings of a chart of items.
fn findings(files: &Files) -> Vec<Found> {
    let done = checked(files);
    let source = done.sources.iter().next().expect("there is one source").1;
    let line = |d: &Diagnostic| Found {
        file: source.name.clone(),
        line: source.position(d.span.start).line,
        shown: format!("=> {} |{}| {}\n", d.rule.code, one_line(source.slice(d.span)), d.message),
    };
    let below = source.text.find(HEAD).map_or(0, |at| at + HEAD.len());
    // Few cases use all that stands above them.
    let unused = |d: &Diagnostic| {
        d.rule.name == "unhandled-event" && d.related.is_empty()
            || d.rule.name == "unused-declaration"
    };
    let told = |d: &&Diagnostic| !unused(d) || d.span.start as usize > below;
    let mut told: Vec<&Diagnostic> = done.diagnostics.iter().filter(told).collect();
    // What is off and not a matter of taste in most cases.
    told.extend(done.silent.iter().filter(|d| d.rule.name == "overlap"));
    told.sort_by_key(|d| d.span.start);
    told.into_iter().map(line).collect()
}

#[track_caller]
fn check(file: &str) {
    compare(&format!("tests/language/behaviour/{file}.cases"), Form::Items, &findings);
}

#[test]
fn entering() {
    check("entering");
}

#[test]
fn walking() {
    check("walking");
}

#[test]
fn offering() {
    check("offering");
}

#[test]
fn fanning() {
    check("fanning");
}

#[test]
fn overlapping() {
    check("overlapping");
}

#[test]
fn limiting() {
    check("limiting");
}

#[test]
fn driving() {
    check("driving");
}

#[test]
fn hiding() {
    check("hiding");
}

#[test]
fn restarting() {
    check("restarting");
}

#[test]
fn remembering() {
    check("remembering");
}

#[test]
fn naming() {
    check("naming");
}

#[test]
fn circles() {
    check("circles");
}

#[test]
fn counting() {
    check("counting");
}

#[test]
fn passing() {
    check("passing");
}

#[test]
fn trapping() {
    check("trapping");
}

#[test]
fn asking() {
    check("asking");
}

#[test]
fn using() {
    check("using");
}

#[test]
fn answering() {
    check("answering");
}

#[test]
fn calling() {
    check("calling");
}

#[test]
fn proving() {
    check("proving");
}

#[test]
fn deciding() {
    check("deciding");
}

#[test]
fn handling() {
    check("handling");
}

#[test]
fn waiting() {
    check("waiting");
}

#[test]
fn echoing() {
    check("echoing");
}

#[test]
fn missing() {
    check("missing");
}

#[test]
fn routing() {
    check("routing");
}

#[test]
fn fixing() {
    check("fixing");
}

#[test]
fn racing() {
    check("racing");
}

#[test]
fn messaging() {
    check("messaging");
}

#[test]
fn outdating() {
    check("outdating");
}

#[test]
fn order() {
    check("order");
}

#[test]
fn starting() {
    check("starting");
}
