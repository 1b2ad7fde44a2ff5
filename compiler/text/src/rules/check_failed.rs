//! Properties that some run refutes.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0390",
    name: "check-failed",
    stage: Stage::Behaviour,
    severity: Severity::Error,
    page: include_str!("check_failed.md"),
};
