//! Answers that the prompt does not name.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0409",
    name: "unnamed-answer",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("unnamed_answer.md"),
};
