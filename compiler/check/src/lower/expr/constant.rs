//! The values of literals.

use chartc_core::expr::Value;
use chartc_core::model::{Expr, ExprKind, UnaryOp};

/// The value of a literal; also of a list, map or record of literals, and of a negated number.
pub(in crate::lower) fn value_of(expr: &Expr) -> Option<Value> {
    match &expr.kind {
        ExprKind::None => Some(Value::None),
        ExprKind::Bool(b) => Some(Value::Bool(*b)),
        ExprKind::Int(i) => Some(Value::Int(*i)),
        ExprKind::Float(x) => Some(Value::Float(*x)),
        ExprKind::Text(text) => text.literal().map(|t| Value::Text(t.to_owned())),
        ExprKind::Duration(ms) => Some(Value::Duration(*ms)),
        ExprKind::Enum(_, name) => Some(Value::Text(name.clone())),
        ExprKind::List(items) => items.iter().map(value_of).collect::<Option<_>>().map(Value::List),
        ExprKind::Map(entries) => entries
            .iter()
            .map(|(key, value)| match value_of(key)? {
                Value::Text(key) => Some((key, value_of(value)?)),
                _ => None,
            })
            .collect::<Option<_>>()
            .map(Value::Map),
        ExprKind::Record(_, fields) => fields
            .iter()
            .map(|(name, value)| Some((name.clone(), value_of(value)?)))
            .collect::<Option<_>>()
            .map(Value::Map),
        ExprKind::Unary(UnaryOp::Negate, inner) => match value_of(inner)? {
            Value::Int(i) => i.checked_neg().map(Value::Int),
            Value::Float(x) => Some(Value::Float(-x)),
            _ => None,
        },
        ExprKind::Builtin(chartc_core::model::Builtin::Float, arguments) => {
            match value_of(arguments.first()?)? {
                Value::Int(i) => Some(Value::Float(i as f64)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a part of the expression is an error that was already reported, so that its type means nothing.
pub(in crate::lower) fn is_faulty(expr: &Expr) -> bool {
    let mut open = vec![expr];
    while let Some(next) = open.pop() {
        if matches!(next.kind, ExprKind::Unknown(_)) {
            return true;
        }
        next.each_part(&mut |part| open.push(part));
    }
    false
}

/// Whether the expression is an Int literal that is not negative.
pub(super) fn is_count(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Int(i) if i >= 0)
}
