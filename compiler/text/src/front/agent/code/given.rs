//! The agent's own inputs: names that code reads from the context and that nothing in the file sets.

use super::{Converter, Role, Scope, Ty};
use crate::front::agent::make::{expr, text};
use crate::front::agent::node::{Node, Value};
use crate::front::agent::python::{Asked, Expr as Python, Literal, PyExprKind};
use crate::span::Span;
use crate::syntax::{CompareOp, Entry, Expr, ExprKind};

/// One of the agent's own inputs.
#[derive(Debug, Clone)]
pub(in crate::front::agent) struct InputUse {
    /// The name in the chart.
    pub(in crate::front::agent) written: String,
    /// The default; without one, the host must set the input.
    pub(in crate::front::agent) default: Option<Literal>,
    /// Whether a missing value is `none` in the chart, because reads test for it or have different defaults.
    pub(in crate::front::agent) optional: bool,
    /// The place of the first read.
    pub(in crate::front::agent) span: Span,
}

impl InputUse {
    /// Derives an input and, as far as possible, its type from the ways in which code reads it.
    pub(in crate::front::agent) fn of(written: String, asked: &[&Asked], span: Span) -> (Self, Ty) {
        let mut defaults: Vec<&Literal> = Vec::new();
        let (mut optional, mut bare, mut ty) = (false, false, Ty::Unknown);
        for one in asked {
            match one {
                Asked::Key => {}
                Asked::Has => optional = true,
                // A default that is computed cannot be declared.
                Asked::Computed => optional = true,
                Asked::Get(default) => {
                    bare |= *default == Literal::None;
                    ty = ty.join(literal_type(default));
                    if !defaults.contains(&default) {
                        defaults.push(default);
                    }
                }
            }
        }
        optional |= defaults.len() > 1;
        let default =
            if optional { Some(Literal::None) } else { defaults.first().copied().cloned() };
        // Without a default, a read of a missing value gives `none`.
        let ty = if bare { Ty::Json } else { ty };
        (Self { written, default, optional, span }, ty)
    }

    /// Creates an input that the file declares, with its default. If the default is `none`, the input may hold any value.
    pub(in crate::front::agent) fn of_file(
        written: String,
        default: &Node,
        span: Span,
    ) -> (Self, Ty) {
        let default = value(default);
        let ty = if default == Literal::None { Ty::Json } else { literal_type(&default) };
        (Self { written, default: Some(default), optional: false, span }, ty)
    }

    /// Creates an input that only conditions read. The default is false if only its truth value `decides`, else `none`: a condition that
    /// uses `none` fails and is false.
    pub(in crate::front::agent) fn of_condition(
        written: String,
        decides: bool,
        span: Span,
    ) -> (Self, Ty) {
        let (default, ty) =
            if decides { (Literal::Bool(false), Ty::Bool) } else { (Literal::None, Ty::Json) };
        (Self { written, default: Some(default), optional: false, span }, ty)
    }

    /// The default as an expression of the chart.
    pub(in crate::front::agent) fn declared(&self) -> Option<Expr> {
        self.default.as_ref().map(|value| constant(value, self.span))
    }
}

/// Converts a YAML value to a constant.
fn value(node: &Node) -> Literal {
    match &node.value {
        Value::Null => Literal::None,
        Value::Bool(b) => Literal::Bool(*b),
        Value::Int(i) => Literal::Int(*i),
        Value::Float(x) => Literal::Float(*x),
        Value::Text(text) => Literal::Text(text.value.clone()),
        Value::List(items) => Literal::List(items.iter().map(value).collect()),
        Value::Map(entries) => {
            Literal::Map(entries.iter().map(|(k, v)| (k.key(), value(v))).collect())
        }
    }
}

fn literal_type(value: &Literal) -> Ty {
    let all = |items: &mut dyn Iterator<Item = &Literal>| {
        items.fold(Ty::Unknown, |ty, item| ty.join(literal_type(item)))
    };
    match value {
        Literal::None => Ty::None,
        Literal::Bool(_) => Ty::Bool,
        Literal::Int(_) => Ty::Int,
        Literal::Float(_) => Ty::Float,
        Literal::Text(_) => Ty::Text,
        Literal::List(items) => all(&mut items.iter()).list(),
        Literal::Map(entries) => all(&mut entries.iter().map(|(_, value)| value)).map(),
    }
}

fn constant(value: &Literal, span: Span) -> Expr {
    let kind = match value {
        Literal::None => ExprKind::None,
        Literal::Bool(b) => ExprKind::Bool(*b),
        Literal::Int(i) => ExprKind::Int(*i),
        Literal::Float(x) => ExprKind::Float(*x),
        Literal::Text(words) => return text(words.clone(), span),
        Literal::List(items) => {
            ExprKind::List(items.iter().map(|item| constant(item, span)).collect())
        }
        Literal::Map(entries) => ExprKind::Map(
            entries
                .iter()
                .map(|(key, value)| Entry {
                    key: text(key.clone(), span),
                    value: constant(value, span),
                })
                .collect(),
        ),
    };
    expr(kind, span)
}

impl Scope {
    /// Looks up an input among the agent's own.
    pub(in crate::front::agent) fn given(&self, name: &str) -> Option<&InputUse> {
        match self.roles.get(name) {
            Some(Role::Given(given)) => Some(given),
            Some(
                Role::Input(_) | Role::Variable { .. } | Role::Step | Role::State | Role::Missing,
            )
            | None => None,
        }
    }
}

impl Converter<'_> {
    /// Converts `'x' in context`, for an input that may be absent.
    pub(super) fn convert_presence(&mut self, name: &str, span: Span) -> Option<Expr> {
        self.scope.given(name)?;
        let (read, _) = self.scope.maybe(name, span);
        let none = expr(ExprKind::None, span);
        Some(crate::front::agent::make::compare(read, CompareOp::NotEqual, none, span))
    }

    /// Refines the type of an input by the other operand of a comparison or of arithmetic.
    pub(super) fn hint(&mut self, side: &Python, beside: &Ty) {
        let name = if let PyExprKind::Name(name) = &side.kind {
            name.as_str()
        } else if let PyExprKind::Context(name, _) | PyExprKind::Key(name) = &side.kind {
            name.node.as_str()
        } else {
            return;
        };
        if self.scope.given(name).is_none() {
            return;
        }
        let plain = matches!(beside, Ty::Bool | Ty::Int | Ty::Float | Ty::Text);
        let better = match self.scope.types.get(name) {
            None | Some(Ty::Unknown | Ty::None) => plain,
            Some(Ty::Int) => *beside == Ty::Float,
            Some(Ty::Bool | Ty::Float | Ty::Text | Ty::Json | Ty::List(_) | Ty::Map(_)) => false,
        };
        if better {
            self.scope.types.insert(name.to_owned(), beside.clone());
        }
    }
}
