//! Each format of findings, on the same findings.

use chartc::diagnostic::{Diagnostic, Rule};
use chartc::report::{Paper, REPORTS};
use chartc::source::{Source, Sources};
use chartc::span::Span;
use chartc_text::rules::named;

fn rule(name: &str) -> &'static Rule {
    named(name).expect("there is such a rule")
}

fn render(format: &str) -> String {
    let mut sources = Sources::default();
    let main = sources
        .add(Source::new("a.chart", "chart A {\n  state é { on go -> idel }\n  state é\n}\n"));
    let other = sources.add(Source::new("lib/b.chart", "event go\n"));
    let lost = sources.add(Source::new("c.chart", ""));
    let end = sources.get(main).text.len();
    let found: Vec<Diagnostic> = vec![
        rule("unknown-name")
            .at(Span::new(main, 32, 36), "no state is called `idel`")
            .help("did you mean `idle`?"),
        rule("duplicate-name")
            .at(Span::new(main, 47, 49), "`é` is declared twice")
            .label("again here")
            .related(Span::new(main, 18, 20), "first here")
            .related(Span::new(other, 0, 8), "imported here"),
        rule("unknown-name").at(Span::new(main, end, end), "at the end of the text"),
        rule("unreadable-file").at(Span::new(lost, 0, 0), "`c.chart` cannot be read"),
    ];
    let report = REPORTS.iter().find(|r| r.name == format).expect("a format of the table");
    (report.render)(&found, &sources, Paper { colour: false, width: 80 })
}

#[test]
fn human() {
    insta::assert_snapshot!(render("human"));
}

#[test]
fn short() {
    insta::assert_snapshot!(render("short"));
}

#[test]
fn json() {
    insta::assert_snapshot!(render("json"));
}
