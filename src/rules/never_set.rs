//! Conditions on variables that nothing sets.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0412",
    name: "never-set",
    severity: Severity::Warning,
    page: include_str!("never_set.md"),
};
