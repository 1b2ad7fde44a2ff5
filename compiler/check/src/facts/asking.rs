//! Questions that are never asked because a transition always takes their event, or the turn, first.

use crate::facts::reach::{is_end, is_history, is_leaf};
use crate::facts::scope::ScopeCondition;
use crate::facts::uses::written;
use chartc_core::arena::{EventId, StateId, StepId, TransitionId};
use chartc_core::model::{Action, AskOn, Chart, StepKind, Transition, Trigger};
use std::collections::{BTreeMap, BTreeSet};

/// The transitions that take an event regardless of its data: they have no guard and no `from`.
pub struct Takers {
    /// By event and source state: the first transition that names the event.
    own: BTreeMap<EventId, BTreeMap<StateId, TransitionId>>,
    /// By source state: the first transition for any event.
    any: BTreeMap<StateId, TransitionId>,
    /// By source state: the first transition for the `turn` event.
    turn: BTreeMap<StateId, TransitionId>,
}

impl Takers {
    /// Collects the unguarded transitions that can act everywhere in their source state.
    pub fn new(chart: &Chart) -> Self {
        let mut own: BTreeMap<EventId, BTreeMap<StateId, TransitionId>> = BTreeMap::new();
        let (mut any, mut turn) = (BTreeMap::new(), BTreeMap::new());
        let always =
            |transition: &Transition| transition.scope.is_none() && transition.guard.is_none();
        let transitions = chart.transitions.iter().enumerate();
        for (i, transition) in transitions.filter(|(_, transition)| always(transition)) {
            let id = TransitionId::at(i);
            if matches!(transition.trigger, Trigger::AnyEvent | Trigger::AnyOccurrence) {
                any.entry(transition.source).or_insert(id);
            }
            if matches!(transition.trigger, Trigger::Turn | Trigger::AnyOccurrence) {
                turn.entry(transition.source).or_insert(id);
            }
            if let Trigger::Event(events) = &transition.trigger {
                for event in events {
                    own.entry(*event).or_default().entry(transition.source).or_insert(id);
                }
            }
        }
        Self { own, any, turn }
    }

    /// The transitions that keep a question from being asked: in every leaf where the question could start, one of them takes its
    /// event, and transitions have priority over questions. `None` if the question may be asked in some leaf.
    pub fn before(
        &self,
        chart: &Chart,
        step: StepId,
        places: &[ScopeCondition],
    ) -> Option<Vec<TransitionId>> {
        let StepKind::Ask { on, .. } = &chart.steps[step.index()].kind else { return None };
        let place = &places[step.index()];
        let mut by = BTreeSet::new();
        match on {
            AskOn::Event(events) => {
                for event in events {
                    let own = self.own.get(event);
                    if own.is_none() && self.any.is_empty() {
                        return None;
                    }
                    let takes = |state: StateId| {
                        let own = own.and_then(|transitions| transitions.get(&state));
                        own.or_else(|| self.any.get(&state)).copied()
                    };
                    everywhere(chart, place, &takes, &mut by)?;
                }
            }
            AskOn::Turn => {
                if self.turn.is_empty() {
                    return None;
                }
                let takes = |state: StateId| self.turn.get(&state).copied();
                everywhere(chart, place, &takes, &mut by)?;
                // A turn may begin in another state, and earlier steps of its walk may lead here. So those must be kept from running, too.
                for earlier in &places[..step.index()] {
                    everywhere(chart, earlier, &takes, &mut BTreeSet::new())?;
                }
                // A sent event can change the state between two steps of a walk, after the `turn` event.
                if sends(chart) {
                    return None;
                }
            }
        }
        (!by.is_empty()).then(|| by.into_iter().collect())
    }

    /// The transition that takes every event of this name while the leaf is active.
    pub fn of_event(&self, chart: &Chart, leaf: StateId, event: EventId) -> Option<TransitionId> {
        let own = self.own.get(&event);
        let takes = |state: StateId| {
            own.and_then(|transitions| transitions.get(&state))
                .or_else(|| self.any.get(&state))
                .copied()
        };
        chart.ancestors(leaf).find_map(takes)
    }

    /// The transition that takes every `turn` event while the leaf is active.
    pub fn of_turn(&self, chart: &Chart, leaf: StateId) -> Option<TransitionId> {
        chart.ancestors(leaf).find_map(|state| self.turn.get(&state)).copied()
    }
}

/// Whether the chart sends events, which may be delivered in the middle of a walk.
fn sends(chart: &Chart) -> bool {
    written(chart).any(|actions| {
        let mut sends = false;
        Action::walk(actions, &mut |action| sends |= matches!(action, Action::Send { .. }));
        sends
    })
}

/// Adds to `by` the transitions that take the event in each leaf of the scope condition; `None` if none takes it in some leaf.
fn everywhere(
    chart: &Chart,
    place: &ScopeCondition,
    takes: &dyn Fn(StateId) -> Option<TransitionId>,
    by: &mut BTreeSet<TransitionId>,
) -> Option<()> {
    for top in &place.within {
        if let Some(transition) = chart.ancestors(*top).find_map(takes) {
            by.insert(transition);
        } else {
            below(chart, *top, place, takes, by)?;
        }
    }
    Some(())
}

/// Adds to `by` the transitions that take the event in each leaf below `top`; `None` if none takes it in some leaf.
fn below(
    chart: &Chart,
    top: StateId,
    place: &ScopeCondition,
    takes: &dyn Fn(StateId) -> Option<TransitionId>,
    by: &mut BTreeSet<TransitionId>,
) -> Option<()> {
    // State ids follow document order, so a subtree is skipped by jumping to its end.
    let mut at = top;
    while at < chart.state(top).end {
        if is_history(chart, at) || is_end(chart, at) || place.except.contains(&at) {
            at = chart.state(at).end;
        } else if let Some(transition) = takes(at) {
            by.insert(transition);
            at = chart.state(at).end;
        } else if is_leaf(chart, at) {
            return None;
        } else {
            at = StateId(at.0 + 1);
        }
    }
    Some(())
}
