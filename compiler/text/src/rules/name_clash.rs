//! Names that become the same Rust identifier. A warning of `check`; when Rust is generated, states get a number, and other clashes are
//! errors.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0502",
    name: "name-clash",
    stage: Stage::Target,
    severity: Severity::Warning,
    page: include_str!("name_clash.md"),
};

/// Two names of the same kind that become the same identifier.
pub fn idents(
    what: &str,
    (name, span): (&str, Span),
    (other, place): (&str, Span),
    ident: &str,
) -> Diagnostic {
    let help = match what {
        "state" => {
            "rename one of the two: in generated code the second has a number after its name"
        }
        _ => "rename one of the two",
    };
    RULE.at(span, format!("{what}s `{other}` and `{name}` are both `{ident}` in Rust"))
        .help(help)
        .related(place, format!("{what} `{other}` stands here"))
}

/// Two charts of a file that become the same module.
pub fn modules(module: &str, span: Span, other: Span) -> Diagnostic {
    RULE.at(span, format!("two charts are both module `{module}` in Rust"))
        .related(other, "the other one")
}
