//! Turns reads and writes through `locals()` and `context`, two names of the context, into plain names.

use super::{Expr, PyExprKind, Statement, StatementKind};
use crate::diagnostic::Diagnostic;
use crate::front::agent::builtin::CURRENT_STATE;
use crate::rules::REFUSED_CODE;
use crate::span::{Ident, Span};
use crate::syntax::{CompareOp, UnaryOp};
use std::collections::BTreeSet;

/// Functions that return the context.
const CONTEXT_CALLS: &[&str] = &["locals", "globals", "vars"];

fn is_context_call(function: &Expr) -> bool {
    matches!(&function.kind, PyExprKind::Name(n) if CONTEXT_CALLS.contains(&n.as_str()))
}

/// A use of `context` in a code step.
#[derive(Debug, Clone)]
pub(in crate::front::agent) struct ContextUse {
    /// The name that is read through it; `None` for a write.
    pub(in crate::front::agent) read: Option<String>,
    /// The place of the word `context`.
    pub(in crate::front::agent) span: Span,
}

/// A rewriter of one snippet, which knows the aliases of the context.
pub(in crate::front::agent) struct Context<'f> {
    aliases: BTreeSet<String>,
    /// The uses of `context`, in order.
    pub(in crate::front::agent) used: Vec<ContextUse>,
    findings: &'f mut Vec<Diagnostic>,
}

impl<'f> Context<'f> {
    /// Creates a rewriter; at first, only `context` is an alias.
    pub(in crate::front::agent) fn new(findings: &'f mut Vec<Diagnostic>) -> Self {
        Self { aliases: BTreeSet::from(["context".to_owned()]), used: Vec::new(), findings }
    }

    /// Rewrites statements in order, and removes those that bind an alias.
    pub(in crate::front::agent) fn statements(&mut self, all: Vec<Statement>) -> Vec<Statement> {
        let mut out = Vec::new();
        for Statement { kind, apart, span } in all {
            let kind = match kind {
                StatementKind::Assign(name, value) => {
                    if self.take_context(&value) {
                        self.aliases.insert(name.node);
                        continue;
                    }
                    // After `ctx = 1`, the name is an ordinary variable.
                    self.aliases.remove(&name.node);
                    if name.node.starts_with('_') {
                        self.refuse(name.span, format!("`{}` cannot be assigned to", name.node));
                        continue;
                    }
                    StatementKind::Assign(name, self.expr(value))
                }
                StatementKind::Store { mapping, key, value } => {
                    let base = Expr::new(PyExprKind::Name(mapping.node.clone()), mapping.span);
                    if !self.take_context(&base) {
                        let message = format!("`{}` cannot be changed in place", mapping.node);
                        self.refuse(mapping.span, message);
                        continue;
                    }
                    let plain = key.node.chars().all(|c| c.is_alphanumeric() || c == '_');
                    if !plain || !key.node.starts_with(char::is_alphabetic) {
                        self.refuse(key.span, format!("`{}` is no name for a variable", key.node));
                        continue;
                    }
                    let value = self.expr(value);
                    if value.kind == PyExprKind::Name(key.node.clone()) {
                        StatementKind::Again(key, value)
                    } else {
                        StatementKind::Assign(key, value)
                    }
                }
                // Only this rewriting creates these statements, so there are none in its input.
                again @ StatementKind::Again(..) => again,
                StatementKind::If(condition, then, other) => {
                    let condition = self.expr(condition);
                    StatementKind::If(condition, self.statements(then), self.statements(other))
                }
                StatementKind::For(name, source, body) => {
                    let source = self.expr(source);
                    StatementKind::For(name, source, self.statements(body))
                }
            };
            out.push(Statement { kind, apart, span });
        }
        out
    }

    fn refuse(&mut self, span: Span, message: String) -> Expr {
        self.findings.push(REFUSED_CODE.at(span, message));
        Expr::new(PyExprKind::Bad, span)
    }

    /// Whether an expression is the context. Records a use of `context` by its own name.
    fn take_context(&mut self, expr: &Expr) -> bool {
        if let PyExprKind::Name(name) = &expr.kind
            && self.aliases.contains(name)
        {
            if name == "context" {
                self.used.push(ContextUse { read: None, span: expr.span });
            }
            return true;
        }
        matches!(&expr.kind, PyExprKind::Call(f, arguments) if arguments.is_empty() && is_context_call(f))
    }

    /// Records that the use of `context` at this place, if there is one, reads `name`.
    fn record_read(&mut self, at: Span, name: &str) {
        if let Some(last) = self.used.last_mut().filter(|last| last.span == at) {
            last.read = Some(name.to_owned());
        }
    }

    fn boxed(&mut self, mut expr: Box<Expr>) -> Box<Expr> {
        let span = expr.span;
        let taken = std::mem::replace(&mut *expr, Expr::new(PyExprKind::Bad, span));
        *expr = self.expr(taken);
        expr
    }

    fn all(&mut self, exprs: Vec<Expr>) -> Vec<Expr> {
        exprs.into_iter().map(|e| self.expr(e)).collect()
    }

    /// Rewrites an expression: a read of the context becomes a read of a name.
    pub(in crate::front::agent) fn expr(&mut self, expr: Expr) -> Expr {
        let span = expr.span;
        let kind = match expr.kind {
            PyExprKind::Name(name) => {
                let base = Expr::new(PyExprKind::Name(name.clone()), span);
                if self.take_context(&base) {
                    let message = format!("`{name}` can only be read with `.get(…)` or `[…]`");
                    return self.refuse(span, message);
                }
                if name.starts_with('_') && name != CURRENT_STATE {
                    return self.refuse(
                        span,
                        format!("`{name}`: names that start with `_` are not available here"),
                    );
                }
                PyExprKind::Name(name)
            }
            PyExprKind::Call(function, arguments) => return self.call(*function, arguments, span),
            PyExprKind::Index(base, key) if self.take_context(&base) => {
                let PyExprKind::Text(name) = key.kind else {
                    return self
                        .refuse(key.span, "the context is read by a name in quotes".to_owned());
                };
                self.record_read(base.span, &name);
                PyExprKind::Key(Ident::new(name, span))
            }
            PyExprKind::Compare(left, rest) => return self.compare(*left, rest, span),
            PyExprKind::Attribute(base, name) => {
                if name.node.starts_with('_') {
                    let message = format!(
                        "`.{}`: names that start with `_` are not available here",
                        name.node
                    );
                    return self.refuse(name.span, message);
                }
                PyExprKind::Attribute(self.boxed(base), name)
            }
            PyExprKind::Index(base, key) => PyExprKind::Index(self.boxed(base), self.boxed(key)),
            PyExprKind::Slice(base, from, to) => {
                let base = self.boxed(base);
                PyExprKind::Slice(base, from.map(|e| self.boxed(e)), to.map(|e| self.boxed(e)))
            }
            PyExprKind::Unary(op, operand) => PyExprKind::Unary(op, self.boxed(operand)),
            PyExprKind::Binary(op, left, right) => {
                PyExprKind::Binary(op, self.boxed(left), self.boxed(right))
            }
            PyExprKind::And(parts) => PyExprKind::And(self.all(parts)),
            PyExprKind::Or(parts) => PyExprKind::Or(self.all(parts)),
            PyExprKind::If(c, a, b) => PyExprKind::If(self.boxed(c), self.boxed(a), self.boxed(b)),
            PyExprKind::List(items) => PyExprKind::List(self.all(items)),
            PyExprKind::Set(items) => PyExprKind::Set(self.all(items)),
            PyExprKind::Dict(entries) => PyExprKind::Dict(
                entries.into_iter().map(|(k, v)| (self.expr(k), self.expr(v))).collect(),
            ),
            PyExprKind::Comprehension { item, name, source, filter } => PyExprKind::Comprehension {
                item: self.boxed(item),
                name,
                source: self.boxed(source),
                filter: filter.map(|f| self.boxed(f)),
            },
            plain @ (PyExprKind::None
            | PyExprKind::Bool(_)
            | PyExprKind::Int(_)
            | PyExprKind::Float(_)
            | PyExprKind::Text(_)
            | PyExprKind::Context(..)
            | PyExprKind::Key(_)
            | PyExprKind::Has(_)
            | PyExprKind::Bad) => plain,
        };
        Expr::new(kind, span)
    }

    fn call(&mut self, function: Expr, arguments: Vec<Expr>, span: Span) -> Expr {
        if let PyExprKind::Attribute(base, method) = &function.kind
            && self.take_context(base)
        {
            if method.node != "get" {
                let message = format!("`.{}` of the context is not available here", method.node);
                return self.refuse(method.span, message);
            }
            let mut arguments = arguments.into_iter();
            let (name, default, more) = (arguments.next(), arguments.next(), arguments.next());
            return match name {
                Some(Expr { kind: PyExprKind::Text(name), span: at, .. }) if more.is_none() => {
                    self.record_read(base.span, &name);
                    let default = default.map(|d| Box::new(self.expr(d)));
                    Expr::new(PyExprKind::Context(Ident::new(name, at), default), span)
                }
                _ => self.refuse(span, "the context is read by a name in quotes".to_owned()),
            };
        }
        if is_context_call(&function) {
            let message = "the whole context can only be read with `.get(…)` or `[…]`";
            return self.refuse(span, message.to_owned());
        }
        let function = self.function(function);
        let arguments = self.all(arguments);
        Expr::new(PyExprKind::Call(Box::new(function), arguments), span)
    }

    /// Rewrites the callee. The name of a function is no name of the context.
    fn function(&mut self, function: Expr) -> Expr {
        let span = function.span;
        if matches!(function.kind, PyExprKind::Name(_)) {
            return function;
        }
        if let PyExprKind::Attribute(base, name) = function.kind {
            return Expr::new(PyExprKind::Attribute(self.boxed(base), name), span);
        }
        self.expr(function)
    }

    /// Rewrites a comparison; `'x' in locals()` becomes a test of presence.
    fn compare(&mut self, left: Expr, mut rest: Vec<(CompareOp, Expr)>, span: Span) -> Expr {
        if let [(op @ (CompareOp::In | CompareOp::NotIn), right)] = rest.as_slice()
            && self.take_context(right)
            && let PyExprKind::Text(name) = &left.kind
        {
            self.record_read(right.span, name);
            let has = Expr::new(PyExprKind::Has(Ident::new(name.clone(), left.span)), span);
            if *op == CompareOp::NotIn {
                return Expr::new(PyExprKind::Unary(UnaryOp::Not, Box::new(has)), span);
            }
            return has;
        }
        for (_, right) in &mut rest {
            let taken = std::mem::replace(right, Expr::new(PyExprKind::Bad, span));
            *right = self.expr(taken);
        }
        Expr::new(PyExprKind::Compare(Box::new(self.expr(left)), rest), span)
    }
}
