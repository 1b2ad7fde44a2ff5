//! Moves of steps and choices that the table of `allow` lines forbids.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0306",
    name: "forbidden-move",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("forbidden_move.md"),
};
