//! Permissions that permit only what others permit already.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0342",
    name: "covered-permission",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("covered_permission.md"),
};
