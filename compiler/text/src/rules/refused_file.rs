//! Files that are not read, because nobody named them on the command line.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0013",
    name: "refused-file",
    stage: Stage::Syntax,
    severity: Severity::Error,
    page: include_str!("refused_file.md"),
};

/// A file that is imported by another, or read together with it.
pub fn refused(path: &str, why: &str, cure: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("`{path}` is not read: {why}")).help(cure.to_owned())
}
