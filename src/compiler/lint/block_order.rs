//! Moves whose effect depends on the order of the blocks in the file.
//!
//! The problem: the walk of a turn goes through the steps once, from top to bottom. A step that leads to a state further down goes on there
//! in the same turn. If the block of that state stands further up, its steps wait for the next turn, and nobody may send one. The idea: a
//! chart whose states follow each other is written in that order; only a loop has to lead back. So a move up to a state that never leads
//! back to where it came from is reported. For example:
//!
//! ```text
//! state second { code count { n = n + 1 } -> end }
//! state first  { call load files.read("a") -> second }
//! ```
//!
//! 1. `load` leads to `second`, whose step `count` stands before `load`: it waits for the next turn.
//! 2. `second` leads only to `end`, so the two are no loop. Written in the other order, one turn does both.

use super::{Context, Lint, data, words};
use crate::analysis::facts::reach::{GraphNode, entered_by_default, entries};
use crate::rules;
use crate::syntax::diagnostic::Diagnostic;
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::{Chart, StateKind, Step, StepKind, Trigger};

pub(super) static LINT: Lint = Lint { rule: &rules::BLOCK_ORDER, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    // The format of agents lists the steps in one sequence, so their order is written down.
    if data::is_yaml(context) {
        return;
    }
    for id in (0..chart.transitions.len()).map(TransitionId::at) {
        let line = chart.transition(id);
        let Some(step) = line.trigger.step().filter(|_| facts.reach.can_take(id)) else { continue };
        let from = chart.steps[step.index()].state;
        if !is_awaited(&chart.steps[step.index()])
            || matches!(line.trigger, Trigger::StepTimeout(..))
            || has_regions(chart, from)
        {
            continue;
        }
        let Some(waiting) = waiting(chart, step, &entered(chart, id)) else { continue };
        let to = chart.steps[waiting.index()].state;
        let node = |state| facts.moves.component(GraphNode::Active(state));
        if has_regions(chart, to) || chart.contains(to, from) || node(to) == node(from) {
            continue;
        }
        let (before, after) = (words::state(chart, from), words::state(chart, to));
        let late = words::step(chart, waiting);
        let message = format!(
            "{late} waits for the next turn: the block of {after} stands before that of {before}"
        );
        let found = rules::BLOCK_ORDER
            .at(map.transition(id).whole, message)
            .help(format!("move the block of {after} behind that of {before}"))
            .related(map.step(waiting).name, "the walk of the turn has passed this step");
        diagnostics.push(found);
    }
}

/// Whether the walk of a turn waits for the outcome of the step.
fn is_awaited(step: &Step) -> bool {
    step.is_walked()
        && matches!(step.kind, StepKind::Llm | StepKind::Call(..) | StepKind::Ask { .. })
}

/// Whether the state is in a region, which has a walk of its own.
fn has_regions(chart: &Chart, state: StateId) -> bool {
    chart.ancestors(state).any(|s| matches!(chart.state(s).kind, StateKind::Parallel))
}

/// The states that a transition enters, with those that are entered by default.
fn entered(chart: &Chart, id: TransitionId) -> Vec<StateId> {
    let mut all = entries(chart, chart.transition(id));
    let mut next = 0;
    while let Some(state) = all.get(next).copied() {
        all.extend(entered_by_default(chart, state));
        next += 1;
    }
    all
}

/// The first step of the entered states that the walk has passed, and that it would run after `step` if it stood below.
fn waiting(chart: &Chart, step: StepId, entered: &[StateId]) -> Option<StepId> {
    let calls = |id: StepId| match &chart.steps[id.index()].kind {
        StepKind::Llm | StepKind::Ask { .. } => true,
        StepKind::Call(..) | StepKind::Code(_) | StepKind::Human(_) | StepKind::Run(_) => false,
    };
    // Another model step would find no call left.
    let is_last_call = calls(step) && chart.calls_per_turn == Some(1);
    let runs = |id: &StepId| chart.steps[id.index()].is_walked() && !(calls(*id) && is_last_call);
    let steps = entered.iter().flat_map(|state| &chart.state(*state).steps).copied();
    steps.filter(|id| *id < step).find(runs)
}
