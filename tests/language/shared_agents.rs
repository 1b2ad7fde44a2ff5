//! The `agent.yaml` files of the shared folder against what was recorded of them: whatever failed is named where it stands, and files
//! that ran have only findings that are true of them.
//!
//! Source: `agent_yaml/files` and `agent_yaml/traces.jsonl` of the shared folder. Runs in which the model was made to fail are left out.

use chartc::diagnostic::Severity;
use chartc::load::Memory;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use test_support::project::shared;

/// A finding of a file.
struct Finding {
    line: usize,
    code: &'static str,
    message: String,
}

/// What is found in the text, notes left out.
fn findings(text: &str) -> Vec<Finding> {
    let done = chartc::check(&["agent.yaml".into()], &Memory::of("agent.yaml", text));
    let told = done.diagnostics.iter().filter(|d| d.severity > Severity::Note);
    told.map(|d| Finding {
        line: done.sources.get(d.span.file).position(d.span.start).line,
        code: d.rule.code,
        message: d.message.clone(),
    })
    .collect()
}

/// Each file with the steps that failed in it.
fn recorded() -> Option<BTreeMap<String, (String, BTreeSet<String>)>> {
    let folder = shared()?.join("agent_yaml");
    let traces =
        std::fs::read_to_string(folder.join("traces.jsonl")).expect("the traces can be read");
    let mut files: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();
    for line in traces.lines() {
        let trace: Json = serde_json::from_str(line).expect("each line is JSON");
        if trace["policy"] == "down" {
            continue;
        }
        let name = trace["file"].as_str().expect("a trace names its file");
        let (_, failed) = files.entry(name.to_owned()).or_insert_with(|| {
            let path = folder.join(format!("files/{name}.yaml"));
            (std::fs::read_to_string(path).expect("the file can be read"), BTreeSet::new())
        });
        let turns = trace["turns"].as_array().expect("a trace has turns");
        for step in turns.iter().flat_map(|t| t["steps"].as_array().expect("a turn has steps")) {
            if !matches!(step["status"].as_str(), Some("executed" | "skipped")) {
                failed.insert(step["step"].as_str().expect("a step has a name").to_owned());
            }
        }
    }
    Some(files)
}

/// The lines of a step, from 1.
fn lines_of(text: &str, step: &str) -> std::ops::Range<usize> {
    let starts = |line: &str, with: &str| line.trim_start().starts_with(with);
    let named = format!("- name: {step}");
    let first = text.lines().position(|l| l.trim() == named).expect("the step stands in the file");
    let ends = |l: &str| starts(l, "- name: ") || (!l.starts_with(' ') && !l.trim().is_empty());
    let length = text.lines().skip(first + 1).position(ends).unwrap_or(usize::MAX - first - 2);
    first + 1..first + length + 2
}

/// Which finding names the cause, by the step that failed.
const CAUSES: &[(&str, &[&str])] = &[
    // Names that nothing supplies, or `context`, which the original did not give to code.
    ("compute_metrics", &["C0102", "C0405"]),
    // A share of a text: `.0%`.
    ("ideate", &["C0401"]),
    // A variable that the original did not see inside of a comprehension.
    ("analyze_ecosystem", &["C0405"]),
    ("assess_readiness", &["C0405"]),
    ("load_goals", &["C0405"]),
    ("scan_opportunities", &["C0405"]),
];

#[test]
fn whatever_failed_is_named_where_it_stands() {
    let Some(files) = recorded() else { return };
    let mut seen = 0;
    for (text, failed) in files.values() {
        let found = findings(text);
        for step in failed {
            let (_, codes) = CAUSES.iter().find(|(name, _)| name == step).expect("a known failure");
            let lines = lines_of(text, step);
            let told = found.iter().any(|f| codes.contains(&f.code) && lines.contains(&f.line));
            assert!(told, "nothing is found in `{step}`, lines {lines:?}");
            seen += 1;
        }
    }
    assert!(seen >= CAUSES.len(), "only {seen} failures");
}

/// What is true of the files that ran, beside C0405, which tells how the original engine differs: each looked at by hand.
const TRUE: &[(&str, &str)] = &[
    // The table permits moves that no step makes.
    ("C0203", "`building`"),
    ("C0203", "`discovering`"),
    ("C0203", "`reflecting_llm`"),
    ("C0203", "`shipping`"),
    ("C0320", "no step and no option moves from `analyzing` to `monitoring`"),
    // An answer leads where the table does not, and so does its default.
    ("C0306", "`may continue` moves from `reviewing` to `operational`"),
    ("C0306", "`error` of `strategic_transition` moves from `reviewing` to `operational`"),
    // A step that runs in every state takes the call of each turn.
    ("C0307", "`learn_from_outcome` always takes the one model call of a turn"),
    // What is looked for in the memory names what nothing supplies.
    ("C0402", "`last_action` adds nothing to the query"),
    // Code keeps a place for what nobody computes, and a row of the table asks for it.
    ("C0412", "can never move from `maintaining` to `deprecating`: `should_deprecate` is always"),
    // A prompt of a step that was never sent.
    ("C0403", "braces of the text are doubled"),
];

#[test]
fn files_that_ran_have_no_false_findings() {
    let Some(files) = recorded() else { return };
    let mut told = BTreeSet::new();
    for (text, _) in files.values().filter(|(_, failed)| failed.is_empty()) {
        for Finding { code, message, .. } in
            findings(text).into_iter().filter(|f| f.code != "C0405")
        {
            let known = TRUE.iter().position(|(c, words)| *c == code && message.contains(words));
            let known = known.unwrap_or_else(|| panic!("{code} {message}"));
            told.insert(known);
        }
    }
    assert_eq!(told.len(), TRUE.len(), "not all that is true is found");
}
