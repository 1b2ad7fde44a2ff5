//! What starts over although nobody said so, and what is never left at all.

use crate::facts::Facts;
use crate::facts::reach::{domain, is_end, is_history};
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Chart, StateKind};
use std::collections::{BTreeMap, BTreeSet};

/// A line that leaves a parallel and enters it again, and with it regions that it does not name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reset {
    /// Taken only while the parallel is active.
    pub line: TransitionId,
    /// Left and entered again.
    pub parallel: StateId,
    /// The first few regions that start over without being named, where that can be noticed; at least one.
    pub regions: Vec<StateId>,
    /// How many there are.
    pub count: usize,
}

/// Most regions that are told of one line.
const TOLD: usize = 4;

/// Every such line that can be taken, ascending. Linear in lines, targets and regions, times depth.
pub fn resets(chart: &Chart, facts: &Facts) -> Vec<Reset> {
    let taken = |id: &TransitionId| facts.reach.takes(*id);
    let lines = (0..chart.transitions.len()).map(TransitionId::at).filter(taken);
    let mut busy = BTreeMap::new();
    lines.filter_map(|id| reset(chart, facts, id, &mut busy)).collect()
}

/// `busy`: of parallels that were looked at, the regions that can lose something.
fn reset(
    chart: &Chart,
    facts: &Facts,
    id: TransitionId,
    busy: &mut BTreeMap<StateId, Vec<StateId>>,
) -> Option<Reset> {
    let line = chart.transition(id);
    let domain = domain(chart, line)?;
    let place = facts.places.line(id);
    let target = line.targets.first()?.state;
    let between = chart.ancestors(target).skip(1).take_while(|s| *s != domain);
    let left = |s: &StateId| {
        matches!(chart.state(*s).kind, StateKind::Parallel)
            && !place.within.is_empty()
            && place.within.iter().all(|w| chart.contains(*s, *w))
    };
    let parallel = between.filter(left).last()?;
    let region_of =
        |state: StateId| chart.ancestors(state).find(|s| chart.state(*s).parent == Some(parallel));
    let named: BTreeSet<StateId> = line.targets.iter().filter_map(|t| region_of(t.state)).collect();
    let all = busy.entry(parallel).or_insert_with(|| {
        let regions = chart.children(parallel);
        regions.filter(|r| !is_history(chart, *r) && is_busy(chart, *r)).collect()
    });
    let count = all.len() - named.iter().filter(|r| all.binary_search(r).is_ok()).count();
    let regions: Vec<StateId> =
        all.iter().filter(|r| !named.contains(r)).take(TOLD).copied().collect();
    (count > 0).then_some(Reset { line: id, parallel, regions, count })
}

/// Whether anything tells a state that was just entered from one that was not.
fn is_busy(chart: &Chart, state: StateId) -> bool {
    let row = chart.state(state);
    let silent = row.entry.is_empty() && row.exit.is_empty() && row.default_actions.is_empty();
    !silent
        || !row.transitions.is_empty()
        || !row.steps.is_empty()
        || !matches!(row.kind, StateKind::Atomic)
}

/// A `from` line that holds in the very state that it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restart {
    /// The line.
    pub line: TransitionId,
    /// Left and entered again.
    pub state: StateId,
}

/// Every such line that can be taken there, ascending. Linear in lines, targets and states listed, times depth.
pub fn restarts(chart: &Chart, facts: &Facts) -> Vec<Restart> {
    let mut found = Vec::new();
    for (i, line) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let Some(scope) = &line.scope else { continue };
        if !facts.reach.takes(id) {
            continue;
        }
        let place = facts.places.line(id);
        let again = line.targets.iter().map(|t| t.state).find_map(|target| {
            let state = if is_history(chart, target) {
                chart.state(target).parent.unwrap_or(target)
            } else if scope.wildcard {
                return None;
            } else {
                target
            };
            let listed = scope.wildcard || scope.any_of.binary_search(&state).is_ok();
            let holds = listed && facts.reach.enters(state) && place.covers(chart, state);
            (holds && state != line.source).then_some(state)
        });
        found.extend(again.map(|state| Restart { line: id, state }));
    }
    found
}

/// By state: whether some line that can be taken may leave it while the run goes on. Too much rather than too little. Linear in
/// lines, times depth.
pub fn left(chart: &Chart, facts: &Facts) -> Vec<bool> {
    let mut own = vec![false; chart.states.len()];
    let mut below = vec![false; chart.states.len()];
    for (i, line) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let Some(domain) = domain(chart, line) else { continue };
        if !facts.reach.takes(id) || line.targets.iter().any(|t| is_end(chart, t.state)) {
            continue;
        }
        let place = facts.places.line(id);
        for within in &place.within {
            if place.is_loose || !chart.contains(domain, *within) || *within == domain {
                below[domain.index()] = true;
            } else {
                let path = chart.ancestors(*within).take_while(|s| *s != domain);
                path.for_each(|s| own[s.index()] = true);
            }
        }
    }
    for state in chart.state_ids().skip(1) {
        let above = chart.state(state).parent.map_or(0, StateId::index);
        own[state.index()] |= below[above] || own[above];
    }
    own
}
