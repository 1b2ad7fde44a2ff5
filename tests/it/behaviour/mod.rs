//! Findings about behaviour, situation by situation. A section of a `.cases` file is `-- situation`, the items of a chart, and under
//! them every finding in the order of the places: `=> C0203 |what is underlined| message`. Enums and tools stand above the chart.

use crate::project::{files, read};
use chartc::diagnostic::Diagnostic;
use chartc::load::Memory;
use std::fmt::Write;

/// What every case declares before its own items.
const HEAD: &str = "event a  event b  event c  event d\n  input x: Bool = false  input y: Bool = false  \
                    input n: Int = 0\n  var m: Int = 0\n";

/// The chart with these items.
fn chart(items: &str) -> String {
    let (above, items): (Vec<&str>, Vec<&str>) =
        items.lines().partition(|l| l.starts_with("enum ") || l.starts_with("tool "));
    format!("{}\nchart T {{\n  {HEAD}{}\n}}\n", above.join("\n"), items.join("\n"))
}

/// The situations of a file, each with its items.
fn situations(cases: &str) -> impl Iterator<Item = (&str, String)> {
    cases.split("\n-- ").filter(|s| !s.trim().is_empty()).map(|section| {
        let (name, body) = section.split_once('\n').expect("items stand below the situation");
        let items = body.lines().take_while(|l| !l.starts_with("=>")).map(|l| format!("{l}\n"));
        (name, items.collect())
    })
}

/// The charts of all situations, with a name for each.
pub(crate) fn charts() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for path in files("tests/it/behaviour", ".cases") {
        for (n, (_, items)) in situations(&read(&path)).enumerate() {
            all.push((format!("{path}.{n}.chart"), chart(&items)));
        }
    }
    all
}

/// The findings of a chart with these items, as a case lists them.
fn findings(items: &str) -> String {
    let text = chart(items);
    let done = chartc::check(&["a.chart".into()], &Memory::of("a.chart", &text));
    let source = done.sources.iter().next().expect("there is one source").1;
    let line =
        |d: &Diagnostic| format!("=> {} |{}| {}\n", d.rule.code, source.slice(d.span), d.message);
    done.diagnostics.iter().map(line).collect()
}

/// Compares every section with what is found now.
#[track_caller]
fn check(cases: &str) {
    let mut now = String::new();
    for (name, items) in situations(cases) {
        let items = items.trim_end();
        write!(now, "\n-- {name}\n{items}\n{}", findings(&format!("{items}\n")))
            .expect("a String takes all");
    }
    if std::env::var_os("UPDATE").is_some() {
        println!("{now}");
    }
    let differing = cases.lines().zip(now.lines()).find(|(a, b)| a != b);
    assert!(cases == now, "first difference: {differing:?}\n{now}");
}

#[test]
fn entering() {
    check(include_str!("entering.cases"));
}

#[test]
fn driving() {
    check(include_str!("driving.cases"));
}

#[test]
fn hiding() {
    check(include_str!("hiding.cases"));
}

#[test]
fn restarting() {
    check(include_str!("restarting.cases"));
}

#[test]
fn remembering() {
    check(include_str!("remembering.cases"));
}

#[test]
fn naming() {
    check(include_str!("naming.cases"));
}

#[test]
fn circles() {
    check(include_str!("circles.cases"));
}

#[test]
fn trapping() {
    check(include_str!("trapping.cases"));
}

#[test]
fn asking() {
    check(include_str!("asking.cases"));
}

#[test]
fn calling() {
    check(include_str!("calling.cases"));
}

#[test]
fn proving() {
    check(include_str!("proving.cases"));
}

#[test]
fn deciding() {
    check(include_str!("deciding.cases"));
}
