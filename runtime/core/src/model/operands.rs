//! Visitors of the operands of an expression.

use super::expr::{Expr, ExprKind};

/// Visits the operands of an expression in the order in which they are evaluated, by reference or by mutable reference.
macro_rules! each_part {
    ($kind:expr, $visit:ident, $holes:ident) => {
        match $kind {
            ExprKind::None
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Duration(_)
            | ExprKind::Enum(..)
            | ExprKind::Variable(_)
            | ExprKind::Local(_)
            | ExprKind::Payload(_)
            | ExprKind::Answer(_)
            | ExprKind::Predicate(_)
            | ExprKind::Observable(_)
            | ExprKind::Unknown(_) => {}
            ExprKind::Text(text) => text.$holes().for_each($visit),
            ExprKind::Field(e, _) | ExprKind::Unary(_, e) => $visit(e),
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Default(a, b) => {
                $visit(a);
                $visit(b);
            }
            ExprKind::Slice(e, from, to) => {
                $visit(e);
                for part in [from, to].into_iter().flatten() {
                    $visit(part);
                }
            }
            ExprKind::Compare(first, rest) => {
                $visit(first);
                for (_, part) in rest {
                    $visit(part);
                }
            }
            ExprKind::If(a, b, c) => {
                $visit(a);
                $visit(b);
                $visit(c);
            }
            ExprKind::Builtin(_, es) | ExprKind::Call(_, es) | ExprKind::List(es) => {
                for part in es {
                    $visit(part);
                }
            }
            ExprKind::Map(entries) => {
                for (key, value) in entries {
                    $visit(key);
                    $visit(value);
                }
            }
            ExprKind::Record(_, fields) => {
                for (_, part) in fields {
                    $visit(part);
                }
            }
            ExprKind::Comprehension { item, source, filter, .. } => {
                $visit(source);
                if let Some(part) = filter {
                    $visit(part);
                }
                $visit(item);
            }
        }
    };
}

impl Expr {
    /// Calls `visit` with each operand, in the order in which they are evaluated. The expression of a named condition is not an operand.
    pub fn each_part<'e>(&'e self, visit: &mut dyn FnMut(&'e Self)) {
        each_part!(&self.kind, visit, holes);
    }

    /// Like [`Expr::each_part`], but the operands can be changed.
    pub fn each_part_mut(&mut self, visit: &mut dyn FnMut(&mut Self)) {
        each_part!(&mut self.kind, visit, holes_mut);
    }
}
