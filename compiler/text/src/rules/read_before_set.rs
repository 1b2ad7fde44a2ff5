//! Variables of a turn that are read before the turn sets them.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0407",
    name: "read-before-set",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("read_before_set.md"),
};

/// A variable of an `agent.yaml` that code asks for before the turn sets it.
pub fn not_kept(name: &str, span: Span) -> Diagnostic {
    let message = format!("`{name}` is never set here: what code sets lasts until the turn ends");
    RULE.at(span, message).help(keep(name))
}

/// How a variable lasts from turn to turn.
pub fn keep(name: &str) -> String {
    format!(
        "to keep it from turn to turn, write `keep: {{{name}: …}}` with its first value under `workflow`"
    )
}
