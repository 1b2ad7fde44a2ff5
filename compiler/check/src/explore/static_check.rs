//! Properties that the chart alone proves, without exploration.

use crate::facts::reach::is_end;
use crate::facts::uses::written;
use chartc_core::arena::{EventId, StateId};
use chartc_core::model::{
    Action, BinaryOp, Chart, CompareOp, Expr, ExprKind, Observable, StateKind, Transition, Trigger,
    VariableKind,
};

/// The maximum number of microsteps of a macrostep that is assumed to end, far fewer than the machine allows.
const MICROSTEPS: usize = 500;

/// Whether an event that no other transition handles leads into the state, wherever a run is.
pub(super) fn at_once(chart: &Chart, state: StateId) -> bool {
    // A deadline of zero may end the run before the host can send the event.
    let in_time = chart.transitions.iter().all(|transition| {
        let (Trigger::After(bound) | Trigger::StepTimeout(_, bound)) = &transition.trigger else {
            return true;
        };
        matches!(bound.kind, ExprKind::Duration(1..))
    });
    let takes = |transition: &Transition, event: EventId| {
        matches!(transition.trigger, Trigger::AnyEvent | Trigger::AnyOccurrence)
            || matches!(&transition.trigger, Trigger::Event(events) if events.contains(&event))
    };
    let alone = |event: &EventId| {
        chart.transitions.iter().filter(|other| takes(other, *event)).count() == 1
    };
    let leads = |transition: &Transition| {
        transition.source == StateId(0)
            && transition.guard.is_none()
            && transition.scope.as_ref().is_none_or(|scope| {
                // If the scope excludes the active state, the run is over or in the goal already.
                let over = |s: &StateId| chart.contains(state, *s) || is_end(chart, *s);
                scope.any_of.is_empty() && scope.none_of.iter().all(over)
            })
            && transition.targets.iter().any(|target| chart.contains(state, target.state))
            && matches!(&transition.trigger, Trigger::Event(events) if events.iter().any(alone))
    };
    in_time && chart.transitions.iter().any(leads)
}

/// Whether a `when` transition ends the run as soon as it has had this many turns, wherever it is. This works because a configuration is
/// stable only if no `when` transition is enabled.
pub(super) fn ends_within(chart: &Chart, turns: &Expr) -> bool {
    let ends = |transition: &Transition| {
        transition.trigger == Trigger::When
            && transition.guard.as_ref().is_some_and(|guard| holds_after(chart, guard, turns))
            && ends_run(chart, transition)
            && transition.scope.as_ref().is_none_or(|scope| {
                scope.any_of.is_empty() && scope.none_of.iter().all(|s| is_end(chart, *s))
            })
            && is_everywhere(chart, transition.source)
    };
    chart.transitions.iter().any(ends) && always_rests(chart)
}

/// Whether a guard holds after this many turns: `turns >= n`, alone or as the first operand of an `or`, with an `n` that is certainly not
/// above that number.
fn holds_after(chart: &Chart, guard: &Expr, turns: &Expr) -> bool {
    let least = match &guard.kind {
        ExprKind::Binary(BinaryOp::Or, first, _) => return holds_after(chart, first, turns),
        ExprKind::Compare(left, rest) => match (&left.kind, &rest[..]) {
            (ExprKind::Observable(Observable::Turns), [(CompareOp::GreaterEqual, least)]) => least,
            _ => return false,
        },
        _ => return false,
    };
    match (&least.kind, &turns.kind) {
        (ExprKind::Int(least), ExprKind::Int(turns)) => least <= turns,
        (ExprKind::Variable(id), kind) => {
            matches!(chart.variables[id.index()].kind, VariableKind::Param { .. })
                && match kind {
                    ExprKind::Variable(other) => id == other,
                    ExprKind::Binary(BinaryOp::Add, a, b) => {
                        a.kind == ExprKind::Variable(*id) && matches!(b.kind, ExprKind::Int(0..))
                    }
                    _ => false,
                }
        }
        _ => false,
    }
}

/// Whether all targets of a transition end the run.
pub(super) fn ends_run(chart: &Chart, transition: &Transition) -> bool {
    !transition.targets.is_empty()
        && transition.targets.iter().all(|target| is_end(chart, target.state))
}

/// Whether the state is active from the start of a run to its end.
fn is_everywhere(chart: &Chart, state: StateId) -> bool {
    let root = StateId(0);
    let is_only = || chart.children(root).all(|child| child == state || is_end(chart, child));
    state == root || chart.state(state).parent == Some(root) && is_only()
}

/// Whether every macrostep ends by itself: the transitions that need no input form no cycle, and are few.
fn always_rests(chart: &Chart) -> bool {
    let by_itself = |transition: &&Transition| {
        !matches!(
            transition.trigger,
            Trigger::Event(_) | Trigger::Turn | Trigger::After(_) | Trigger::Choice(_)
        )
    };
    let is_history = |s: StateId| matches!(chart.state(s).kind, StateKind::History { .. });
    let transitions: Vec<&Transition> = chart
        .transitions
        .iter()
        .filter(by_itself)
        .filter(|transition| !ends_run(chart, transition))
        .collect();
    // A transition without target, or into a history, may be followed by any other one.
    let stays = |transition: &&Transition| {
        transition.targets.is_empty()
            || transition.targets.iter().any(|target| is_history(target.state))
    };
    if transitions.len() > 50
        || transitions.iter().any(stays)
        || written(chart).any(|all| raises(all))
    {
        return false;
    }
    let related = |a: StateId, b: StateId| chart.contains(a, b) || chart.contains(b, a);
    let leads = |from: &Transition, to: &Transition| {
        from.targets.iter().any(|target| related(target.state, to.source))
    };
    // The maximum number of times that each is taken: once by itself, and once after each transition that leads to it.
    let mut times = vec![1_usize; transitions.len()];
    for _ in 0..=transitions.len() {
        let before = |to: &&Transition| {
            let rows = transitions.iter().zip(&times).filter(|(from, _)| leads(from, to));
            rows.fold(1, |all: usize, (_, times)| all.saturating_add(*times))
        };
        let next: Vec<usize> = transitions.iter().map(before).collect();
        if next == times {
            // Each guard and block may also fail, which raises a further event.
            let taken = times.iter().fold(1, |all: usize, n| all.saturating_add(*n));
            let faults = 3 * chart.states.len() + 2 * chart.transitions.len();
            return taken.saturating_mul(faults) <= MICROSTEPS;
        }
        times = next;
    }
    false
}

/// Whether the actions raise an event.
fn raises(actions: &[Action]) -> bool {
    actions.iter().any(|action| match action {
        Action::Raise(..) => true,
        Action::If(_, then, otherwise) => raises(then) || raises(otherwise),
        Action::For(_, _, body) => raises(body),
        _ => false,
    })
}
