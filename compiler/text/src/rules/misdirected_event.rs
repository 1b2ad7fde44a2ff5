//! Events that a chart sends to itself, although only a chart that it runs handles them.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0351",
    name: "misdirected-event",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("misdirected_event.md"),
};
