//! Expressions whose type does not fit.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0401",
    name: "type-error",
    stage: Stage::Data,
    severity: Severity::Error,
    page: include_str!("type_error.md"),
};

/// One type where another is expected.
pub fn mismatch(want: &str, found: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("expected `{want}`, found `{found}`"))
}

/// An assignment to a param or an input.
pub fn read_only(what: &str, name: &str, why: &str, span: Span, declared: Span) -> Diagnostic {
    RULE.at(span, format!("{what} `{name}` cannot be assigned to"))
        .related(declared, "declared here")
        .help(format!("{why}; keep the value in a `var`"))
}

/// A name without a constant value where a constant is expected.
pub fn not_here(name: &str, why: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("`{name}` cannot be read here")).help(why)
}
