//! Charts that wait for events that nothing sends to them.

use super::{Context, Lint, words};
use crate::facts::livelock::is_outside_parallel;
use chartc_core::arena::{EventId, StateId, StepId, TransitionId};
use chartc_core::model::{AskOn, Forward, Limits, StateKind, Step, StepKind, Trigger};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNSENT_EVENT;
use std::collections::BTreeSet;

pub(super) static LINT: Lint = Lint { rule: &UNSENT_EVENT, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, family, .. } = context;
    // A chart that nothing runs gets its events from the host.
    let Some(own) = family.place(map).filter(|own| !family.member(*own).parents.is_empty()) else {
        return;
    };
    let given: Vec<bool> = chart.events.iter().map(|e| family.can_receive(own, &e.name)).collect();
    let mut told = BTreeSet::new();
    for leaf in facts.reach.leaves(chart).filter(|leaf| is_outside_parallel(chart, *leaf)) {
        if !matches!(chart.state(leaf).kind, StateKind::Atomic) || !context.enters(leaf) {
            continue;
        }
        let Some(waits) = waits(context, leaf, &given) else { continue };
        let Some((transition, first)) = waits.first() else { continue };
        if !told.insert(*transition) {
            continue;
        }
        let name = |event: &EventId| chart.events[event.index()].name.as_str();
        let mut names: Vec<&str> = waits.iter().map(|(_, event)| name(event)).collect();
        names.dedup();
        let names = words::names(names).replace("` and `", "` or `");
        let state = words::state(chart, leaf);
        let message = format!(
            "nothing sends {names} to `{}`: it waits in {state} until it is stopped",
            chart.name
        );
        let help = cure(context, own, name(first));
        let mut found = UNSENT_EVENT.at(map.transition(*transition).trigger, message).help(help);
        for (parent, step) in family.member(own).parents.iter().take(3) {
            let parent = family.member(*parent);
            let run = format!("`{}` runs it here", parent.chart.name);
            found = found.related(parent.map.step(*step).name, run);
        }
        diagnostics.push(found);
    }
}

/// The transitions for events, if they are all that may happen in the leaf and nothing sends these events; `None` otherwise.
fn waits(
    context: &Context<'_>,
    leaf: StateId,
    given: &[bool],
) -> Option<Vec<(TransitionId, EventId)>> {
    let Context { chart, facts, .. } = context;
    let is_limited = chart.ancestors(leaf).any(|s| chart.state(s).limits != Limits::default());
    let acts = |(i, row): (usize, &Step)| {
        facts.scopes.step(StepId::at(i)).may_hold_in(chart, leaf)
            && match &row.kind {
                StepKind::Ask { on: AskOn::Event(events), .. } => {
                    events.iter().any(|event| given[event.index()])
                }
                _ => true,
            }
    };
    if is_limited || chart.steps.iter().enumerate().any(acts) {
        return None;
    }
    let mut found = Vec::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if !facts.reach.can_take(id) || !facts.scopes.transition(id).may_hold_in(chart, leaf) {
            continue;
        }
        match &transition.trigger {
            Trigger::Event(events) => found.extend(events.iter().map(|event| (id, *event))),
            Trigger::AnyEvent => found.extend((0..given.len()).map(|n| (id, EventId::at(n)))),
            Trigger::AnyOccurrence
            | Trigger::Turn
            | Trigger::When
            | Trigger::After(_)
            | Trigger::AfterTurns(_) => return None,
            // None of these happens here without a step, a limit or an event.
            _ => {}
        }
    }
    (!found.iter().any(|(_, event)| given[event.index()])).then_some(found)
}

/// Advice on how the first parent can give the event to the chart.
fn cure(context: &Context<'_>, own: usize, event: &str) -> String {
    let family = context.family;
    let Some((parent, step)) = family.member(own).parents.first() else { return String::new() };
    let chart = family.member(*parent).chart;
    let row = &chart.steps[step.index()];
    let send = format!("send it in `{}`, `send {event} to {}`", chart.name, row.name);
    let StepKind::Run(run) = &row.kind else { return send };
    match run.forward {
        Forward::Nothing => format!("{send}, or leave out `events none`"),
        Forward::Rest if family.declares(*parent, event) => {
            format!("{send}, or let it have all events of the host: `events all`")
        }
        Forward::All | Forward::Rest => {
            format!("{send}, or declare it there too: then it gets the host's")
        }
    }
}
