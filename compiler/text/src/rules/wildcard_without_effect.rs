//! `from` transitions that apply in no state, and `on *` in charts without events.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0303",
    name: "wildcard-without-effect",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("wildcard_without_effect.md"),
};
