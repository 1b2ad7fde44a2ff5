//! Steps whose state is never active when the walk reaches them.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0318",
    name: "unreached-step",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("unreached_step.md"),
};
