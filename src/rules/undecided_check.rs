//! `check` lines that no run refutes as far as was looked, and that are not proved either.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0391",
    name: "undecided-check",
    stage: Stage::Behaviour,
    severity: Severity::Note,
    page: include_str!("undecided_check.md"),
};
