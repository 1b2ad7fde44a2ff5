//! Placeholders of a prompt that name nothing in scope.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage, near};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0402",
    name: "unknown-placeholder",
    stage: Stage::Data,
    severity: Severity::Error,
    page: include_str!("unknown_placeholder.md"),
};

/// `{options}` in a text that is not the prompt of an `ask`.
pub fn options_elsewhere(span: Span) -> Diagnostic {
    RULE.at(span, "`{options}` is allowed only in the prompt of an `ask`")
}

/// A placeholder in the query for an agent's memory. The query still works without it, so this is a warning.
pub fn in_query<'k>(
    name: &str,
    span: Span,
    is_step: bool,
    known: impl IntoIterator<Item = &'k str>,
) -> Diagnostic {
    let mut finding = RULE.at(
        span,
        format!("`{name}` adds nothing to the query: nothing before a turn has that name"),
    );
    finding.severity = Severity::Warning;
    if is_step {
        return finding.help("the answer of a step is there only after the query");
    }
    finding.meant(name, near(name, known))
}
