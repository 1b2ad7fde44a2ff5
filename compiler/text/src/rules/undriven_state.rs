//! States without any transition, step or deadline.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0301",
    name: "undriven-state",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("undriven_state.md"),
};
