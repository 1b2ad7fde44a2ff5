//! Analyses of failures: final states that only failures lead to, and leaves that a failed step never leaves.

use super::Context;
use crate::facts::Facts;
use crate::facts::graph::GraphNode;
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::{Chart, Failure, Lost, StateKind, Status, StepKind, Trigger};

/// The failure transitions (`error`, `timeout`, `else`) without which no run can end `ok`: each leads to `ok` without a further failure.
/// Empty if a run can end `ok` without a failure, or if none can end `ok`. Takes linear time for each of them.
pub(super) fn needed(chart: &Chart, facts: &Facts) -> Vec<TransitionId> {
    let root = StateId::at(0);
    let is_goal = |state: StateId| {
        matches!(chart.state(state).kind, StateKind::Final { status: Status::Ok, .. })
            && chart.state(state).parent == Some(root)
            && facts.reach.can_enter(state)
    };
    let goals: Vec<StateId> = chart.children(root).filter(|s| is_goal(*s)).collect();
    if goals.is_empty()
        || !chart.transitions.iter().any(|transition| is_failure(&transition.trigger))
    {
        return Vec::new();
    }
    let (whole, met) = reached(chart, facts, GraphNode::Entered(root));
    let arrives =
        |seen: &[bool]| goals.iter().any(|g| seen[facts.moves.place(GraphNode::Active(*g))]);
    if arrives(&whole) {
        return Vec::new();
    }
    met.into_iter()
        .take(MOST)
        .filter(|transition| arrives(&reached(chart, facts, GraphNode::Transition(*transition)).0))
        .collect()
}

/// The maximum number of failure transitions that are examined.
const MOST: usize = 16;

/// Whether the trigger is a failure of a step.
fn is_failure(trigger: &Trigger) -> bool {
    matches!(trigger, Trigger::StepError(_) | Trigger::StepTimeout(..) | Trigger::StepElse(_))
}

/// Marks, by node number, the nodes that can be reached without a failure transition other than `from` itself. Also returns the failure
/// transitions at the border of that set, in document order.
fn reached(chart: &Chart, facts: &Facts, from: GraphNode) -> (Vec<bool>, Vec<TransitionId>) {
    let mut seen = vec![false; facts.moves.nodes()];
    let mut met = Vec::new();
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut seen[facts.moves.place(node)], true) {
            continue;
        }
        if let GraphNode::Transition(id) = node
            && node != from
            && is_failure(&chart.transition(id).trigger)
        {
            met.push(id);
            continue;
        }
        open.extend(facts.moves.next(node));
    }
    met.sort_unstable();
    (seen, met)
}

/// A leaf that a run never leaves once a step in it has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stuck {
    /// The `call` or `run` step.
    pub step: StepId,
    pub leaf: StateId,
    /// Whether the step is started only once; otherwise, each turn starts it again.
    pub once: bool,
}

/// Finds the leaves whose only step is a `call` or `run`, which only the `done` transitions of that step leave, and where nothing
/// handles its failure.
pub(super) fn stuck(context: &Context<'_>) -> Vec<Stuck> {
    let Context { chart, facts, .. } = context;
    let mut found = Vec::new();
    for (i, step) in chart.steps.iter().enumerate() {
        let (id, leaf) = (StepId::at(i), step.state);
        let once = match &step.kind {
            StepKind::Call(..) => false,
            StepKind::Run(run) => run.on_entry,
            _ => {
                continue;
            }
        };
        let alone = chart.ancestors(leaf).map(|s| chart.state(s).steps.len()).sum::<usize>() == 1;
        if !alone
            || !matches!(chart.state(leaf).kind, StateKind::Atomic)
            || !context.enters(leaf)
            || step.failure.then != Failure::Fail
            || step.each.as_ref().is_some_and(|each| each.lost != Lost::Fail)
            // `sure` contains the steps whose child charts cannot fail.
            || facts.sure.contains(&id)
        {
            continue;
        }
        let is_handled = chart.transitions.iter().any(|transition| {
            transition.trigger.step() == Some(id)
                && !matches!(transition.trigger, Trigger::StepDone(_))
        });
        let mut ways = chart
            .ancestors(leaf)
            .flat_map(|s| &chart.state(s).transitions)
            .filter(|transition| facts.scopes.transition(**transition).may_hold_in(chart, leaf))
            .map(|transition| chart.transition(*transition));
        let mut any = false;
        let only = ways.all(|transition| {
            any |= !transition.targets.is_empty();
            transition.trigger == Trigger::StepDone(id)
        });
        if only && any && !is_handled {
            found.push(Stuck { step: id, leaf, once });
        }
    }
    found
}
