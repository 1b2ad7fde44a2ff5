//! `from` lines that hold nowhere, and `on *` without events.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0303",
    name: "wildcard-without-effect",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("wildcard_without_effect.md"),
};
