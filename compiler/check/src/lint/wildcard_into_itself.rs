//! `from` transitions that apply in their own target.

use super::{Context, Lint, words};
use crate::facts::reach::is_history;
use crate::facts::restart::restarts;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::WILDCARD_INTO_ITSELF;

pub(super) static LINT: Lint = Lint { rule: &WILDCARD_INTO_ITSELF, needs_whole: false, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for restart in restarts(chart, facts) {
        let transition = chart.transition(restart.transition);
        let spans = map.transition(restart.transition);
        let state = words::state(chart, restart.state);
        let name = words::transition(chart, restart.transition);
        let help = if transition.scope.as_ref().is_some_and(|s| s.wildcard) {
            format!("write `except {}`", chart.state(restart.state).path)
        } else {
            format!(
                "leave {state} out of `from`; if it is to start over, say so in a line of its own"
            )
        };
        let back = transition.targets.iter().any(|t| is_history(chart, t.state));
        let what = if back { "to where it was" } else { "from the start" };
        let message = format!("in {state} itself, {name} leaves it and enters it again, {what}");
        let target = spans.targets.first().copied().unwrap_or(spans.trigger);
        let mut found = WILDCARD_INTO_ITSELF.at(target, message).help(help);
        if let Some(from) = spans.from {
            found = found.related(from, format!("{state} is one of these"));
        }
        diagnostics.push(found);
    }
}
