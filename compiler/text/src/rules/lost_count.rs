//! Conditions on counters that no cycle of the chart changes effectively.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0427",
    name: "lost-count",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("lost_count.md"),
};
