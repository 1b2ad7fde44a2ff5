//! States that are left as soon as they are entered.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0344",
    name: "left-at-once",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("left_at_once.md"),
};
