//! Finds the names that an expression reads.

use super::{Asked, Expr, Literal, PyExprKind};
use crate::span::Span;

/// A read of a name.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::front::agent) struct Use {
    /// The name that is read.
    pub(in crate::front::agent) name: String,
    /// The place of the name.
    pub(in crate::front::agent) span: Span,
    /// Whether it is inside of a comprehension, except in its source.
    pub(in crate::front::agent) nested: bool,
    /// The form in which it is read from the context; `None` for a plain name.
    pub(in crate::front::agent) asked: Option<Asked>,
}

/// All reads in the order of evaluation, except of names that a comprehension binds.
pub(in crate::front::agent) fn uses(expr: &Expr) -> Vec<Use> {
    let mut walk = NameWalk { bound: Vec::new(), out: Vec::new() };
    walk.expr(expr);
    walk.out
}

struct NameWalk<'e> {
    bound: Vec<&'e str>,
    out: Vec<Use>,
}

impl<'e> NameWalk<'e> {
    fn read(&mut self, name: &str, span: Span, asked: Option<Asked>) {
        if !self.bound.contains(&name) {
            let nested = !self.bound.is_empty();
            self.out.push(Use { name: name.to_owned(), span, nested, asked });
        }
    }

    fn all(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        for expr in exprs {
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: &'e Expr) {
        match &expr.kind {
            PyExprKind::None
            | PyExprKind::Bool(_)
            | PyExprKind::Int(_)
            | PyExprKind::Float(_)
            | PyExprKind::Text(_)
            | PyExprKind::Bad => {}
            PyExprKind::Name(name) => self.read(name, expr.span, None),
            PyExprKind::Has(name) => self.read(&name.node, name.span, Some(Asked::Has)),
            PyExprKind::Key(name) => self.read(&name.node, name.span, Some(Asked::Key)),
            PyExprKind::Context(name, default) => {
                let value = default.as_deref().map_or(Some(Literal::None), Literal::from_expr);
                let asked = value.map_or(Asked::Computed, Asked::Get);
                self.read(&name.node, name.span, Some(asked));
                self.all(default.as_deref());
            }
            PyExprKind::Attribute(base, _) | PyExprKind::Unary(_, base) => self.expr(base),
            PyExprKind::Index(a, b) | PyExprKind::Binary(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            PyExprKind::Slice(base, from, to) => {
                self.expr(base);
                self.all(from.iter().chain(to).map(|e| &**e));
            }
            PyExprKind::Call(function, arguments) => {
                if !matches!(function.kind, PyExprKind::Name(_)) {
                    self.expr(function);
                }
                self.all(arguments);
            }
            PyExprKind::And(parts)
            | PyExprKind::Or(parts)
            | PyExprKind::List(parts)
            | PyExprKind::Set(parts) => {
                self.all(parts);
            }
            PyExprKind::Compare(left, rest) => {
                self.expr(left);
                self.all(rest.iter().map(|(_, e)| e));
            }
            PyExprKind::If(condition, a, b) => {
                self.expr(condition);
                self.expr(a);
                self.expr(b);
            }
            PyExprKind::Dict(entries) => self.all(entries.iter().flat_map(|(k, v)| [k, v])),
            PyExprKind::Comprehension { item, name, source, filter } => {
                // The source is evaluated outside of the comprehension, before its name is bound.
                self.expr(source);
                self.bound.push(&name.node);
                self.all(filter.as_deref());
                self.expr(item);
                self.bound.pop();
            }
        }
    }
}
