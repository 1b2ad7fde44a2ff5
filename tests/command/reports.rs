//! Each format of findings, on the same findings.

use chartc::diagnostic::{Diagnostic, Rule};
use chartc::load::Memory;
use chartc::report::{Findings, REPORTS, Terminal};
use chartc::span::Span;
use chartc_compiler::rules::named;
use chartc_compiler::syntax::source::{Source, Sources};
use std::collections::BTreeSet;

fn rule(name: &str) -> &'static Rule {
    named(name).expect("there is such a rule")
}

fn render(format: &str) -> String {
    let (found, sources) = findings();
    let report = REPORTS.iter().find(|r| r.name == format).expect("a format of the table");
    report.render(&found, &sources, Terminal { colour: false, width: 80 })
}

fn findings() -> (Vec<Diagnostic>, Sources) {
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
    (found, sources)
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

#[test]
fn github() {
    insta::assert_snapshot!(render("github"));
}

#[test]
fn gitlab() {
    insta::assert_snapshot!(render("gitlab"));
}

#[test]
fn junit() {
    insta::assert_snapshot!(render("junit"));
}

/// Hostile text in a message or a file name begins no command of GitHub's, ends no XML and no JSON.
#[test]
fn text_of_findings_stays_text() {
    let mut sources = Sources::default();
    let name = "a,b::\n%0A<x>.chart";
    let file = sources.add(Source::new(name, "chart A {}\n"));
    let message = "100 %\n::error file=x::no\u{1b}[31m </failure>\u{202e}";
    let found =
        [rule("unknown-name").at(Span::new(file, 0, 5), message).help("<b>\r\n::set-output")];
    for report in REPORTS {
        let text = report.render(&found, &sources, Terminal { colour: false, width: 80 });
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{}: {text}", report.name);
        let commands = text.lines().filter(|line| line.trim_start().starts_with("::")).count();
        // For people, each line of a help stands on its own.
        if report.name != "human" {
            assert_eq!(commands, usize::from(report.name == "github"), "{text}");
        }
        match report.name {
            "json" | "sarif" | "gitlab" => {
                let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
                assert!(value.to_string().contains("::error file=x::no"), "{text}");
            }
            "junit" => assert_eq!(text.matches("</failure>").count(), 1, "{text}"),
            _ => {}
        }
    }
}

fn sarif(text: &str) -> serde_json::Value {
    let done = chartc::check(&["a.chart".to_owned()], &Memory::of("a.chart", text));
    let findings = Findings {
        diagnostics: &done.diagnostics,
        suppressed: &done.suppressed,
        sources: &done.sources,
        bars: &[],
        terminal: Terminal { colour: false, width: 80 },
    };
    let report = REPORTS.iter().find(|r| r.name == "sarif").expect("a format of the table");
    let value: serde_json::Value =
        serde_json::from_str(&(report.format)(&findings)).expect("it is JSON");
    value["runs"][0].clone()
}

const FAULTY: &str = "chart A {
  event open
  initial a
  state a { on opne -> b }
  state b { on open -> a }
}
chart B {
  event open
  initial a
  state a { on open -> b }
  state b {
    on open -> a
    // chartc: allow(C0302) kept for the next version
    on open -> b
  }
}
";

#[test]
fn sarif_has_fixes_rules_and_what_comments_suppress() {
    let run = sarif(FAULTY);
    let results = run["results"].as_array().expect("an array");
    let of = |code: &str| results.iter().find(|r| r["ruleId"] == code).expect("found");
    let typo = of("C0102");
    let edit = &typo["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(edit["insertedContent"]["text"], "open");
    assert_eq!(edit["deletedRegion"]["startColumn"], 16);
    let hidden = of("C0302");
    assert_eq!(hidden["suppressions"][0]["kind"], "inSource");
    assert_eq!(hidden["suppressions"][0]["justification"], "kept for the next version");
    assert!(typo.get("suppressions").is_none());
    for result in results {
        let index = result["ruleIndex"].as_u64().expect("a number") as usize;
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
    assert_eq!(run["columnKind"], "unicodeCodePoints");
}

#[test]
fn fingerprints_survive_inserted_lines_and_are_unique() {
    let prints = |text: &str| {
        let run = sarif(text);
        let results = run["results"].as_array().expect("an array").clone();
        let print = |r: &serde_json::Value| r["partialFingerprints"]["chartc/v1"].to_string();
        results.iter().map(print).collect::<Vec<_>>()
    };
    let text = FAULTY.replace("on opne -> b", "on opne -> b on opne -> b");
    let before = prints(&text);
    assert!(before.len() >= 3, "{before:?}");
    assert_eq!(before.iter().collect::<BTreeSet<_>>().len(), before.len());
    assert_eq!(before, prints(&format!("\n\n{}", text.replace("  state", "\n    state"))));
    assert_ne!(before, prints(&text.replace("event open", "event opens").replace("opne", "opnes")));
}
