//! Lines that send what they are on for ever.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0313",
    name: "event-cycle",
    stage: Stage::Behaviour,
    severity: Severity::Error,
    page: include_str!("event_cycle.md"),
};
