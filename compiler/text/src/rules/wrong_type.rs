//! YAML values of the wrong type or shape for an agent.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0004",
    name: "wrong-type",
    stage: Stage::Syntax,
    severity: Severity::Error,
    page: include_str!("wrong_type.md"),
};

/// A value of the wrong kind.
pub fn value(what: &str, wanted: &str, found: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("{what} must be {wanted}, not {found}"))
}

/// A number or a boolean where a text is expected.
pub fn unquoted(what: &str, found: &str, written: &str, span: Span) -> Diagnostic {
    value(what, "a text", found, span).help(format!("quote it: `\"{written}\"`"))
}
