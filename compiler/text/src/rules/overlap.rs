//! Transitions whose guards overlap, so that only document order decides.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0315",
    name: "overlap",
    stage: Stage::Behaviour,
    severity: Severity::Off,
    page: include_str!("overlap.md"),
};
