//! Traps: sets of states that a run enters and never leaves.

use crate::facts::Facts;
use crate::facts::drive::undriven;
use crate::facts::graph::GraphNode;
use crate::facts::reach::{is_end, is_leaf};
use crate::facts::scope::is_final;
use chartc_core::arena::StateId;
use chartc_core::model::{Chart, StateKind};
use std::collections::BTreeSet;

/// A set of states that a run cannot leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trap {
    /// States that lead only to each other, ascending; at least one. A compound or parallel state stands for all leaves inside it.
    pub states: Vec<StateId>,
    /// Whether the chart has a final state that other states reach.
    pub ends: bool,
}

/// The minimal sets of leaves that can be entered and not left. If a final state is reachable: the sets that lead to none. If the chart
/// has no final states: only single states, because every run of such a chart stays in some set. States in which nothing can happen are
/// omitted: see [`undriven`].
pub fn traps(chart: &Chart, facts: &Facts) -> Vec<Trap> {
    let all: Vec<StateId> = chart.state_ids().filter(|s| is_end(chart, *s)).collect();
    let ends: Vec<StateId> = all.iter().copied().filter(|s| facts.reach.can_enter(*s)).collect();
    if !all.is_empty() && ends.is_empty() {
        return Vec::new();
    }
    let leads = facts.moves.leads_to(ends.iter().copied());
    let leaves: BTreeSet<StateId> =
        facts.reach.leaves(chart).filter(|l| !leads[l.index()]).collect();
    let resting: BTreeSet<StateId> = undriven(chart, facts).into_iter().collect();
    let mut found = Vec::new();
    for states in last(facts, &leaves) {
        if states.iter().all(|s| resting.contains(s)) {
            continue;
        }
        if !ends.is_empty() {
            found.push(Trap { states: lift(chart, facts, states), ends: true });
        } else if let [only] = states[..]
            && leaves.len() > 1
            && is_leaf(chart, only)
            && !is_final(chart, only)
            && chart.ancestors(only).all(|s| !matches!(chart.state(s).kind, StateKind::Parallel))
        {
            found.push(Trap { states, ends: false });
        }
    }
    found.sort_by_key(|t| t.states.first().copied());
    found
}

/// Replaces states by an ancestor if the set contains all reachable leaves inside it.
fn lift(chart: &Chart, facts: &Facts, states: Vec<StateId>) -> Vec<StateId> {
    let mut lifted = Vec::new();
    let mut at = 0;
    while let Some(first) = states.get(at).copied() {
        let whole = |top: &StateId| {
            let below = (top.0..chart.state(*top).end.0).map(StateId);
            let mut leaves = below.filter(|s| is_leaf(chart, *s) && facts.reach.can_enter(*s));
            leaves.all(|s| states.binary_search(&s).is_ok())
        };
        let above = chart.ancestors(first).filter(|s| *s != StateId::at(0));
        let top = above.take_while(whole).last().unwrap_or(first);
        // The states are ascending, and the descendants of `top` are a contiguous range.
        at += states[at..].partition_point(|s| *s < chart.state(top).end);
        lifted.push(top);
    }
    lifted
}

/// The sets of `leaves` that lead to each other and to no other of `leaves`.
fn last(facts: &Facts, leaves: &BTreeSet<StateId>) -> Vec<Vec<StateId>> {
    // By component: whether it or one of its successors contains some of `leaves`.
    let mut beyond: Vec<bool> = Vec::new();
    let mut component = vec![usize::MAX; facts.moves.nodes()];
    let mut found = Vec::new();
    // Components are in reverse topological order, so `beyond` is known for all successors.
    for (number, nodes) in facts.moves.components().into_iter().enumerate() {
        for node in &nodes {
            component[facts.moves.place(*node)] = number;
        }
        let further = nodes
            .iter()
            .flat_map(|n| facts.moves.next(*n))
            .map(|n| component[facts.moves.place(n)])
            .any(|c| c != number && beyond.get(c).copied().unwrap_or(false));
        let mut here: Vec<StateId> = nodes
            .into_iter()
            .filter_map(|n| if let GraphNode::Active(s) = n { Some(s) } else { None })
            .filter(|s| leaves.contains(s))
            .collect();
        here.sort_unstable();
        beyond.push(further || !here.is_empty());
        if !further && !here.is_empty() {
            found.push(here);
        }
    }
    found
}
