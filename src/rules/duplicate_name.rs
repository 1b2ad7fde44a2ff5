//! One name declared twice where it has to be unique.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    code: "C0103",
    name: "duplicate-name",
    stage: Stage::Names,
    severity: Severity::Error,
    page: include_str!("duplicate_name.md"),
};

/// Declared twice; the first one counts.
pub(crate) fn twice(what: &str, name: &str, span: Span, first: Span) -> Diagnostic {
    RULE.at(span, format!("{what} `{name}` is declared twice"))
        .label("declared again here")
        .related(first, "first declared here")
}

/// Taken by something of another kind.
pub(crate) fn taken(name: &str, by: &str, span: Span, first: Span) -> Diagnostic {
    RULE.at(span, format!("`{name}` is {by} already")).related(first, "declared here")
}

/// Two charts of one name, of different files, among those that a chart runs.
pub(crate) fn namesakes(name: &str, span: Span, first: Span, second: Span) -> Diagnostic {
    RULE.at(span, format!("with this, the chart runs two that are called `{name}`"))
        .related(first, "one of them")
        .related(second, "the other one")
        .help(
            "give one of them another name: charts that run together are told apart by their names",
        )
}

/// A chart that two imported files have.
pub(crate) fn imported_twice(name: &str, span: Span, first: Span, second: Span) -> Diagnostic {
    RULE.at(span, format!("two imported files have a chart `{name}`"))
        .related(first, "one of them")
        .related(second, "the other one")
        .help("give one of them another name, or import one of the files only")
}

/// Taken by the language itself.
pub(crate) fn of_the_language(name: &str, what: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("`{name}` is {what} of the language")).help("give it another name")
}

/// One name for two fields of an event.
pub(crate) fn bound_twice(name: &str, span: Span, first: Span) -> Diagnostic {
    RULE.at(span, format!("`{name}` is bound twice")).related(first, "bound here")
}

/// A name that means a step and a state where either may stand.
pub(crate) fn step_and_state(name: &str, span: Span, step: Span, state: Span) -> Diagnostic {
    RULE.at(span, format!("`{name}` is a step and a state"))
        .related(step, "the step, which is taken")
        .related(state, "the state")
        .help("give one of them another name")
}

/// A key given twice in one mapping; the last one counts, as in PyYAML.
pub(crate) fn key(what: &str, name: &str, span: Span, lost: Span) -> Diagnostic {
    RULE.at(span, format!("`{name}` is given twice in {what}"))
        .label("this one counts")
        .related(lost, "this one is lost")
}

/// A component that a list of an agent has twice, or a step that a component has twice; the first one counts.
pub(crate) fn again(message: String, span: Span, first: Span) -> Diagnostic {
    let mut finding = RULE.at(span, message);
    finding.severity = Severity::Warning;
    finding.label("this one is left out").related(first, "this one counts")
}
