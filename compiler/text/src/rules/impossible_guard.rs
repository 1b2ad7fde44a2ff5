//! Conditions that are unsatisfiable.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0308",
    name: "impossible-guard",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("impossible_guard.md"),
};
