//! States without any transition, step or deadline.

use super::{Context, Lint, words};
use crate::facts::drive::undriven;
use crate::facts::reach::Cause;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNDRIVEN_STATE;

pub(super) static LINT: Lint = Lint { rule: &UNDRIVEN_STATE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for state in undriven(chart, facts) {
        let name = words::state(chart, state);
        let mut found = UNDRIVEN_STATE
            .at(
                map.state(state).name,
                format!("nothing drives {name}: no line, step or deadline acts in it"),
            )
            .help(format!(
                "give it a line or a step, or make it `final` if the run ends here{}",
                words::way(context, state)
            ));
        if let Some(Cause::Transition(transition)) = facts.reach.causes[state.index()] {
            found = found.related(
                map.transition(transition).whole,
                format!("the run gets stuck after {}", words::transition(chart, transition)),
            );
        }
        diagnostics.push(found);
    }
}
