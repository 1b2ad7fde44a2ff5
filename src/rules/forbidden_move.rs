//! Moves of steps and choices that the table of `allow` lines forbids.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0306",
    name: "forbidden-move",
    severity: Severity::Warning,
    page: include_str!("forbidden_move.md"),
};
