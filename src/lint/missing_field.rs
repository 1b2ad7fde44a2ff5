//! An `agent.yaml` mapping that lacks a key it needs.

use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0005",
    name: "missing-field",
    severity: Severity::Error,
    page: include_str!("missing_field.md"),
};

/// What a mapping needs, as in "a step needs a `name`".
pub(crate) fn lacks(message: &str, span: Span) -> Diagnostic {
    RULE.at(span, message)
}
