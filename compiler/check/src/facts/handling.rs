//! The events that a chart handles, ignores, or forwards to child charts.

use crate::facts::Facts;
use chartc_core::arena::{EventId, StateId, StepId, TransitionId};
use chartc_core::model::{AskOn, Chart, Forward, StepKind, Trigger};
use chartc_core::tables::CATCH_ALL;
use std::collections::{BTreeMap, BTreeSet};

/// The events that may be forwarded to child charts. `child` returns the chart of a `run` step, or `None` if it is unknown; an
/// unknown chart may take every event.
pub fn passed<'c>(chart: &Chart, child: &dyn Fn(StepId) -> Option<&'c Chart>) -> BTreeSet<EventId> {
    let mut events = BTreeSet::new();
    for (i, step) in chart.steps.iter().enumerate() {
        let StepKind::Run(run) = &step.kind else { continue };
        if run.forward == Forward::Nothing {
            continue;
        }
        let known: Option<BTreeSet<&str>> = child(StepId::at(i))
            .map(|child| child.events.iter().map(|e| e.name.as_str()).collect())
            // A child chart with an event of this name takes all events, whatever their names.
            .filter(|names: &BTreeSet<&str>| !names.contains(CATCH_ALL));
        let own = chart.events.iter().enumerate();
        let taken = own.filter(|(_, e)| known.as_ref().is_none_or(|k| k.contains(e.name.as_str())));
        events.extend(taken.map(|(nth, _)| EventId::at(nth)));
    }
    events
}

/// A transition or question that takes an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handler {
    /// A transition for the event.
    Transition(TransitionId),
    /// A question that waits for the event.
    Question(StepId),
}

/// An event that nothing takes in any run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unhandled {
    /// The event that is ignored.
    pub event: EventId,
    /// The transitions and questions for the event, all in unreachable states.
    pub dead: Vec<Handler>,
}

/// The events that this chart itself does not handle, ascending. Empty if a transition takes any event.
pub fn unhandled(chart: &Chart, facts: &Facts) -> Vec<Unhandled> {
    let all = |t: &Trigger| matches!(t, Trigger::AnyEvent | Trigger::AnyOccurrence);
    if chart.transitions.iter().any(|transition| all(&transition.trigger)) {
        return Vec::new();
    }
    let mut handlers: BTreeMap<EventId, Vec<(Handler, StateId)>> = BTreeMap::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        if let Trigger::Event(events) = &transition.trigger {
            for event in events {
                let handler = (Handler::Transition(TransitionId::at(i)), transition.source);
                handlers.entry(*event).or_default().push(handler);
            }
        }
    }
    for (i, step) in chart.steps.iter().enumerate() {
        if let StepKind::Ask { on: AskOn::Event(events), .. } = &step.kind {
            for event in events {
                let handler = (Handler::Question(StepId::at(i)), step.state);
                handlers.entry(*event).or_default().push(handler);
            }
        }
    }
    let mut found = Vec::new();
    for event in (0..chart.events.len()).map(EventId::at) {
        let of = handlers.remove(&event).unwrap_or_default();
        if !of.iter().any(|(_, state)| facts.reach.can_enter(*state)) {
            let dead = of.into_iter().map(|(handler, _)| handler).collect();
            found.push(Unhandled { event, dead });
        }
    }
    found
}
