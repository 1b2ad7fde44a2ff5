//! Steps that try again very often.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0505",
    name: "huge-retry",
    severity: Severity::Warning,
    page: include_str!("huge_retry.md"),
};
