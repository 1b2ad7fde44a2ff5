//! Transitions whose first step of counting is greater than the bound.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0419",
    name: "long-stride",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("long_stride.md"),
};
