//! A construct that parses but does not run yet.

use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0501",
    name: "not-yet",
    severity: Severity::Error,
    page: include_str!("not_yet.md"),
};

/// A `test` block, which is a note: it hinders nothing.
pub(crate) fn scenario(span: Span) -> Diagnostic {
    let mut note = RULE.at(span, "`test` blocks are kept and do not run yet");
    note.severity = Severity::Note;
    note
}
