//! The bounds of one counter at each node of the graph of moves.
//!
//! Propagates intervals from the start along all edges of the graph. The interval of a node grows freely a few times, then only to the
//! next number that the chart relates to the counter, and at last to unbounded, so that the iteration ends. The effects of transitions,
//! blocks and code are computed exactly where they are understood; any other assignment may set any value.

use super::GuardOwner;
use super::stops::{stops, widened};
use crate::facts::Facts;
use crate::facts::counter::{bounds, is_of_turn, is_reset, sets, value};
use crate::facts::graph::GraphNode;
use crate::facts::interval::{Range, within};
use crate::facts::reach::{domain, is_leaf};
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::model::{Action, Chart, Expr, StateKind, StepKind, Transition};
use std::collections::VecDeque;

/// The number of times that the bounds of a node grow freely before they are widened to thresholds.
const PATIENCE: u8 = 4;
/// The number of times that the bounds of a node grow before they are widened to unbounded.
const GROWTHS: u8 = 24;

/// The treatment of assignments of constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resets {
    /// They are executed.
    Done,
    /// They are ignored.
    Skipped,
}

/// The bounds of one counter at each node.
pub(super) struct Track<'c> {
    chart: &'c Chart,
    facts: &'c Facts,
    counter: VarId,
    resets: Resets,
    /// The targetless transitions that set the counter.
    staying: Vec<TransitionId>,
    /// The `code` steps that set the counter.
    code: Vec<StepId>,
    /// The states whose `exit` actions set the counter.
    leaving: Vec<StateId>,
    /// Whether `enter`, `exit` or default actions of any state set the counter. Otherwise transitions need not look at states.
    blocks: bool,
    /// The initial value of the counter.
    first: Range,
    /// The thresholds for widening, ascending.
    stops: Vec<i64>,
    /// By index of the node: the bounds before the effect of the node. `None` if no run reaches it.
    before: Vec<Option<Range>>,
}

impl<'c> Track<'c> {
    /// Follows a counter through the whole chart.
    pub(super) fn new(chart: &'c Chart, facts: &'c Facts, counter: VarId) -> Self {
        Self::following(chart, facts, counter, Resets::Done)
    }

    /// Follows a counter as if no assignment reset it.
    pub(super) fn without_resets(chart: &'c Chart, facts: &'c Facts, counter: VarId) -> Self {
        Self::following(chart, facts, counter, Resets::Skipped)
    }

    fn following(chart: &'c Chart, facts: &'c Facts, counter: VarId, resets: Resets) -> Self {
        let transitions = chart.transitions.iter().enumerate();
        let staying = transitions
            .filter(|(_, l)| l.targets.is_empty() && sets(&l.actions, counter))
            .map(|(i, _)| TransitionId::at(i))
            .filter(|l| facts.reach.can_take(*l))
            .collect();
        let steps = chart.steps.iter().enumerate();
        let code = steps
            .filter(|(_, s)| matches!(&s.kind, StepKind::Code(block) if sets(block, counter)))
            .map(|(i, _)| StepId::at(i))
            .collect();
        let of_states = |s: &chartc_core::model::State| {
            let defaults = [&s.default_actions];
            s.entry.iter().chain(&s.exit).chain(defaults).any(|b| sets(b, counter))
        };
        let blocks = chart.states.iter().any(of_states);
        let leaving = chart.state_ids().filter(|s| {
            let exit = &chart.state(*s).exit;
            exit.iter().any(|b| sets(b, counter))
        });
        let leaving = leaving.collect();
        let default = chart.variables[counter.index()].default.as_ref();
        let first =
            default.map_or_else(Range::default, |e| value(chart, e, counter, Range::default()));
        let before = vec![None; facts.moves.nodes()];
        let stops = stops(chart, counter, first);
        let mut track = Self {
            chart,
            facts,
            counter,
            resets,
            staying,
            code,
            leaving,
            blocks,
            first,
            stops,
            before,
        };
        track.spread();
        track
    }

    /// The bounds when the owner's condition is tested. `None` if it is never tested.
    pub(super) fn asked_by(&self, owner: GuardOwner) -> Option<Range> {
        match owner {
            GuardOwner::Transition(id) => self.at_transition(id),
            GuardOwner::Step(id) => self.within(&self.facts.scopes.step(id).within),
            GuardOwner::Permission(i) => {
                let from = self.chart.permissions[i].from;
                self.within(&[from.unwrap_or(StateId::at(0))])
            }
        }
    }

    /// The bounds before the guard of a transition is tested.
    fn at_transition(&self, id: TransitionId) -> Option<Range> {
        let (moves, transition) = (&self.facts.moves, self.chart.transition(id));
        let before = match self.before[moves.place(GraphNode::Transition(id))] {
            // The guard never holds, so the node is unreachable: use the bounds in the source state.
            None if !self.facts.reach.can_take(id) => {
                let node = GraphNode::Active(transition.source);
                self.after(node, self.before[moves.place(node)]?)?
            }
            before => before?,
        };
        Some(self.asked(transition, before))
    }

    /// The bounds when a transition on the outcome of a step is tested: after the `code` steps that directly precede that step have run,
    /// and after any targetless transitions while it was under way.
    fn asked(&self, transition: &Transition, before: Range) -> Range {
        let Some(step) = transition.trigger.step() else { return before };
        let state = self.chart.steps[step.index()].state;
        let earlier = self.chart.steps[..step.index()].iter();
        let first = step.index() - earlier.rev().take_while(|s| s.state == state).count();
        let mut range = before;
        for own in &self.chart.steps[first..step.index()] {
            if let StepKind::Code(block) = &own.kind {
                let after = self.block(block, range);
                range = if own.guard.is_none() { after } else { range.join(after) };
            }
        }
        for id in &self.staying {
            let place = self.facts.scopes.transition(*id);
            let here = self.chart.ancestors(state).any(|s| place.within.contains(&s))
                || place.within.iter().any(|s| self.chart.contains(state, *s));
            if here {
                // The transition may be taken any number of times, so a bound that it moves becomes unbounded.
                let after = self.block(&self.chart.transition(*id).actions, range);
                range = widened(range, range.join(after), &[]);
            }
        }
        range
    }

    /// The bounds while one of these states or their descendants is active.
    fn within(&self, places: &[StateId]) -> Option<Range> {
        let below = places.iter().flat_map(|s| s.0..self.chart.state(*s).end.0).map(StateId);
        let known = below.filter_map(|s| {
            let node = GraphNode::Active(s);
            self.after(node, self.before[self.facts.moves.place(node)]?)
        });
        known.reduce(Range::join)
    }

    /// Computes `before` with a work list: a node is visited again whenever its bounds have grown.
    fn spread(&mut self) {
        let moves = &self.facts.moves;
        let root = GraphNode::Entered(StateId::at(0));
        self.before[moves.place(root)] = Some(self.first);
        let mut grown = vec![0_u8; moves.nodes()];
        let mut open = VecDeque::from([root]);
        while let Some(node) = open.pop_front() {
            let Some(before) = self.before[moves.place(node)] else { continue };
            let Some(after) = self.after(node, before) else { continue };
            for next in moves.next(node) {
                let place = moves.place(next);
                let known = self.before[place];
                let mut joined = known.map_or(after, |known| known.join(after));
                if Some(joined) == known {
                    continue;
                }
                grown[place] = grown[place].saturating_add(1);
                if let Some(known) = known.filter(|_| grown[place] > PATIENCE) {
                    let stops = if grown[place] > GROWTHS { &[][..] } else { &self.stops };
                    joined = widened(known, joined, stops);
                }
                self.before[place] = Some(joined);
                open.push_back(next);
            }
        }
    }

    /// The bounds after the effect of the node. `None` if no run gets past it.
    fn after(&self, node: GraphNode, before: Range) -> Option<Range> {
        match node {
            GraphNode::Any(_) => Some(before),
            GraphNode::Entered(state) => Some(self.entered(state, before)),
            GraphNode::Active(state) => Some(self.active(state, before)),
            GraphNode::Transition(transition) => {
                self.taken(self.chart.transition(transition), before)
            }
        }
    }

    fn entered(&self, state: StateId, before: Range) -> Range {
        let row = self.chart.state(state);
        // A deep history enters descendants without passing their nodes, whose actions may set the counter.
        if self.blocks && matches!(row.kind, StateKind::History { deep: true, .. }) {
            return Range::default();
        }
        let entered = self.blocks_of(&row.entry, before);
        if row.default_actions.is_empty() {
            return entered;
        }
        // A transition may enter a descendant directly instead of the default.
        entered.join(self.block(&row.default_actions, entered))
    }

    /// The bounds in the state after its `code` steps and targetless transitions have run any number of times.
    fn active(&self, state: StateId, before: Range) -> Range {
        let mut range = before;
        // A new turn resets a per-turn counter.
        if is_of_turn(self.chart, self.counter) && is_leaf(self.chart, state) {
            range = range.join(self.first);
        }
        let mut rounds = 0;
        loop {
            let mut next = range;
            for step in &self.code {
                let place = self.facts.scopes.step(*step);
                let here = self.chart.ancestors(state).any(|s| place.within.contains(&s));
                if here && let StepKind::Code(block) = &self.chart.steps[step.index()].kind {
                    next = next.join(self.block(block, next));
                }
            }
            for transition in &self.staying {
                let place = self.facts.scopes.transition(*transition);
                let here = self.chart.ancestors(state).any(|s| place.within.contains(&s));
                if here && let Some(after) = self.taken(self.chart.transition(*transition), next) {
                    next = next.join(after);
                }
            }
            if next == range {
                return range;
            }
            rounds += 1;
            if rounds > PATIENCE {
                let stops = if rounds > GROWTHS { &[][..] } else { &self.stops };
                next = widened(range, next, stops);
            }
            range = next;
        }
    }

    /// The bounds after the transition: narrowed by its guard, then changed by exits, actions and entries. `None` if the guard fails.
    fn taken(&self, transition: &Transition, before: Range) -> Option<Range> {
        let mut range = self.asked(transition, before);
        if let Some(guard) = &transition.guard {
            range = self.refined(guard, range);
            if range.is_empty() {
                return None;
            }
        }
        let top = domain(self.chart, transition).filter(|_| self.blocks);
        if let Some(top) = top {
            for state in self.below(top) {
                // A state is surely exited only if it contains the source; any other one may be inactive.
                let left = self.blocks_of(&self.chart.state(state).exit, range);
                let sure = self.chart.contains(state, transition.source);
                range = if sure { left } else { range.join(left) };
            }
        }
        range = self.block(&transition.actions, range);
        if let Some(top) = top {
            for target in &transition.targets {
                // The graph has no nodes for the entry of states between the domain and the target, so their actions run here.
                let above = self.chart.ancestors(target.state).skip(1);
                let mut between: Vec<StateId> =
                    above.take_while(|s| *s != top && self.chart.contains(top, *s)).collect();
                between.reverse();
                for state in between {
                    range = self.blocks_of(&self.chart.state(state).entry, range);
                }
            }
        }
        Some(range)
    }

    /// The descendants of this state whose `exit` actions set the counter.
    fn below(&self, top: StateId) -> impl Iterator<Item = StateId> + '_ {
        let inside = move |s: &StateId| *s != top && self.chart.contains(top, *s);
        self.leaving.iter().copied().filter(inside)
    }

    /// The bounds, narrowed by the condition that the guard holds.
    fn refined(&self, guard: &Expr, range: Range) -> Range {
        let own = |bound: &crate::facts::counter::CounterBound<'_>| bound.counter == self.counter;
        bounds(self.chart, guard).iter().filter(|b| own(b)).fold(range, |range, bound| {
            let than = value(self.chart, bound.than, self.counter, Range::default());
            range.meet(within(bound.op, than))
        })
    }

    fn blocks_of(&self, blocks: &[Vec<Action>], before: Range) -> Range {
        blocks.iter().fold(before, |range, block| self.block(block, range))
    }

    fn block(&self, actions: &[Action], before: Range) -> Range {
        let mut range = before;
        for action in actions {
            match action {
                Action::Assign(id, e)
                    if *id == self.counter
                        && self.resets == Resets::Skipped
                        && is_reset(self.chart, self.counter, e) => {}
                Action::Assign(id, e) if *id == self.counter => {
                    range = value(self.chart, e, self.counter, range);
                }
                Action::If(condition, then, other) => {
                    let held = self.refined(condition, range);
                    let other = self.block(other, range);
                    range =
                        if held.is_empty() { other } else { self.block(then, held).join(other) };
                }
                // The number of iterations is unknown.
                Action::For(_, _, body) if sets(body, self.counter) => range = Range::default(),
                _ => {}
            }
        }
        range
    }

    /// Whether the effect of the node may set the counter.
    pub(super) fn is_set_at(&self, node: GraphNode) -> bool {
        let of = |state: StateId| {
            let row = self.chart.state(state);
            row.entry.iter().chain([&row.default_actions]).any(|b| sets(b, self.counter))
        };
        match node {
            GraphNode::Any(_) => false,
            GraphNode::Entered(state) => of(state),
            GraphNode::Active(state) => {
                let here =
                    |within: &[StateId]| self.chart.ancestors(state).any(|s| within.contains(&s));
                self.code.iter().any(|s| here(&self.facts.scopes.step(*s).within))
                    || self.staying.iter().any(|l| here(&self.facts.scopes.transition(*l).within))
            }
            GraphNode::Transition(id) => {
                let transition = self.chart.transition(id);
                let top = domain(self.chart, transition).filter(|_| self.blocks);
                let left = top.is_some_and(|top| self.below(top).next().is_some());
                let between = top.is_some_and(|top| {
                    let targets = transition.targets.iter();
                    let mut above = targets.flat_map(|t| {
                        self.chart.ancestors(t.state).skip(1).take_while(|s| *s != top)
                    });
                    above.any(of)
                });
                sets(&transition.actions, self.counter) || left || between
            }
        }
    }
}
