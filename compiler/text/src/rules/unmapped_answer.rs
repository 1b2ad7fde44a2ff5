//! Words that a prompt offers as answers and that nothing handles.

use super::prose;
use crate::diagnostic::{Diagnostic, Rule, Severity, Stage, nearest};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0410",
    name: "unmapped-answer",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("unmapped_answer.md"),
};

/// The decision of a step on failure, which its `transition_map` lacks; `map` is the span of that key.
pub fn fallback<'k>(
    value: &str,
    map: Span,
    said: Span,
    known: impl Iterator<Item = &'k str> + Clone,
) -> Diagnostic {
    let message = format!("`{value}` is no key of the map: the state stays when the call fails");
    let help = match nearest(value, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            format!("map `{value}` to a state, or let `fallback` be one of {}", prose::names(known))
        }
    };
    RULE.at(map, message).related(said, "the `fallback`").help(help)
}
