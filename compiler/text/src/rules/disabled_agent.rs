//! Agents that are not run.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0343",
    name: "disabled-agent",
    stage: Stage::Behaviour,
    severity: Severity::Note,
    page: include_str!("disabled_agent.md"),
};

/// `enabled: false`.
pub fn told(span: Span) -> Diagnostic {
    RULE.at(span, "`chartc run` does not run this agent: it is not enabled")
        .help("write `enabled: true`, or run it with `--even-disabled`")
}
