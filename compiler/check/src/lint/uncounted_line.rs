//! Transitions that loop while a counter is below its bound and do not count.

use super::{Context, Lint, lost_count, words};
use crate::facts::counting::uncounted;
use crate::facts::loops;
use chartc_core::arena::StateId;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNCOUNTED_LINE;
use std::collections::BTreeSet;

pub(super) static LINT: Lint = Lint { rule: &UNCOUNTED_LINE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let mut told = BTreeSet::new();
    for found in uncounted(chart, facts) {
        let spans = map.transition(found.transition);
        // One line may define several transitions, and is reported once.
        if !told.insert(spans.whole) {
            continue;
        }
        let name = &chart.variables[found.counter.index()].name;
        let goal = chart.transition(found.transition).targets.first();
        let goal = goal.map_or_else(String::new, |t| words::state(chart, t.state));
        let other = words::transition(chart, found.counting);
        let message = format!(
            "this bounds nothing: {} leads to {goal} without counting `{name}`, and nothing on the way back counts it",
            words::transition(chart, found.transition)
        );
        let place = spans.guard.unwrap_or(spans.trigger);
        let help = format!("count it, as {other} does: `{name} = {name} + 1`");
        let other = map.transition(found.counting).whole;
        diagnostics
            .push(UNCOUNTED_LINE.at(place, message).help(help).related(other, "this line counts"));
    }
    for found in loops::uncounted(chart, facts) {
        let spans = map.transition(found.transition);
        if told.insert(spans.whole) {
            diagnostics.push(past(context, &found));
        }
    }
}

/// The finding for a loop that goes through the condition and does not count.
fn past(context: &Context<'_>, found: &loops::Uncounted) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let spans = map.transition(found.transition);
    let name = &chart.variables[found.counter.index()].name;
    let line = words::transition(chart, found.transition);
    let around: Vec<StateId> = found
        .way
        .iter()
        .chain([&found.transition].into_iter().filter(|_| found.leads_back))
        .flat_map(|transition| chart.transition(*transition).targets.iter().map(|t| t.state))
        .collect();
    let message = format!(
        "this bounds nothing: no cycle through {} counts `{name}` before it comes back to {line}",
        words::states(chart, &around[..around.len().min(1)])
    );
    let place = spans.guard.unwrap_or(spans.trigger);
    let mut one = UNCOUNTED_LINE
        .at(place, message)
        .help(format!("count it in the loop: `{name} = {name} + 1`"))
        .related(lost_count::place(context, found.counter, found.counted), "counted here only");
    for transition in found.way.iter().take(4) {
        one = one.related(map.transition(*transition).whole, "part of the cycle");
    }
    one
}
