//! Transitions that do nothing, and guards that were read as transitions of their own.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0340",
    name: "idle-line",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("idle_line.md"),
};
