//! Transitions by which a chart bounds its own turns, as `limits` does: `when turns >= n -> given_up`.
//!
//! They make every run hopeless just before the bound, and multiply the points by the number of turns. Where nothing else reads
//! the number of turns, an over-approximation is enough: their guards may hold at any time.

use super::fixed::{is_fixed, number};
use super::static_check::ends_run;
use chartc_core::arena::{StateId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{Chart, CompareOp, Expr, ExprKind, Observable, Transition, VariableKind};

/// Numbers of turns with which the guards do not hold, or hold, before and after one more turn.
pub(super) const WAYS: [u32; 2] = [0, u32::MAX / 2];

/// The transitions of a chart that end the run after a number of turns and have no other condition.
#[derive(Debug)]
pub(super) struct Bounds<'c> {
    chart: &'c Chart,
    transitions: Vec<&'c Transition>,
}

impl<'c> Bounds<'c> {
    /// `None` if there are no such transitions.
    pub(super) fn new(chart: &'c Chart) -> Option<Self> {
        let ends = |transition: &&Transition| {
            ends_run(chart, transition)
                && transition.guard.as_ref().is_some_and(|guard| is_bound(chart, guard))
        };
        let transitions: Vec<_> = chart.transitions.iter().filter(ends).collect();
        (!transitions.is_empty()).then_some(Self { chart, transitions })
    }

    /// Their guards.
    pub(super) fn conditions(&self) -> Vec<&'c Expr> {
        self.transitions.iter().filter_map(|transition| transition.guard.as_ref()).collect()
    }

    /// The most turns that any of them allows, for all values of the params.
    pub(super) fn most(&self) -> usize {
        let most = |id: VarId| match &self.chart.variables[id.index()].kind {
            VariableKind::Param { range: Some((_, most)) } => Some(most.clone()),
            VariableKind::Param { range: None }
            | VariableKind::Input
            | VariableKind::Var { .. } => None,
        };
        let bounds =
            self.transitions.iter().filter_map(|transition| bound(transition.guard.as_ref()?));
        let turns = bounds.map(|bound| number(bound, &most).and_then(|n| usize::try_from(n).ok()));
        turns.map(|n| n.unwrap_or(usize::MAX - 1)).max().unwrap_or(0)
    }

    /// Whether one of them leads into a state.
    pub(super) fn lead_to(&self, state: StateId) -> bool {
        let targets = self.transitions.iter().flat_map(|transition| &transition.targets);
        targets.into_iter().any(|target| self.chart.contains(state, target.state))
    }
}

/// The `n` of a guard of the form `turns >= n` or `turns > n`.
fn bound(guard: &Expr) -> Option<&Expr> {
    let ExprKind::Compare(left, rest) = &guard.kind else { return None };
    let [(CompareOp::GreaterEqual | CompareOp::Greater, bound)] = &rest[..] else { return None };
    (left.kind == ExprKind::Observable(Observable::Turns)).then_some(bound)
}

/// Whether a guard has this form, with an `n` of 2 or more.
fn is_bound(chart: &Chart, guard: &Expr) -> bool {
    let value = |id: VarId| usual(chart, id);
    let holds = |n: i64| (2..=i64::from(WAYS[1])).contains(&n);
    bound(guard).is_some_and(|n| is_fixed(chart, n, 0) && number(n, &value).is_some_and(holds))
}

/// The default of a param, if it is a whole number.
fn usual(chart: &Chart, id: VarId) -> Option<Value> {
    let row = &chart.variables[id.index()];
    let default =
        row.default.as_ref().filter(|_| matches!(row.kind, VariableKind::Param { .. }))?;
    number(default, &|_| None).map(Value::Int)
}
