//! Code steps of an `agent.yaml` that use what safe evaluation refuses.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0404",
    name: "refused-code",
    stage: Stage::Data,
    severity: Severity::Error,
    page: include_str!("refused_code.md"),
};

/// A function or name that is not available to code of an agent.
pub fn not_available(name: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("`{name}` is not available here"))
}
