//! Events that nothing handles.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0310",
    name: "unhandled-event",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("unhandled_event.md"),
};
