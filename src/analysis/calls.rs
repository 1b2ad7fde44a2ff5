//! Model calls in the walk of a turn.

use super::Facts;
use super::place::Place;
use super::uses::is_where;
use chartc_core::arena::{StateId, StepId};
use chartc_core::model::{AskOn, Chart, Step, StepKind, Trigger};
use std::collections::BTreeMap;

/// A step that uses up the turn's model call before others come to their turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hiding {
    /// The step that always calls first.
    pub first: StepId,
    /// Model steps that therefore never run, ascending.
    pub hidden: Vec<StepId>,
}

/// Model steps that never run because a walk makes one call and an earlier step always takes it.
pub fn hidden(chart: &Chart, facts: &Facts) -> Vec<Hiding> {
    let mut found: BTreeMap<StepId, Vec<StepId>> = BTreeMap::new();
    if chart.calls_per_turn != Some(1) {
        return Vec::new();
    }
    let eventless = chart.transitions.iter().any(|t| t.trigger == Trigger::When);
    // Steps that always call, by the state in which they do, since the last step that may change the state without a call.
    let mut calling: BTreeMap<StateId, StepId> = BTreeMap::new();
    for (i, step) in chart.steps.iter().enumerate() {
        let (id, place) = (StepId::at(i), facts.places.step(StepId::at(i)));
        if !is_model(step) {
            if eventless || !step.outcomes.is_empty() {
                calling.retain(|state, _| *state == StateId::at(0));
            }
            continue;
        }
        if let Some(first) = first_everywhere(chart, place, &calling) {
            found.entry(first).or_default().push(id);
        } else if surely_calls(step) && place.except.is_empty() && !place.is_loose {
            for state in &place.within {
                calling.entry(*state).or_insert(id);
            }
        }
    }
    found.into_iter().map(|(first, hidden)| Hiding { first, hidden }).collect()
}

/// The earliest step that calls wherever the place is, if there is one for all of it.
fn first_everywhere(
    chart: &Chart,
    place: &Place,
    calling: &BTreeMap<StateId, StepId>,
) -> Option<StepId> {
    let caller = |state: &StateId| chart.ancestors(*state).filter_map(|s| calling.get(&s)).min();
    let callers: Option<Vec<&StepId>> = place.within.iter().map(caller).collect();
    callers?.into_iter().min().copied()
}

/// Whether a step takes a model call of the walk.
fn is_model(step: &Step) -> bool {
    match &step.kind {
        StepKind::Llm => true,
        StepKind::Ask { on, .. } => *on == AskOn::Turn,
        StepKind::Code(_) | StepKind::Call(..) | StepKind::Human(_) | StepKind::Run(..) => false,
    }
}

/// Whether a step calls the model whenever its place in the walk comes and its state is active: an `ask` may take a single option
/// unasked.
fn surely_calls(step: &Step) -> bool {
    step.guard.as_ref().is_none_or(is_where) && matches!(step.kind, StepKind::Llm)
}
