//! Malformed `allow` comments.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0009",
    name: "faulty-allow",
    stage: Stage::Syntax,
    severity: Severity::Warning,
    page: include_str!("faulty_allow.md"),
};

/// Anything other than `allow(…)`.
pub fn form(span: Span) -> Diagnostic {
    RULE.at(span, "chartc does not understand this comment")
        .help("write `chartc: allow(CODE) reason`, with one code or name or more")
}

/// No rule has this code or name.
pub fn unknown(word: &str, near: Option<&str>, span: Span) -> Diagnostic {
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`chartc explain --list` lists them".to_owned(),
    };
    RULE.at(span, format!("no rule is named `{word}`")).help(help)
}

/// Findings of the rule are always errors.
pub fn firm(rule: &Rule, span: Span) -> Diagnostic {
    RULE.at(span, format!("{} ({}) is always an error", rule.code, rule.name))
        .help("what cannot be understood cannot be drawn, generated or run")
}

/// No reason is given.
pub fn unreasoned(span: Span) -> Diagnostic {
    RULE.at(span, "this gives no reason for suppressing the finding")
        .help("write the reason after the `)`, for later readers")
}
