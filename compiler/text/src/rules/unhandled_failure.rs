//! Calls and child charts whose failure leaves the run stuck.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0349",
    name: "unhandled-failure",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("unhandled_failure.md"),
};
