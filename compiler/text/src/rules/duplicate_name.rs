//! Names that are declared twice but must be unique.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0103",
    name: "duplicate-name",
    stage: Stage::Names,
    severity: Severity::Error,
    page: include_str!("duplicate_name.md"),
};

/// Declared twice; the first one counts.
pub fn twice(what: &str, name: &str, span: Span, first: Span) -> Diagnostic {
    RULE.at(span, format!("{what} `{name}` is declared twice"))
        .label("declared again here")
        .related(first, "first declared here")
}

/// Used for a declaration of another kind.
pub fn taken(name: &str, by: &str, span: Span, first: Span) -> Diagnostic {
    RULE.at(span, format!("`{name}` is {by} already")).related(first, "declared here")
}

/// Two charts with the same name, from different files, among the children of a chart.
pub fn namesakes(name: &str, span: Span, first: Span, second: Span) -> Diagnostic {
    RULE.at(span, format!("with this, the chart runs two charts named `{name}`"))
        .related(first, "one of them")
        .related(second, "the other one")
        .help(
            "give one of them another name: charts that run together are told apart by their names",
        )
}

/// A chart that two imported files declare.
pub fn imported_twice(name: &str, span: Span, first: Span, second: Span) -> Diagnostic {
    RULE.at(span, format!("two imported files have a chart `{name}`"))
        .related(first, "one of them")
        .related(second, "the other one")
        .help("give one of them another name, or import only one of the files")
}

/// Reserved by the language.
pub fn of_the_language(name: &str, what: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("`{name}` is {what} of the language")).help("give it another name")
}

/// Two fields of an event with the same name.
pub fn bound_twice(name: &str, span: Span, first: Span) -> Diagnostic {
    RULE.at(span, format!("`{name}` is bound twice")).related(first, "bound here")
}

/// A name that is ambiguous between a step and a state.
pub fn step_and_state(name: &str, span: Span, step: Span, state: Span) -> Diagnostic {
    RULE.at(span, format!("`{name}` is a step and a state"))
        .related(step, "the step, which is taken")
        .related(state, "the state")
        .help("give one of them another name")
}

/// A key that occurs twice in a mapping; the last one counts, as in PyYAML.
pub fn key(what: &str, name: &str, span: Span, lost: Span) -> Diagnostic {
    RULE.at(span, format!("`{name}` is given twice in {what}"))
        .label("this one counts")
        .related(lost, "this one is lost")
}

/// A component that an agent lists twice, or a step that a component lists twice; the first one counts.
pub fn again(message: String, span: Span, first: Span) -> Diagnostic {
    let mut finding = RULE.at(span, message);
    finding.severity = Severity::Warning;
    finding.label("this one is left out").related(first, "this one counts")
}
