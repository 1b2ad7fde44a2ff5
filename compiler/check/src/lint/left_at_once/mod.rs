//! States that are left as soon as they are entered.

mod passing;

use crate::lint::{Context, Lint, words};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::LEFT_AT_ONCE;
use passing::{Because, Passing, passing};

pub(super) static LINT: Lint = Lint { rule: &LEFT_AT_ONCE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for Passing { transition, because } in passing(chart, facts) {
        let span = map.transition(transition).trigger;
        let state = words::state(chart, chart.transition(transition).source);
        let name = words::transition(chart, transition);
        let found = match because {
            Because::Always(ways) => {
                let message =
                    format!("{state} is left as soon as it is entered: {name} holds by then");
                let found = LEFT_AT_ONCE.at(span, message).help(
                    "negate one of the two conditions, or wait for what should end the state: an event, a deadline, a step",
                );
                ways.iter().take(4).fold(found, |found, way| {
                    found.related(map.transition(*way).whole, "leads here when the condition holds")
                })
            }
            Because::Early(step) => {
                let step = words::step(chart, step);
                let message = format!(
                    "{name} holds as soon as {state} is entered: it is left before {step} sets what the condition reads"
                );
                let targets = &chart.transition(transition).targets;
                let leads = facts.moves.leads_to([chart.transition(transition).source]);
                let back = targets.iter().any(|t| leads[t.state.index()]);
                let round =
                    if back { "; from there a cycle leads back, past the step again" } else { "" };
                LEFT_AT_ONCE
                    .at(span, message)
                    .help(format!("ask when the step is done: `done if …` in {step}{round}"))
            }
        };
        diagnostics.push(found.about(map.transition(transition).whole));
    }
}
