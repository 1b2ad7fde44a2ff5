//! Permissions that no move needs.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0320",
    name: "unused-permission",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("unused_permission.md"),
};
