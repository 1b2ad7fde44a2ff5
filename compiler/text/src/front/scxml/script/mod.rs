//! The supported part of ECMAScript: expressions, and scripts of assignments, `if` and `for … of`.

mod atom;
mod expr;
mod statement;
mod token;

pub(super) use expr::is_name as is_variable;
pub(super) use statement::statements;

use super::text::Text;
use crate::span::{Ident, Span};
use crate::syntax::{BinaryOp, CompareOp};

/// Why a text is not translated.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fault {
    /// It is not valid ECMAScript; it fails at run time.
    Faulty(Span, String),
    /// It is ECMAScript that is not translated.
    Refused(Span, String),
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expr {
    pub(super) kind: ScriptExprKind,
    pub(super) span: Span,
    /// How deep it nests.
    depth: usize,
}

/// The form of an expression.
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
    /// `+x`.
    Number(Box<Expr>),
    Typeof(Box<Expr>),
    /// Arithmetic only.
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
    /// Invalid; fails at run time.
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

/// The form of a statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum StatementKind {
    /// `place = e`; `x += e` and `x++` are expanded to this.
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
    /// Invalid; fails at run time.
    Faulty(String),
}

/// Parses a text as one expression.
pub(super) fn expression(text: &Text) -> Result<Expr, Fault> {
    expr::whole(text)
}
