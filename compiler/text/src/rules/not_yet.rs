//! A construct that parses but does not run yet.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0501",
    name: "not-yet",
    stage: Stage::Target,
    severity: Severity::Error,
    page: include_str!("not_yet.md"),
};
