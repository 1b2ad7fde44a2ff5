//! Options that no question ever offers.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0319",
    name: "dead-option",
    severity: Severity::Warning,
    page: include_str!("dead_option.md"),
};
