//! Texts, comments and docs that do not mean what they look like.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;
use chartc_core::visible;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0012",
    name: "misleading-text",
    stage: Stage::Syntax,
    severity: Severity::Warning,
    page: include_str!("misleading_text.md"),
};

/// An unescaped character in a file.
pub fn raw(c: char, span: Span) -> Diagnostic {
    let mut shown = String::new();
    visible::escape(c, &mut shown);
    let why = if visible::is_direction(c) {
        "changes the direction of the text around it, so it does not read as it looks"
    } else if visible::is_control(c) {
        "is a control character, which a terminal obeys"
    } else {
        "is invisible, but a model reads it"
    };
    RULE.at(span, format!("`{shown}` {why}"))
        .help("take it out, or write its escape in a text between quotes if it is meant")
}

/// The file cannot be formatted, because the character would be in a comment or a doc. An error or a warning.
pub fn unwritable(c: char, span: Span, is_error: bool) -> Diagnostic {
    let mut shown = String::new();
    visible::escape(c, &mut shown);
    let message = format!("comments and docs have no escape for `{shown}`");
    let mut found = RULE.at(span, message).help("take it out of the comment or the doc");
    if is_error {
        found.severity = Severity::Error;
    }
    found
}
