//! The invariants of every model, sound or not; shared with the tests of the lowering.

use chartc_core::arena::StateId;
use chartc_core::model::{Action, Chart, Failure, Otherwise, StateKind, StepKind, Trigger};

/// Ids follow document order, subtrees are ranges, everything that is referred to exists and is legal.
pub fn assert_holds(chart: &Chart) {
    let states = chart.states.len();
    assert_eq!(chart.states[0].parent, None);
    assert_eq!(chart.states[0].end.index(), states);
    for id in chart.state_ids() {
        let state = chart.state(id);
        assert!(id < state.end && state.end.index() <= states);
        if let Some(parent) = state.parent {
            assert!(parent < id && state.end <= chart.state(parent).end);
        }
        let children: Vec<_> = chart.children(id).collect();
        assert!(children.iter().all(|c| chart.state(*c).parent == Some(id)));
        let ends = children.last().map_or(id.0 + 1, |c| chart.state(*c).end.0);
        assert_eq!(ends, state.end.0, "children fill their parent");
        match &state.kind {
            StateKind::Atomic | StateKind::Final { .. } => assert!(children.is_empty()),
            StateKind::Compound { initial } => {
                assert!(!initial.is_empty());
                assert!(initial.iter().all(|s| *s != id && chart.contains(id, *s)));
            }
            StateKind::Parallel => assert!(children.iter().any(|c| is_state(chart, *c))),
            StateKind::History { default, .. } => {
                let parent = state.parent.expect("the root is no history");
                assert!(children.is_empty() && !default.is_empty());
                let below = |s: &StateId| *s != parent && chart.contains(parent, *s);
                assert!(default.iter().all(|s| below(s) && is_state(chart, *s)));
            }
        }
        for (own, line) in state.transitions.iter().zip(own_lines(chart, id)) {
            assert_eq!(*own, line);
        }
        assert!(state.steps.iter().all(|s| chart.steps[s.index()].state == id));
    }
    let sources: Vec<_> = chart.transitions.iter().map(|t| t.source).collect();
    assert!(sources.is_sorted(), "lines are grouped by source");
    for line in &chart.transitions {
        assert!(!matches!(
            chart.state(line.source).kind,
            StateKind::Final { .. } | StateKind::History { .. }
        ));
        for target in &line.targets {
            assert!(target.state.index() > 0 && target.state.index() < states);
            if let StateKind::Final { params, .. } = &chart.state(target.state).kind {
                let given = if computes(chart, target.state) { 0 } else { params.len() };
                assert_eq!(given, target.arguments.len());
            }
        }
        if let Trigger::Choice(choice) = &line.trigger {
            assert!(choice.index() < chart.choices.len());
        }
    }
    for (index, choice) in chart.choices.iter().enumerate() {
        let trigger = &chart.transition(choice.transition).trigger;
        assert!(matches!(trigger, Trigger::Choice(id) if id.index() == index));
    }
    for step in &chart.steps {
        assert!(step.outcomes.iter().all(|o| chart.transition(*o).source == step.state));
        if let Failure::Take(line) = step.failure.then {
            assert!(step.outcomes.contains(&line));
        }
        if let StepKind::Ask { otherwise: Otherwise::Take(line), .. } = &step.kind {
            assert!(step.outcomes.contains(line));
        }
        assert!(step.events().iter().all(|e| e.index() < chart.events.len()));
    }
}

/// Whether a final computes what it ends with, so that nobody gives it.
fn computes(chart: &Chart, id: StateId) -> bool {
    chart.state(id).entry.iter().flatten().any(|action| matches!(action, Action::Result(..)))
}

fn is_state(chart: &Chart, id: StateId) -> bool {
    !matches!(chart.state(id).kind, StateKind::History { .. })
}

fn own_lines(
    chart: &Chart,
    id: StateId,
) -> impl Iterator<Item = chartc_core::arena::TransitionId> + '_ {
    let all = chart.transitions.iter().enumerate();
    all.filter(move |(_, t)| t.source == id)
        .map(|(index, _)| chartc_core::arena::TransitionId::at(index))
}
