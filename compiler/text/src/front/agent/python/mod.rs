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

mod atom;
mod context;
mod expr;
mod literal;
mod statement;
mod token;
mod walk;

use super::scalar::Text;
use crate::diagnostic::Diagnostic;
use crate::span::{Ident, Span};
use crate::syntax::{BinaryOp, CompareOp, UnaryOp};
use std::ops::Range;

pub(super) use context::{Context, ContextUse};
pub(super) use literal::{Asked, Literal};
pub(super) use walk::uses;

use expr::Parser;

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

impl PyExprKind {
    fn parts_depth(&self) -> usize {
        let deepest = |parts: &[Expr]| parts.iter().map(|e| e.depth).max().unwrap_or(0);
        let maybe = |part: &Option<Box<Expr>>| part.as_ref().map_or(0, |e| e.depth);
        match self {
            Self::None
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Text(_)
            | Self::Name(_)
            | Self::Key(_)
            | Self::Has(_)
            | Self::Bad => 0,
            Self::Context(_, default) => maybe(default),
            Self::Attribute(a, _) | Self::Unary(_, a) => a.depth,
            Self::Index(a, b) | Self::Binary(_, a, b) => a.depth.max(b.depth),
            Self::Slice(a, from, to) => a.depth.max(maybe(from)).max(maybe(to)),
            Self::Call(f, arguments) => f.depth.max(deepest(arguments)),
            // A chain becomes a tree that is as deep as it is long.
            Self::And(parts) | Self::Or(parts) => parts.len() + deepest(parts),
            Self::Compare(a, rest) => {
                rest.iter().map(|(_, e)| e.depth).max().unwrap_or(0).max(a.depth)
            }
            Self::If(a, b, c) => a.depth.max(b.depth).max(c.depth),
            Self::List(items) | Self::Set(items) => deepest(items),
            Self::Dict(entries) => {
                entries.iter().map(|(k, v)| k.depth.max(v.depth)).max().unwrap_or(0)
            }
            Self::Comprehension { item, source, filter, .. } => {
                item.depth.max(source.depth).max(maybe(filter))
            }
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

#[cfg(test)]
mod tests;
