//! Finds the reads of shown variables that follow from an answer.

use super::window::{Window, mentions};
use crate::facts::Facts;
use crate::facts::reach::{domain, entered_by_default};
use crate::facts::uses::reads;
use chartc_core::arena::{EventId, StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Action, BinaryOp, Chart, CompareOp, Expr, ExprKind, Receiver, StepKind, Transition, Trigger,
};
use std::collections::{BTreeSet, VecDeque};

/// The maximum number of transitions in a chain that is followed after an answer.
const LONGEST: usize = 8;
/// The maximum number of transitions that are followed for one answer.
const MOST: usize = 200;

/// The place where an effect reads a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadPlace {
    /// The targets or the actions of a transition.
    Transition(TransitionId),
    /// A block of a state.
    State(StateId),
    Step(StepId),
}

/// A read of a variable by something that follows from the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) variable: VarId,
    pub(super) spot: ReadPlace,
}

/// A transition that follows from the answer, with the variables that still have the values that the question showed.
struct Next {
    transition: TransitionId,
    kept: BTreeSet<VarId>,
    length: usize,
}

/// Follows what happens after the answer of a step, as far as it does not need the host.
pub(super) struct EffectSearch<'c> {
    chart: &'c Chart,
    facts: &'c Facts,
    step: StepId,
    found: Vec<Effect>,
    open: VecDeque<Next>,
    seen: BTreeSet<TransitionId>,
}

impl<'c> EffectSearch<'c> {
    /// The reads of the given variables that follow from the answer, the nearest first.
    pub(super) fn run(
        chart: &'c Chart,
        facts: &'c Facts,
        step: StepId,
        window: &Window<'c>,
        shown: &BTreeSet<VarId>,
    ) -> Vec<Effect> {
        let (found, open, seen) = (Vec::new(), VecDeque::new(), BTreeSet::new());
        let mut search = Self { chart, facts, step, found, open, seen };
        let row = &chart.steps[step.index()];
        let mut kept = shown.clone();
        kept.retain(|id| row.into != Some(*id));
        let answered = |expr: &Expr| {
            row.into.is_some_and(|id| mentions(chart, expr, id))
                || mentions_answer(chart, expr, step)
        };
        let is_ask = matches!(row.kind, StepKind::Ask { .. });
        for (i, transition) in chart.transitions.iter().enumerate() {
            let id = TransitionId::at(i);
            let is_done = transition.trigger == Trigger::StepDone(step);
            let is_when = transition.trigger == Trigger::When;
            let waits = is_when && transition.guard.as_ref().is_some_and(answered);
            let chosen = is_ask && matches!(transition.trigger, Trigger::Choice(_));
            if is_done || (waits || chosen) && window.is_offered(id) {
                search.add(id, &kept, 0);
            }
        }
        for (i, other) in chart.steps.iter().enumerate() {
            let id = StepId::at(i);
            let waits = other.guard.as_ref().is_some_and(answered);
            if waits && id != step && window.is_with(id) {
                search.step(id, &mut kept.clone(), 0);
            }
        }
        while let Some(next) = search.open.pop_front() {
            search.transition(&next);
        }
        search.found
    }

    fn add(&mut self, transition: TransitionId, kept: &BTreeSet<VarId>, length: usize) {
        let goes_on = !kept.is_empty() && length < LONGEST && self.seen.len() < MOST;
        if goes_on && self.facts.reach.can_take(transition) && self.seen.insert(transition) {
            self.open.push_back(Next { transition, kept: kept.clone(), length });
        }
    }

    /// Notes what a transition reads, and queues what it leads to.
    fn transition(&mut self, next: &Next) {
        let chart = self.chart;
        let transition = chart.transition(next.transition);
        let mut kept = next.kept.clone();
        transition.guard.iter().for_each(|guard| confirm(chart, guard, &mut kept));
        let spot = ReadPlace::Transition(next.transition);
        for argument in transition.targets.iter().flat_map(|target| &target.arguments) {
            self.note(argument, &kept, spot);
        }
        self.block(&transition.actions, &mut kept, spot);
        let entered = entered(chart, transition);
        for state in &entered {
            let row = chart.state(*state);
            for block in row.entry.iter().chain([&row.default_actions]) {
                self.block(block, &mut kept, ReadPlace::State(*state));
            }
        }
        self.raised(next, &entered, &kept);
        for step in entered.iter().flat_map(|state| &chart.state(*state).steps) {
            self.step(*step, &mut kept, next.length + 1);
        }
        let whens = entered.iter().flat_map(|state| &chart.state(*state).transitions);
        for id in whens {
            let trigger = &chart.transition(*id).trigger;
            if matches!(trigger, Trigger::When | Trigger::StateDone(_)) {
                self.add(*id, &kept, next.length + 1);
            }
        }
    }

    /// Queues the transitions for the events that a transition raises.
    fn raised(&mut self, next: &Next, entered: &BTreeSet<StateId>, kept: &BTreeSet<VarId>) {
        let chart = self.chart;
        let mut events: BTreeSet<EventId> = BTreeSet::new();
        Action::walk(&chart.transition(next.transition).actions, &mut |action| {
            if let Action::Raise(event, _)
            | Action::Send { event, after: None, to: Receiver::Own, .. } = action
            {
                events.insert(*event);
            }
        });
        if events.is_empty() {
            return;
        }
        let source = chart.transition(next.transition).source;
        for (i, transition) in chart.transitions.iter().enumerate() {
            let takes = matches!(&transition.trigger, Trigger::Event(of)
                if of.iter().any(|event| events.contains(event)));
            let place = self.facts.scopes.transition(TransitionId::at(i));
            let is_here = |state: &StateId| {
                entered.iter().chain([&source]).any(|s| chart.contains(*state, *s))
            };
            if takes && place.within.iter().any(is_here) {
                self.add(TransitionId::at(i), kept, next.length + 1);
            }
        }
    }

    /// Notes what a step reads without the host, and queues the transitions for its outcomes.
    fn step(&mut self, id: StepId, kept: &mut BTreeSet<VarId>, length: usize) {
        let chart = self.chart;
        let step = &chart.steps[id.index()];
        step.guard.iter().for_each(|guard| confirm(chart, guard, kept));
        let spot = ReadPlace::Step(id);
        match &step.kind {
            StepKind::Call(_, arguments) => {
                let list = step.each.iter().map(|each| &each.list);
                list.chain(arguments).for_each(|e| self.note(e, kept, spot));
            }
            StepKind::Run(run) => {
                let list = step.each.iter().map(|each| &each.list);
                list.chain(run.arguments.iter().map(|(_, e)| e))
                    .for_each(|e| self.note(e, kept, spot));
            }
            StepKind::Code(actions) => self.block(actions, kept, spot),
            // A person sees the current values, so the variables are up to date again.
            StepKind::Human(text) => {
                let mut shown = BTreeSet::new();
                text.holes().for_each(|e| {
                    reads(chart, e, &mut shown);
                });
                kept.retain(|id| !shown.contains(id));
            }
            StepKind::Llm | StepKind::Ask { .. } => {}
        }
        // The answer of a later question is examined as an answer of its own.
        let goes_on = match step.kind {
            StepKind::Human(_) | StepKind::Ask { .. } => false,
            _ => id != self.step,
        };
        let mut after = kept.clone();
        after.retain(|id| step.into != Some(*id));
        for transition in step.outcomes.iter().filter(|_| goes_on) {
            if matches!(chart.transition(*transition).trigger, Trigger::StepDone(_)) {
                self.add(*transition, &after, length);
            }
        }
        *kept = after;
    }

    /// Notes what a block reads. A variable that it sets does not have the value that the question showed any more.
    fn block(&mut self, actions: &'c [Action], kept: &mut BTreeSet<VarId>, spot: ReadPlace) {
        let chart = self.chart;
        for action in actions {
            match action {
                Action::Do(_, arguments)
                | Action::Raise(_, arguments)
                | Action::Send { arguments, .. }
                | Action::Result(_, arguments) => {
                    for e in arguments {
                        self.note(e, kept, spot);
                    }
                }
                Action::Assign(variable, value) => {
                    // An update, such as `n = n + 1`, is meant to use the current value.
                    let mut others = kept.clone();
                    others.remove(variable);
                    self.note(value, &others, spot);
                    kept.remove(variable);
                }
                Action::If(condition, then, otherwise) => {
                    let mut inner = kept.clone();
                    confirm(chart, condition, &mut inner);
                    self.block(then, &mut inner, spot);
                    self.block(otherwise, kept, spot);
                }
                Action::For(_, list, body) => {
                    self.note(list, kept, spot);
                    self.block(body, kept, spot);
                }
                Action::Cancel(_) | Action::Log(_) => {}
            }
        }
    }

    fn note(&mut self, expr: &Expr, kept: &BTreeSet<VarId>, spot: ReadPlace) {
        let mut read = BTreeSet::new();
        reads(self.chart, expr, &mut read);
        for variable in read.intersection(kept).copied() {
            let effect = Effect { variable, spot };
            if !self.found.contains(&effect) {
                self.found.push(effect);
            }
        }
    }
}

/// Removes the variables that a condition compares for equality: behind it, they have the value that the author expects.
fn confirm(chart: &Chart, condition: &Expr, kept: &mut BTreeSet<VarId>) {
    if let ExprKind::Predicate(id) = condition.kind {
        confirm(chart, &chart.predicates[id.index()].expr, kept);
    } else if let ExprKind::Binary(BinaryOp::And, a, b) = &condition.kind {
        confirm(chart, a, kept);
        confirm(chart, b, kept);
    } else if let Some((a, b)) = equality(condition) {
        kept.retain(|id| [a, b].iter().all(|e| e.kind != ExprKind::Variable(*id)));
    }
}

/// The sides of `a == b`.
pub(super) fn equality(condition: &Expr) -> Option<(&Expr, &Expr)> {
    let ExprKind::Compare(a, rest) = &condition.kind else { return None };
    let [(CompareOp::Equal, b)] = &rest[..] else { return None };
    Some((&**a, b))
}

fn mentions_answer(chart: &Chart, expr: &Expr, step: StepId) -> bool {
    let mut found = false;
    crate::facts::uses::walk(chart, expr, &mut |e| found |= e.kind == ExprKind::Answer(step));
    found
}

/// The states that a transition enters, outer ones first. A history counts as entering its default.
pub(super) fn entered(chart: &Chart, transition: &Transition) -> BTreeSet<StateId> {
    let mut found = BTreeSet::new();
    let Some(top) = domain(chart, transition) else { return found };
    let mut open: Vec<StateId> = crate::facts::reach::entries(chart, transition);
    while let Some(state) = open.pop() {
        let new: Vec<StateId> =
            chart.ancestors(state).take_while(|s| *s != top && !found.contains(s)).collect();
        found.extend(new);
        open.extend(entered_by_default(chart, state));
    }
    found
}
