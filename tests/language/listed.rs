//! Findings in whole texts, situation by situation, each module's in the `.cases` file of its name.

use crate::found::{brief, checked, listed};
use chartc::diagnostic::Diagnostic;
use chartc_compiler::lint::LINTS;
use test_support::cases::{Files, Form, Found, compare};

/// All findings of a section, those that are not of lints with their notes.
pub(crate) fn all(files: &Files) -> Vec<Found> {
    let is_of_lint = |d: &Diagnostic| {
        d.rule.name != "duplicate-name" && LINTS.iter().any(|lint| lint.rule.code == d.rule.code)
    };
    let done = checked(files);
    let list = |d| if is_of_lint(d) { brief(&done, d) } else { listed(&done, d) };
    done.diagnostics.iter().map(list).collect()
}

/// All findings of a section, with their notes.
pub(crate) fn with_notes(files: &Files) -> Vec<Found> {
    let done = checked(files);
    done.diagnostics.iter().map(|d| listed(&done, d)).collect()
}

#[track_caller]
fn found(file: &str, name: &'static str) {
    compare(&format!("tests/language/{file}.cases"), Form::File(name), &with_notes);
}

/// Lines that do nothing, and conditions written with `when`.
#[test]
fn idle() {
    found("idle", "it.chart");
}

/// Comments that leave findings out.
#[test]
fn allow() {
    found("allow", "a.chart");
}

/// Several charts and files, empty ones, comments that read like code.
#[test]
fn check() {
    found("check", "a.chart");
}

/// What is no YAML, keys in the wrong place, working memory.
#[test]
fn agent_front() {
    found("agent_front", "agent.yaml");
}
