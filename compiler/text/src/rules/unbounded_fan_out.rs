//! Model calls for each element of a list that nothing bounds.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0510",
    name: "unbounded-fan-out",
    stage: Stage::Target,
    severity: Severity::Warning,
    page: include_str!("unbounded_fan_out.md"),
};
