//! `ok` final states that are reached only through failures.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0321",
    name: "success-by-failure",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("success_by_failure.md"),
};
