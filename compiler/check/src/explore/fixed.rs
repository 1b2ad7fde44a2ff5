//! Expressions that are constant during a run, and the slots that expressions read.

use super::slot::{PayloadSource, Slot, constant, payload};
use crate::facts::uses::walk;
use chartc_core::arena::{ToolId, ToolSetId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{
    BinaryOp, Chart, Expr, ExprKind, Observable, StreakOf, UnaryOp, VariableKind,
};

/// The nesting beyond which an expression is not taken apart.
pub(super) const DEEP: u32 = 64;

/// Whether an expression is constant during a run: a literal, a param, or a whole number computed from these.
pub(super) fn is_fixed(chart: &Chart, expr: &Expr, depth: u32) -> bool {
    if constant(expr).is_some() {
        return true;
    }
    match &expr.kind {
        ExprKind::Variable(id) => {
            matches!(chart.variables[id.index()].kind, VariableKind::Param { .. })
        }
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply, a, b) => {
            depth < DEEP && is_fixed(chart, a, depth + 1) && is_fixed(chart, b, depth + 1)
        }
        _ => false,
    }
}

/// The whole number to which such an expression evaluates, given the values of the params. `None` if it is no whole number.
pub(super) fn number(expr: &Expr, param: &dyn Fn(VarId) -> Option<Value>) -> Option<i64> {
    match &expr.kind {
        ExprKind::Int(n) => Some(*n),
        ExprKind::Variable(id) => match param(*id)? {
            Value::Int(n) => Some(n),
            _ => None,
        },
        ExprKind::Unary(UnaryOp::Negate, inner) => number(inner, param)?.checked_neg(),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (number(a, param)?, number(b, param)?);
            match op {
                BinaryOp::Add => a.checked_add(b),
                BinaryOp::Subtract => a.checked_sub(b),
                BinaryOp::Multiply => a.checked_mul(b),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Adds the slots that an expression reads, directly or through named conditions. `place` is the source of its payload.
pub(super) fn mentioned(chart: &Chart, expr: &Expr, place: PayloadSource, found: &mut Vec<Slot>) {
    walk(chart, expr, &mut |part| match &part.kind {
        ExprKind::Variable(id) => found.push(Slot::Variable(*id)),
        ExprKind::Payload(nth) => found.extend(payload(chart, place, *nth)),
        ExprKind::Answer(step) => found.push(Slot::Answer(*step)),
        ExprKind::Call(id, _) => found.push(Slot::Function(*id)),
        ExprKind::Observable(
            Observable::Streak(StreakOf::Argument(set, name)) | Observable::Repeated(set, name),
        ) => {
            found.extend(passed(chart, *set, name));
        }
        _ => {}
    });
}

/// The slots of every argument of every tool.
pub(super) fn arguments(chart: &Chart) -> impl Iterator<Item = Slot> {
    let count = |i: usize| chart.tools[i].params.len() as u32;
    (0..chart.tools.len())
        .flat_map(move |i| (0..count(i)).map(move |nth| Slot::Passed(ToolId::at(i), nth)))
}

/// The slots of one argument, for all tools of a set that have it.
pub(super) fn passed(chart: &Chart, set: ToolSetId, name: &str) -> Vec<Slot> {
    let place = |tool: &ToolId| {
        chart.tools[tool.index()].params.iter().position(|param| param.name == name)
    };
    let tools = chart.tools_of(set).into_iter();
    tools.filter_map(|tool| Some(Slot::Passed(tool, place(&tool)? as u32))).collect()
}
