//! Steps whose state is never active when the walk reaches them.

use super::{Context, Lint, words};
use crate::turn::calls::hidden;
use crate::turn::unreached::unreached;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNREACHED_STEP;
use std::collections::BTreeSet;

pub(super) static LINT: Lint = Lint { rule: &UNREACHED_STEP, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let found = unreached(chart, facts);
    if found.is_empty() {
        return;
    }
    // C0307 reports steps for which no call is left.
    let told: BTreeSet<_> = hidden(chart, facts).into_iter().map(|h| h.step).collect();
    for one in found.iter().filter(|one| !told.contains(&one.step)) {
        let (step, after) = (words::step(chart, one.step), words::step(chart, one.after));
        let state = words::state(chart, one.state);
        let message = format!("{step} never runs: {after} has always left {state} before");
        diagnostics.push(
            UNREACHED_STEP.at(map.step(one.step).name, message)
                .related(map.transition(one.transition).whole, "leaves the state")
                .help(format!(
                    "a turn comes to each step once, from top to bottom: put it before {after}, or into the state that {after} leads to"
                )),
        );
    }
}
