//! States that no run enters.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0203",
    name: "unreachable-state",
    severity: Severity::Warning,
    page: include_str!("unreachable_state.md"),
};
