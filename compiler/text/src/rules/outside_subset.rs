//! A part of an SCXML document that is not translated.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0503",
    name: "outside-subset",
    stage: Stage::Target,
    severity: Severity::Error,
    page: include_str!("outside_subset.md"),
};

/// What, and why not.
pub fn at(span: Span, why: impl Into<String>) -> Diagnostic {
    RULE.at(span, why)
}
