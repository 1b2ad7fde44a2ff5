//! Model calls without a prompt.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0414",
    name: "missing-prompt",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("missing_prompt.md"),
};
