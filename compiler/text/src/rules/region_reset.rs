//! Transitions that restart regions of a parallel that they do not name.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0205",
    name: "region-reset",
    stage: Stage::Structure,
    severity: Severity::Warning,
    page: include_str!("region_reset.md"),
};
