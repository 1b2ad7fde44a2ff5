//! Charts that run each other recursively without end.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0207",
    name: "endless-run",
    stage: Stage::Structure,
    severity: Severity::Error,
    page: include_str!("endless_run.md"),
};

/// `step` runs its own chart, directly or indirectly.
pub fn found(step: &str, is_own: bool, span: Span) -> Diagnostic {
    let what = if is_own { "its own chart" } else { "a chart that runs this one" };
    RULE.at(span, format!("`{step}` always runs {what}: there is no end to it"))
        .help("say when with `if`, for example by a param that counts down")
}
