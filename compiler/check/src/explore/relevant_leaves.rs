//! The leaves in which the counters of the active leaf, `turns_here` and `fails_here`, decide anything.

use super::slot::Use;
use crate::facts::uses::walk;
use chartc_core::arena::StateId;
use chartc_core::model::{Chart, Expr, ExprKind, Observable};
use std::collections::BTreeMap;

/// By state: whether a counter is read while the state is the active leaf.
#[derive(Debug, Default)]
pub(super) struct RelevantLeaves {
    pub(super) turns: Vec<bool>,
    pub(super) fails: Vec<bool>,
}

impl RelevantLeaves {
    /// Collects the leaves from the uses that decide moves.
    pub(super) fn from_uses(chart: &Chart, used: &[&Use<'_>]) -> Self {
        let states = chart.states.len();
        let mut made = Self { turns: vec![false; states], fails: vec![false; states] };
        let mut conditions = None;
        for one in used {
            let (mut turns, mut fails) = (false, false);
            walk(chart, one.expr, &mut |part| {
                turns |= part.kind == ExprKind::Observable(Observable::TurnsHere);
                fails |= part.kind == ExprKind::Observable(Observable::FailsHere);
            });
            if !turns && !fails {
                continue;
            }
            let conditions = conditions.get_or_insert_with(|| owners(chart));
            let owner = conditions.get(&std::ptr::from_ref(one.expr));
            for state in chart.state_ids() {
                // A block may run after the leaf below its state was exited, so it may read any. A condition always sees an active leaf.
                let is_read = owner.is_none_or(|owner| {
                    chart.contains(*owner, state) && chart.children(state).next().is_none()
                });
                made.turns[state.index()] |= turns && is_read;
                made.fails[state.index()] |= fails && is_read;
            }
        }
        made
    }
}

/// The guards of transitions and the conditions of steps, each with its state.
fn owners(chart: &Chart) -> BTreeMap<*const Expr, StateId> {
    let lines = chart.transitions.iter().flat_map(|transition| {
        transition.guard.iter().map(move |guard| (std::ptr::from_ref(guard), transition.source))
    });
    let steps = chart.steps.iter().flat_map(|step| {
        let conditions = step.guard.iter().chain(&step.ends_turn);
        conditions.map(move |condition| (std::ptr::from_ref(condition), step.state))
    });
    lines.chain(steps).collect()
}
