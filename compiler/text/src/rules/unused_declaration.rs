//! Declarations that nothing uses.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0411",
    name: "unused-declaration",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("unused_declaration.md"),
};
