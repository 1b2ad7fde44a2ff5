//! Transitions by which a chart bounds its own turns, as `limits` does: `when turns >= n -> given_up`.
//!
//! They end every run at the bound, and keys that count turns multiply the points by that bound. If nothing else reads the number of turns,
//! an over-approximation is enough: their guards may hold at any time.

use super::fixed::{is_fixed, number};
use super::static_check::ends_run;
use chartc_core::arena::{StateId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{Chart, CompareOp, Expr, ExprKind, Observable, Transition, VariableKind};

/// The numbers to which the turns are set: one with which the guards fail, one with which they hold, also after one more turn.
pub(super) const WAYS: [u32; 2] = [0, u32::MAX / 2];

/// The transitions of a chart whose only condition is a number of turns, and which end the run.
#[derive(Debug)]
pub(super) struct Bounds<'c> {
    chart: &'c Chart,
    transitions: Vec<&'c Transition>,
}

impl<'c> Bounds<'c> {
    /// `None` if the chart has no such transitions.
    pub(super) fn new(chart: &'c Chart) -> Option<Self> {
        let ends = |transition: &&Transition| {
            ends_run(chart, transition)
                && transition.guard.as_ref().is_some_and(|guard| is_bound(chart, guard))
        };
        let transitions: Vec<_> = chart.transitions.iter().filter(ends).collect();
        (!transitions.is_empty()).then_some(Self { chart, transitions })
    }

    /// The guards of these transitions.
    pub(super) fn conditions(&self) -> Vec<&'c Expr> {
        self.transitions.iter().filter_map(|transition| transition.guard.as_ref()).collect()
    }

    /// The maximum number of turns that any of these transitions allows, over all values of the params.
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

    /// Whether one of these transitions leads into a state.
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

/// Whether a guard has the form of [`bound`], with an `n` of at least 2 if params have their defaults.
fn is_bound(chart: &Chart, guard: &Expr) -> bool {
    let value = |id: VarId| usual(chart, id);
    let holds = |n: i64| (2..=i64::from(WAYS[1])).contains(&n);
    bound(guard).is_some_and(|n| is_fixed(chart, n, 0) && number(n, &value).is_some_and(holds))
}

/// The default of a param, if it is a literal whole number.
fn usual(chart: &Chart, id: VarId) -> Option<Value> {
    let row = &chart.variables[id.index()];
    let default =
        row.default.as_ref().filter(|_| matches!(row.kind, VariableKind::Param { .. }))?;
    number(default, &|_| None).map(Value::Int)
}
