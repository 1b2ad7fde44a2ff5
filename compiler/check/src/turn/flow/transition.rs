//! The transitions of a leaf, with their effects. These are the same in every mode, so they are computed once for each leaf.

use super::edge::{Edge, Op};
use super::enter::{Arrival, taken};
use super::point::{By, Mode, Point, Points};
use super::read::{How, Site};
use crate::facts::cover::{Key, keys};
use crate::facts::reach::domain;
use crate::turn::dataflow::Value;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{ChoiceKind, Expr, Permission, Transition, Trigger};
use std::collections::BTreeMap;

/// The maximum number of guards of earlier transitions that are assumed to be false at a later one. Further guards are ignored, which
/// over-approximates.
pub(super) const ASSUMED: usize = 64;

/// A transition that can be taken in a leaf.
#[derive(Debug, Clone)]
pub(super) struct LeafTransition<'c> {
    id: TransitionId,
    pub(super) row: &'c Transition,
    /// The operations before it is taken: its guard, the permissions that it needs, and the data of its trigger.
    asks: Vec<Op<'c>>,
    /// The transition domain, below which everything is exited; `None` if it is targetless.
    top: Option<StateId>,
    /// The leaves to which it leads.
    arrivals: Vec<Arrival<'c>>,
    /// The guards of the first earlier transitions with the same trigger. `None` if one of these is always taken instead.
    before: Option<Box<[&'c Expr]>>,
}

/// The transitions that precede the current one in the leaf, by key of their trigger.
#[derive(Default)]
struct Earlier<'c>(BTreeMap<Option<Key>, Same<'c>>);

/// Transitions with one key, in order.
#[derive(Default)]
struct Same<'c> {
    /// Those with a guard, with their positions in the leaf.
    guarded: Vec<(usize, &'c Transition)>,
    /// Those without a guard.
    sure: Vec<&'c Transition>,
}

impl<'c> Earlier<'c> {
    fn add(&mut self, nth: usize, transition: &'c Transition) {
        let mut all: Vec<Option<Key>> = keys(transition).into_iter().map(Some).collect();
        if all.is_empty() {
            all.push(None);
        }
        for key in all {
            let same = self.0.entry(key).or_default();
            match transition.guard {
                Some(_) => same.guarded.push((nth, transition)),
                None => same.sure.push(transition),
            }
        }
    }

    /// The guards of the transitions that are always tried before this one. `None` if one of them has no guard.
    fn before(&self, transition: &Transition) -> Option<Box<[&'c Expr]>> {
        let key = keys(transition).first().copied();
        let any = matches!(key, Some(Key::Event(_))).then(|| self.0.get(&Some(Key::AnyEvent)));
        let groups = || self.0.get(&key).into_iter().chain(any.flatten());
        if groups().flat_map(|same| &same.sure).any(|row| is_before(row, transition)) {
            return None;
        }
        let first = |same: &Same<'c>| {
            let fitting = same.guarded.iter().filter(|(_, row)| is_before(row, transition));
            fitting.take(ASSUMED).copied().collect::<Vec<_>>()
        };
        let mut all: Vec<_> = groups().flat_map(first).collect();
        all.sort_by_key(|(nth, _)| *nth);
        all.truncate(ASSUMED);
        Some(all.into_iter().filter_map(|(_, row)| row.guard.as_ref()).collect())
    }
}

/// Whether the earlier transition `row` is tried whenever this one is.
fn is_before(row: &Transition, transition: &Transition) -> bool {
    match (&row.trigger, &transition.trigger) {
        (Trigger::AnyEvent, Trigger::Event(_)) => true,
        (Trigger::Event(a), Trigger::Event(b)) => a == b || b.iter().all(|e| a.contains(e)),
        (a, b) => a == b,
    }
}

impl<'c> Points<'c, '_> {
    /// The transitions that can be taken in a leaf, in the order in which they are tried: those of inner states first.
    pub(super) fn transitions(&self, leaf: StateId) -> &[LeafTransition<'c>] {
        self.transitions[leaf.index()].get_or_init(|| {
            let places = &self.facts.scopes;
            let above = self.chart.ancestors(leaf);
            let lines = above.flat_map(|s| &self.chart.state(s).transitions);
            let acts = |id: &&TransitionId| {
                self.facts.reach.can_take(**id)
                    && !self.facts.late.contains(*id)
                    && places.transition(**id).may_hold_in(self.chart, leaf)
            };
            let mut earlier = Earlier::default();
            let known = lines.filter(acts).enumerate().map(|(nth, id)| {
                let row = self.chart.transition(*id);
                let arrivals = taken(self.chart, leaf, *id);
                let asks = self.asks(leaf, *id);
                let before = earlier.before(row);
                earlier.add(nth, row);
                LeafTransition {
                    id: *id,
                    row,
                    asks,
                    top: domain(self.chart, row),
                    arrivals,
                    before,
                }
            });
            known.collect()
        })
    }

    /// The operations before a transition is taken in the leaf.
    fn asks(&self, leaf: StateId, id: TransitionId) -> Vec<Op<'c>> {
        let transition = self.chart.transition(id);
        let guard = transition
            .guard
            .iter()
            .map(|guard| Op::Assume(Some(Site::Transition(id)), guard, true));
        let mut ops: Vec<Op<'c>> = guard.collect();
        if self.table && is_permitted(&transition.trigger) {
            self.permissions(leaf, id, &mut ops);
        }
        match &transition.trigger {
            Trigger::After(e) | Trigger::AfterTurns(e) | Trigger::StepTimeout(_, e) => {
                ops.push(Op::Read(Site::Moves(id), e, How::Soft));
            }
            Trigger::Choice(choice) => {
                if let ChoiceKind::Call(_, Some(into)) = self.chart.choices[choice.index()].kind {
                    ops.push(Op::Set(Value::Variable(into)));
                }
            }
            _ => {}
        }
        ops
    }

    /// Adds the guards of the permissions that the transition needs for its moves from a leaf.
    fn permissions(&self, leaf: StateId, id: TransitionId, ops: &mut Vec<Op<'c>>) {
        for target in &self.chart.transition(id).targets {
            let rows = self.rows.get(&target.state).map_or(&[][..], Vec::as_slice);
            let fits = |p: &Permission| p.from.is_none_or(|from| self.chart.contains(from, leaf));
            let fitting: Vec<_> = rows.iter().filter(|(_, p)| fits(p)).collect();
            if fitting.iter().any(|(_, p)| p.guard.is_none()) {
                continue;
            }
            for (row, permission) in &fitting {
                let Some(guard) = &permission.guard else { continue };
                let site = Site::Permission(*row, id);
                // With several rows, one of the guards must hold, but none of them is certain.
                ops.push(match fitting.len() {
                    1 => Op::Assume(Some(site), guard, true),
                    _ => Op::Read(site, guard, How::Soft),
                });
            }
        }
    }

    /// `first`, followed by the assumption that no transition before the nth is taken for its trigger. `None` if one always is.
    pub(super) fn tried_before(
        &self,
        transitions: &[LeafTransition<'c>],
        nth: usize,
        first: &[Op<'c>],
    ) -> Option<Vec<Op<'c>>> {
        let transition = transitions[nth].row;
        let mut ops = first.to_vec();
        // Earlier transitions say nothing here: with a transition table, those of a step may be refused; options are chosen, not tried.
        if self.table && (transition.trigger.step().is_some())
            || matches!(transition.trigger, Trigger::Choice(_))
        {
            return Some(ops);
        }
        let before = transitions[nth].before.as_ref()?.iter();
        ops.extend(before.map(|guard| Op::Assume(None, guard, false)));
        Some(ops)
    }

    /// Adds the edges of a transition that is taken after the operations of `before`.
    pub(super) fn transition(
        &self,
        point: Point,
        transition: &LeafTransition<'c>,
        before: &[Op<'c>],
        mode: Mode,
        sure: bool,
        edges: &mut Vec<Edge<'c>>,
    ) {
        for (leaf, more, certain) in &transition.arrivals {
            let to = Point { leaf: *leaf, mode: self.after(mode, *leaf, transition.top) };
            let by = By::Transition(point.leaf, transition.id, *leaf);
            let ops = [before, &transition.asks, more].concat();
            edges.push(Edge { ops, to, by, sure: sure && *certain });
        }
    }
}

/// Whether transitions with this trigger need a permission, if the chart has a transition table.
fn is_permitted(trigger: &Trigger) -> bool {
    trigger.step().is_some() || matches!(trigger, Trigger::Choice(_))
}
