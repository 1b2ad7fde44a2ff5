//! Decides whether the chart that a `run` step starts can fail.

use crate::explore::is_total;
use crate::facts::Facts;
use chartc_core::arena::StateId;
use chartc_core::model::{Chart, Limits, StateKind, Status, Step, StepKind, Trigger, Type};
use chartc_core::model::{Expr, VariableKind};

/// Whether a run of the chart may end otherwise than `ok` or `partial`: with another status, at a limit, or in a state where nothing can
/// happen any more. A chart with steps is assumed to. Linear in the size of the chart, up to logarithms.
pub fn can_fail(chart: &Chart) -> bool {
    let is_limited = chart.states.iter().any(|state| state.limits != Limits::default());
    let mut defaults = chart.variables.iter().filter_map(|row| row.default.as_ref());
    if !chart.steps.is_empty() || is_limited || !defaults.all(|e| is_total(chart, e, 0)) {
        return true;
    }
    let facts = Facts::new(chart);
    let fails = |state: StateId| {
        let row = chart.state(state);
        let is_bad = matches!(row.kind, StateKind::Final { status, .. }
            if !matches!(status, Status::Ok | Status::Partial));
        is_bad && row.parent == Some(StateId::at(0)) && facts.reach.can_enter(state)
    };
    let goes_on = |leaf: StateId| {
        let mut transitions =
            chart.ancestors(leaf).flat_map(|state| &chart.state(state).transitions);
        transitions.any(|transition| can_occur(chart, &chart.transition(*transition).trigger))
    };
    chart.state_ids().any(fails) || !facts.reach.leaves(chart).all(goes_on)
}

/// Whether the trigger can occur at any time, so that a run in the transition's source is not stuck.
fn can_occur(chart: &Chart, trigger: &Trigger) -> bool {
    match trigger {
        Trigger::Event(_) | Trigger::AnyEvent | Trigger::Turn => true,
        Trigger::After(bound) => is_total(chart, bound, 0),
        _ => false,
    }
}

/// Whether the arguments of a `run` step always fit the params of its chart, and the answer always fits the step.
pub fn fits(chart: &Chart, step: &Step, child: &Chart) -> bool {
    let StepKind::Run(run) = &step.kind else { return false };
    let is_bounded = |row: &chartc_core::model::Variable| {
        matches!(row.kind, VariableKind::Param { range: Some(_) })
    };
    let is_sure = |given: &Expr| given.ty != Type::Json && is_total(chart, given, 0);
    step.returns == Type::Json
        && !child.variables.iter().any(is_bounded)
        && run.arguments.iter().all(|(_, given)| is_sure(given))
}
