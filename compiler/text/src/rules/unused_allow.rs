//! `allow` comments that suppress nothing.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0010",
    name: "unused-allow",
    stage: Stage::Syntax,
    severity: Severity::Warning,
    page: include_str!("unused_allow.md"),
};

/// `rule` has no finding in the line to which the comment applies.
pub fn at(rule: &Rule, span: Span) -> Diagnostic {
    RULE.at(span, format!("there is no {} ({}) to allow here", rule.code, rule.name))
        .help("remove it, or put it into the line of the finding or right above that line")
}
