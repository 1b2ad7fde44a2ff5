//! Steps with an excessive number of retries.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0505",
    name: "huge-retry",
    stage: Stage::Target,
    severity: Severity::Warning,
    page: include_str!("huge_retry.md"),
};
