//! The states in which events have an effect, so that events without an effect are tried only once.

use super::relevant::Relevant;
use chartc_core::arena::{EventId, StateId};
use chartc_core::model::{AskOn, Chart, StepKind, Trigger};
use chartc_core::store::bits;

/// The states whose transitions or questions react to events. If none of those for an event is active, it has the same effect as any
/// other event that is ignored there.
#[derive(Debug, Clone)]
pub(super) enum ObservedEvents {
    /// Some condition reads the name of the event, so every event has an effect of its own.
    Everywhere,
    /// The states that react to all events, and by event those that react to it.
    In(Vec<StateId>, Vec<Vec<StateId>>),
}

impl ObservedEvents {
    pub(super) fn new(chart: &Chart, relevant: &Relevant<'_>) -> Self {
        if relevant.counters.event {
            return Self::Everywhere;
        }
        let (mut any, mut each) = (Vec::new(), vec![Vec::new(); chart.events.len()]);
        let mut hears = |events: &[EventId], state: StateId| {
            for event in events {
                each[event.index()].push(state);
            }
        };
        for transition in &chart.transitions {
            match &transition.trigger {
                Trigger::Event(events) => hears(events, transition.source),
                Trigger::AnyEvent | Trigger::AnyOccurrence => any.push(transition.source),
                _ => {}
            }
        }
        for step in &chart.steps {
            if let StepKind::Ask { on: AskOn::Event(on), .. } = &step.kind {
                hears(on, step.state);
            }
        }
        for states in each.iter_mut().chain([&mut any]) {
            states.sort_unstable();
            states.dedup();
        }
        Self::In(any, each)
    }

    /// Whether the event may have an effect of its own in this configuration.
    pub(super) fn are_observed(&self, event: EventId, configuration: &[u64]) -> bool {
        let is_active = |s: &StateId| bits::has(configuration, s.index());
        match self {
            Self::Everywhere => true,
            Self::In(any, each) => any.iter().chain(&each[event.index()]).any(is_active),
        }
    }
}
