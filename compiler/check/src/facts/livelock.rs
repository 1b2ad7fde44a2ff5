//! Livelocks: cycles of `when` transitions that never end once they are entered.
//!
//! For example, `when x -> b` in `a` and `when x -> a` in `b`, where neither changes `x`. Starting from each `when` transition, the
//! analysis assumes its guard and follows the transitions that must be taken next, until it returns to the first one.

use crate::facts::Facts;
use crate::facts::guard::{Verdict, decide};
use crate::facts::known_values::{KnownValues, defaulted};
use crate::facts::reach::{entries, is_leaf};
use crate::facts::uses::{assigned, changes, is_where, reads, walk, written};
use chartc_core::arena::{StateId, TransitionId, VarId};
use chartc_core::model::{
    Chart, Expr, ExprKind, Observable, StateKind, Transition, Trigger, VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum length of a cycle, in transitions.
const LONGEST: usize = 64;
/// The maximum number of guards that a livelock assumes to hold.
const GIVEN: usize = 6;

/// A cycle of `when` transitions. If the guards of `given` hold, all of its transitions are taken, and none changes what these guards
/// read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Livelock {
    /// The transitions in the order taken, starting from the one with the least id.
    pub transitions: Vec<TransitionId>,
    /// The transitions whose guards are assumed to hold: the first one, and those that only read what the host or an answer sets.
    pub given: Vec<TransitionId>,
}

/// The livelocks, by their first transition. Each is certain while the assumed guards hold: in each of its states, the first transition
/// whose guard may hold is the next one of the cycle.
pub fn livelocks(chart: &Chart, facts: &Facts) -> Vec<Livelock> {
    let mut found: BTreeMap<Vec<TransitionId>, Vec<TransitionId>> = BTreeMap::new();
    let whens = chart.transitions.iter().filter(|transition| transition.trigger == Trigger::When);
    let mut sources: Vec<StateId> = whens.map(|transition| transition.source).collect();
    sources.sort_unstable();
    let defaulted = defaulted(chart);
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if transition.trigger != Trigger::When || !facts.reach.can_take(id) {
            continue;
        }
        let leaves =
            facts.scopes.transition(id).within.iter().filter_map(|s| first_leaf(chart, facts, *s));
        for leaf in leaves {
            let Some(within) = alone(chart, &sources, leaf) else { continue };
            if let Some((cycle, given)) = cycle(chart, facts, id, (leaf, within), &defaulted) {
                let known = found.entry(cycle).or_insert_with(|| given.clone());
                // Of several ways to enter the cycle, keep the one with the fewest assumptions.
                if given.len() < known.len() {
                    *known = given;
                }
            }
        }
    }
    found.into_iter().map(|(transitions, given)| Livelock { transitions, given }).collect()
}

/// The first reachable leaf in the state. It matters only for a targetless transition; any other one leaves it at once.
fn first_leaf(chart: &Chart, facts: &Facts, state: StateId) -> Option<StateId> {
    let mut below = (state.0..chart.state(state).end.0).map(StateId);
    below.find(|s| is_leaf(chart, *s) && facts.reach.can_enter(*s))
}

/// The state inside of which a cycle runs while nothing else changes: the root if the leaf is in no parallel, or else the innermost
/// region around the leaf. `None` if a `when` transition outside this region may interfere.
fn alone(chart: &Chart, sources: &[StateId], leaf: StateId) -> Option<StateId> {
    let is_region = |state: &StateId| {
        let parent = chart.state(*state).parent;
        parent.is_some_and(|p| matches!(chart.state(p).kind, StateKind::Parallel))
    };
    let Some(region) = chart.ancestors(leaf).find(is_region) else { return Some(StateId::at(0)) };
    let first = sources.partition_point(|source| *source < region);
    let behind = sources.partition_point(|source| *source < chart.state(region).end);
    (behind - first == sources.len()).then_some(region)
}

/// Follows the transitions that are certainly taken after `first`, all inside of `within`. Returns the cycle and the transitions whose
/// guards it assumes.
fn cycle(
    chart: &Chart,
    facts: &Facts,
    first: TransitionId,
    (leaf, within): (StateId, StateId),
    defaulted: &BTreeSet<VarId>,
) -> Option<(Vec<TransitionId>, Vec<TransitionId>)> {
    let mut given = vec![first];
    let mut transitions = vec![first];
    let (mut at, mut transition) = (leaf, first);
    let mut landed = vec![leaf];
    let mut held = KnownValues::new(defaulted);
    while transitions.len() <= LONGEST {
        let (taken, before) = (chart.transition(transition), at);
        if !taken.targets.is_empty() {
            at = leaf_of(chart, taken)?;
            let is_inside = |state| chart.contains(within, state) && state != within;
            let is_alone = match chart.state(within).parent {
                None => is_outside_parallel(chart, at),
                Some(_) => is_inside(taken.source) && is_inside(at),
            };
            if !is_alone {
                return None;
            }
        }
        landed.push(at);
        held.follow(chart, taken, (before, at));
        let next = forced(chart, facts, at, &mut given, &held)?;
        if next == first {
            return stays(chart, &transitions, &landed, &given, within).then(|| {
                let least = (0..transitions.len()).min_by_key(|i| transitions[*i]).unwrap_or(0);
                transitions.rotate_left(least);
                (transitions, given)
            });
        }
        // A cycle that does not include `first` is found from one of its own transitions.
        if transitions.contains(&next) {
            return None;
        }
        transitions.push(next);
        transition = next;
    }
    None
}

/// Whether no transition of a cycle changes what the assumed guards read. `landed` lists the leaf before each transition, and the leaf
/// after the last one.
fn stays(
    chart: &Chart,
    transitions: &[TransitionId],
    landed: &[StateId],
    given: &[TransitionId],
    within: StateId,
) -> bool {
    let mut watched: BTreeSet<VarId> = BTreeSet::new();
    let mut local = false;
    for guard in given.iter().filter_map(|id| chart.transition(*id).guard.as_ref()) {
        // A test of states of other regions keeps its value, because the cycle does not move them.
        let is_beside = is_where(guard) && !asks_inside(chart, guard, within);
        local |= reads(chart, guard, &mut watched) && !is_beside;
    }
    transitions.iter().zip(&landed[1..]).all(|(id, at)| {
        let transition = chart.transition(*id);
        (!local || transition.targets.is_empty()) && !changes(chart, transition, *at, &watched)
    })
}

/// Whether a condition tests whether a state inside `within` is active.
fn asks_inside(chart: &Chart, guard: &Expr, within: StateId) -> bool {
    let mut found = false;
    walk(chart, guard, &mut |part| {
        if let ExprKind::Observable(Observable::In(state)) = part.kind {
            found |= chart.contains(within, state);
        }
    });
    found
}

/// The single leaf that a transition enters. `None` if it enters several or none, or if the leaf is inside a parallel.
pub(crate) fn landing(chart: &Chart, transition: &Transition) -> Option<StateId> {
    leaf_of(chart, transition).filter(|leaf| is_outside_parallel(chart, *leaf))
}

/// The single leaf that a transition enters by default, without history and without actions of an `initial`; `None` otherwise.
fn leaf_of(chart: &Chart, transition: &Transition) -> Option<StateId> {
    let entered = entries(chart, transition);
    let [mut at] = entered[..] else { return None };
    loop {
        match &chart.state(at).kind {
            StateKind::Atomic => return Some(at),
            StateKind::Compound { initial } => match initial[..] {
                [only] if chart.state(at).default_actions.is_empty() => at = only,
                _ => return None,
            },
            StateKind::Final { .. } | StateKind::Parallel | StateKind::History { .. } => {
                return None;
            }
        }
    }
}

/// Whether the leaf is outside of all parallels.
pub(crate) fn is_outside_parallel(chart: &Chart, leaf: StateId) -> bool {
    chart.ancestors(leaf).all(|s| !matches!(chart.state(s).kind, StateKind::Parallel))
}

/// The `when` transition that is certainly taken in a leaf, given the assumed guards and the values that were set before. It is the
/// first one whose guard may hold, and that guard must hold. If the guard only reads what the host or an answer sets, it is assumed as
/// well, provided that all assumptions can hold together.
fn forced(
    chart: &Chart,
    facts: &Facts,
    leaf: StateId,
    given: &mut Vec<TransitionId>,
    held: &KnownValues<'_>,
) -> Option<TransitionId> {
    let guard = |id: &TransitionId| chart.transition(*id).guard.as_ref();
    for state in chart.ancestors(leaf) {
        for id in &chart.state(state).transitions {
            let transition = chart.transition(*id);
            if transition.trigger != Trigger::When
                || !facts.scopes.transition(*id).may_hold_in(chart, leaf)
            {
                continue;
            }
            let known: Vec<&Expr> = given.iter().filter_map(guard).chain(held.all()).collect();
            let Some(own) = transition.guard.as_ref() else { return Some(*id) };
            let against: Vec<_> = known.iter().map(|g| (*g, true)).chain([(own, false)]).collect();
            if decide(chart, &against) == Verdict::Never {
                return Some(*id);
            }
            let goals: Vec<_> = known.iter().copied().chain([own]).map(|g| (g, true)).collect();
            match decide(chart, &goals) {
                Verdict::Never => {}
                Verdict::Example(_) if given.len() < GIVEN && is_free(chart, own) => {
                    given.push(*id);
                    return Some(*id);
                }
                Verdict::Example(_) | Verdict::Perhaps => return None,
            }
        }
    }
    None
}

/// Whether a condition reads only variables that the host or an answer may set to any value, and at least one.
fn is_free(chart: &Chart, guard: &Expr) -> bool {
    let mut read = BTreeSet::new();
    let local = reads(chart, guard, &mut read);
    let free = |id: &VarId| match chart.variables[id.index()].kind {
        VariableKind::Input | VariableKind::Param { .. } => true,
        VariableKind::Var { .. } => {
            chart.steps.iter().any(|step| step.into == Some(*id))
                && !written(chart).any(|block| assigned(block).contains(id))
        }
    };
    !local && !read.is_empty() && read.iter().all(free)
}
