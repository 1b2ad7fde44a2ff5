//! Empty files.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0007",
    name: "empty-file",
    stage: Stage::Syntax,
    severity: Severity::Warning,
    page: include_str!("empty_file.md"),
};

/// The file contains only blanks and comments.
pub fn empty(path: &str, is_agent: bool, span: Span) -> Diagnostic {
    let help = if is_agent {
        "an agent begins with `id: name`"
    } else {
        "a chart is written `chart Name { … }`"
    };
    RULE.at(span, format!("`{path}` is empty")).help(help)
}
