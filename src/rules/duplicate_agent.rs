//! Agents of one `id` among the files that are checked together.

use crate::diagnostic::{Rule, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0107",
    name: "duplicate-agent",
    severity: Severity::Warning,
    page: include_str!("duplicate_agent.md"),
};
