//! Limits that are too small, or that are never reached.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0504",
    name: "limit-out-of-reach",
    stage: Stage::Target,
    severity: Severity::Warning,
    page: include_str!("limit_out_of_reach.md"),
};
