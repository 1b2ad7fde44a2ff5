//! Prompts that name tools that the model cannot call there.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0420",
    name: "unusable-tool",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("unusable_tool.md"),
};
