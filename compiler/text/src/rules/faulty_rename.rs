//! `renamed_from` with a name that nothing can have been renamed from.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0108",
    name: "faulty-rename",
    stage: Stage::Names,
    severity: Severity::Error,
    page: include_str!("faulty_rename.md"),
};

/// The old name is in use.
pub fn still_there(what: &str, name: &str, span: Span, there: Span) -> Diagnostic {
    RULE.at(span, format!("there is a {what} `{name}`, which was not renamed"))
        .related(there, "it is declared here")
        .help("leave `renamed_from` out, or give the other one a name that is new")
}

/// Two things cannot both have had the name.
pub fn twice(what: &str, name: &str, span: Span, first: Span) -> Diagnostic {
    RULE.at(span, format!("two {what}s are renamed from `{name}`"))
        .related(first, "the first one")
        .help("keep it on the one with which the saved runs continue")
}

/// The name has not changed.
pub fn itself(what: &str, name: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("the {what} is called `{name}` now")).help("leave `renamed_from` out")
}
