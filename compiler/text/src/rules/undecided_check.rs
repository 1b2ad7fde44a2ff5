//! Properties that are neither proved nor refuted within the bounds of the exploration.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0391",
    name: "undecided-check",
    stage: Stage::Behaviour,
    severity: Severity::Note,
    page: include_str!("undecided_check.md"),
};
