//! Lists that only grow and that a prompt shows in full.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0429",
    name: "growing-prompt",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("growing_prompt.md"),
};
