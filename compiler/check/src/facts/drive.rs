//! Leaves in which nothing can ever happen.

use crate::facts::Facts;
use crate::facts::graph::GraphNode;
use crate::facts::reach::is_leaf;
use crate::facts::scope::is_final;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Chart, StateKind, StepKind};

/// Reachable atomic states in which no transition can act and no step of the state or its ancestors runs. `code` steps and steps of
/// the root do not count, only the transitions on their outcomes do. States inside a parallel are omitted, because another region may
/// be active.
pub fn undriven(chart: &Chart, facts: &Facts) -> Vec<StateId> {
    // Transitions that exclude some states are tested for each leaf by `moved`.
    let count = chart.states.len();
    let mut acts = vec![false; count];
    for (i, place) in facts.scopes.transitions.iter().enumerate() {
        if facts.reach.can_take(TransitionId::at(i)) && place.except.is_empty() {
            place.within.iter().for_each(|s| acts[s.index()] = true);
        }
    }
    let root = StateId::at(0);
    for (step, place) in chart.steps.iter().zip(&facts.scopes.steps) {
        if !matches!(step.kind, StepKind::Code(_)) {
            place.within.iter().filter(|s| **s != root).for_each(|s| acts[s.index()] = true);
        }
    }
    let mut found = Vec::new();
    // Document order visits a parent before its children, so that `acts` is inherited.
    for state in chart.state_ids().skip(1) {
        let row = chart.state(state);
        let Some(parent) = row.parent else { continue };
        if acts[parent.index()] || matches!(chart.state(parent).kind, StateKind::Parallel) {
            acts[state.index()] = true;
        }
        let rests = is_leaf(chart, state) && !is_final(chart, state);
        if !acts[state.index()] && rests && facts.reach.can_enter(state) && !moved(facts, state) {
            found.push(state);
        }
    }
    found
}

/// Whether a transition that excludes some states can act in the leaf.
fn moved(facts: &Facts, leaf: StateId) -> bool {
    facts
        .moves
        .next(GraphNode::Active(leaf))
        .any(|n| matches!(n, GraphNode::Any(_) | GraphNode::Transition(_)))
}
