//! Transitions that bind the data of their event and use none of it.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0416",
    name: "unused-binding",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("unused_binding.md"),
};
