//! `from` transitions that apply in their own target.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0206",
    name: "wildcard-into-itself",
    stage: Stage::Structure,
    severity: Severity::Warning,
    page: include_str!("wildcard_into_itself.md"),
};
