//! Deadlines that never fire.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0312",
    name: "dead-deadline",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("dead_deadline.md"),
};
