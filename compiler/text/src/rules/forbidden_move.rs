//! Moves by steps and options that the permissions of the chart forbid.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0306",
    name: "forbidden-move",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("forbidden_move.md"),
};
