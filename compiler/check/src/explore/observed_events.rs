//! The states in which events have an effect.

use super::relevant::Relevant;
use chartc_core::arena::{EventId, StateId};
use chartc_core::model::{AskOn, Chart, StepKind, Trigger};
use chartc_core::store::bits;

/// The states whose transitions or questions react to events. Where none of them is active, an event has the same effect as any
/// other event that is ignored there.
#[derive(Debug, Clone)]
pub(super) enum ObservedEvents {
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
                Trigger::Turn
                | Trigger::When
                | Trigger::StateDone(_)
                | Trigger::After(_)
                | Trigger::AfterTurns(_)
                | Trigger::Choice(_)
                | Trigger::StepDone(_)
                | Trigger::StepError(_)
                | Trigger::StepDoubt(_)
                | Trigger::StepTimeout(..)
                | Trigger::StepElse(_)
                | Trigger::Error(_)
                | Trigger::LimitWarn(_) => {}
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

    pub(super) fn are_observed(&self, event: EventId, configuration: &[u64]) -> bool {
        let is_active = |s: &StateId| bits::has(configuration, s.index());
        match self {
            Self::Everywhere => true,
            Self::In(any, each) => any.iter().chain(&each[event.index()]).any(is_active),
        }
    }
}
