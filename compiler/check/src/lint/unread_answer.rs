//! Answers that nothing reads.

use super::{Context, Lint, words};
use crate::facts::reach::is_end;
use crate::facts::usage::Usage;
use chartc_core::arena::StepId;
use chartc_core::model::{Chart, Step, StepKind, Trigger, Type};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNREAD_ANSWER;

pub(super) static LINT: Lint = Lint { rule: &UNREAD_ANSWER, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    if !context.all_read {
        return;
    }
    let mut usage = None;
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        if !is_typed(step) || step.into.is_some() || facts.scopes.step(id).within.is_empty() {
            continue;
        }
        let usage = usage.get_or_insert_with(|| Usage::new(chart));
        if usage.last_result || usage.answers[i] || only_ends(chart, step, id) {
            continue;
        }
        let message = format!("nothing reads the answer of {}", words::step(chart, id));
        diagnostics.push(UNREAD_ANSWER.at(map.step(id).name, message).help(
            "keep it (`returns … into` a variable), decide by it (`done if …`), or do not ask for it",
        ));
    }
}

/// Whether the chart declares the type of the answer. An undeclared answer is an action for the host, and the Text of a person may be a
/// mere confirmation.
fn is_typed(step: &Step) -> bool {
    match step.kind {
        StepKind::Llm => step.returns != Type::Json,
        StepKind::Human(_) => !matches!(step.returns, Type::Json | Type::Text),
        _ => false,
    }
}

/// Whether the answer always ends the run, and so is the last entry of its trace.
fn only_ends(chart: &Chart, step: &Step, id: StepId) -> bool {
    let transitions = step.outcomes.iter().map(|transition| chart.transition(*transition));
    let mut done =
        transitions.filter(|transition| transition.trigger == Trigger::StepDone(id)).peekable();
    done.peek().is_some()
        && done.all(|transition| {
            !transition.targets.is_empty()
                && transition.targets.iter().all(|t| is_end(chart, t.state))
        })
}
