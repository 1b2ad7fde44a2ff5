//! Cycles of `when` transitions that are taken for ever.

use super::{Context, Lint, words};
use crate::facts::livelock::livelocks;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::EVENTLESS_CYCLE;

pub(super) static LINT: Lint = Lint { rule: &EVENTLESS_CYCLE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for cycle in livelocks(chart, facts) {
        let Some((first, rest)) = cycle.transitions.split_first() else { continue };
        let names: Vec<String> =
            cycle.given.iter().map(|id| words::transition(chart, *id)).collect();
        let name = match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
            None => continue,
        };
        let verb = if names.len() > 1 { "hold together" } else { "holds" };
        let message = if rest.is_empty() {
            format!("{name} still holds after its own line, so it is taken for ever")
        } else {
            format!(
                "once {name} {verb}, these {} lines are taken in a cycle for ever",
                rest.len() + 1
            )
        };
        let mut found = EVENTLESS_CYCLE
            .at(map.transition(*first).trigger, message)
            .help("change what the condition reads in the line's actions, or wait for something: `on`, `after`");
        for transition in rest {
            found = found.related(map.transition(*transition).whole, "taken next");
        }
        diagnostics.push(found);
    }
}
