//! Unbounded loops of model calls.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0316",
    name: "unbounded-calls",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("unbounded_calls.md"),
};
