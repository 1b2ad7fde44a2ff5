//! Transitions that loop while a counter is below its bound and do not count.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0417",
    name: "uncounted-line",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("uncounted_line.md"),
};
