//! Names for an event's data that are in another order than its fields.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0431",
    name: "permuted-names",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("permuted_names.md"),
};
