//! Reachable states from which no final state can be reached.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0305",
    name: "trap-state",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("trap_state.md"),
};
