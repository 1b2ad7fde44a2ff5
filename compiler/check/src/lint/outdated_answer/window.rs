//! The window in which a question waits: the leaves where it may wait, and what may be executed meanwhile.

use super::changes::{By, VariableChange};
use crate::facts::Facts;
use crate::facts::guard::implies;
use crate::facts::livelock::is_outside_parallel;
use crate::facts::reach::{domain, is_history, is_leaf};
use crate::facts::scope::{ScopeCondition, exclusive};
use crate::facts::uses::walk;
use chartc_core::arena::{EventId, StateId, StepId, TransitionId, VarId};
use chartc_core::model::{Action, Chart, Expr, ExprKind, StateKind, StepKind, Transition, Trigger};
use std::collections::BTreeSet;

/// The kind of wait of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// For a person, or for the next turn: events come, and turns begin.
    Turns,
    /// For a model, within a turn: events come.
    Call,
}

/// The window in which a step waits.
pub(super) struct Window<'c> {
    pub(super) chart: &'c Chart,
    facts: &'c Facts,
    pub(super) step: StepId,
    pub(super) wait: Wait,
    /// The step is canceled when this state is exited.
    home: StateId,
    /// The leaves below `home` in which the step may wait.
    inside: BTreeSet<StateId>,
    /// The leaves of other regions, which may be active meanwhile.
    beside: BTreeSet<StateId>,
}

/// The maximum of leaves times transitions for which `inside` is determined exactly; beyond it, all leaves below `home` count.
const MOST: usize = 100_000;
/// The maximum number of leaves in which one transition is examined.
const SOME: usize = 64;

impl<'c> Window<'c> {
    /// The window of a step.
    pub(super) fn new(chart: &'c Chart, facts: &'c Facts, step: StepId, wait: Wait) -> Self {
        let home = chart.steps[step.index()].state;
        let is_beside = |leaf: &StateId| {
            !chart.contains(home, *leaf)
                && !chart.contains(*leaf, home)
                && !exclusive(chart, home, *leaf)
        };
        let mut beside = BTreeSet::new();
        if !is_outside_parallel(chart, home) {
            beside.extend(facts.reach.leaves(chart).filter(is_beside));
        }
        let mut window = Self { chart, facts, step, wait, home, inside: BTreeSet::new(), beside };
        window.fill();
        window
    }

    /// Fills `inside` with the leaves in which the step may start, and those to which transitions lead while it waits.
    fn fill(&mut self) {
        let Self { chart, facts, home, .. } = *self;
        let place = facts.scopes.step(self.step);
        let all = leaves_below(chart, facts, home);
        if all.len() * chart.transitions.len() > MOST {
            self.inside = all.into_iter().collect();
            return;
        }
        let starts = all.into_iter().filter(|leaf| place.may_hold_in(chart, *leaf));
        let mut open: Vec<StateId> = starts.flat_map(|leaf| self.with_regions(leaf)).collect();
        while let Some(leaf) = open.pop() {
            if !self.inside.insert(leaf) {
                continue;
            }
            for id in self.transitions(leaf) {
                let transition = chart.transition(id);
                if transition.trigger.step() == Some(self.step) || self.exits(transition) {
                    continue;
                }
                for target in &transition.targets {
                    // A history may restore any leaf below its parent.
                    let parent = chart.state(target.state).parent;
                    let parent = parent.filter(|_| is_history(chart, target.state));
                    open.extend(self.with_regions(parent.unwrap_or(target.state)));
                }
            }
        }
    }

    /// The leaves that may be active when a state is entered, including those of the other regions around it.
    fn with_regions(&self, state: StateId) -> impl Iterator<Item = StateId> + use<> {
        let Self { chart, facts, home, .. } = *self;
        let around = chart.ancestors(state).take_while(|s| chart.contains(home, *s));
        let outer = around.filter(|s| matches!(chart.state(*s).kind, StateKind::Parallel)).last();
        let into = outer.unwrap_or(state);
        leaves_below(chart, facts, into).into_iter()
    }

    /// The transitions that may be taken in a leaf, in the order in which they are tried.
    fn transitions(&self, leaf: StateId) -> impl Iterator<Item = TransitionId> + use<'c> {
        let Self { chart, facts, .. } = *self;
        let transitions =
            chart.ancestors(leaf).flat_map(|s| chart.state(s).transitions.iter().copied());
        transitions.filter(move |id| {
            facts.reach.can_take(*id) && facts.scopes.transition(*id).may_hold_in(chart, leaf)
        })
    }

    /// Whether a transition withdraws the question. Leaving its leaf withdraws an `ask`, because its options are those of the leaf.
    fn exits(&self, transition: &Transition) -> bool {
        let Self { chart, home, .. } = *self;
        let is_ask = matches!(chart.steps[self.step.index()].kind, StepKind::Ask { .. });
        domain(chart, transition).is_some_and(|top| {
            let is_above = chart.contains(top, home) && (top != home || is_ask);
            is_above || is_ask && chart.contains(home, top)
        })
    }

    /// The leaves among `leaves` that a scope covers.
    fn leaves_of<'w>(
        &'w self,
        place: &'w ScopeCondition,
        leaves: &'w BTreeSet<StateId>,
    ) -> impl Iterator<Item = StateId> + 'w {
        let ranges = place.within.iter().map(|state| *state..self.chart.state(*state).end);
        let all = ranges.flat_map(|range| leaves.range(range).copied());
        all.filter(|leaf| !place.excludes_leaf(self.chart, *leaf))
    }

    /// The leaves in which a transition may be taken while the step waits.
    fn acting(&self, id: TransitionId) -> impl Iterator<Item = StateId> + '_ {
        let place = self.facts.scopes.transition(id);
        let transition = self.chart.transition(id);
        let comes = self.wait == Wait::Turns || is_sudden(&transition.trigger);
        let inside = self.leaves_of(place, &self.inside).filter(move |_| comes);
        inside.chain(self.leaves_of(place, &self.beside))
    }

    /// Whether a transition may be taken, or a step may run, while the step waits, without withdrawing the question.
    pub(super) fn is_between(&self, by: By) -> bool {
        match by {
            By::Transition(id) => {
                let transition = self.chart.transition(id);
                self.facts.reach.can_take(id)
                    && transition.trigger.step() != Some(self.step)
                    && self.acting(id).next().is_some()
                    && !self.exits(transition)
            }
            By::Step(id) => {
                let place = self.facts.scopes.step(id);
                let leaves = |transition: &TransitionId| {
                    let transition = self.chart.transition(*transition);
                    let is_sure =
                        transition.trigger == Trigger::StepDone(id) && transition.guard.is_none();
                    is_sure && self.exits(transition)
                };
                // The walk of a turn waits for a model, so no other step of its region runs meanwhile; the walks of other regions go on.
                let others = self.leaves_of(place, &self.beside).next().is_some();
                let acts = others || self.wait == Wait::Turns && self.is_with(id);
                id != self.step && acts && !self.chart.steps[id.index()].outcomes.iter().any(leaves)
            }
            By::Host | By::Turn => self.wait == Wait::Turns,
        }
    }

    /// Whether a transition may be taken in one of the leaves in which the step may wait.
    pub(super) fn is_offered(&self, id: TransitionId) -> bool {
        self.leaves_of(self.facts.scopes.transition(id), &self.inside).next().is_some()
    }

    /// Whether a step may run in one of the leaves in which this one may wait.
    pub(super) fn is_with(&self, id: StepId) -> bool {
        self.leaves_of(self.facts.scopes.step(id), &self.inside).next().is_some()
    }

    /// Whether a change may happen in some leaf where its conditions may hold, without the question being asked again.
    pub(super) fn may_happen(
        &self,
        change: &VariableChange<'_>,
        holds: &dyn Fn(&Expr, StateId) -> bool,
    ) -> bool {
        let By::Transition(id) = change.by else { return true };
        let transition = self.chart.transition(id);
        let all = |leaf: StateId| change.guards.iter().all(|guard| holds(guard, leaf));
        let mut leaves = self.acting(id).take(SOME);
        leaves.any(|leaf| {
            !self.is_hidden(leaf, id) && !self.asks_again(leaf, transition) && all(leaf)
        })
    }

    /// Whether earlier transitions take all events of the transition.
    fn is_hidden(&self, leaf: StateId, id: TransitionId) -> bool {
        let transition = self.chart.transition(id);
        let Trigger::Event(events) = &transition.trigger else { return false };
        let before: Vec<TransitionId> =
            self.transitions(leaf).take_while(|other| *other != id).collect();
        events.iter().all(|event| {
            before.iter().any(|other| {
                let other = self.chart.transition(*other);
                takes(other, *event)
                    && implies(self.chart, transition.guard.as_ref(), other.guard.as_ref())
            })
        })
    }

    /// Whether the question is asked again when the transition is taken, because of the events that trigger it or that it raises.
    fn asks_again(&self, leaf: StateId, transition: &Transition) -> bool {
        let mut raised = false;
        Action::walk(&transition.actions, &mut |action| {
            if let Action::Raise(event, _) | Action::Send { event, after: None, .. } = action {
                raised |= self.withdraws(*event);
            }
        });
        let withdrawn = matches!(&transition.trigger, Trigger::Event(events)
            if events.iter().all(|event| self.withdraws(*event)));
        raised || withdrawn && !self.inside.contains(&leaf)
    }

    /// Whether the event surely withdraws the question.
    fn withdraws(&self, event: EventId) -> bool {
        let first = |leaf: &StateId| {
            let mut transitions = self.transitions(*leaf).map(|id| self.chart.transition(id));
            let transition = transitions.find(|transition| takes(transition, event));
            transition
                .is_some_and(|transition| transition.guard.is_none() && self.exits(transition))
        };
        !self.inside.is_empty() && self.inside.len() <= SOME && self.inside.iter().all(first)
    }

    /// Whether a `when` transition that reads the variable withdraws the question.
    pub(super) fn is_watched(&self, variable: VarId) -> bool {
        let chart = self.chart;
        chart.transitions.iter().enumerate().any(|(i, transition)| {
            let guard = transition.guard.as_ref().filter(|_| transition.trigger == Trigger::When);
            let watches = guard.is_some_and(|guard| mentions(chart, guard, variable));
            let place = self.facts.scopes.transition(TransitionId::at(i));
            watches
                && self.exits(transition)
                && self.inside.iter().all(|leaf| place.may_hold_in(chart, *leaf))
        })
    }
}

/// The leaves below a state that a run may enter.
fn leaves_below(chart: &Chart, facts: &Facts, state: StateId) -> Vec<StateId> {
    let below = (state.0..chart.state(state).end.0).map(StateId);
    below.filter(|s| is_leaf(chart, *s) && facts.reach.can_enter(*s)).collect()
}

/// Whether the transition is triggered by the event.
fn takes(transition: &Transition, event: EventId) -> bool {
    matches!(&transition.trigger, Trigger::Event(events) if events.contains(&event))
        || matches!(transition.trigger, Trigger::AnyEvent | Trigger::AnyOccurrence)
}

/// Whether the trigger does not depend on the walk of a turn.
const fn is_sudden(trigger: &Trigger) -> bool {
    matches!(
        trigger,
        Trigger::Event(_) | Trigger::AnyEvent | Trigger::AnyOccurrence | Trigger::After(_)
    )
}

/// Whether an expression reads a variable.
pub(super) fn mentions(chart: &Chart, expr: &Expr, variable: VarId) -> bool {
    let mut found = false;
    walk(chart, expr, &mut |e| found |= e.kind == ExprKind::Variable(variable));
    found
}
