//! Python's `//` division, which is a comment here.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0008",
    name: "lost-division",
    stage: Stage::Syntax,
    severity: Severity::Warning,
    page: include_str!("lost_division.md"),
};

/// The comment, including its slashes.
pub fn comment(text: &str, span: Span) -> Diagnostic {
    let divisor = text.trim_start_matches('/').trim();
    RULE.at(span, format!("`{text}` is a comment, and nothing is divided"))
        .help(format!("write `div {divisor}`, or reword the comment"))
}
