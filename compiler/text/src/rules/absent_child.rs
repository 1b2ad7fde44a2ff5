//! Messages to charts that do not run when they come.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0352",
    name: "absent-child",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("absent_child.md"),
};
