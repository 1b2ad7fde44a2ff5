//! Conditions that always hold.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0311",
    name: "needless-guard",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("needless_guard.md"),
};
