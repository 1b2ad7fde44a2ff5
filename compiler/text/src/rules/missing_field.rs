//! Mappings of an `agent.yaml` without a required key.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0005",
    name: "missing-field",
    stage: Stage::Syntax,
    severity: Severity::Error,
    page: include_str!("missing_field.md"),
};

/// What a mapping needs, as in "a step needs a `name`".
pub fn lacks(message: &str, span: Span) -> Diagnostic {
    RULE.at(span, message)
}

/// A step without `type`, which makes it a code step; `meant` is the type that its keys suggest, if it has no code.
pub fn untyped(step: &str, meant: Option<&str>, span: Span) -> Diagnostic {
    let Some(meant) = meant else {
        let finding = RULE.at(span, format!("`{step}` has no `type`: it is a code step"));
        return Diagnostic { severity: Severity::Note, ..finding.help("add `type: code`") };
    };
    RULE.at(span, format!("`{step}` has no `type`: that is a code step, and it has no `code`"))
        .help(format!("add `type: {meant}`"))
}
