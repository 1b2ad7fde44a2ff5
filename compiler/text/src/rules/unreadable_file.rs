//! Files that could not be read.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0002",
    name: "unreadable-file",
    stage: Stage::Syntax,
    severity: Severity::Error,
    page: include_str!("unreadable_file.md"),
};

/// A file that was named on the command line.
pub fn asked_for(path: &str, why: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("`{path}` cannot be read: {why}"))
}

/// A file that is imported.
pub fn imported(path: &str, why: &str, span: Span) -> Diagnostic {
    asked_for(path, why, span).help("a path is relative to the folder of the importing file")
}
