//! Timeouts and deadlines that are too short for a model or a person to answer.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0509",
    name: "hasty-timeout",
    stage: Stage::Target,
    severity: Severity::Warning,
    page: include_str!("hasty_timeout.md"),
};
