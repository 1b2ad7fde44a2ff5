//! The summary of a chart's rows.

use crate::tables::{
    LimitsRow, Reacts, Route, StateRow, StateRowKind, StepRowKind, Summary, Tables,
};
use alloc::vec;

/// The summary of these rows.
pub(super) fn summary(tables: &Tables<'_>) -> Summary {
    let states = tables.states.iter();
    let kinds = || tables.steps.iter().map(|row| row.kind);
    Summary {
        leaves: leaves(tables.states),
        reacts: states.clone().fold(Reacts::NOTHING, |all, row| all.with(row.here)),
        limits: !tables.computed_limits.is_empty()
            || states.clone().any(|row| row.limits != LimitsRow::PLAIN),
        default_actions: states.clone().any(|row| row.default_actions),
        asks: kinds().any(|kind| matches!(kind, StepRowKind::Ask { .. })),
        entry_runs: kinds().any(|kind| matches!(kind, StepRowKind::Run { on_entry: true, .. })),
        histories: tables.histories() > 0,
        computed: tables.transitions.iter().any(|row| row.route == Route::Computed),
    }
}

/// The maximum number of leaves that are active together. A compound without children, which only a faulty chart has, has none.
fn leaves(states: &[StateRow<'_>]) -> u32 {
    let mut most = vec![0; states.len()];
    // Children follow their parents: from the end, each subtree is settled before its parent.
    for (index, row) in states.iter().enumerate().rev() {
        if matches!(row.kind, StateRowKind::Atomic | StateRowKind::Final(_)) {
            most[index] = 1;
        }
        let (own, parent) = (most[index], row.parent.index());
        if parent == index {
            continue;
        }
        most[parent] = match states[parent].kind {
            StateRowKind::Parallel => most[parent] + own,
            StateRowKind::Compound(_)
            | StateRowKind::Atomic
            | StateRowKind::Final(_)
            | StateRowKind::History { .. } => most[parent].max(own),
        };
    }
    most.first().copied().unwrap_or(0).max(1)
}
