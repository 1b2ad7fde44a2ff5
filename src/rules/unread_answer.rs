//! Answers that are paid for and that nothing reads.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0428",
    name: "unread-answer",
    severity: Severity::Warning,
    page: include_str!("unread_answer.md"),
};
