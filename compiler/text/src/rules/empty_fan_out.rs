//! Lists without elements, of steps that work for each element.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0436",
    name: "empty-fan-out",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("empty_fan_out.md"),
};
