//! Lines whose conditions overlap, so that only their order decides.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0315",
    name: "overlap",
    severity: Severity::Off,
    page: include_str!("overlap.md"),
};
