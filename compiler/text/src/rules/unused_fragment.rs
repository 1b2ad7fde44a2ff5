//! Components and system prompts that are part of no prompt.

use crate::diagnostic::{Diagnostic, Near, Rule, Severity, Stage};
use crate::span::{Ident, Span};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0105",
    name: "unused-fragment",
    stage: Stage::Names,
    severity: Severity::Warning,
    page: include_str!("unused_fragment.md"),
};

/// `inject_into: []`.
pub fn into_nothing(span: Span) -> Diagnostic {
    RULE.at(span, "`inject_into` names no step: the fragment goes into no prompt")
}

/// `always: false` without a condition.
pub fn never(step: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("the fragment never goes into `{step}`"))
        .help("give the item an `if`, or remove it")
}

/// Inserted into a step without a prompt.
pub fn into_code(step: &Ident) -> Diagnostic {
    RULE.at(step.span, format!("`{}` is a code step: it has no prompt", step.node))
}

/// Inserted into a step that the agent does not have. Only a note, unless `near` is a step with a similar name: a component that several
/// agents share may name the steps of all of them.
pub fn into_nowhere(step: &Ident, near: Option<Near<'_>>, listed: Span) -> Diagnostic {
    let message = format!("no step `{}`: the fragment does not go there", step.node);
    let mut finding = RULE.at(step.span, message);
    if near.is_none() {
        finding.severity = Severity::Note;
    }
    let finding = finding.meant(&step.node, near);
    finding.related(listed, "the agent that lists the component")
}

/// A component that names steps of other agents only, the first of them at `first`.
pub fn of_others(listed: &Ident, first: Span) -> Diagnostic {
    RULE.at(listed.span, format!("`{}` goes into no step of this agent", listed.node))
        .related(first, "it names its steps here")
}

/// `rag` although nothing reads `memories`.
pub fn memories(span: Span) -> Diagnostic {
    let finding = RULE
        .at(span, "nothing in this agent reads `memories`: what `rag` recalls is lost")
        .help("put `{memories}` into a prompt, or write `enabled: false`");
    Diagnostic { severity: Severity::Note, ..finding }
}

/// `system_prompt.md` without a placeholder for it.
pub fn system_prompt(span: Span) -> Diagnostic {
    let message = "no prompt of this agent has `{system_prompt}`: this text is not sent";
    let mut finding = RULE.at(span, message);
    finding.severity = Severity::Note;
    finding
}
