//! Format specs that show numbers otherwise than they look.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0421",
    name: "misleading-format",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("misleading_format.md"),
};
