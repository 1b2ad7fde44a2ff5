//! Targets that cannot be active together, and transitions, states or steps where they are not allowed.

use crate::diagnostic::{Diagnostic, Fix, Pending, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0202",
    name: "illegal-structure",
    stage: Stage::Structure,
    severity: Severity::Error,
    page: include_str!("illegal_structure.md"),
};

/// A second declaration where only one is allowed.
pub fn second(what: &str, span: Span, first: Span) -> Diagnostic {
    RULE.at(span, format!("a second {what}")).related(first, "the first one")
}

/// A part that a final state cannot have.
pub fn in_final(what: &str, name: &str, span: Span, declared: Span) -> Diagnostic {
    RULE.at(span, format!("{what} is not allowed in the final state `{name}`"))
        .related(declared, "it is final")
        .help("a final state has `enter`, `exit` and `advice` only")
}

/// A transition of a final state.
pub fn line_in_final(name: &str, span: Span, declared: Span) -> Diagnostic {
    RULE.at(span, format!("a line is not allowed in the final state `{name}`"))
        .related(declared, "it is final")
        .help("a final state is never left; make it a `state`, or put the line elsewhere")
}

/// A history state without siblings.
pub fn history_of_nothing(span: Span) -> Diagnostic {
    RULE.at(span, "a history state in a state without children records nothing")
        .help("declare the states that it should remember beside it")
}

/// A history whose default is not among the states that it can restore.
pub fn history_default(name: &str, outer: &str, span: Span, declared: Span) -> Diagnostic {
    RULE.at(span, format!("the default of history `{name}` is not a state inside `{outer}`"))
        .related(declared, "it is declared here")
        .help(format!("name a state inside `{outer}` that is not a history"))
}

/// A parallel without children.
pub fn no_regions(name: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("parallel `{name}` has no regions"))
        .help("give it a child state for each region, or make it a `state`")
}

/// A final state that is a region.
pub fn final_region(span: Span) -> Diagnostic {
    RULE.at(span, "a final state cannot be a region of a parallel")
        .help("put it inside one of the regions")
}

/// `initial` where there is no state inside; `what` is a chart or a state.
pub fn initial_of_nothing(what: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("`initial` names a state inside this {what}, and there is none"))
        .help(format!("declare a state inside the {what}, or remove this line"))
}

/// `initial` on a state that is not compound.
pub fn initial_in(place: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("`initial` is not allowed in {place}")).help("remove it")
}

/// `initial` with a state that is not a descendant; `first` is one that is.
pub fn initial_outside(
    path: &str,
    outer: &str,
    first: &str,
    span: Span,
    declared: Span,
) -> Diagnostic {
    RULE.at(span, format!("`{path}` is not inside `{outer}`"))
        .related(declared, "it is declared here")
        .help(format!("name a state inside `{outer}`, such as `{first}`"))
}

/// Two targets of a transition that are never active together.
pub fn apart(a: &str, b: &str, second: Span, first: Span) -> Diagnostic {
    let (message, help) = if a == b {
        (format!("`{a}` is named twice"), "remove one of the two")
    } else {
        let help = "the targets of one line must be in different regions of one parallel";
        (format!("`{a}` and `{b}` cannot be entered together"), help)
    };
    RULE.at(second, message).related(first, "the other target").help(help)
}

/// A state in `from` that is never active together with the source.
pub fn from_elsewhere(path: &str, outer: &str, span: Span, declared: Span) -> Diagnostic {
    let message = format!(
        "this `from` belongs to `{outer}`, and `{path}` is never active while `{outer}` is"
    );
    RULE.at(span, message)
        .related(declared, "it is declared here")
        .help(format!("name a state inside `{outer}`, or move the `from` into a state that contains `{path}`, or to the top of the chart"))
}

/// A history in `from`.
pub fn history_in_from(path: &str, span: Span, declared: Span) -> Diagnostic {
    RULE.at(span, format!("the history `{path}` is never active, so `from` cannot name it"))
        .related(declared, "it is declared here")
        .help("name the state that contains it, or the states that it remembers")
}

/// The help for a `when` transition that does nothing.
pub const GIVE_TARGET: &str = "give it `-> state`, or actions that make its condition false";

/// A `when` transition without targets and actions.
pub fn idle_when(span: Span, help: &str) -> Diagnostic {
    RULE.at(span, "this `when` line has no target and no actions: it does nothing").help(help)
}

/// An `ask` without `else`.
pub fn no_else(ask: &str, name: Span) -> Diagnostic {
    let message = format!("`ask {ask}` does not say what happens without a usable answer");
    let help = "add `else stay`, which keeps the state, or `else` and a state to enter";
    let mut finding = RULE.at(name, message).help(help);
    let edits = vec![(name, " else stay".to_owned())];
    finding.fix = Some(Box::new(Fix { edits, pending: Some(Pending::BeforeBody), is_safe: true }));
    finding
}
