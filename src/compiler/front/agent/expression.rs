//! Builds the expressions and types of the chart, as if they had been written in a `.chart` file.

use crate::syntax::source::{Span, Spanned};
use crate::syntax::{
    BinaryOp, CompareOp, Expr, ExprKind, Template, TemplatePart, TypeExpr, TypeKind, UnaryOp,
};

/// An expression of a given kind.
pub(super) fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}

/// An expression that reads a name.
pub(super) fn name(name: impl Into<String>, span: Span) -> Expr {
    expr(ExprKind::Name(name.into()), span)
}

/// A string without placeholders, as an expression.
pub(super) fn text(value: impl Into<String>, span: Span) -> Expr {
    expr(ExprKind::Text(literal(value, span)), span)
}

/// A call: `f(arguments)`.
pub(super) fn call(function: &str, arguments: Vec<Expr>, span: Span) -> Expr {
    expr(ExprKind::Call(Spanned::new(function.to_owned(), span), arguments), span)
}

/// A binary operation: `left op right`.
pub(super) fn binary(op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
    expr(ExprKind::Binary(op, Box::new(left), Box::new(right)), span)
}

/// A comparison: `left op right`.
pub(super) fn compare(left: Expr, op: CompareOp, right: Expr, span: Span) -> Expr {
    expr(ExprKind::Compare(Box::new(left), vec![(op, right)]), span)
}

/// A negation: `not operand`.
pub(super) fn not(operand: Expr, span: Span) -> Expr {
    expr(ExprKind::Unary(UnaryOp::Not, Box::new(operand)), span)
}

/// A conditional expression: `if condition then yes else no`.
pub(super) fn choose(condition: Expr, yes: Expr, no: Expr, span: Span) -> Expr {
    expr(ExprKind::If(Box::new(condition), Box::new(yes), Box::new(no)), span)
}

/// The known part of a value's type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ty {
    /// Nothing is known yet: the elements of an empty list, and names that nothing declares.
    Unknown,
    /// Only `none`.
    None,
    Bool,
    Int,
    Float,
    Text,
    /// Any value.
    Json,
    List(Box<Ty>),
    Map(Box<Ty>),
}

/// The maximum depth of nested lists and maps; deeper ones are `Json`.
const MAX_DEPTH: usize = 3;

impl Ty {
    /// The type of a value that may be of either type.
    pub(super) fn join(self, other: Self) -> Self {
        self.join_at(other, 0)
    }

    fn join_at(self, other: Self, depth: usize) -> Self {
        if depth > MAX_DEPTH {
            return Self::Json;
        }
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Unknown, known) | (known, Self::Unknown) => known,
            (Self::Int, Self::Float) | (Self::Float, Self::Int) if depth == 0 => Self::Float,
            (Self::List(a), Self::List(b)) => Self::List(Box::new(a.join_at(*b, depth + 1))),
            (Self::Map(a), Self::Map(b)) => Self::Map(Box::new(a.join_at(*b, depth + 1))),
            _ => Self::Json,
        }
    }

    /// `List(self)`, or `Json` if that nests too deeply.
    pub(super) fn list(self) -> Self {
        if self.depth() >= MAX_DEPTH { Self::Json } else { Self::List(Box::new(self)) }
    }

    /// `Map(self)`, or `Json` if that nests too deeply.
    pub(super) fn map(self) -> Self {
        if self.depth() >= MAX_DEPTH { Self::Json } else { Self::Map(Box::new(self)) }
    }

    fn depth(&self) -> usize {
        match self {
            Self::List(inner) | Self::Map(inner) => 1 + inner.depth(),
            _ => 0,
        }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self, Self::Int | Self::Float)
    }

    /// The type as it is declared; unknown types are `Json`.
    pub(in crate::front::agent) fn written(&self, span: Span) -> TypeExpr {
        let name = |n: &str| TypeKind::Name(n.to_owned());
        let kind = match self {
            Self::Unknown | Self::None | Self::Json => name("Json"),
            Self::Bool => name("Bool"),
            Self::Int => name("Int"),
            Self::Float => name("Float"),
            Self::Text => name("Text"),
            Self::List(inner) => TypeKind::List(Box::new(inner.written(span))),
            Self::Map(inner) => {
                let key = TypeExpr { kind: name("Text"), span };
                TypeKind::Map(Box::new(key), Box::new(inner.written(span)))
            }
        };
        TypeExpr { kind, span }
    }

    /// The value of a variable that nothing has set yet.
    pub(in crate::front::agent) fn zero(&self, span: Span) -> Expr {
        match self {
            Self::Unknown | Self::None | Self::Json => expr(ExprKind::None, span),
            Self::Bool => expr(ExprKind::Bool(false), span),
            Self::Int => expr(ExprKind::Int(0), span),
            Self::Float => expr(ExprKind::Float(0.0), span),
            Self::Text => text("", span),
            Self::List(_) => expr(ExprKind::List(Vec::new()), span),
            Self::Map(_) => expr(ExprKind::Map(Vec::new()), span),
        }
    }
}

/// A template without placeholders.
pub(super) fn literal(value: impl Into<String>, span: Span) -> Template {
    let value = value.into();
    let parts = if value.is_empty() { Vec::new() } else { vec![TemplatePart::Text(value, span)] };
    Template { parts, span, block: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins() {
        let list = |t: Ty| Ty::List(Box::new(t));
        for (a, b, both) in [
            (Ty::Int, Ty::Float, Ty::Float),
            (Ty::Int, Ty::Text, Ty::Json),
            (Ty::None, Ty::Int, Ty::Json),
            (list(Ty::Unknown), list(Ty::Int), list(Ty::Int)),
            (list(Ty::Int), list(Ty::Float), list(Ty::Json)),
            (list(Ty::Int), Ty::Map(Box::new(Ty::Int)), Ty::Json),
        ] {
            assert_eq!(a.clone().join(b.clone()), both);
            assert_eq!(b.join(a), both);
        }
    }

    #[test]
    fn lists_of_lists_end() {
        let mut ty = Ty::Int;
        for _ in 0..10 {
            ty = ty.list();
        }
        assert!(ty.depth() <= MAX_DEPTH);
    }
}
