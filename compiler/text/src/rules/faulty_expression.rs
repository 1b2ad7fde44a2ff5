//! Expressions of an SCXML document that always fail.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0408",
    name: "faulty-expression",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("faulty_expression.md"),
};

/// What is wrong with it.
pub fn at(span: Span, why: impl Into<String>) -> Diagnostic {
    RULE.at(span, why)
}
