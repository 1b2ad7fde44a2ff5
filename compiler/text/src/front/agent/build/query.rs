//! Checks the template of an agent's memory query, `rag.query_template`.

use super::prepare::Work;
use crate::diagnostic::{Diagnostic, Severity};
use crate::front::agent::builtin::{BUILTINS, CURRENT_STATE, builtin};
use crate::front::agent::code::{Role, Scope};
use crate::front::agent::definition::Agent;
use crate::front::agent::format::{FormatPart, parts};
use crate::rules::{unescaped_brace, unknown_placeholder, unused_fragment};

/// Reports unknown placeholders and stray braces, as warnings: an agent also runs without its memory.
pub(super) fn findings(
    agent: &Agent,
    work: &Work<'_>,
    scope: &Scope,
    findings: &mut Vec<Diagnostic>,
) {
    if let Some(span) = agent.rag
        && !scope.roles.contains_key("memories")
    {
        findings.push(unused_fragment::memories(span));
    }
    let Some(template) = &agent.query else { return };
    let has = |name: &str| {
        builtin(name).is_some()
            || name == CURRENT_STATE
            || match scope.roles.get(name) {
                Some(Role::Input(_) | Role::Variable { .. } | Role::Given(_) | Role::State) => true,
                Some(Role::Step | Role::Missing) | None => false,
            }
    };
    for part in parts(template) {
        let finding = match part {
            FormatPart::Bad { why, span, .. } => unescaped_brace::stray(&why, span),
            FormatPart::Field(field) if !has(&field.name.node) => {
                let steps = work.steps.iter().map(|step| step.step.name.node.as_str());
                // The query is made before any step has an answer, so the name of a step is of no use in it.
                let is_step = steps.into_iter().any(|step| step == field.name.node);
                let known = BUILTINS.iter().map(|row| row.name);
                let known =
                    known.chain(scope.roles.keys().map(String::as_str)).filter(|name| has(name));
                unknown_placeholder::in_query(&field.name.node, field.name.span, is_step, known)
            }
            FormatPart::Text(..) | FormatPart::Field(_) => continue,
        };
        findings.push(Diagnostic { severity: Severity::Warning, ..finding });
    }
}
