//! Conditions on variables that nothing sets.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0412",
    name: "never-set",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("never_set.md"),
};
