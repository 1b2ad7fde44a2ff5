//! Items of lists that may be empty.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0432",
    name: "empty-index",
    severity: Severity::Warning,
    page: include_str!("empty_index.md"),
};
