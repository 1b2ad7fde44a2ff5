//! Findings about behaviour, situation by situation. A section of a `.cases` file is `-- situation`, the items of a chart, and under
//! them every finding in the order of the places: `=> C0203 |what is underlined| message`. Enums, types and tools stand above the chart,
//! other charts below it.

use chartc::diagnostic::Diagnostic;
use chartc::load::Memory;
use std::fmt::Write;
use test_support::cases::{HEAD, chart, situations};
use test_support::project::{read, root};

/// The findings of a chart with these items, as a case lists them.
fn findings(items: &str) -> String {
    let text = chart(items);
    let done = chartc::check(&["a.chart".into()], &Memory::of("a.chart", &text));
    let source = done.sources.iter().next().expect("there is one source").1;
    let line =
        |d: &Diagnostic| format!("=> {} |{}| {}\n", d.rule.code, source.slice(d.span), d.message);
    let below = text.find(HEAD).map_or(0, |at| at + HEAD.len());
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

/// Compares every section of a file with what is found now; `UPDATE=1` writes that.
#[track_caller]
fn check(file: &str) {
    let path = format!("tests/language/behaviour/{file}.cases");
    let cases = read(&path);
    let mut now = String::new();
    for (name, items) in situations(&cases) {
        let items = items.trim_end();
        write!(now, "\n-- {name}\n{items}\n{}", findings(&format!("{items}\n")))
            .expect("a String takes all");
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(root().join(&path), &now).expect("the file can be written");
    }
    let differing = cases.lines().zip(now.lines()).find(|(a, b)| a != b);
    assert!(cases == now, "first difference: {differing:?}\n{now}");
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
