//! A compound state or chart without `initial`.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0201",
    name: "missing-initial",
    stage: Stage::Structure,
    severity: Severity::Error,
    page: include_str!("missing_initial.md"),
};

/// `what` is the chart or the state that has children and no `initial`; `first` is the first of them.
pub fn lacking(what: &str, name: &str, first: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("{what} `{name}` does not say which state it starts in"))
        .help(format!("add `initial {first}`"))
}
