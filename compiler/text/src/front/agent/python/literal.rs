//! Constants, and the forms in which code reads a name from the context.

use super::{Expr, PyExprKind};
use crate::syntax::UnaryOp;

/// A value that is known without running the code.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::front::agent) enum Literal {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Literal>),
    Map(Vec<(String, Literal)>),
}

/// The form in which code reads a name from the context.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::front::agent) enum Asked {
    /// `context['x']`.
    Key,
    /// `context.get('x', d)`; without `d`, the default is `None`.
    Get(Literal),
    /// `context.get('x', d)`, where `d` is not a constant.
    Computed,
    /// `'x' in context`.
    Has,
}

impl Literal {
    /// The value of an expression, if it is a constant.
    pub(super) fn from_expr(expr: &Expr) -> Option<Self> {
        Some(match &expr.kind {
            PyExprKind::None => Self::None,
            PyExprKind::Bool(b) => Self::Bool(*b),
            PyExprKind::Int(i) => Self::Int(*i),
            PyExprKind::Float(x) => Self::Float(*x),
            PyExprKind::Text(text) => Self::Text(text.clone()),
            PyExprKind::Unary(UnaryOp::Negate, inner) => match Self::from_expr(inner)? {
                Self::Int(i) => Self::Int(i.checked_neg()?),
                Self::Float(x) => Self::Float(-x),
                _ => {
                    return None;
                }
            },
            PyExprKind::List(items) => {
                Self::List(items.iter().map(Self::from_expr).collect::<Option<_>>()?)
            }
            PyExprKind::Dict(entries) => {
                let entry = |(key, value): &(Expr, Expr)| match Self::from_expr(key)? {
                    Self::Text(key) => Some((key, Self::from_expr(value)?)),
                    _ => None,
                };
                Self::Map(entries.iter().map(entry).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }
}
