//! `check` lines that limits prove, whatever the data are. No run is tried.

use super::super::static_check::ends_within;
use crate::facts::Facts;
use crate::facts::interval::Range;
use crate::turn::cost::{RunCost, cost, ends_at_turns, last_turn};
use chartc_core::arena::StateId;
use chartc_core::expr::Value;
use chartc_core::machine::LimitKind;
use chartc_core::model::{
    BinaryOp, Chart, Check, CheckArgument, Expr, ExprKind, UnaryOp, VariableKind,
};

/// The nesting beyond which a bound is not computed.
const DEEP: u32 = 64;

/// Whether the limits of the chart and its states prove the line.
pub(super) fn prove(chart: &Chart, facts: &Facts, check: &Check) -> bool {
    let [CheckArgument::Bound(bound, unit)] = &check.arguments[..] else { return false };
    let holds = |most: Option<u64>| {
        most.zip(range(chart, bound, 0).low)
            .is_some_and(|(most, n)| u64::try_from(n).is_ok_and(|n| most <= n))
    };
    match (check.name.as_str(), unit.as_str()) {
        ("ends_within", "turns") => {
            holds(last_turn(chart, facts))
                || ends_within(chart, bound)
                // A limit of 0 turns is never reached, because turns are counted when they end.
                || is_limit(chart, LimitKind::Turns, bound)
                    && range(chart, bound, 0).low > Some(0)
                    && ends_at_turns(chart, facts)
        }
        ("at_most", "calls") => {
            holds(most_calls(chart, facts)) || is_limit(chart, LimitKind::Calls, bound)
        }
        _ => false,
    }
}

/// Whether the chart's limit is the same expression over params as the bound of the line.
fn is_limit(chart: &Chart, kind: LimitKind, bound: &Expr) -> bool {
    chart.state(StateId::at(0)).limits.formula(kind) == Some(bound)
}

/// The maximum number of model calls of a run, if it is known.
fn most_calls(chart: &Chart, facts: &Facts) -> Option<u64> {
    let limit =
        chart.state(StateId::at(0)).limits.calls.and_then(|calls| u64::try_from(calls).ok());
    let RunCost { worst, .. } = cost(chart, facts).run;
    limit.into_iter().chain(worst.calls()).min()
}

/// The bounds of an expression, over all values of the params.
fn range(chart: &Chart, expr: &Expr, depth: u32) -> Range {
    let of = |expr: &Expr| range(chart, expr, depth + 1);
    match &expr.kind {
        ExprKind::Int(n) => Range::one(*n),
        ExprKind::Variable(id) => match &chart.variables[id.index()].kind {
            VariableKind::Param { range: Some((low, high)) } => {
                let number =
                    |value: &Value| if let Value::Int(n) = value { Some(*n) } else { None };
                Range { low: number(low), high: number(high) }
            }
            VariableKind::Param { .. } | VariableKind::Input | VariableKind::Var { .. } => {
                Range::default()
            }
        },
        _ if depth > DEEP => Range::default(),
        ExprKind::Unary(UnaryOp::Negate, inner) => of(inner).negated(),
        ExprKind::Binary(BinaryOp::Add, a, b) => of(a).plus(of(b)),
        ExprKind::Binary(BinaryOp::Subtract, a, b) => of(a).plus(of(b).negated()),
        _ => Range::default(),
    }
}
