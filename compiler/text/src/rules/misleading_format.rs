//! Format specs that look like a number of decimals but count significant digits.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0421",
    name: "misleading-format",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("misleading_format.md"),
};
