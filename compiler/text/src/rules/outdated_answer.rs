//! Answers to questions whose values may have changed since they were asked.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0437",
    name: "outdated-answer",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("outdated_answer.md"),
};
