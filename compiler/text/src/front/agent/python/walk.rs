//! Which names an expression reads.

use super::{Asked, Expr, Kind, Literal};
use crate::span::Span;

/// A read of a name.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::front::agent) struct Use {
    /// The name.
    pub(in crate::front::agent) name: String,
    /// Its place.
    pub(in crate::front::agent) span: Span,
    /// Whether it is inside of a comprehension, except in its source.
    pub(in crate::front::agent) nested: bool,
    /// How the context is asked for it; `None` for a plain name.
    pub(in crate::front::agent) asked: Option<Asked>,
}

/// All reads in the order of evaluation, except of names that a comprehension binds.
pub(in crate::front::agent) fn uses(expr: &Expr) -> Vec<Use> {
    let mut walk = Walk { bound: Vec::new(), out: Vec::new() };
    walk.expr(expr);
    walk.out
}

struct Walk<'e> {
    bound: Vec<&'e str>,
    out: Vec<Use>,
}

impl<'e> Walk<'e> {
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
            Kind::None
            | Kind::Bool(_)
            | Kind::Int(_)
            | Kind::Float(_)
            | Kind::Text(_)
            | Kind::Bad => {}
            Kind::Name(name) => self.read(name, expr.span, None),
            Kind::Has(name) => self.read(&name.node, name.span, Some(Asked::Has)),
            Kind::Key(name) => self.read(&name.node, name.span, Some(Asked::Key)),
            Kind::Context(name, default) => {
                let value = default.as_deref().map_or(Some(Literal::None), Literal::of);
                let asked = value.map_or(Asked::Computed, Asked::Get);
                self.read(&name.node, name.span, Some(asked));
                self.all(default.as_deref());
            }
            Kind::Attribute(base, _) | Kind::Unary(_, base) => self.expr(base),
            Kind::Index(a, b) | Kind::Binary(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            Kind::Slice(base, from, to) => {
                self.expr(base);
                self.all(from.iter().chain(to).map(|e| &**e));
            }
            Kind::Call(function, arguments) => {
                if !matches!(function.kind, Kind::Name(_)) {
                    self.expr(function);
                }
                self.all(arguments);
            }
            Kind::And(parts) | Kind::Or(parts) | Kind::List(parts) | Kind::Set(parts) => {
                self.all(parts);
            }
            Kind::Compare(left, rest) => {
                self.expr(left);
                self.all(rest.iter().map(|(_, e)| e));
            }
            Kind::If(condition, a, b) => {
                self.expr(condition);
                self.expr(a);
                self.expr(b);
            }
            Kind::Dict(entries) => self.all(entries.iter().flat_map(|(k, v)| [k, v])),
            Kind::Comprehension { item, name, source, filter } => {
                self.expr(source);
                self.bound.push(&name.node);
                self.all(filter.as_deref());
                self.expr(item);
                self.bound.pop();
            }
        }
    }
}
