//! Variables of a turn that are read before the turn sets them.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0407",
    name: "read-before-set",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("read_before_set.md"),
};
