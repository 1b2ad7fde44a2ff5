//! Transitions that exit and re-enter states, perhaps unintentionally, and states that are never exited.

use crate::facts::Facts;
use crate::facts::reach::{domain, is_end, is_history};
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Chart, StateKind};
use std::collections::{BTreeMap, BTreeSet};

/// A transition that exits a parallel and enters it again, and so restarts regions that it does not target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reset {
    /// The transition, which is taken only while the parallel is active.
    pub transition: TransitionId,
    /// The parallel that is exited and entered again.
    pub parallel: StateId,
    /// The first few regions that are not targeted and whose restart is observable; at least one.
    pub regions: Vec<StateId>,
    /// The number of all such regions, including those that `regions` omits.
    pub count: usize,
}

/// The maximum number of regions that are listed for one transition.
const TOLD: usize = 4;

/// The resets that can happen, ascending by transition. Linear in transitions, targets and regions, times depth.
pub fn resets(chart: &Chart, facts: &Facts) -> Vec<Reset> {
    let taken = |id: &TransitionId| facts.reach.can_take(*id);
    let transitions = (0..chart.transitions.len()).map(TransitionId::at).filter(taken);
    let mut busy = BTreeMap::new();
    transitions.filter_map(|id| reset(chart, facts, id, &mut busy)).collect()
}

/// Checks one transition. `busy` caches the regions of each parallel whose restart is observable.
fn reset(
    chart: &Chart,
    facts: &Facts,
    id: TransitionId,
    busy: &mut BTreeMap<StateId, Vec<StateId>>,
) -> Option<Reset> {
    let transition = chart.transition(id);
    let domain = domain(chart, transition)?;
    let place = facts.scopes.transition(id);
    let target = transition.targets.first()?.state;
    let between = chart.ancestors(target).skip(1).take_while(|s| *s != domain);
    let left = |s: &StateId| {
        matches!(chart.state(*s).kind, StateKind::Parallel)
            && !place.within.is_empty()
            && place.within.iter().all(|w| chart.contains(*s, *w))
    };
    let parallel = between.filter(left).last()?;
    let region_of =
        |state: StateId| chart.ancestors(state).find(|s| chart.state(*s).parent == Some(parallel));
    let named: BTreeSet<StateId> =
        transition.targets.iter().filter_map(|t| region_of(t.state)).collect();
    let all = busy.entry(parallel).or_insert_with(|| {
        let regions = chart.children(parallel);
        regions.filter(|r| !is_history(chart, *r) && is_busy(chart, *r)).collect()
    });
    let count = all.len() - named.iter().filter(|r| all.binary_search(r).is_ok()).count();
    let regions: Vec<StateId> =
        all.iter().filter(|r| !named.contains(r)).take(TOLD).copied().collect();
    (count > 0).then_some(Reset { transition: id, parallel, regions, count })
}

/// Whether re-entering the state is observable: it has actions, transitions, steps or children.
fn is_busy(chart: &Chart, state: StateId) -> bool {
    let row = chart.state(state);
    let silent = row.entry.is_empty() && row.exit.is_empty() && row.default_actions.is_empty();
    !silent
        || !row.transitions.is_empty()
        || !row.steps.is_empty()
        || !matches!(row.kind, StateKind::Atomic)
}

/// A `from` transition that can be taken in its own target, which is then exited and entered again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restart {
    /// The transition.
    pub transition: TransitionId,
    /// The state that is restarted: the target, or the parent of a history.
    pub state: StateId,
}

/// The restarts that can happen, ascending by transition. Linear in transitions, targets and listed states, times depth.
pub fn restarts(chart: &Chart, facts: &Facts) -> Vec<Restart> {
    let mut found = Vec::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let Some(scope) = &transition.scope else { continue };
        if !facts.reach.can_take(id) {
            continue;
        }
        let place = facts.scopes.transition(id);
        let again = transition.targets.iter().map(|t| t.state).find_map(|target| {
            let state = if is_history(chart, target) {
                chart.state(target).parent.unwrap_or(target)
            } else if scope.wildcard {
                // The scope of `from *` excludes the target already.
                return None;
            } else {
                target
            };
            let listed = scope.wildcard || scope.any_of.binary_search(&state).is_ok();
            let holds = listed && facts.reach.can_enter(state) && place.may_hold_in(chart, state);
            (holds && state != transition.source).then_some(state)
        });
        found.extend(again.map(|state| Restart { transition: id, state }));
    }
    found
}

/// By state: whether some transition may exit it while the run goes on. Over-approximates. Linear in transitions, times depth.
pub fn left(chart: &Chart, facts: &Facts) -> Vec<bool> {
    let mut own = vec![false; chart.states.len()];
    let mut below = vec![false; chart.states.len()];
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let Some(domain) = domain(chart, transition) else { continue };
        if !facts.reach.can_take(id) || transition.targets.iter().any(|t| is_end(chart, t.state)) {
            continue;
        }
        let place = facts.scopes.transition(id);
        for within in &place.within {
            if place.is_approximate || !chart.contains(domain, *within) || *within == domain {
                below[domain.index()] = true;
            } else {
                let path = chart.ancestors(*within).take_while(|s| *s != domain);
                path.for_each(|s| own[s.index()] = true);
            }
        }
    }
    // Parents come first, so `above` is complete.
    for state in chart.state_ids().skip(1) {
        let above = chart.state(state).parent.map_or(0, StateId::index);
        own[state.index()] |= below[above] || own[above];
    }
    own
}
