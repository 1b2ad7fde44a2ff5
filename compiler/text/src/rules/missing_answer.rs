//! Transitions that are taken when a step fails and that read its answer.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0433",
    name: "missing-answer",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("missing_answer.md"),
};
