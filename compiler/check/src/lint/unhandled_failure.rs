//! Calls and child charts whose failure leaves the run stuck.

use super::failing::{Stuck, stuck};
use super::{Context, Lint, words};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNHANDLED_FAILURE;

pub(super) static LINT: Lint = Lint { rule: &UNHANDLED_FAILURE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    // In SCXML, an invocation has no failure event.
    if context.sources.get(map.file).name.ends_with(".scxml") {
        return;
    }
    for Stuck { step, leaf, once } in stuck(context) {
        let (name, state) = (words::step(chart, step), words::state(chart, leaf));
        let message = if once {
            format!("when {name} fails, the run stays in {state} for ever: nothing else leads out")
        } else {
            format!(
                "when {name} fails, nothing leads out of {state}: each turn makes the call again, and fails"
            )
        };
        diagnostics.push(UNHANDLED_FAILURE.at(map.step(step).name, message).help(
            "add an `error` line that says where a failure leads, or a deadline (`after`) to the state",
        ));
    }
}
