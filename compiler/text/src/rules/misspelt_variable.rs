//! Variables that are set but never read, and whose name is one letter away from one that is read.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0424",
    name: "misspelt-variable",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("misspelt_variable.md"),
};
