//! Transitions whose guards leave one case uncovered.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0314",
    name: "gap",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("gap.md"),
};
