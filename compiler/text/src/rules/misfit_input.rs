//! Inputs that cannot hold what a world supplies under their name.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0438",
    name: "misfit-input",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("misfit_input.md"),
};

/// The input `name` of type `ty`; `why` begins with what a world supplies.
pub fn told(name: &str, ty: &str, supplied: &str, why: &str, span: Span) -> Diagnostic {
    let message = format!("in a world, `{name}` is {supplied}, which `{ty}` cannot hold{why}");
    RULE.at(span, message)
}
