//! Model calls with nothing to say.

use super::{Context, Lint, words};
use crate::diagnostic::{Diagnostic, Severity};
use crate::rules::missing_prompt::RULE;
use crate::rules::{missing_field, unknown_field};
use crate::span::Span;
use chartc_core::arena::StepId;
use chartc_core::model::{StepKind, Template};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    let mut told = vec![false; chart.steps.len()];
    for component in chart.components.iter().filter(|c| !is_blank(&c.text)) {
        for insert in &component.inserts {
            told[insert.step.index()] = true;
        }
    }
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        let calls = matches!(step.kind, StepKind::Llm | StepKind::Ask { .. });
        let says = told[i] || step.prompt.as_ref().is_some_and(|prompt| !is_blank(prompt));
        if calls && !says && !lacks(diagnostics, map.step(id).whole) {
            let name = words::step(chart, id);
            let found = RULE.at(map.step(id).name, format!("{name} tells the model nothing"));
            diagnostics.push(found.help("give it a prompt, or a component that goes into it"));
        }
    }
}

/// Whether a finding about the keys of the step says so already.
fn lacks(diagnostics: &[Diagnostic], step: Span) -> bool {
    let codes = [missing_field::RULE.code, unknown_field::RULE.code];
    diagnostics.iter().any(|d| {
        let inside =
            d.span.file == step.file && step.start <= d.span.start && d.span.end <= step.end;
        inside && d.severity == Severity::Error && codes.contains(&d.rule.code)
    })
}

/// Whether a text shows nothing, whatever the data.
fn is_blank(text: &Template) -> bool {
    text.literal().is_some_and(|text| text.trim().is_empty())
}
