//! Variables that are set and never read.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0413",
    name: "unread-variable",
    stage: Stage::Data,
    severity: Severity::Off,
    page: include_str!("unread_variable.md"),
};
