//! The supported part of ECMAScript: expressions, and scripts of assignments, `if` and `for … of`.
//!
//! A text becomes tokens with places and line breaks, then a tree of forms that have a counterpart in a chart. Everything else is a
//! [`Fault`]: invalid text fails at run time, as SCXML demands, and valid text that is not translated is refused. For example:
//!
//! ```text
//! xs.push(n); n++             Push(xs, n), Assign(n, +n + 1)
//! if (n > 3) { n = 0 }        If(n > 3, [Assign(n, 0)], [])
//! n = f(x => x)               refused: a function is not translated
//! n = (1                      faulty: expected `)`, found the end
//! ```

mod atom;
mod expr;
mod statement;
mod token;

pub(super) use expr::is_name as is_variable;
pub(super) use statement::statements;

use super::text::Text;
use crate::span::{Ident, Span};
use crate::syntax::{BinaryOp, CompareOp};

/// The reason why a text is not translated.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fault {
    /// The text is not valid ECMAScript. It fails at run time.
    Faulty(Span, String),
    /// The text is ECMAScript that is not translated.
    Refused(Span, String),
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expr {
    pub(super) kind: ScriptExprKind,
    pub(super) span: Span,
    /// The depth of the tree.
    depth: usize,
}

/// The forms of expressions.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ScriptExprKind {
    /// `undefined`, `null`, `void 0`: one value here.
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Name(String),
    /// `x.f`.
    Member(Box<Expr>, Ident),
    /// `x[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `f(a, b)`.
    Call(Box<Expr>, Vec<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    /// `+x`: the value as a number.
    Number(Box<Expr>),
    Typeof(Box<Expr>),
    /// An arithmetic operation.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `==` and `===`, without distinction, and `<`, `<=`, `>`, `>=`.
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    /// `a ?? b`.
    Nullish(Box<Expr>, Box<Expr>),
    /// `c ? a : b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Array(Vec<Expr>),
    Object(Vec<(Ident, Expr)>),
    /// An invalid expression, which fails at run time with this reason.
    Faulty(String),
}

impl Expr {
    pub(super) fn new(kind: ScriptExprKind, span: Span) -> Self {
        Self { depth: depth(&kind), kind, span }
    }
}

fn depth(kind: &ScriptExprKind) -> usize {
    let below = match kind {
        ScriptExprKind::None
        | ScriptExprKind::Bool(_)
        | ScriptExprKind::Int(_)
        | ScriptExprKind::Float(_)
        | ScriptExprKind::Text(_)
        | ScriptExprKind::Name(_)
        | ScriptExprKind::Faulty(_) => 0,
        ScriptExprKind::Member(x, _)
        | ScriptExprKind::Not(x)
        | ScriptExprKind::Negate(x)
        | ScriptExprKind::Number(x)
        | ScriptExprKind::Typeof(x) => x.depth,
        ScriptExprKind::Index(a, b)
        | ScriptExprKind::Binary(_, a, b)
        | ScriptExprKind::Compare(_, a, b)
        | ScriptExprKind::And(a, b)
        | ScriptExprKind::Or(a, b)
        | ScriptExprKind::Nullish(a, b) => a.depth.max(b.depth),
        ScriptExprKind::Call(f, all) => all.iter().map(|e| e.depth).max().unwrap_or(0).max(f.depth),
        ScriptExprKind::If(a, b, c) => a.depth.max(b.depth).max(c.depth),
        ScriptExprKind::Array(all) => all.iter().map(|e| e.depth).max().unwrap_or(0),
        ScriptExprKind::Object(all) => all.iter().map(|(_, e)| e.depth).max().unwrap_or(0),
    };
    below + 1
}

/// A statement of a script.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statement {
    pub(super) kind: StatementKind,
    pub(super) span: Span,
}

/// The forms of statements.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum StatementKind {
    /// `place = e`; `x += e` and `x++` are expanded to it.
    Assign(Expr, Expr),
    /// `var x = e`, `var x`.
    Declare(Ident, Option<Expr>),
    If(Expr, Vec<Statement>, Vec<Statement>),
    /// `for (const x of xs)`.
    ForOf(Ident, Expr, Vec<Statement>),
    /// `xs.push(e)`.
    Push(Expr, Expr),
    /// `console.log(a, b)`.
    Log(Vec<Expr>),
    /// An invalid script, which fails at run time with this reason.
    Faulty(String),
}

/// Parses a text as one expression.
pub(super) fn expression(text: &Text) -> Result<Expr, Fault> {
    expr::whole(text)
}
