//! Model calls without any time limit.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0317",
    name: "unbounded-wait",
    stage: Stage::Behaviour,
    severity: Severity::Off,
    page: include_str!("unbounded_wait.md"),
};
