//! Cycles of `when` transitions that are taken for ever.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0304",
    name: "eventless-cycle",
    stage: Stage::Behaviour,
    severity: Severity::Error,
    page: include_str!("eventless_cycle.md"),
};
