//! Effects of an `enter` block that are repeated when a detour returns to the state.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0434",
    name: "repeated-effect",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("repeated_effect.md"),
};
