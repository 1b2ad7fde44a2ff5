//! What needs no exploring.

use crate::analysis::reach::is_end;
use chartc_core::arena::{EventId, StateId};
use chartc_core::model::{Chart, ExprKind, Transition, Trigger};

/// Whether an event that nothing else reacts to leads into the state from wherever a run is.
pub(super) fn at_once(chart: &Chart, state: StateId) -> bool {
    let in_time = chart.transitions.iter().all(|line| {
        let (Trigger::After(bound) | Trigger::StepTimeout(_, bound)) = &line.trigger else {
            return true;
        };
        matches!(bound.kind, ExprKind::Duration(1..))
    });
    let takes = |line: &Transition, event: EventId| {
        matches!(line.trigger, Trigger::AnyEvent | Trigger::AnyOccurrence)
            || matches!(&line.trigger, Trigger::Event(events) if events.contains(&event))
    };
    let alone = |event: &EventId| {
        chart.transitions.iter().filter(|other| takes(other, *event)).count() == 1
    };
    let leads = |line: &Transition| {
        line.source == StateId(0)
            && line.guard.is_none()
            && line.scope.as_ref().is_none_or(|scope| {
                // Where it does not hold, the run is over or there already.
                let over = |s: &StateId| chart.contains(state, *s) || is_end(chart, *s);
                scope.any_of.is_empty() && scope.none_of.iter().all(over)
            })
            && line.targets.iter().any(|target| chart.contains(state, target.state))
            && matches!(&line.trigger, Trigger::Event(events) if events.iter().any(alone))
    };
    in_time && chart.transitions.iter().any(leads)
}
