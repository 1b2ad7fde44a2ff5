//! Steps that no turn comes to, because its model calls are used up or it has ended before.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0307",
    name: "hidden-step",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("hidden_step.md"),
};
