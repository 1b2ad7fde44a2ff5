//! Braces of a prompt that are neither part of a placeholder nor doubled.

use crate::diagnostic::{Diagnostic, Fix, Pending, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0403",
    name: "unescaped-brace",
    stage: Stage::Data,
    severity: Severity::Error,
    page: include_str!("unescaped_brace.md"),
};

/// A brace that is neither doubled nor part of a placeholder; `why` says what it lacks.
pub fn stray(why: &str, span: Span) -> Diagnostic {
    let mut finding =
        RULE.at(span, why).help("write `{{` and `}}` for braces that are meant as such");
    let edits = vec![(span, String::new())];
    finding.fix = Some(Box::new(Fix { edits, pending: Some(Pending::Braces), is_safe: false }));
    finding
}
