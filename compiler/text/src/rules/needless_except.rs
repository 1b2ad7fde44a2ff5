//! Redundant exceptions of a `from`.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0348",
    name: "needless-except",
    stage: Stage::Behaviour,
    severity: Severity::Off,
    page: include_str!("needless_except.md"),
};

/// A state that every transition of the `from` excludes anyway.
pub fn left_out(name: &str, is_final: bool, span: Span) -> Diagnostic {
    let why = if is_final { "final states are" } else { "the target of a line is" };
    RULE.at(span, format!("`except {name}` changes nothing: {why} left out anyway"))
        .help("remove it, unless it is there for the reader")
}
