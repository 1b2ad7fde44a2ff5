//! Messages that the receiving chart never handles.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0353",
    name: "unheard-message",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("unheard_message.md"),
};
