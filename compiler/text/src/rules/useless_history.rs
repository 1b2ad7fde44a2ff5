//! History states that restore nothing.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0204",
    name: "useless-history",
    stage: Stage::Structure,
    severity: Severity::Warning,
    page: include_str!("useless_history.md"),
};
