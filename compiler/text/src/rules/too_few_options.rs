//! Questions with fewer than two options.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0406",
    name: "too-few-options",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("too_few_options.md"),
};
