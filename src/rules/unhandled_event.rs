//! Events that nothing takes.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0310",
    name: "unhandled-event",
    severity: Severity::Warning,
    page: include_str!("unhandled_event.md"),
};
