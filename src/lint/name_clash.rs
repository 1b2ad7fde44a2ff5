//! Two names that become one Rust identifier.

use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0502",
    name: "name-clash",
    severity: Severity::Error,
    page: include_str!("name_clash.md"),
};

/// Two names of one kind that become one identifier.
pub(crate) fn idents(
    what: &str,
    (name, span): (&str, Span),
    (other, place): (&str, Span),
    ident: &str,
) -> Diagnostic {
    RULE.at(span, format!("{what}s `{other}` and `{name}` are both `{ident}` in Rust"))
        .help("rename one of the two")
        .related(place, format!("{what} `{other}` stands here"))
}

/// Two charts of one file that become one module.
pub(crate) fn modules(module: &str, span: Span, other: Span) -> Diagnostic {
    RULE.at(span, format!("two charts are both module `{module}` in Rust"))
        .related(other, "the other one")
}
