//! Steps that no turn reaches, because its model calls are used up or an earlier step has ended it.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0307",
    name: "hidden-step",
    stage: Stage::Behaviour,
    severity: Severity::Warning,
    page: include_str!("hidden_step.md"),
};

/// An action of an `agent.yaml` step that follows a model step: any other answer than `noop` ends the turn before it.
pub fn only_after_noop(step: &str, model: &str, span: Span, earlier: Span) -> Diagnostic {
    let message = format!("`{step}` runs only if `{model}` answers with the action `noop`");
    let finding = RULE.at(span, message).related(earlier, "any other action ends the turn");
    let help =
        "a world executes the action that the model has chosen; remove the step, or put it first";
    Diagnostic { severity: Severity::Note, ..finding.help(help) }
}
