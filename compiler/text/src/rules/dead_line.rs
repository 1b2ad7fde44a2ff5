//! Transitions that no run takes although their source states are entered.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0330",
    name: "dead-line",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("dead_line.md"),
};
