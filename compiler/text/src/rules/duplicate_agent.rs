//! Agents of one `id` among the files that are checked together.

use crate::diagnostic::{Rule, Severity, Stage};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0107",
    name: "duplicate-agent",
    stage: Stage::Names,
    severity: Severity::Warning,
    page: include_str!("duplicate_agent.md"),
};
