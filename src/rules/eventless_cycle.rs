//! `when` lines that are taken for ever.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0304",
    name: "eventless-cycle",
    severity: Severity::Error,
    page: include_str!("eventless_cycle.md"),
};
