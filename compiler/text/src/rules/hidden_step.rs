//! Steps that no turn reaches, because its model calls are used up or an earlier step has ended it.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0307",
    name: "hidden-step",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("hidden_step.md"),
};
