//! Constants, and the ways in which code asks the context for a name.

use super::{Expr, Kind};
use crate::syntax::UnaryOp;

/// A constant.
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

/// How code asks the context for a name.
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
    pub(super) fn of(expr: &Expr) -> Option<Self> {
        Some(match &expr.kind {
            Kind::None => Self::None,
            Kind::Bool(b) => Self::Bool(*b),
            Kind::Int(i) => Self::Int(*i),
            Kind::Float(x) => Self::Float(*x),
            Kind::Text(text) => Self::Text(text.clone()),
            Kind::Unary(UnaryOp::Negate, inner) => match Self::of(inner)? {
                Self::Int(i) => Self::Int(i.checked_neg()?),
                Self::Float(x) => Self::Float(-x),
                Self::None | Self::Bool(_) | Self::Text(_) | Self::List(_) | Self::Map(_) => {
                    return None;
                }
            },
            Kind::List(items) => Self::List(items.iter().map(Self::of).collect::<Option<_>>()?),
            Kind::Dict(entries) => {
                let entry = |(key, value): &(Expr, Expr)| match Self::of(key)? {
                    Self::Text(key) => Some((key, Self::of(value)?)),
                    Self::None
                    | Self::Bool(_)
                    | Self::Int(_)
                    | Self::Float(_)
                    | Self::List(_)
                    | Self::Map(_) => None,
                };
                Self::Map(entries.iter().map(entry).collect::<Option<_>>()?)
            }
            Kind::Name(_)
            | Kind::Attribute(..)
            | Kind::Index(..)
            | Kind::Slice(..)
            | Kind::Call(..)
            | Kind::Unary(UnaryOp::Not, _)
            | Kind::Binary(..)
            | Kind::And(_)
            | Kind::Or(_)
            | Kind::Compare(..)
            | Kind::If(..)
            | Kind::Set(_)
            | Kind::Comprehension { .. }
            | Kind::Context(..)
            | Kind::Key(_)
            | Kind::Has(_)
            | Kind::Bad => return None,
        })
    }
}
