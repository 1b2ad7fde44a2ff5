//! Replaces parts of expressions, and makes literals.

use super::cell::constant;
use chartc_core::arena::VarId;
use chartc_core::expr::Value as Data;
use chartc_core::model::{BinaryOp, Chart, Expr, ExprKind, Template, TemplatePart};

/// Deepest nesting that is examined.
const DEEPEST: usize = 100;

/// The expression with known values in place of variables. Parts that are then constant are computed.
pub fn with_values(chart: &Chart, expr: &Expr, values: &dyn Fn(VarId) -> Option<Expr>) -> Expr {
    let mut with = expr.clone();
    replace(chart, &mut with, values, 0);
    with
}

fn replace(chart: &Chart, expr: &mut Expr, values: &dyn Fn(VarId) -> Option<Expr>, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    if let ExprKind::Predicate(id) = expr.kind {
        *expr = chart.predicates[id.index()].expr.clone();
    }
    if let ExprKind::Variable(id) = expr.kind {
        if let Some(value) = values(id) {
            *expr = value;
        }
        return;
    }
    expr.each_part_mut(&mut |part| replace(chart, part, values, depth + 1));
    fold(expr);
}

/// Replaces a constant expression by its value.
pub(super) fn fold(expr: &mut Expr) {
    if !matches!(expr.kind, ExprKind::Text(_))
        && let Some(value) = constant(expr)
        && let Some(kind) = literal(&value)
    {
        expr.kind = kind;
    }
}

/// The literal of a value, if there is one.
pub(super) fn literal(value: &Data) -> Option<ExprKind> {
    match value {
        Data::None => Some(ExprKind::None),
        Data::Bool(b) => Some(ExprKind::Bool(*b)),
        Data::Int(n) => Some(ExprKind::Int(*n)),
        Data::Float(n) => Some(ExprKind::Float(*n)),
        Data::Text(text) => {
            let parts =
                if text.is_empty() { Vec::new() } else { vec![TemplatePart::Text(text.clone())] };
            Some(ExprKind::Text(Template { parts }))
        }
        Data::Duration(_) | Data::List(_) | Data::Map(_) => None,
    }
}

/// The conditions into which a condition with this value can be split.
pub(super) fn split(condition: Expr, value: bool) -> Vec<(Expr, bool)> {
    let joined = if value { BinaryOp::And } else { BinaryOp::Or };
    let (mut open, mut parts) = (vec![(condition, value)], Vec::new());
    while let Some((condition, value)) = open.pop() {
        if let ExprKind::Binary(op, a, b) = condition.kind {
            if op == joined {
                open.extend([(*a, value), (*b, value)]);
            } else {
                parts.push((Expr { kind: ExprKind::Binary(op, a, b), ty: condition.ty }, value));
            }
        } else {
            parts.push((condition, value));
        }
    }
    parts
}
