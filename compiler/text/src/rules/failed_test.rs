//! Failed tests of a chart, reported when tests are run.

use crate::diagnostic::Diagnostic;
use crate::diagnostic::{Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0601",
    name: "failed-test",
    stage: Stage::Tests,
    severity: Severity::Error,
    page: include_str!("failed_test.md"),
};

/// The test called `name` fails here.
pub fn failed(name: &str, why: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("{name}: {why}"))
}
