//! Assignments that change nothing.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0422",
    name: "idle-assignment",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("idle_assignment.md"),
};

/// The value is the variable itself.
pub fn unchanged(name: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("this changes nothing: `{name}` is set to what it is"))
        .help("correct the value, or remove the assignment")
}
