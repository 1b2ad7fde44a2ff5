//! Values that are read although some run gets there without setting them.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0415",
    name: "maybe-unset",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("maybe_unset.md"),
};
