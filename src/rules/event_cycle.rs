//! Lines that send what they are on for ever.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0313",
    name: "event-cycle",
    severity: Severity::Error,
    page: include_str!("event_cycle.md"),
};
