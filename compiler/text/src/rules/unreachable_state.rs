//! States that no run enters.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0203",
    name: "unreachable-state",
    stage: Stage::Structure,
    severity: Severity::Warning,
    page: include_str!("unreachable_state.md"),
};
