//! Parts of an SCXML document that have no effect and are left out.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0106",
    name: "left-out",
    stage: Stage::Names,
    severity: Severity::Note,
    page: include_str!("left_out.md"),
};

/// An element of another namespace among executable content.
pub fn foreign(name: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("`<{name}>` belongs to another namespace and is ignored"))
}

/// Text between elements.
pub fn text(element: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("text in `<{element}>` is ignored"))
}

/// A transition on an event that never occurs.
pub fn never(event: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("nothing raises `{event}`: no transition waits for it"))
}

/// A param that the invoked document does not declare.
pub fn no_such_data(name: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("the invoked document has no `<data>` called `{name}`"))
        .help("a param sets the first value of the `<data>` with its name; others are ignored")
}

/// A transition without event, target and content.
pub fn idle(span: Span) -> Diagnostic {
    RULE.at(span, "a transition without `event`, `target` and content does nothing")
}
