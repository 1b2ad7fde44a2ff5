//! Components that an agent lists and that no folder contains.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0104",
    name: "unloaded-components",
    stage: Stage::Names,
    severity: Severity::Note,
    page: include_str!("unloaded_components.md"),
};

/// The finding, with their number.
pub fn unloaded(count: usize, span: Span) -> Diagnostic {
    let message = match count {
        1 => "the component of this agent is not loaded".to_owned(),
        _ => format!("the {count} components of this agent are not loaded"),
    };
    RULE.at(span, message).help("there is no `_components` folder beside the file or above it: the prompts lack what components add")
}
