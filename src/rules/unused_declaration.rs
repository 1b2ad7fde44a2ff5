//! Declarations that nothing uses.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0411",
    name: "unused-declaration",
    severity: Severity::Warning,
    page: include_str!("unused_declaration.md"),
};
