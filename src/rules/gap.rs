//! Lines that leave one case out.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0314",
    name: "gap",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("gap.md"),
};
