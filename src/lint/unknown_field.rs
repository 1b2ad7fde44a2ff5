//! A key or a value of an `agent.yaml` that the format does not know.

use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0101",
    name: "unknown-field",
    severity: Severity::Warning,
    page: include_str!("unknown_field.md"),
};

/// A key that nothing reads; `renamed` is what it is called here, `known` are the keys that it may have meant.
pub(crate) fn key<'k>(
    what: &str,
    name: &str,
    span: Span,
    renamed: Option<&str>,
    known: impl IntoIterator<Item = &'k str>,
) -> Diagnostic {
    let finding = RULE.at(span, format!("{what} has no key `{name}`"));
    if let Some(meant) = renamed {
        return finding.help(format!("write `{meant}`"));
    }
    match nearest(name, known) {
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => finding,
    }
}

/// A word that is none of those that the key takes.
pub(crate) fn word(what: &str, name: &str, span: Span, known: &[&str]) -> Diagnostic {
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let quoted: Vec<String> = known.iter().map(|w| format!("`{w}`")).collect();
            format!("write one of {}", quoted.join(", "))
        }
    };
    RULE.at(span, format!("{what} cannot be `{name}`")).help(help)
}
