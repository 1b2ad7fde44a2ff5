//! Ends that a run comes to only where something fails.

use super::Facts;
use super::graph::Node;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Chart, StateKind, Status, Trigger};

/// Lines for what fails without which no run ends `ok`: those that runs in which nothing has failed so far may come to. Empty where a
/// run ends so without them, or not at all. Linear in the chart for each such line.
pub fn needed(chart: &Chart, facts: &Facts) -> Vec<TransitionId> {
    let root = StateId::at(0);
    let is_goal = |state: StateId| {
        matches!(chart.state(state).kind, StateKind::Final { status: Status::Ok, .. })
            && chart.state(state).parent == Some(root)
            && facts.reach.enters(state)
    };
    let goals: Vec<StateId> = chart.children(root).filter(|s| is_goal(*s)).collect();
    if goals.is_empty() || !chart.transitions.iter().any(|line| is_failure(&line.trigger)) {
        return Vec::new();
    }
    let (whole, met) = reached(chart, facts, Node::Entered(root));
    let arrives = |seen: &[bool]| goals.iter().any(|g| seen[facts.moves.place(Node::Active(*g))]);
    if arrives(&whole) {
        return Vec::new();
    }
    met.into_iter()
        .take(MOST)
        .filter(|line| arrives(&reached(chart, facts, Node::Line(*line)).0))
        .collect()
}

/// Lines for what fails that are looked at.
const MOST: usize = 16;

/// Whether the line is for a step that has come to nothing.
fn is_failure(trigger: &Trigger) -> bool {
    match trigger {
        Trigger::StepError(_) | Trigger::StepTimeout(..) | Trigger::StepElse(_) => true,
        Trigger::Event(_)
        | Trigger::AnyEvent
        | Trigger::AnyOccurrence
        | Trigger::Turn
        | Trigger::When
        | Trigger::StateDone(_)
        | Trigger::After(_)
        | Trigger::AfterTurns(_)
        | Trigger::Choice(_)
        | Trigger::StepDone(_)
        | Trigger::StepDoubt(_)
        | Trigger::Error(_)
        | Trigger::LimitWarn(_) => false,
    }
}

/// By number of node: whether it is reached without a line for what fails, but for the one that it begins with. And the lines of that
/// kind that were met, ascending.
fn reached(chart: &Chart, facts: &Facts, from: Node) -> (Vec<bool>, Vec<TransitionId>) {
    let mut seen = vec![false; facts.moves.nodes()];
    let mut met = Vec::new();
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut seen[facts.moves.place(node)], true) {
            continue;
        }
        if let Node::Line(id) = node
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
