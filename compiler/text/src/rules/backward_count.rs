//! Transitions that count away from the bound in their guard.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0418",
    name: "backward-count",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("backward_count.md"),
};
