//! Cost limits on model calls without prices.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0506",
    name: "unpriced-model",
    stage: Stage::Target,
    severity: Severity::Warning,
    page: include_str!("unpriced_model.md"),
};
