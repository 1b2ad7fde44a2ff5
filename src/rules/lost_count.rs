//! Conditions on counters that rounds never get to change.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0427",
    name: "lost-count",
    severity: Severity::Warning,
    page: include_str!("lost_count.md"),
};
