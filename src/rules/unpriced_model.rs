//! Limits of cost around calls of which nobody knows the price.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0506",
    name: "unpriced-model",
    severity: Severity::Warning,
    page: include_str!("unpriced_model.md"),
};
