//! Steps with an excessive number of retries.

use super::{Context, Lint, words};
use chartc_core::arena::StepId;
use chartc_core::model::StepKind;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::HUGE_RETRY;
use std::collections::BTreeMap;

pub(super) static LINT: Lint = Lint { rule: &HUGE_RETRY, needs_whole: false, run };

/// The maximum number of retries that is plausible.
const MOST: u32 = 20;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    // One finding for all steps with the same number: it often comes from one declaration.
    let mut by_number: BTreeMap<u32, Vec<StepId>> = BTreeMap::new();
    for (i, step) in chart.steps.iter().enumerate() {
        let calls = match &step.kind {
            StepKind::Llm | StepKind::Ask { .. } | StepKind::Call(..) => true,
            StepKind::Code(_) | StepKind::Human(_) | StepKind::Run(..) => false,
        };
        if calls && step.failure.retries > MOST && !facts.scopes.steps[i].within.is_empty() {
            by_number.entry(step.failure.retries).or_default().push(StepId::at(i));
        }
    }
    for (retries, steps) in by_number {
        let Some((first, rest)) = steps.split_first() else { continue };
        let name = words::step(chart, *first);
        let others = match rest.len() {
            0 => String::new(),
            1 => ", and so does one more step".to_owned(),
            n => format!(", and so do {n} more steps"),
        };
        let message = format!("{name} tries again up to {retries} times before it fails{others}");
        diagnostics.push(HUGE_RETRY.at(map.step(*first).name, message).help(
            "what failed a few times goes on failing, and each attempt is paid for: `retry 3 then fail`, and `limits { calls … }` for the run",
        ));
    }
}
