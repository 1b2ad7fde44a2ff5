//! Expressions, templates, statements, actions.

pub use chartc_core::model::{BinaryOp, Binding, CompareOp, Forward, UnaryOp};

use super::source::{Ident, Span, Spanned};
use super::{Noted, Path};

/// A type as written.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeExpr {
    /// The form of the type.
    pub kind: TypeKind,
    /// The whole type.
    pub span: Span,
}

/// The form of a type.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeKind {
    /// `Bool Int Float Text Duration Json`, or a declared name.
    Name(String),
    /// `List(T)`.
    List(Box<TypeExpr>),
    /// `Map(Text, T)`: key and value.
    Map(Box<TypeExpr>, Box<TypeExpr>),
    /// `T?`.
    Optional(Box<TypeExpr>),
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// The form of the expression.
    pub kind: ExprKind,
    /// The whole expression, without parentheses.
    pub span: Span,
}

/// The form of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// `none`.
    None,
    /// A part that recovery skipped, which is reported.
    Bad,
    /// `true`, `false`.
    Bool(bool),
    /// Digits.
    Int(i64),
    /// Digits with a point or an exponent.
    Float(f64),
    /// A string, which may interpolate.
    Text(Template),
    /// `30s`, in milliseconds.
    Duration(u64),
    /// A name.
    Name(String),
    /// `x.f`; the parser also reads the state path of `in(a.b)` and the enum value `E.a` as this.
    Field(Box<Expr>, Ident),
    /// `x[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `x[a:b]`.
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    /// `f(a, b)`: a built-in function, a host function, or `in(s)`, `turns_in(s)`, `streak(..)`.
    Call(Ident, Vec<Expr>),
    /// `not x`, `-x`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a < b <= c`.
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    /// `if c then a else b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `x ?? d`.
    Default(Box<Expr>, Box<Expr>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `{"a": b}`.
    Map(Vec<Entry>),
    /// `P { a: b }`.
    Record(Ident, Vec<(Ident, Expr)>),
    /// `[item for name in source if filter]`.
    Comprehension {
        /// The item of the result.
        item: Box<Expr>,
        /// The name that is bound to each element.
        name: Ident,
        /// The list that is iterated over.
        source: Box<Expr>,
        /// The condition that elements must meet.
        filter: Option<Box<Expr>>,
    },
}

/// One `key: value` of a map literal.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key, of type Text.
    pub key: Expr,
    /// The value, of any type.
    pub value: Expr,
}

/// A string with placeholders.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// The texts and placeholders, in order.
    pub parts: Vec<TemplatePart>,
    /// The whole string with its quotes; in YAML, the text of the scalar.
    pub span: Span,
    /// Whether it is written as `"""…"""`. It is printed in the same way.
    pub block: bool,
}

/// Plain text or a placeholder.
#[derive(Debug, Clone, PartialEq)]
pub enum TemplatePart {
    /// The text that is meant: without escapes and, in a block string, without indentation.
    Text(String, Span),
    /// `{expr:spec}`.
    Hole(Box<Hole>),
    /// An unreadable `{…}` or a stray brace.
    Bad {
        /// The text, as written, including its braces.
        text: String,
        /// The reason why it is unreadable, as in the message of the diagnostic.
        why: String,
        /// The place of the text.
        span: Span,
    },
}

/// A placeholder.
#[derive(Debug, Clone, PartialEq)]
pub struct Hole {
    /// The expression whose value is shown. `{options}` is a name here, too.
    pub expr: Expr,
    /// The format after the colon; may be empty.
    pub spec: Spanned<String>,
    /// The placeholder, with its braces.
    pub span: Span,
}

/// An action block.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The actions, in order.
    pub actions: Vec<Noted<Action>>,
    /// The block, with its braces.
    pub span: Span,
}

/// An item of an action block or of a `code` step; the latter has only `=`, `if` and `for`.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// `x = e`.
    Assign(Ident, Expr),
    /// `if c { } else { }`; an `else if` is nested.
    If(Expr, Vec<Noted<Action>>, Vec<Noted<Action>>),
    /// `for x in xs { }`.
    For(Ident, Expr, Vec<Noted<Action>>),
    /// `f(args)`: a `do` call.
    Do(Ident, Vec<Expr>),
    /// `raise e(args)`.
    Raise(Path, Vec<Expr>),
    /// `send e(args) after 5s as id`.
    Send {
        /// The event that is sent.
        event: Path,
        /// The data of the event.
        arguments: Vec<Expr>,
        /// `to`: the receiver, a `run` step or `parent`, with the index of an element.
        to: Option<Box<(Ident, Option<Expr>)>>,
        /// `after`: the delay.
        after: Option<Expr>,
        /// `as`: the name for `cancel`.
        id: Option<Ident>,
    },
    /// `cancel id`.
    Cancel(Ident),
    /// `log "text"`.
    Log(Template),
}
