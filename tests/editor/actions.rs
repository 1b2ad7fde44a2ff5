//! What can be done about findings.

use crate::hover::{compiled, first};
use chartc::Compilation;
use chartc::diagnostic::Severity;
use chartc::ide::actions::{Action, ActionKind, actions, fix_all};
use chartc::span::Span;
use chartc_compiler::rules::RULES;
use std::collections::BTreeMap;

/// The text of the first file with the edits made.
fn edited(done: &Compilation, action: &Action) -> String {
    let mut text = done.sources.get(first(done)).text.clone();
    let mut edits = action.edits.clone();
    edits.sort();
    for (span, new) in edits.iter().rev() {
        text.replace_range(span.start as usize..span.end as usize, new);
    }
    text
}

fn whole(done: &Compilation) -> Span {
    Span::new(first(done), 0, done.sources.get(first(done)).text.len())
}

fn shown(done: &Compilation, span: Span) -> String {
    let one = |action: &Action| format!("{:?} {} {:?}", action.about, action.title, action.kind);
    let brief = |text: String| text.split("Rule {").next().unwrap_or_default().to_owned();
    actions(done, span).iter().map(one).map(brief).collect::<Vec<_>>().join("\n")
}

const DOOR: &str = "chart Door {
  event open
  event shut
  initial closed
  state closed { on opne -> opened }
  state opened { on shut -> closd }
  state lost
}
";

#[test]
fn actions_of_findings() {
    let done = compiled("door.chart", DOOR);
    insta::assert_snapshot!(shown(&done, whole(&done)));
    let at = DOOR.find("opne").expect("a misspelt name");
    let here = Span::new(first(&done), at + 1, at + 1);
    insta::assert_snapshot!(shown(&done, here));
    let nowhere = Span::new(first(&done), 2, 2);
    assert_eq!(shown(&done, nowhere), "");
}

#[test]
fn actions_of_a_warning() {
    let text = "chart A {\n  event go\n  initial a\n  state a {\n    on go -> b\n    on go -> c\n  }\n  final b\n  final c\n}\n";
    let done = compiled("a.chart", text);
    insta::assert_snapshot!(shown(&done, whole(&done)));
    let all = actions(&done, whole(&done));
    let allow =
        all.iter().find(|action| matches!(action.kind, ActionKind::Allow)).expect("a warning");
    insta::assert_snapshot!(edited(&done, allow));
}

#[test]
fn all_safe_fixes_at_once() {
    let done = compiled("door.chart", DOOR);
    let all = fix_all(&done, whole(&done)).expect("there are fixes");
    let after = compiled("door.chart", &edited(&done, &all));
    assert!(after.diagnostics.iter().all(|found| found.severity != Severity::Error));
    assert!(fix_all(&after, whole(&after)).is_none());
}

#[test]
fn only_safe_fixes_are_made_at_once() {
    let text = DOOR.replace("  event open\n", "  event open\n  var mood: Mood = good\n");
    let done = compiled("door.chart", &format!("enum Mood {{ good bad }}\n{text}"));
    let all = fix_all(&done, whole(&done)).expect("there are fixes");
    let fixes = |is_safe: bool| {
        let fixes = done.diagnostics.iter().filter_map(|found| found.fix.as_ref());
        fixes
            .filter(|fix| fix.is_safe == is_safe)
            .flat_map(|fix| fix.edits.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(all.edits, fixes(true));
    assert_eq!(fixes(false).len(), 1);
}

/// The examples of the pages of all rules that have findings, with the name of the file.
fn examples() -> Vec<(&'static str, &'static str, &'static str)> {
    let mut all = Vec::new();
    for rule in RULES {
        let mut blocks = rule.page.split("```");
        while let (Some(_), Some(block)) = (blocks.next(), blocks.next()) {
            let Some((head, text)) = block.split_once('\n') else { continue };
            let name = match head.split(' ').next() {
                Some("chart") => "a.chart",
                Some("yaml") => "agent.yaml",
                Some("xml" | "scxml") => "a.scxml",
                _ => continue,
            };
            all.push((rule.code, name, text));
        }
    }
    all
}

#[test]
fn a_comment_that_is_offered_silences_the_finding() {
    let (mut made, mut without) = (BTreeMap::new(), Vec::new());
    for (page, name, text) in examples() {
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let done = chartc::check(&[name.to_owned()], &chartc::load::Memory::of(name, &text));
            for (nth, found) in done.diagnostics.iter().enumerate() {
                let all = actions(&done, found.span);
                let is_it = |a: &&Action| matches!(a.kind, ActionKind::Allow) && a.about == [nth];
                let Some(action) = all.iter().find(is_it) else {
                    let line = done.sources.get(found.span.file).line_of(found.span.start);
                    let same = |a: &Action| {
                        let other = &done.diagnostics[a.about[0]];
                        matches!(a.kind, ActionKind::Allow)
                            && other.rule.code == found.rule.code
                            && done.sources.get(other.span.file).line_of(other.span.start) == line
                    };
                    if !found.rule.is_firm() && !all.iter().any(same) {
                        without.push(format!("{page} {name} {}:{line}", found.rule.code));
                    }
                    continue;
                };
                let new = edited(&done, action);
                let after =
                    chartc::check(&[name.to_owned()], &chartc::load::Memory::of(name, &new));
                let count = |done: &Compilation| {
                    let same = done.diagnostics.iter().filter(|d| d.rule.code == found.rule.code);
                    same.count()
                };
                assert!(count(&after) < count(&done), "{page}: {}\n{new}", found.message);
                assert!(after.suppressed.len() > done.suppressed.len(), "{page}\n{new}");
                let errors = |done: &Compilation| {
                    let is = |d: &&chartc::diagnostic::Diagnostic| d.severity == Severity::Error;
                    done.diagnostics.iter().filter(is).count()
                };
                assert!(errors(&after) <= errors(&done), "{page}\n{new}");
                *made.entry(name).or_insert(0) += 1;
            }
        }
    }
    insta::assert_snapshot!(without.join("\n"));
    assert!(made["a.chart"] > 100 && made["agent.yaml"] > 10, "{made:?}");
}

#[test]
fn fixes_of_every_page_can_be_made_together() {
    let mut made = 0;
    for (page, name, text) in examples() {
        let check =
            |text: &str| chartc::check(&[name.to_owned()], &chartc::load::Memory::of(name, text));
        let done = check(text);
        let Some(all) = fix_all(&done, whole(&done)) else { continue };
        let after = check(&edited(&done, &all));
        let errors = |done: &Compilation| {
            done.diagnostics.iter().filter(|d| d.severity == Severity::Error).count()
        };
        assert!(errors(&after) <= errors(&done), "{page}\n{}", edited(&done, &all));
        for nth in &all.about {
            let found = &done.diagnostics[*nth];
            let count = |done: &Compilation| {
                let same = done.diagnostics.iter();
                same.filter(|d| d.rule.code == found.rule.code && d.message == found.message)
                    .count()
            };
            assert!(count(&after) < count(&done), "{page}: {}", found.message);
        }
        made += all.about.len();
    }
    assert!(made >= 10, "{made} fixes");
}

#[test]
fn no_place_of_a_broken_chart_is_too_much() {
    for end in 0..DOOR.len() {
        let done = compiled("door.chart", &DOOR[..end]);
        for from in 0..=end + 2 {
            actions(&done, Span::new(first(&done), from, from + 3));
        }
    }
}
