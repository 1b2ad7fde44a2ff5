//! Transitions whose guards leave one case uncovered.

use super::{Context, Lint, words};
use crate::facts::gap::gaps;
use chartc_core::arena::TransitionId;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::GAP;

pub(super) static LINT: Lint = Lint { rule: &GAP, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for gap in gaps(chart, facts) {
        let (Some(first), Some(last)) = (gap.transitions.first(), gap.transitions.last()) else {
            continue;
        };
        // The transition that names most of the event's fields describes the case best.
        let bound = |transition: &TransitionId| chart.transition(*transition).bound.len();
        let named = gap.transitions.iter().copied().max_by_key(bound).unwrap_or(*last);
        let case = words::case(chart, named, &gap.case);
        let what = match chart.transition(*first).trigger.step() {
            Some(step) => format!("no `done` line of {} holds", words::step(chart, step)),
            None => format!("no {} line holds", words::transition(chart, *first)),
        };
        let message = format!("{what} where {case}: nothing happens then");
        let spans = map.transition(*last);
        // The uncovered values come from the step or the event.
        let place = match chart.transition(*first).trigger.step() {
            Some(step) if gap.is_given() => map.step(step).name,
            None if gap.is_given() => map.transition(*first).trigger,
            Some(_) | None => spans.guard.unwrap_or(spans.trigger),
        };
        let mut found = GAP
            .at(place, message)
            .help("add a line for that case, or leave the last condition out");
        let others = if gap.is_given() {
            &gap.transitions[..]
        } else {
            &gap.transitions[..gap.transitions.len() - 1]
        };
        for transition in others.iter().rev().take(3) {
            found = found.related(map.transition(*transition).whole, "takes other cases");
        }
        diagnostics.push(found);
    }
}
