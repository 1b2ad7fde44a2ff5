//! Enumerates the configurations of a chart with direct code.

use chartc_core::arena::{EventId, StateId};
use chartc_core::machine::ErrorKind;
use chartc_core::model::{Chart, StateKind, Trigger};
use chartc_core::semantics::unroll::Unroll;
use chartc_core::store::Occurrence;
use chartc_core::tables::Tables;
use std::collections::BTreeSet;

/// The maximum number of configurations of a chart with parallels, so that their tables stay short.
const MOST: usize = 256;

/// The maximum number of rows of those tables, one for each configuration and event.
const MOST_ROWS: usize = 4096;

/// All configurations as lists of their active leaves in document order, sorted. Without parallels, every leaf is a configuration; with
/// parallels, only the reachable configurations are listed.
///
/// # Errors
/// The reason why the configurations are not enumerated.
pub(super) fn all(chart: &Chart, tables: &Tables<'_>) -> Result<Vec<Vec<StateId>>, &'static str> {
    let is_parallel = |kind: &StateKind| matches!(kind, StateKind::Parallel);
    if !chart.states.iter().any(|state| is_parallel(&state.kind)) {
        return Ok(leaves(chart).map(|leaf| vec![leaf]).collect());
    }
    // With guards, the next configuration is not known at compile time.
    if is_guarded(chart) {
        return Err("there are parallel states and guards");
    }
    let occurrences = occurrences(chart);
    let most = MOST.min(MOST_ROWS / (chart.events.len() + 1));
    let mut unroll = Unroll::new(*tables);
    let mut all = vec![unroll.start().lowest.to_vec()];
    let mut known: BTreeSet<Vec<StateId>> = all.iter().cloned().collect();
    let mut at = 0;
    while let Some(leaves) = all.get(at).cloned() {
        for occurrence in &occurrences {
            let next = unroll.step(&leaves, *occurrence).lowest.to_vec();
            if known.insert(next.clone()) {
                all.push(next);
            }
        }
        at += 1;
        if all.len() > most {
            return Err("the parallel states have many configurations");
        }
    }
    all.sort();
    Ok(all)
}

/// Whether a transition has a guard.
pub(super) fn is_guarded(chart: &Chart) -> bool {
    chart.transitions.iter().any(|transition| transition.guard.is_some())
}

/// Every occurrence that can trigger a transition of a chart without guards; `None` stands for eventless transitions.
fn occurrences(chart: &Chart) -> Vec<Option<Occurrence>> {
    let mut all: Vec<Option<Occurrence>> = vec![None];
    all.extend((0..chart.events.len()).map(|i| Some(Occurrence::Event(EventId::at(i)))));
    all.extend(others(chart).into_iter().map(Some));
    all
}

/// The occurrences other than events that can trigger a transition: turns, awaited completions, errors.
pub(super) fn others(chart: &Chart) -> Vec<Occurrence> {
    let mut all = vec![Occurrence::Turn];
    let states = (0..chart.states.len()).map(StateId::at);
    all.extend(states.filter(|state| awaits(chart, *state)).map(Occurrence::StateDone));
    let errors = [ErrorKind::Execution, ErrorKind::Livelock, ErrorKind::StuckDead];
    all.extend(errors.map(Occurrence::Error));
    all
}

/// Whether a transition waits for the completion of the state.
fn awaits(chart: &Chart, state: StateId) -> bool {
    chart.transitions.iter().any(|transition| transition.trigger == Trigger::StateDone(state))
}

/// The leaves of a chart, in document order.
pub(super) fn leaves(chart: &Chart) -> impl Iterator<Item = StateId> + '_ {
    let rows = chart.states.iter().enumerate();
    rows.filter(|(_, row)| match row.kind {
        StateKind::Atomic | StateKind::Final { .. } => true,
        StateKind::Compound { .. } | StateKind::Parallel | StateKind::History { .. } => false,
    })
    .map(|(i, _)| StateId::at(i))
}
