//! Charts that wait for events that nothing sends to them.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0350",
    name: "unsent-event",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("unsent_event.md"),
};
