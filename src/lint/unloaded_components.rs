//! Components that an agent lists, where no folder has them.

use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0104",
    name: "unloaded-components",
    severity: Severity::Note,
    page: include_str!("unloaded_components.md"),
};

/// So many of them.
pub(crate) fn unloaded(count: usize, span: Span) -> Diagnostic {
    RULE.at(span, format!("the {count} components of this agent are not loaded"))
        .help("their prompt fragments are missing from the prompts")
}
