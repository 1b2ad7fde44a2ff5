//! Variables that are set under a name which nothing reads, a letter away from one that something does.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0424",
    name: "misspelt-variable",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("misspelt_variable.md"),
};
