//! `from` lines that hold nowhere, and `on *` without events.

use super::{Context, Lint, words};
use crate::analysis::place::scope;
use crate::analysis::reach::is_end;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Scope, Trigger};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

static RULE: Rule = Rule {
    code: "C0303",
    name: "wildcard-without-effect",
    severity: Severity::Warning,
    page: include_str!("wildcard_without_effect.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map } = context;
    let leaves: Vec<StateId> = facts.reach.leaves(chart).collect();
    for (i, line) in chart.transitions.iter().enumerate() {
        let spans = map.line(TransitionId::at(i));
        let name = words::line(chart, TransitionId::at(i));
        if line.trigger == Trigger::AnyEvent && chart.events.is_empty() {
            let message = format!("{name} is never taken: the chart declares no event");
            diagnostics.push(
                RULE.at(spans.trigger, message)
                    .help("declare the events that the host sends: `event name`"),
            );
        }
        let Some(from) = &line.scope else { continue };
        let place = spans.from.unwrap_or(spans.trigger);
        if let Some(end) = from.any_of.iter().find(|s| is_end(chart, **s)) {
            let message = format!("{} ends the run: no line leaves it", words::state(chart, *end));
            diagnostics.push(RULE.at(place, message).help("leave it out of `from`"));
            continue;
        }
        let mut holds = scope(chart, line);
        holds.within.retain(|s| facts.reach.enters(*s));
        if facts.reach.enters(line.source) && !leaves.iter().any(|l| holds.covers(chart, *l)) {
            let found =
                RULE.at(place, format!("this `from` holds in no state: {}", reason(context, from)));
            let found = found.label(format!("{name} can never be taken"));
            diagnostics
                .push(found.help("name a state that can be active here, or remove the line"));
        }
    }
}

fn reason(context: &Context<'_>, from: &Scope) -> String {
    let Context { chart, facts, .. } = context;
    let closed: Vec<_> = from.any_of.iter().copied().filter(|s| !facts.reach.enters(*s)).collect();
    if !closed.is_empty() {
        return format!("{} can never be entered", words::states(chart, &closed));
    }
    if from.wildcard {
        return format!(
            "every state is one of the excepted or of the targets, {}",
            words::states(chart, &from.none_of)
        );
    }
    "its states are not below the state that the line belongs to".into()
}
