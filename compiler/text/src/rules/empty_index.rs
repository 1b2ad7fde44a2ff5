//! Indexing of lists that may be too short.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0432",
    name: "empty-index",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("empty_index.md"),
};
