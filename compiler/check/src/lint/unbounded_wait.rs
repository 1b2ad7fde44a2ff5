//! Model calls without any time limit.

use crate::facts::Facts;
use crate::facts::reach::{is_history, is_leaf};
use crate::facts::scope::{ScopeCondition, is_final};
use crate::lint::{Context, Lint, words};
use chartc_core::arena::{StateId, StepId};
use chartc_core::machine::LimitKind;
use chartc_core::model::{Chart, Step, StepKind, Trigger};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNBOUNDED_WAIT;

pub(super) static LINT: Lint = Lint { rule: &UNBOUNDED_WAIT, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for wait in unbounded(chart, facts) {
        let (step, leaf) = (words::step(chart, wait.step), words::state(chart, wait.leaf));
        let message =
            format!("{step} may wait for its answer for ever: in {leaf} no deadline ends the call");
        diagnostics.push(
            UNBOUNDED_WAIT.at(map.step(wait.step).name, message)
                .help("give the step or its client a `timeout`, the state an `after` line, or bound its `time` in `limits`"),
        );
    }
}

/// A step that may wait for its answer for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wait {
    step: StepId,
    /// A leaf in which no deadline ends the call.
    leaf: StateId,
}

/// Finds model steps without a timeout of their own or of their client for which some leaf has neither a deadline nor a time limit, in
/// document order. Linear, up to logarithms.
fn unbounded(chart: &Chart, facts: &Facts) -> Vec<Wait> {
    let calls = |step: &Step| matches!(step.kind, StepKind::Llm | StepKind::Ask { .. });
    if !chart.steps.iter().any(calls) {
        return Vec::new();
    }
    let idle = untimed(chart, facts);
    let mut found = Vec::new();
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        if !calls(step) || is_timed(chart, step) {
            continue;
        }
        let leaf = first_of(chart, facts.scopes.step(id), &idle);
        found.extend(leaf.map(|leaf| Wait { step: id, leaf }));
    }
    found
}

fn is_timed(chart: &Chart, step: &Step) -> bool {
    let client = step.client.is_some_and(|c| chart.clients[c.index()].timeout.is_some());
    let timeout = |t: &Trigger| matches!(t, Trigger::StepTimeout(..));
    client || step.outcomes.iter().any(|l| timeout(&chart.transition(*l).trigger))
}

/// The reachable leaves for which neither they nor their ancestors have a deadline or a time limit, in document order.
fn untimed(chart: &Chart, facts: &Facts) -> Vec<StateId> {
    let mut timed: Vec<bool> = chart.states.iter().map(|s| s.limits.has(LimitKind::Time)).collect();
    for (transition, place) in chart.transitions.iter().zip(&facts.scopes.transitions) {
        if matches!(transition.trigger, Trigger::After(_)) {
            place.within.iter().for_each(|s| timed[s.index()] = true);
        }
    }
    let mut idle = Vec::new();
    for state in chart.state_ids() {
        let row = chart.state(state);
        timed[state.index()] |= row.parent.is_some_and(|p| timed[p.index()]);
        let rests = is_leaf(chart, state) && !is_final(chart, state) && !is_history(chart, state);
        if rests && !timed[state.index()] && facts.reach.can_enter(state) {
            idle.push(state);
        }
    }
    idle
}

/// The first of the leaves that the scope covers. `leaves` is in document order.
fn first_of(chart: &Chart, place: &ScopeCondition, leaves: &[StateId]) -> Option<StateId> {
    place.within.iter().find_map(|top| {
        // Leaves of a state are contiguous in document order, so a binary search finds the first.
        let from = leaves.partition_point(|l| l < top);
        let below = leaves[from..].iter().take_while(|l| chart.contains(*top, **l));
        below.copied().find(|l| !place.excludes_leaf(chart, *l))
    })
}
