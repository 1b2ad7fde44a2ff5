//! Model calls that only their answer ends.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0317",
    name: "unbounded-wait",
    stage: Stage::Behaviour,
    severity: Severity::Off,
    page: include_str!("unbounded_wait.md"),
};
