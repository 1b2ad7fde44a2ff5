//! `from` lines that hold nowhere, and `on *` without events.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0303",
    name: "wildcard-without-effect",
    severity: Severity::Warning,
    page: include_str!("wildcard_without_effect.md"),
};
