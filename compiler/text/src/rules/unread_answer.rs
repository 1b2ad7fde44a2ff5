//! Answers that nothing reads.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0428",
    name: "unread-answer",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("unread_answer.md"),
};
