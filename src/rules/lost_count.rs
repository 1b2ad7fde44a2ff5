//! Conditions on counters that rounds never get to change.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0427",
    name: "lost-count",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("lost_count.md"),
};
