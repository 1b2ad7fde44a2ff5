//! The leaves to which a transition leads, with the blocks that run on the way. For charts in which one leaf is active at a time.

use super::edge::Op;
use super::read::{How, Site};
use crate::facts::reach::{domain, is_history, is_leaf};
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Chart, StateKind};

/// A leaf that is entered, the operations until then, and whether the transition certainly leads there.
pub(super) type Arrival<'c> = (StateId, Vec<Op<'c>>, bool);

/// The arrivals of a transition that is taken in a leaf, with its exit blocks, actions and entry blocks.
pub(super) fn taken<'c>(chart: &'c Chart, leaf: StateId, id: TransitionId) -> Vec<Arrival<'c>> {
    let transition = chart.transition(id);
    let site = Site::Moves(id);
    let mut ops: Vec<Op<'c>> = Vec::new();
    for argument in transition.targets.iter().flat_map(|t| &t.arguments) {
        ops.push(Op::Read(site, argument, How::Soft));
    }
    let top = domain(chart, transition);
    if let Some(top) = top {
        for state in chart.ancestors(leaf).take_while(|s| *s != top) {
            for block in &chart.state(state).exit {
                ops.push(Op::Do(Site::State(state), block));
            }
        }
    }
    if !transition.actions.is_empty() {
        ops.push(Op::Do(site, &transition.actions));
    }
    let (Some(top), Some(target)) = (top, transition.targets.first()) else {
        return vec![(leaf, ops, true)];
    };
    into(chart, target.state, top, ops)
}

/// The arrivals of entering a state by default, while `top` is active already. `ops` are the operations before.
pub(super) fn into<'c>(
    chart: &'c Chart,
    target: StateId,
    top: StateId,
    ops: Vec<Op<'c>>,
) -> Vec<Arrival<'c>> {
    let mut arrivals = Vec::new();
    // The state to enter, the innermost state that is active already, the operations so far, and whether this is certain.
    let mut open = vec![(target, top, ops, true)];
    while let Some((state, above, mut ops, sure)) = open.pop() {
        if is_history(chart, state) {
            let parent = chart.state(state).parent.unwrap_or(StateId::at(0));
            enter(chart, parent, above, &mut ops);
            let last = if chart.contains(parent, above) { above } else { parent };
            if !chart.state(state).default_actions.is_empty() {
                ops.push(Op::Maybe(Site::State(state), &chart.state(state).default_actions));
            }
            // The history may restore any leaf of its parent.
            let below = (parent.0 + 1..chart.state(parent).end.0).map(StateId);
            for leaf in below.filter(|s| is_leaf(chart, *s)) {
                let mut all = ops.clone();
                for on in path(chart, last, leaf) {
                    blocks(chart, on, &mut all);
                    if !chart.state(on).default_actions.is_empty() {
                        all.push(Op::Maybe(Site::State(on), &chart.state(on).default_actions));
                    }
                }
                arrivals.push((leaf, all, false));
            }
            continue;
        }
        enter(chart, state, above, &mut ops);
        match &chart.state(state).kind {
            StateKind::Compound { initial } => {
                let row = chart.state(state);
                if !row.default_actions.is_empty() {
                    ops.push(Op::Do(Site::State(state), &row.default_actions));
                }
                // Without parallels, there is one initial state.
                for next in initial.iter().take(1) {
                    open.push((*next, state, ops.clone(), sure));
                }
            }
            _ => {
                arrivals.push((state, ops, sure));
            }
        }
    }
    arrivals
}

/// The states from below `above` down to `state`, outermost first.
fn path(chart: &Chart, above: StateId, state: StateId) -> Vec<StateId> {
    let mut path: Vec<StateId> = chart.ancestors(state).take_while(|s| *s != above).collect();
    path.reverse();
    path
}

/// Adds the entry blocks of the states from below `above` down to `state`.
fn enter<'c>(chart: &'c Chart, state: StateId, above: StateId, ops: &mut Vec<Op<'c>>) {
    if state == above || chart.contains(state, above) {
        return;
    }
    for on in path(chart, above, state) {
        blocks(chart, on, ops);
    }
}

/// Adds the entry blocks of one state.
fn blocks<'c>(chart: &'c Chart, state: StateId, ops: &mut Vec<Op<'c>>) {
    for block in &chart.state(state).entry {
        ops.push(Op::Do(Site::State(state), block));
    }
}
