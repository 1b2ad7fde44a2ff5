//! Questions that are never asked because transitions take their event or the turn.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0309",
    name: "unput-question",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("unput_question.md"),
};
