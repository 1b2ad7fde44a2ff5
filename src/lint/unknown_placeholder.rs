//! A placeholder of a prompt that names nothing in scope.

use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0402",
    name: "unknown-placeholder",
    severity: Severity::Error,
    page: include_str!("unknown_placeholder.md"),
};

/// `{options}` in a text that is not the prompt of an `ask`.
pub(crate) fn options_elsewhere(span: Span) -> Diagnostic {
    RULE.at(span, "`{options}` stands only in the prompt of an `ask`")
}
