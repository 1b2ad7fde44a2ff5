//! The Python of conditions and code steps: a subset without access to anything outside, with a small syntax tree of its own.
//!
//! The problem: agents contain Python, which must neither run here nor be guessed at. The idea: a tokenizer with Python's indentation, a
//! parser of the subset with a bound on depth and size, and a pass that turns the ways of reading the context into plain names. Code
//! outside of the subset is refused at its place. For example:
//!
//! ```text
//! if context.get('mood', 'ok') != 'bad':      tokens   if, context, ., get, (, …, :, newline, indent, n, +=, 1, newline, dedent
//!     n += 1                                  tree     If(Compare(Call(…), != 'bad'), [Assign(n, n + 1)])
//!                                             context  If(Compare(Context(mood, 'ok'), != 'bad'), [Assign(n, n + 1)])
//! ```

mod expr;
mod statement;
#[cfg(test)]
mod tests;
mod token;

use super::definition::CURRENT_STATE;
use super::text::Text;
use crate::rules::REFUSED_CODE;
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{Ident, Span};
use crate::syntax::{BinaryOp, CompareOp, UnaryOp};
use expr::Parser;
use std::collections::BTreeSet;
use std::ops::Range;

/// An expression with its span in the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expr {
    /// The form, with its parts.
    pub(super) kind: PyExprKind,
    /// The place in the file, without enclosing parentheses.
    pub(super) span: Span,
    /// The depth of the tree, at most [`MAX_DEPTH`].
    depth: usize,
}

/// The maximum depth of an expression: parsers and later passes recurse as deeply.
const MAX_DEPTH: usize = 60;

impl Expr {
    /// Creates an expression and computes its depth.
    pub(super) fn new(kind: PyExprKind, span: Span) -> Self {
        let depth = 1 + kind.parts_depth();
        Self { kind, span, depth }
    }
}

/// The forms of expressions.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PyExprKind {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Name(String),
    Attribute(Box<Expr>, Ident),
    Index(Box<Expr>, Box<Expr>),
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    Call(Box<Expr>, Vec<Expr>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a and b and c`, with at least two operands.
    And(Vec<Expr>),
    /// `a or b or c`, with at least two operands.
    Or(Vec<Expr>),
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    /// `then if condition else other`, in the order condition, then, other.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A list or a tuple.
    List(Vec<Expr>),
    Set(Vec<Expr>),
    Dict(Vec<(Expr, Expr)>),
    /// A list comprehension or a generator.
    Comprehension {
        item: Box<Expr>,
        name: Ident,
        source: Box<Expr>,
        filter: Option<Box<Expr>>,
    },
    /// The value of a name in the context, or a default: `locals().get('x', d)`.
    Context(Ident, Option<Box<Expr>>),
    /// The value of a name in the context: `context['x']`.
    Key(Ident),
    /// Whether the context has a value for a name: `'x' in locals()`.
    Has(Ident),
    /// An expression that was refused, which is reported.
    Bad,
}

/// Visits the parts of an expression in the order in which they are evaluated, except that the item of a comprehension comes first.
macro_rules! each_part {
    ($kind:expr, $visit:ident) => {
        match $kind {
            PyExprKind::None
            | PyExprKind::Bool(_)
            | PyExprKind::Int(_)
            | PyExprKind::Float(_)
            | PyExprKind::Text(_)
            | PyExprKind::Name(_)
            | PyExprKind::Key(_)
            | PyExprKind::Has(_)
            | PyExprKind::Context(_, None)
            | PyExprKind::Bad => {}
            PyExprKind::Attribute(a, _)
            | PyExprKind::Unary(_, a)
            | PyExprKind::Context(_, Some(a)) => $visit(a),
            PyExprKind::Index(a, b) | PyExprKind::Binary(_, a, b) => {
                $visit(a);
                $visit(b);
            }
            PyExprKind::Slice(a, from, to) => {
                $visit(a);
                for part in [from, to].into_iter().flatten() {
                    $visit(part);
                }
            }
            PyExprKind::Call(f, arguments) => {
                $visit(f);
                arguments.into_iter().for_each($visit);
            }
            PyExprKind::And(parts)
            | PyExprKind::Or(parts)
            | PyExprKind::List(parts)
            | PyExprKind::Set(parts) => parts.into_iter().for_each($visit),
            PyExprKind::Compare(a, rest) => {
                $visit(a);
                for (_, part) in rest {
                    $visit(part);
                }
            }
            PyExprKind::If(a, b, c) => {
                $visit(a);
                $visit(b);
                $visit(c);
            }
            PyExprKind::Dict(entries) => {
                for (key, value) in entries {
                    $visit(key);
                    $visit(value);
                }
            }
            PyExprKind::Comprehension { item, source, filter, .. } => {
                $visit(item);
                $visit(source);
                if let Some(part) = filter {
                    $visit(part);
                }
            }
        }
    };
}

impl PyExprKind {
    fn each_part<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        each_part!(self, visit);
    }

    fn each_part_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        each_part!(self, visit);
    }

    fn parts_depth(&self) -> usize {
        let mut deepest = 0;
        self.each_part(&mut |part| deepest = deepest.max(part.depth));
        match self {
            // A chain becomes a tree that is as deep as it is long.
            Self::And(parts) | Self::Or(parts) => parts.len() + deepest,
            _ => deepest,
        }
    }
}

/// A statement. Comments are not part of the tree: see [`comments`].
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statement {
    pub(super) kind: StatementKind,
    /// Whether a blank line precedes it.
    pub(super) apart: bool,
    pub(super) span: Span,
}

/// The forms of statements.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum StatementKind {
    /// `x = e`, `x += e` (as `x = x + e`).
    Assign(Ident, Expr),
    /// `mapping['key'] = e`.
    Store { mapping: Ident, key: Ident, value: Expr },
    /// `context['x'] = x`, which has no effect if `x` is set. The expression is the `x` on the right.
    Again(Ident, Expr),
    /// `if`, with `elif` as a nested one.
    If(Expr, Vec<Statement>, Vec<Statement>),
    /// `for x in xs:`.
    For(Ident, Expr, Vec<Statement>),
}

/// Parses a condition; reports errors. `None` if it has errors or is empty.
pub(super) fn condition(text: &Text, findings: &mut Vec<Diagnostic>) -> Option<Expr> {
    Parser::new(text, true, findings).condition()
}

/// Parses the body of a code step; reports and omits faulty statements.
pub(super) fn code(text: &Text, findings: &mut Vec<Diagnostic>) -> Vec<Statement> {
    Parser::new(text, false, findings).code()
}

/// The comments of a text, each with its `#`.
pub(super) fn comments(text: &Text) -> Vec<Range<usize>> {
    token::comments(text)
}

// Constants, and the forms in which code reads a name from the context.

/// A value that is known without running the code.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
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
pub(super) enum Asked {
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
    fn from_expr(expr: &Expr) -> Option<Self> {
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

// Finds the names that an expression reads.

/// A read of a name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Use {
    /// The name that is read.
    pub(super) name: String,
    /// The place of the name.
    pub(super) span: Span,
    /// Whether it is inside of a comprehension, except in its source.
    pub(super) nested: bool,
    /// The form in which it is read from the context; `None` for a plain name.
    pub(super) asked: Option<Asked>,
}

/// All reads in the order of evaluation, except of names that a comprehension binds.
pub(super) fn uses(expr: &Expr) -> Vec<Use> {
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

    fn expr(&mut self, expr: &'e Expr) {
        match &expr.kind {
            PyExprKind::Name(name) => self.read(name, expr.span, None),
            PyExprKind::Has(name) => self.read(&name.node, name.span, Some(Asked::Has)),
            PyExprKind::Key(name) => self.read(&name.node, name.span, Some(Asked::Key)),
            PyExprKind::Context(name, default) => {
                let value = default.as_deref().map_or(Some(Literal::None), Literal::from_expr);
                let asked = value.map_or(Asked::Computed, Asked::Get);
                self.read(&name.node, name.span, Some(asked));
            }
            PyExprKind::Call(function, arguments)
                if matches!(function.kind, PyExprKind::Name(_)) =>
            {
                return arguments.iter().for_each(|argument| self.expr(argument));
            }
            PyExprKind::Comprehension { item, name, source, filter } => {
                // The source is evaluated outside of the comprehension, before its name is bound.
                self.expr(source);
                self.bound.push(&name.node);
                if let Some(filter) = filter {
                    self.expr(filter);
                }
                self.expr(item);
                self.bound.pop();
                return;
            }
            _ => {}
        }
        expr.kind.each_part(&mut |part| self.expr(part));
    }
}

// Turns reads and writes through `locals()` and `context`, two names of the context, into plain names.

/// Functions that return the context.
const CONTEXT_CALLS: &[&str] = &["locals", "globals", "vars"];

fn is_context_call(function: &Expr) -> bool {
    matches!(&function.kind, PyExprKind::Name(n) if CONTEXT_CALLS.contains(&n.as_str()))
}

/// A use of `context` in a code step.
#[derive(Debug, Clone)]
pub(super) struct ContextUse {
    /// The name that is read through it; `None` for a write.
    pub(super) read: Option<String>,
    /// The place of the word `context`.
    pub(super) span: Span,
}

/// A rewriter of one snippet, which knows the aliases of the context.
pub(super) struct Context<'f> {
    aliases: BTreeSet<String>,
    /// The uses of `context`, in order.
    pub(super) used: Vec<ContextUse>,
    findings: &'f mut Vec<Diagnostic>,
}

impl<'f> Context<'f> {
    /// Creates a rewriter; at first, only `context` is an alias.
    pub(super) fn new(findings: &'f mut Vec<Diagnostic>) -> Self {
        Self { aliases: BTreeSet::from(["context".to_owned()]), used: Vec::new(), findings }
    }

    /// Rewrites statements in order, and removes those that bind an alias.
    pub(super) fn statements(&mut self, all: Vec<Statement>) -> Vec<Statement> {
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

    /// Rewrites the parts of an expression.
    fn parts(&mut self, mut kind: PyExprKind) -> PyExprKind {
        kind.each_part_mut(&mut |part| self.part(part));
        kind
    }

    fn part(&mut self, part: &mut Expr) {
        let span = part.span;
        *part = self.expr(std::mem::replace(part, Expr::new(PyExprKind::Bad, span)));
    }

    /// Rewrites an expression: a read of the context becomes a read of a name.
    pub(super) fn expr(&mut self, expr: Expr) -> Expr {
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
                self.parts(PyExprKind::Attribute(base, name))
            }
            kind => self.parts(kind),
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
        let function = Box::new(self.function(function));
        let arguments = arguments.into_iter().map(|e| self.expr(e)).collect();
        Expr::new(PyExprKind::Call(function, arguments), span)
    }

    /// Rewrites the callee. The name of a function is no name of the context.
    fn function(&mut self, function: Expr) -> Expr {
        let span = function.span;
        if matches!(function.kind, PyExprKind::Name(_)) {
            return function;
        }
        if let kind @ PyExprKind::Attribute(..) = function.kind {
            return Expr::new(self.parts(kind), span);
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
            self.part(right);
        }
        Expr::new(PyExprKind::Compare(Box::new(self.expr(left)), rest), span)
    }
}
