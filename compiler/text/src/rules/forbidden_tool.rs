//! Tools that the model may call although its prompt forbids them.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0430",
    name: "forbidden-tool",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("forbidden_tool.md"),
};

/// The finding about one name in the prompt of `step`.
pub fn named(tool: &str, step: &str, at: Span) -> Diagnostic {
    let message = format!("the prompt of {step} forbids `{tool}`, which it offers");
    RULE.at(at, message)
        .help("take the tool out of what is offered there: what is not offered cannot be called")
}
