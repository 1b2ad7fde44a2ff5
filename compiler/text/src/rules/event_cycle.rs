//! Transitions that send each other's events for ever.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0313",
    name: "event-cycle",
    stage: Stage::Behaviour,
    severity: Severity::Error,
    page: include_str!("event_cycle.md"),
};
