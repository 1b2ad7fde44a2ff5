//! A component or a system prompt that no prompt takes.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::{Ident, Span};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0105",
    name: "unused-fragment",
    stage: Stage::Names,
    severity: Severity::Warning,
    page: include_str!("unused_fragment.md"),
};

/// `inject_into: []`.
pub(crate) fn into_nothing(span: Span) -> Diagnostic {
    RULE.at(span, "`inject_into` names no step: the fragment goes into no prompt")
}

/// `always: false` without a condition.
pub(crate) fn never(step: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("the fragment never goes into `{step}`"))
        .help("give the item an `if`, or remove it")
}

/// Into a step that has no prompt.
pub(crate) fn into_code(step: &Ident) -> Diagnostic {
    RULE.at(step.span, format!("`{}` is a code step: it has no prompt", step.node))
}

/// Into a step that the agent lacks. Only a note, unless one of its steps, `near`, is named alike: a component that several
/// agents share may name steps of all of them.
pub(crate) fn into_nowhere(step: &Ident, near: Option<&str>, listed: Span) -> Diagnostic {
    let message = format!("no step `{}`: the fragment does not go there", step.node);
    let mut finding = RULE.at(step.span, message);
    match near {
        Some(near) => finding = finding.help(format!("did you mean `{near}`?")),
        None => finding.severity = Severity::Note,
    }
    finding.related(listed, "the agent that lists the component")
}

/// A component whose steps are all of other agents; it names the first of them at `first`.
pub(crate) fn of_others(listed: &Ident, first: Span) -> Diagnostic {
    RULE.at(listed.span, format!("`{}` goes into no step of this agent", listed.node))
        .related(first, "it names its steps here")
}

/// `rag` where nothing reads `memories`.
pub(crate) fn memories(span: Span) -> Diagnostic {
    let finding = RULE
        .at(span, "nothing in this agent reads `memories`: what `rag` recalls is lost")
        .help("put `{memories}` into a prompt, or write `enabled: false`");
    Diagnostic { severity: Severity::Note, ..finding }
}

/// `system_prompt.md` without a placeholder for it.
pub(crate) fn system_prompt(span: Span) -> Diagnostic {
    let message = "no prompt of this agent has `{system_prompt}`: this text is not sent";
    let mut finding = RULE.at(span, message);
    finding.severity = Severity::Note;
    finding
}
