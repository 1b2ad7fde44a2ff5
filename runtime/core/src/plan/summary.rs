//! Computes the summary of a chart's rows.

use super::ahead;
use crate::tables::{
    LimitsRow, Reacts, Route, StateRow, StateRowKind, StepRowKind, Summary, Tables,
};

/// Computes the summary of these tables.
pub(super) fn summary(tables: &Tables<'_>) -> Summary {
    let states = tables.states.iter();
    let kinds = || tables.steps.iter().map(|row| row.kind);
    Summary {
        leaves: leaves(tables.states),
        together: ahead::together(tables.states).first().copied().unwrap_or(0).max(1),
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

/// The maximum number of leaves that are active together. A compound state without children, which only a faulty chart has, adds no leaf.
fn leaves(states: &[StateRow<'_>]) -> u32 {
    let is_leaf = |kind| u32::from(matches!(kind, StateRowKind::Atomic | StateRowKind::Final(_)));
    ahead::summed(states, is_leaf).first().copied().unwrap_or(0).max(1)
}
