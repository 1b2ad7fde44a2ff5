//! Keys and values of an `agent.yaml` that the format does not define.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage, near};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0101",
    name: "unknown-field",
    stage: Stage::Names,
    severity: Severity::Warning,
    page: include_str!("unknown_field.md"),
};

/// A key that nothing reads; `renamed` is its name in this format, `known` are the keys that may be meant.
pub fn key<'k>(
    what: &str,
    name: &str,
    span: Span,
    renamed: Option<&str>,
    known: impl IntoIterator<Item = &'k str>,
) -> Diagnostic {
    let finding = RULE.at(span, format!("{what} has no key `{name}`"));
    if let Some(meant) = renamed {
        return finding.help(format!("write `{meant}`")).rename(name, meant, false);
    }
    finding.meant(name, near(name, known))
}

/// A key that belongs in another mapping, `home`.
pub fn misplaced_key(what: &str, name: &str, span: Span, home: &str) -> Diagnostic {
    RULE.at(span, format!("{what} has no key `{name}`"))
        .help(format!("it is a key of {home}: move it there"))
}

/// A value that the key does not accept and that would be read as something else.
pub fn word(what: &str, name: &str, span: Span, known: &[&str]) -> Diagnostic {
    let quoted: Vec<String> = known.iter().map(|w| format!("`{w}`")).collect();
    let finding = RULE
        .at(span, format!("{what} cannot be `{name}`"))
        .help(format!("write one of {}", quoted.join(", ")))
        .meant(name, near(name, known.iter().copied()));
    Diagnostic { severity: Severity::Error, ..finding }
}

/// An attribute that an SCXML element does not have.
pub fn attribute<'k>(
    what: &str,
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'k str>,
) -> Diagnostic {
    let finding = RULE.at(span, format!("{what} has no attribute `{name}`"));
    finding.meant(name, near(name, known))
}

/// An element that is not allowed in its SCXML parent; `elsewhere` tells whether it is allowed in others.
pub fn element<'k>(
    outer: &str,
    name: &str,
    span: Span,
    elsewhere: bool,
    known: impl IntoIterator<Item = &'k str>,
) -> Diagnostic {
    if elsewhere {
        return RULE.at(span, format!("`<{name}>` is not allowed in `<{outer}>`: it is left out"));
    }
    let finding = RULE.at(span, format!("SCXML has no element `<{name}>`: it is left out"));
    match near(name, known) {
        Some(near) => {
            finding.help(format!("did you mean `<{}>`?", near.name)).rename(name, near.name, false)
        }
        None => finding,
    }
}

/// An attribute, or an element, that SCXML requires.
pub fn missing(element: &str, name: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("`<{element}>` has no `{name}`"))
}

/// A value that is read differently, or not at all.
pub fn value(message: impl Into<String>, span: Span) -> Diagnostic {
    RULE.at(span, message)
}

/// A root element that is not `scxml`.
pub fn root(name: &str, span: Span) -> Diagnostic {
    let mut finding = RULE
        .at(span, format!("`<{name}>` is not an SCXML document"))
        .help("the root is `<scxml xmlns=\"http://www.w3.org/2005/07/scxml\">`");
    finding.severity = Severity::Error;
    finding
}

/// A root element without the namespace.
pub fn namespace(span: Span) -> Diagnostic {
    RULE.at(span, "`<scxml>` names no namespace")
        .help("add `xmlns=\"http://www.w3.org/2005/07/scxml\"`")
}
