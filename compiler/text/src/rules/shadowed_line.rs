//! Transitions that are never taken because others have priority.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0302",
    name: "shadowed-line",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("shadowed_line.md"),
};
