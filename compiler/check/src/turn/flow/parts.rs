//! Replaces variables in expressions by known values, and splits conditions into parts.

use super::cell::constant;
use chartc_core::arena::VarId;
use chartc_core::expr::Value as Data;
use chartc_core::model::{BinaryOp, Chart, Expr, ExprKind, Template, TemplatePart};

/// The maximum nesting of an expression that is examined; deeper parts stay as they are.
const DEEPEST: usize = 100;

/// The expression with known values in place of its variables. Parts that are constant then are evaluated.
pub fn with_values(chart: &Chart, expr: &Expr, values: &dyn Fn(VarId) -> Option<Expr>) -> Expr {
    let mut with = expr.clone();
    replace(chart, &mut with, values, 0);
    with
}

fn replace(chart: &Chart, expr: &mut Expr, values: &dyn Fn(VarId) -> Option<Expr>, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    // A predicate is replaced by its definition, so that the variables in it are found.
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

/// Replaces a constant expression by the literal of its value.
pub(super) fn fold(expr: &mut Expr) {
    if !matches!(expr.kind, ExprKind::Text(_))
        && let Some(value) = constant(expr)
        && let Some(kind) = literal(&value)
    {
        expr.kind = kind;
    }
}

/// The literal of a value; `None` if the language has none for it.
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

/// The conditions that together say that the condition has this value: the operands of `and` if it holds, of `or` if it does not.
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
