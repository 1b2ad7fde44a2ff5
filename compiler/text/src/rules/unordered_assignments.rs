//! Regions that assign one variable although nothing says which is first.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0435",
    name: "unordered-assignments",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("unordered_assignments.md"),
};
