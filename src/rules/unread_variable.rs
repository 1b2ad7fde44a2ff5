//! Variables that are set and never read.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0413",
    name: "unread-variable",
    severity: Severity::Off,
    page: include_str!("unread_variable.md"),
};
