//! Questions that wait for an event which a line always takes first.

use super::place::Place;
use super::reach::{is_end, is_history, is_leaf};
use chartc_core::arena::{EventId, StateId, StepId, TransitionId};
use chartc_core::model::{AskOn, Chart, StepKind, Transition, Trigger};
use std::collections::{BTreeMap, BTreeSet};

/// Lines that take an event whatever the data are, by event and state.
pub struct Takers {
    own: BTreeMap<EventId, BTreeMap<StateId, TransitionId>>,
    any: BTreeMap<StateId, TransitionId>,
}

impl Takers {
    /// Reads lines that hold everywhere in their state and have no condition.
    pub fn of(chart: &Chart) -> Self {
        let mut own: BTreeMap<EventId, BTreeMap<StateId, TransitionId>> = BTreeMap::new();
        let mut any = BTreeMap::new();
        let always = |line: &Transition| line.scope.is_none() && line.guard.is_none();
        let lines = chart.transitions.iter().enumerate();
        for (i, line) in lines.filter(|(_, line)| always(line)) {
            let id = TransitionId::at(i);
            if matches!(line.trigger, Trigger::AnyEvent | Trigger::AnyOccurrence) {
                any.entry(line.source).or_insert(id);
            }
            if let Trigger::Event(events) = &line.trigger {
                for event in events {
                    own.entry(*event).or_default().entry(line.source).or_insert(id);
                }
            }
        }
        Self { own, any }
    }

    /// The lines because of which a question is never put: wherever it might be, one of them takes its event, and a question comes
    /// only after lines. `None` if it may be put somewhere.
    pub fn before(&self, chart: &Chart, step: StepId, place: &Place) -> Option<Vec<TransitionId>> {
        let StepKind::Ask { on: AskOn::Event(events), .. } = &chart.steps[step.index()].kind else {
            return None;
        };
        let mut by = BTreeSet::new();
        for event in events {
            let own = self.own.get(event);
            if own.is_none() && self.any.is_empty() {
                return None;
            }
            let takes = |state: StateId| {
                let own = own.and_then(|lines| lines.get(&state));
                own.or_else(|| self.any.get(&state)).copied()
            };
            for top in &place.within {
                if let Some(line) = chart.ancestors(*top).find_map(takes) {
                    by.insert(line);
                } else {
                    below(chart, *top, place, &takes, &mut by)?;
                }
            }
        }
        (!by.is_empty()).then(|| by.into_iter().collect())
    }
}

/// Adds the lines that take the event in the leaves of `top`; `None` if some leaf has none.
fn below(
    chart: &Chart,
    top: StateId,
    place: &Place,
    takes: &dyn Fn(StateId) -> Option<TransitionId>,
    by: &mut BTreeSet<TransitionId>,
) -> Option<()> {
    let mut at = top;
    while at < chart.state(top).end {
        if is_history(chart, at) || is_end(chart, at) || place.except.contains(&at) {
            at = chart.state(at).end;
        } else if let Some(line) = takes(at) {
            by.insert(line);
            at = chart.state(at).end;
        } else if is_leaf(chart, at) {
            return None;
        } else {
            at = StateId(at.0 + 1);
        }
    }
    Some(())
}
