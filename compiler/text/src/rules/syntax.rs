//! Syntax errors.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0001",
    name: "syntax",
    stage: Stage::Syntax,
    severity: Severity::Error,
    page: include_str!("syntax.md"),
};

/// Another token was expected here.
pub fn expected(what: &str, found: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("expected {what}, found {found}"))
}
