//! Transitions that are never taken because others have priority: earlier ones of the same state, or those of inner states.
//!
//! **The problem.** Of the transitions for an event, the first that can be taken wins: those of inner states before those of outer ones,
//! then in document order. A transition behind a wider one is dead, and one case that all of them forget does nothing.
//!
//! **The idea.** Transitions compete only if they have a common `Key`, the part of the trigger that decides when they are tried.
//!
//! - [`shadows`] compares each transition with the earlier ones of its state (`Earlier`): one of them must apply wherever this one does
//!   (`covers`), and its guard must hold whenever that of this one does. Several guards may do this together (`enough`). A transition of an
//!   outer state is dead if every leaf has an inner one that takes its events (`Inner`, `covered`).
//! - [`gaps`] asks the reverse: under which values does no guard hold? It reports only a single case, left by guards that exclude each
//!   other.
//!
//! Guards are decided by `conditions`, which says no rather than guess. The number of comparisons is bounded, so dead transitions may be
//! missed.
//!
//! **Example.**
//!
//! ```text
//! enum Mode { fast slow off }
//! var mode: Mode = Mode.fast
//! on go if mode == Mode.fast -> a
//! on go if mode == Mode.slow -> b
//! on go if mode == Mode.fast and n > 3 -> c
//! ```
//!
//! Whenever the third guard holds, so does the first: the third transition is shadowed. The first two exclude each other, and only
//! `Mode.off` is left: a gap.

use super::Facts;
use super::conditions::{Verdict, compatible, decide, equals, implies, is_impossible, root};
use super::deadline::range;
use super::reach::{ScopeCondition, is_end, is_history, is_leaf};
use super::usage::{ExprOwner, expressions, reads};
use chartc_core::arena::{EventId, StateId, StepId, TransitionId};
use chartc_core::expr::Value;
use chartc_core::model::{
    BinaryOp, Chart, Expr, ExprKind, StateKind, Transition, TransitionKind, Trigger, Type, TypeKind,
};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of earlier transitions, for each state and trigger, that a transition is compared with.
const MOST_EARLIER: usize = 20;

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
            if transitions.len() < MOST_EARLIER {
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
        && sooner(chart, chart.transition(first), chart.transition(then))
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
    (transitions.len() > 1 && is_impossible(chart, &goals)).then(|| transitions.to_vec())
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
fn sooner(chart: &Chart, first: &Transition, then: &Transition) -> bool {
    let leaves = !first.targets.is_empty() && first.kind == TransitionKind::External;
    match (&first.trigger, &then.trigger) {
        (Trigger::After(a), Trigger::After(b))
        | (Trigger::AfterTurns(a), Trigger::AfterTurns(b)) => {
            leaves && first.guard.is_none() && not_later(chart, a, b)
        }
        (Trigger::After(_), Trigger::AfterTurns(_))
        | (Trigger::AfterTurns(_), Trigger::After(_)) => false,
        _ => true,
    }
}

/// Whether the first deadline is due no later than the other one, whatever the params are.
fn not_later(chart: &Chart, a: &Expr, b: &Expr) -> bool {
    let (one, other) = (range(chart, a), range(chart, b));
    a.kind == b.kind || one.zip(other).is_some_and(|((_, most), (least, _))| most <= least)
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
        // Only guards take time to compare, so transitions without one are not counted.
        let compared = Cell::new(0);
        let holds = |other: TransitionId| {
            let guard = chart.transition(other).guard.as_ref();
            compared.set(compared.get() + usize::from(guard.is_some()));
            guard.is_none() || compared.get() <= MOST_EARLIER && follows(chart, transition, guard)
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

// Transitions that distinguish the cases of one trigger and omit exactly one case.
//
// For example, `done if mode == Mode.fast -> a` and `done if mode == Mode.slow -> b` omit `Mode.off` if that is the only other name.

/// The maximum number of transitions of one trigger that are examined.
const MOST_OF_TRIGGER: usize = 20;
/// The maximum number of variables in the omitted case.
const VARIABLES: usize = 2;

/// A case that no transition takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Gap {
    /// The transitions of the trigger in document order: at least two, each with a guard.
    pub transitions: Vec<TransitionId>,
    /// The only values for which no guard holds, as pairs of a variable and its value.
    pub case: Vec<(Expr, Value)>,
}

impl Gap {
    /// Whether the case is about an answer or the data of an event, and not about variables.
    pub fn is_given(&self) -> bool {
        self.case
            .iter()
            .any(|(term, _)| matches!(root(term).kind, ExprKind::Answer(_) | ExprKind::Payload(_)))
    }
}

/// A trigger whose transitions are tried together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum GapTrigger {
    Done(StepId),
    Event(StateId, EventId),
}

/// The gaps, ordered by their first transition. Reports only gaps that look forgotten: two or more disjoint guards cover every case
/// except one, which is a single value of each variable that they read. A larger remainder may be intended.
pub fn gaps(chart: &Chart, facts: &Facts) -> Vec<Gap> {
    let mut moments: BTreeMap<GapTrigger, Vec<TransitionId>> = BTreeMap::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        match &transition.trigger {
            Trigger::StepDone(step) => moments.entry(GapTrigger::Done(*step)).or_default().push(id),
            Trigger::Event(events) => {
                for event in events {
                    moments
                        .entry(GapTrigger::Event(transition.source, *event))
                        .or_default()
                        .push(id);
                }
            }
            _ => {}
        }
    }
    // States that may handle any event: by a transition for any event, by a step, which may be a question, or because they defer some.
    let any = |transition: &TransitionId| {
        matches!(chart.transition(*transition).trigger, Trigger::AnyEvent | Trigger::AnyOccurrence)
    };
    let catching: Vec<bool> = chart
        .states
        .iter()
        .map(|row| {
            row.transitions.iter().any(any) || !row.steps.is_empty() || !row.defers.is_empty()
        })
        .collect();
    let last = Last::new(chart, facts);
    let mut found: Vec<Gap> = moments
        .iter()
        .filter(|(_, transitions)| (2..=MOST_OF_TRIGGER).contains(&transitions.len()))
        .filter(|(moment, _)| !is_taken_elsewhere(chart, &last, **moment, &moments, &catching))
        .filter_map(|(_, transitions)| gap(chart, facts, transitions))
        .collect();
    found.retain(|gap| !is_asked_elsewhere(chart, gap));
    found.sort_by_key(|gap| gap.transitions.first().copied());
    found.dedup();
    found
}

/// The last step, by index, that may run in each state.
struct Last<'f> {
    facts: &'f Facts,
    /// By state: the last step whose scope condition lists the state.
    own: Vec<Option<usize>>,
    /// By state: the last step whose scope condition lists the state or a descendant.
    below: Vec<Option<usize>>,
}

impl<'f> Last<'f> {
    fn new(chart: &Chart, facts: &'f Facts) -> Self {
        let mut own = vec![None; chart.states.len()];
        for (nth, place) in facts.scopes.steps.iter().enumerate() {
            for state in &place.within {
                own[state.index()] = Some(nth);
            }
        }
        let mut below = own.clone();
        for i in (0..below.len()).rev() {
            if let Some(parent) = chart.states[i].parent {
                below[parent.index()] = below[parent.index()].max(below[i]);
            }
        }
        Self { facts, own, below }
    }

    /// Whether a later step may run in a state where this step may run.
    fn is_after(&self, chart: &Chart, step: StepId) -> bool {
        let later = |last: Option<usize>| last > Some(step.index());
        self.facts.scopes.step(step).within.iter().any(|here| {
            later(self.below[here.index()])
                || chart.ancestors(*here).any(|s| later(self.own[s.index()]))
        })
    }
}

/// Whether something else may handle the omitted case: for an event, a transition or step of an ancestor; for the outcome of a step, a
/// later step of the same walk.
fn is_taken_elsewhere(
    chart: &Chart,
    last: &Last<'_>,
    moment: GapTrigger,
    moments: &BTreeMap<GapTrigger, Vec<TransitionId>>,
    catching: &[bool],
) -> bool {
    let (state, event) = match moment {
        GapTrigger::Event(state, event) => (state, event),
        GapTrigger::Done(step) => return last.is_after(chart, step),
    };
    chart.ancestors(state).any(|around| {
        let same = around != state && moments.contains_key(&GapTrigger::Event(around, event));
        same || catching[around.index()]
    })
}

/// Whether other conditions test the answer that the omitted case is about, directly or in the variable that stores it.
fn is_asked_elsewhere(chart: &Chart, gap: &Gap) -> bool {
    let steps: Vec<StepId> =
        gap.case
            .iter()
            .filter_map(|(term, _)| {
                if let ExprKind::Answer(step) = root(term).kind { Some(step) } else { None }
            })
            .collect();
    let mut asked = false;
    if !steps.is_empty() {
        expressions(chart, &mut |spot, expr| {
            let own = matches!(spot, ExprOwner::Transition(id)
                if chart.transition(id).trigger.step().is_some_and(|s| steps.contains(&s)));
            if own || matches!(spot, ExprOwner::Value(_) | ExprOwner::Other) {
                return;
            }
            expr.walk(&mut |e| {
                if let ExprKind::Answer(step) = e.kind {
                    asked |= steps.contains(&step);
                } else if let ExprKind::Variable(id) = e.kind {
                    asked |= steps.iter().any(|s| chart.steps[s.index()].into == Some(id));
                }
            });
        });
    }
    asked
}

/// The gap that these transitions of one trigger leave, if there is one.
fn gap(chart: &Chart, facts: &Facts, all: &[TransitionId]) -> Option<Gap> {
    if !(2..=MOST_OF_TRIGGER).contains(&all.len()) {
        return None;
    }
    let mut transitions: Vec<TransitionId> = Vec::new();
    let mut guards: Vec<&Expr> = Vec::new();
    for id in all {
        let transition = chart.transition(*id);
        if transition.scope.is_some() || !facts.reach.can_take(*id) {
            return None;
        }
        let guard = transition.guard.as_ref()?;
        // A transition that an earlier one shadows covers no case.
        if !guards.iter().any(|other| implies(chart, Some(guard), Some(*other))) {
            transitions.push(*id);
            guards.push(guard);
        }
    }
    // Overlapping guards were not meant to partition the cases.
    let apart = |(i, guard): (usize, &&Expr)| {
        guards[..i].iter().all(|other| !compatible(chart, Some(*other), Some(*guard)))
    };
    if transitions.len() < 2 || !guards.iter().enumerate().all(apart) {
        return None;
    }
    let rest: Vec<(&Expr, bool)> = guards.iter().map(|guard| (*guard, false)).collect();
    let case = only_case(chart, &rest).or_else(|| left_out(chart, &guards))?;
    Some(Gap { transitions, case })
}

/// The only name of an enum for which no guard can hold, whatever else the guards test. `None` unless each of them tests the same term of
/// that type.
fn left_out(chart: &Chart, guards: &[&Expr]) -> Option<Vec<(Expr, Value)>> {
    let is_term = |e: &&Expr| match &e.ty {
        Type::Named(id) => {
            let is_read = matches!(root(e).kind, ExprKind::Answer(_) | ExprKind::Payload(_));
            is_read && matches!(chart.types[id.index()].kind, TypeKind::Enum(_))
        }
        _ => false,
    };
    let mut terms: Vec<&Expr> = Vec::new();
    guards.first()?.walk(&mut |e| terms.extend(Some(e).filter(is_term)));
    let term = terms
        .into_iter()
        .find(|term| guards.iter().all(|guard| guard.any(&mut |e| e.kind == term.kind)))?;
    let Type::Named(id) = term.ty else { return None };
    let TypeKind::Enum(names) = &chart.types[id.index()].kind else { return None };
    let is_untaken = |name: &&String| {
        let case = is(term, &Value::Text((*name).clone()));
        case.is_some_and(|case| {
            guards.iter().all(|guard| is_impossible(chart, &[(&case, true), (guard, true)]))
        })
    };
    let mut untaken = names.iter().filter(is_untaken);
    let (name, None) = (untaken.next()?, untaken.next()) else { return None };
    Some(vec![(term.clone(), Value::Text(name.clone()))])
}

/// The only values of the terms (at most [`VARIABLES`]) with which each condition has its wanted value; `None` if there are others.
pub(crate) fn only_case(chart: &Chart, goals: &[(&Expr, bool)]) -> Option<Vec<(Expr, Value)>> {
    let Verdict::Example(case) = decide(chart, goals) else { return None };
    if !(1..=VARIABLES).contains(&case.len()) {
        return None;
    }
    let only = case.iter().map(|(term, value)| is(term, value)).reduce(|a, b| {
        let both = ExprKind::Binary(BinaryOp::And, Box::new(a?), Box::new(b?));
        Some(Expr { kind: both, ty: Type::Bool })
    })??;
    let others: Vec<_> = goals.iter().copied().chain([(&only, false)]).collect();
    (is_impossible(chart, &others)).then_some(case)
}

/// A condition that holds only if the term has this value. `None` if the language has no literal for the value.
fn is(term: &Expr, value: &Value) -> Option<Expr> {
    let ty = if let Type::Optional(inner) = &term.ty { inner } else { &term.ty };
    let kind = match (value, ty) {
        (Value::Bool(value), Type::Bool) => ExprKind::Bool(*value),
        (Value::Int(n), Type::Int) => ExprKind::Int(*n),
        (Value::Float(n), Type::Float) => ExprKind::Float(*n),
        (Value::Text(name), Type::Named(id)) => ExprKind::Enum(*id, name.clone()),
        _ => return None,
    };
    equals(term.clone(), &Expr { kind, ty: ty.clone() })
}
