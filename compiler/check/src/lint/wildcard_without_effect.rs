//! `from` transitions that apply in no state, and `on *` in charts without events.

use super::{Context, Lint, words};
use crate::facts::reach::{is_end, is_leaf};
use crate::facts::scope::{ScopeCondition, scope};
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Scope, Trigger};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::WILDCARD_WITHOUT_EFFECT;

pub(super) static LINT: Lint = Lint { rule: &WILDCARD_WITHOUT_EFFECT, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for (row, span) in chart.permissions.iter().zip(&map.permissions) {
        if let Some(end) = row.from.filter(|s| is_end(chart, *s)) {
            let message =
                format!("{} ends the run: nothing moves from it", words::state(chart, end));
            let found = WILDCARD_WITHOUT_EFFECT
                .at(*span, message)
                .related(map.state(end).name, "it is final");
            diagnostics.push(found.help("remove this line: it permits nothing"));
        }
    }
    for (i, transition) in chart.transitions.iter().enumerate() {
        let spans = map.transition(TransitionId::at(i));
        let name = || words::transition(chart, TransitionId::at(i));
        if transition.trigger == Trigger::AnyEvent && chart.events.is_empty() {
            let message = format!("{} is never taken: the chart declares no event", name());
            diagnostics.push(
                WILDCARD_WITHOUT_EFFECT
                    .at(spans.trigger, message)
                    .help("declare the events that the host sends: `event name`"),
            );
        }
        let Some(from) = &transition.scope else { continue };
        let place = spans.from.unwrap_or(spans.trigger);
        if let Some(end) = from.any_of.iter().find(|s| is_end(chart, **s)) {
            let message = format!("{} ends the run: no line leaves it", words::state(chart, *end));
            let found = WILDCARD_WITHOUT_EFFECT
                .at(place, message)
                .related(map.state(*end).name, "it is final");
            diagnostics.push(found.help("leave it out of `from`"));
            continue;
        }
        let mut holds = scope(chart, transition);
        holds.within.retain(|s| facts.reach.can_enter(*s));
        if facts.reach.can_enter(transition.source) && !has_leaf(context, &holds) {
            let found = WILDCARD_WITHOUT_EFFECT
                .at(place, format!("this `from` applies to no state: {}", reason(context, from)));
            let found = found.label(format!("{} can never be taken", name()));
            diagnostics
                .push(found.help("name a state that can be active here, or remove the line"));
        }
    }
}

/// Whether the scope covers a reachable leaf.
fn has_leaf(context: &Context<'_>, place: &ScopeCondition) -> bool {
    let Context { chart, facts, .. } = context;
    let below = |s: &StateId| (s.0..chart.state(*s).end.0).map(StateId);
    let mut leaves = place.within.iter().flat_map(below);
    leaves.any(|l| facts.reach.can_enter(l) && is_leaf(chart, l) && !place.excludes_leaf(chart, l))
}

fn reason(context: &Context<'_>, from: &Scope) -> String {
    let Context { chart, facts, .. } = context;
    let closed: Vec<_> =
        from.any_of.iter().copied().filter(|s| !facts.reach.can_enter(*s)).collect();
    if !closed.is_empty() {
        return format!("{} can never be entered", words::states(chart, &closed));
    }
    if from.wildcard {
        return format!(
            "every state is one of the excepted or of the targets, {}",
            words::states(chart, &from.none_of)
        );
    }
    "its states are not inside the state to which the line belongs".into()
}
