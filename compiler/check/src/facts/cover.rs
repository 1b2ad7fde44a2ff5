//! Transitions that are never taken because others have priority: earlier ones of the same state, or those of inner states.

use crate::facts::Facts;
use crate::facts::guard::{Verdict, decide, implies};
use crate::facts::reach::{is_end, is_history, is_leaf};
use crate::facts::scope::ScopeCondition;
use crate::facts::uses::reads;
use chartc_core::arena::{EventId, StateId, TransitionId};
use chartc_core::model::{Chart, Expr, ExprKind, StateKind, Transition, TransitionKind, Trigger};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of earlier transitions, for each state and trigger, that a transition is compared with.
const MOST: usize = 20;

/// A transition that others always precede.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shadow {
    /// The transition that is never taken.
    pub transition: TransitionId,
    /// The transitions of which one is always taken instead: at least one, ascending.
    pub by: Vec<TransitionId>,
    /// Whether those belong to states inside the state of `transition`.
    pub inner: bool,
}

/// The budget of states that are visited when transitions are compared with those of inner states, per state and transition of the
/// chart. Only charts with many transitions that each act in many states exceed it.
const LOOKS: usize = 100;

/// The shadowed transitions, ascending; and the transitions whose comparison with inner states exceeded the budget.
pub fn shadows(chart: &Chart, facts: &Facts) -> (Vec<Shadow>, Vec<TransitionId>) {
    let inner = Inner::new(chart, facts);
    let mut open = Vec::new();
    let mut found = Vec::new();
    for state in chart.state_ids().filter(|s| facts.reach.can_enter(*s)) {
        let mut earlier = Earlier::default();
        for id in &chart.state(state).transitions {
            let place = facts.scopes.transition(*id);
            if place.within.is_empty() {
                continue;
            }
            if let Some(by) = earlier.hides(chart, facts, *id) {
                found.push(Shadow { transition: *id, by, inner: false });
            } else {
                if let Some(by) = inner.hides(chart, facts, *id) {
                    found.push(Shadow { transition: *id, by, inner: true });
                }
                if inner.looks.cut.replace(false) {
                    open.push(*id);
                }
                earlier.add(chart, *id);
            }
        }
    }
    found.sort_by_key(|s| s.transition);
    open.sort_unstable();
    (found, open)
}

/// The part of a trigger that decides which transitions of one state compete with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Event(EventId),
    AnyEvent,
    AnyOccurrence,
    Turn,
    When,
    StateDone(StateId),
    /// An outcome of a step: 0 for `done`, 1 for `error`, 2 for `doubt`; and the index of the step.
    Step(u8, u32),
    Deadline,
}

/// The keys of a transition. Empty for triggers that are never compared.
pub(crate) fn keys(transition: &Transition) -> Vec<Key> {
    match &transition.trigger {
        Trigger::Event(events) => events.iter().copied().map(Key::Event).collect(),
        Trigger::AnyEvent => vec![Key::AnyEvent],
        Trigger::AnyOccurrence => vec![Key::AnyOccurrence],
        Trigger::Turn => vec![Key::Turn],
        Trigger::When => vec![Key::When],
        Trigger::StateDone(state) => vec![Key::StateDone(*state)],
        Trigger::After(_) | Trigger::AfterTurns(_) => vec![Key::Deadline],
        Trigger::StepDone(step) => vec![Key::Step(0, step.0)],
        Trigger::StepError(step) => vec![Key::Step(1, step.0)],
        Trigger::StepDoubt(step) => vec![Key::Step(2, step.0)],
        _ => Vec::new(),
    }
}

/// The transitions of one state that precede the current one in document order.
#[derive(Default)]
struct Earlier {
    transitions: BTreeMap<Key, Vec<TransitionId>>,
}

impl Earlier {
    fn add(&mut self, chart: &Chart, id: TransitionId) {
        for key in keys(chart.transition(id)) {
            let transitions = self.transitions.entry(key).or_default();
            if transitions.len() < MOST {
                transitions.push(id);
            }
        }
    }

    /// The transitions that together shadow `id`, for each of its keys. `None` if it can be taken.
    fn hides(&self, chart: &Chart, facts: &Facts, id: TransitionId) -> Option<Vec<TransitionId>> {
        let none: Vec<TransitionId> = Vec::new();
        let any = self.transitions.get(&Key::AnyEvent).unwrap_or(&none);
        let every = self.transitions.get(&Key::AnyOccurrence).unwrap_or(&none);
        let mut by = BTreeSet::new();
        for key in keys(chart.transition(id)) {
            let event = matches!(key, Key::Event(_));
            let hidden = !matches!(key, Key::AnyOccurrence | Key::When | Key::Deadline);
            let same = self.transitions.get(&key).unwrap_or(&none);
            let candidates = same.iter().chain(if event { any } else { &none });
            let candidates = candidates.chain(if hidden { every } else { &none });
            let candidates: Vec<TransitionId> =
                candidates.copied().filter(|u| stands_before(chart, facts, *u, id)).collect();
            by.extend(enough(chart, &candidates, id)?);
        }
        if by.is_empty() { None } else { Some(by.into_iter().collect()) }
    }
}

/// Whether `first` takes precedence over `then` wherever `then` is tried.
fn stands_before(chart: &Chart, facts: &Facts, first: TransitionId, then: TransitionId) -> bool {
    covers(chart, facts.scopes.transition(first), facts.scopes.transition(then))
        && sooner(chart.transition(first), chart.transition(then))
}

/// One of `transitions` whose guard holds whenever that of `then` does. If there is none: all of them, if whenever the guard of `then`
/// holds, so does at least one of theirs.
fn enough(
    chart: &Chart,
    transitions: &[TransitionId],
    then: TransitionId,
) -> Option<Vec<TransitionId>> {
    let guard = |id: TransitionId| chart.transition(id).guard.as_ref();
    if let Some(one) = transitions.iter().find(|l| implies(chart, guard(then), guard(**l))) {
        return Some(vec![*one]);
    }
    let failing = transitions.iter().filter_map(|l| guard(*l)).map(|g| (g, false));
    let goals: Vec<_> = failing.chain(guard(then).map(|g| (g, true))).collect();
    (transitions.len() > 1 && decide(chart, &goals) == Verdict::Never).then(|| transitions.to_vec())
}

/// Whether the condition `whole` holds wherever `part` does.
fn covers(chart: &Chart, whole: &ScopeCondition, part: &ScopeCondition) -> bool {
    let inside = |s: &StateId, of: &[StateId]| of.iter().any(|o| chart.contains(*o, *s));
    !whole.is_approximate
        && part.within.iter().all(|s| inside(s, &whole.within) && !inside(s, &whole.except))
        && whole
            .except
            .iter()
            .all(|e| inside(e, &part.except) || !part.within.iter().any(|w| chart.contains(*w, *e)))
}

/// Whether `first` takes effect before `then`, which follows it in document order. Deadlines are compared by time: the first must be
/// due no later and must leave the state, which cancels the other's deadline.
fn sooner(first: &Transition, then: &Transition) -> bool {
    let leaves = !first.targets.is_empty() && first.kind == TransitionKind::External;
    match (&first.trigger, &then.trigger) {
        (Trigger::After(a), Trigger::After(b))
        | (Trigger::AfterTurns(a), Trigger::AfterTurns(b)) => {
            leaves && first.guard.is_none() && not_later(a, b)
        }
        (Trigger::After(_), Trigger::AfterTurns(_))
        | (Trigger::AfterTurns(_), Trigger::After(_)) => false,
        _ => true,
    }
}

fn not_later(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Duration(a), ExprKind::Duration(b)) => a <= b,
        (ExprKind::Int(a), ExprKind::Int(b)) => a <= b,
        (a, b) => a == b,
    }
}

/// The event of a key: `Some(Some(event))`, or `Some(None)` for `turn`. `None` for other keys, which are not compared across states.
fn moment(key: Key) -> Option<Option<EventId>> {
    match key {
        Key::Event(event) => Some(Some(event)),
        Key::Turn => Some(None),
        _ => None,
    }
}

/// The transitions that take an event wherever their source is active.
struct Inner {
    /// By event (`None` is `turn`), then by source state: the transitions in document order.
    own: BTreeMap<Option<EventId>, BTreeMap<StateId, Vec<TransitionId>>>,
    /// By source state: the transitions that take every host event.
    any: BTreeMap<StateId, Vec<TransitionId>>,
    looks: Looks,
}

/// The budget of states that may still be visited.
struct Looks {
    left: Cell<usize>,
    /// Whether a visit was refused since this flag was last reset.
    cut: Cell<bool>,
}

impl Looks {
    /// Takes one visit from the budget; `None` if it is exhausted.
    fn one(&self) -> Option<()> {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.unwrap_or_default());
        self.cut.set(self.cut.get() || left.is_none());
        left.map(drop)
    }
}

impl Inner {
    fn new(chart: &Chart, facts: &Facts) -> Self {
        let left = LOOKS * (1000 + chart.states.len() + chart.transitions.len());
        let looks = Looks { left: Cell::new(left), cut: Cell::new(false) };
        let mut inner = Self { own: BTreeMap::new(), any: BTreeMap::new(), looks };
        for (i, transition) in chart.transitions.iter().enumerate() {
            let id = TransitionId::at(i);
            let place = facts.scopes.transition(id);
            if place.within != [transition.source]
                || !place.except.is_empty()
                || place.is_approximate
            {
                continue;
            }
            let every = transition.trigger == Trigger::AnyOccurrence;
            if every || transition.trigger == Trigger::AnyEvent {
                inner.any.entry(transition.source).or_default().push(id);
            }
            let turn = every.then_some(None);
            for moment in keys(transition).into_iter().filter_map(moment).chain(turn) {
                inner.own.entry(moment).or_default().entry(transition.source).or_default().push(id);
            }
        }
        inner
    }

    /// The transitions of inner states that shadow `id`: in every leaf, for each of its events, one of them is taken first. Each of them
    /// is unguarded, or the guard of `id` implies its guard.
    fn hides(&self, chart: &Chart, facts: &Facts, id: TransitionId) -> Option<Vec<TransitionId>> {
        let transition = chart.transition(id);
        let events: Vec<Option<EventId>> = if transition.trigger == Trigger::AnyEvent {
            (0..chart.events.len()).map(|e| Some(EventId::at(e))).collect()
        } else {
            keys(transition).into_iter().filter_map(moment).collect()
        };
        let compared = Cell::new(0);
        let holds = |other: TransitionId| {
            let guard = chart.transition(other).guard.as_ref();
            compared.set(compared.get() + usize::from(guard.is_some()));
            guard.is_none() || compared.get() <= MOST && follows(chart, transition, guard)
        };
        let mut by = BTreeSet::new();
        for event in events {
            let own = self.own.get(&event);
            let any = Some(&self.any).filter(|any| event.is_some() && !any.is_empty());
            if own.is_none() && any.is_none() {
                return None;
            }
            let takes = |s: &StateId| {
                let lines = own.into_iter().chain(any).filter_map(|transitions| transitions.get(s));
                lines.flatten().copied().filter(|l| holds(*l)).min()
            };
            let place = facts.scopes.transition(id);
            covered(chart, facts, place, transition.source, &takes, &self.looks, &mut by)?;
        }
        if by.is_empty() { None } else { Some(by.into_iter().collect()) }
    }
}

/// Whether the inner guard holds whenever that of `outer` does, in every leaf. Not if the outer guard depends on the active states.
fn follows(chart: &Chart, outer: &Transition, inner: Option<&Expr>) -> bool {
    let here = |guard: &Expr| reads(chart, guard, &mut BTreeSet::new());
    !outer.guard.as_ref().is_some_and(here) && implies(chart, outer.guard.as_ref(), inner)
}

/// Walks the part of the tree where a transition of `source` can act, and adds to `by` the inner transitions that take the event
/// first. `None` if some leaf has none on its path to `source`, or if the budget is exhausted.
fn covered(
    chart: &Chart,
    facts: &Facts,
    place: &ScopeCondition,
    source: StateId,
    takes: &dyn Fn(&StateId) -> Option<TransitionId>,
    looks: &Looks,
    by: &mut BTreeSet<TransitionId>,
) -> Option<()> {
    for top in &place.within {
        // Transitions of states between `source` and this one have priority over the transition of `source`.
        let mut above = chart.ancestors(*top).take_while(|s| *s != source);
        let above = above.find_map(|s| Some((s, takes(&s)?)));
        // The leaf of another region reaches the transition of `source` without passing this region. (If each inner transition exited
        // a state, it would win that conflict, but a deeper one without a target may be taken in its place.)
        let inside = above.map_or(*top, |(state, _)| state);
        let mut around = chart.ancestors(inside).skip(1).take_while(|s| chart.contains(source, *s));
        if inside != source && around.any(|s| matches!(chart.state(s).kind, StateKind::Parallel)) {
            return None;
        }
        if let Some((_, transition)) = above {
            by.insert(transition);
            continue;
        }
        let mut at = StateId(top.0 + 1);
        if is_leaf(chart, *top) {
            return None;
        }
        while at < chart.state(*top).end {
            looks.one()?;
            let end = chart.state(at).end;
            let skipped = !facts.reach.can_enter(at)
                || is_history(chart, at)
                || is_end(chart, at)
                || place.except.contains(&at);
            if skipped {
                at = end;
            } else if let Some(transition) = takes(&at) {
                by.insert(transition);
                at = end;
            } else if is_leaf(chart, at) {
                return None;
            } else {
                at = StateId(at.0 + 1);
            }
        }
    }
    Some(())
}
