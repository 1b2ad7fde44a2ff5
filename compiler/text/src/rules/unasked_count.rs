//! Transitions that count without testing the bound.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0423",
    name: "unasked-count",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("unasked_count.md"),
};
