//! Steps whose state is never active when their turn comes.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0318",
    name: "unreached-step",
    severity: Severity::Warning,
    page: include_str!("unreached_step.md"),
};
