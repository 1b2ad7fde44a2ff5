//! Model calls without a prompt.

use super::{Context, Lint, words};
use chartc_core::arena::StepId;
use chartc_core::model::{StepKind, Template};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::MISSING_PROMPT;

pub(super) static LINT: Lint = Lint { rule: &MISSING_PROMPT, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    let mut told = vec![false; chart.steps.len()];
    // A component may be all that a prompt says.
    for component in chart.components.iter().filter(|c| !is_blank(&c.text)) {
        for insert in &component.inserts {
            told[insert.step.index()] = true;
        }
    }
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        let calls = matches!(step.kind, StepKind::Llm | StepKind::Ask { .. });
        let says = told[i] || step.prompt.as_ref().is_some_and(|prompt| !is_blank(prompt));
        if calls && !says {
            let name = words::step(chart, id);
            let found =
                MISSING_PROMPT.at(map.step(id).name, format!("{name} tells the model nothing"));
            let help = "give it a prompt, or a component that goes into it";
            diagnostics.push(found.help(help).about(map.step(id).whole));
        }
    }
}

/// Whether a text is blank, whatever the data.
fn is_blank(text: &Template) -> bool {
    text.literal().is_some_and(|text| text.trim().is_empty())
}
