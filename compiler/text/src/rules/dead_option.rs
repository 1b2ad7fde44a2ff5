//! Options that no question offers.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0319",
    name: "dead-option",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("dead_option.md"),
};
