//! Tests of charts.

use super::{Comment, Expr, Noted, Path};
use crate::span::{Ident, Span, Spanned};

/// `test "name" for N { … }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: Spanned<String>,
    /// The chart.
    pub chart: Ident,
    /// What is given, done and expected, in order.
    pub items: Vec<Noted<TestItem>>,
    /// Comments after the last item.
    pub end: Vec<Comment>,
}

/// One item of a test.
#[derive(Debug, Clone, PartialEq)]
pub enum TestItem {
    /// `given x = 1`.
    Given(Ident, Expr),
    /// `given fn f(a) = 1`.
    GivenFunction(GivenFunction),
    /// `at s, t`: where the run begins.
    At(Vec<Path>),
    /// `send e(a)`.
    Send(Path, Vec<Expr>),
    /// `turn`; `turns 3` with how many.
    Turn(Option<Spanned<u32>>),
    /// `set x = 1`.
    Set(Ident, Expr),
    /// `wait 5s`.
    Wait(Expr),
    /// `answers s …`.
    Answers(Ident, Said),
    /// `fails s timeout`.
    Fails(Ident, Why),
    /// `tool a.b returns 1`.
    Returns(Path, Expr),
    /// `tool a.b fails "why"`.
    ToolFails(Path, Why),
    /// `expect …`.
    Expect(Expectation),
    /// What recovery skipped.
    Bad(Span),
}

/// `fn f(a) = 1`, `fn f fails "why"`.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenFunction {
    /// The host function.
    pub name: Ident,
    /// What it is called with; `None` is anything.
    pub arguments: Option<Vec<Expr>>,
    /// What it gives, or why it fails.
    pub result: Result<Expr, Why>,
}

/// What a model or a person says.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// Word for word.
    Text(Spanned<String>),
    /// An option or a tool, with its arguments.
    Option(Path, Vec<Expr>),
    /// A value, which is written as JSON.
    Value(Expr),
}

/// How a call fails.
#[derive(Debug, Clone, PartialEq)]
pub enum Why {
    /// `timeout`, `rate_limited`, …
    Kind(Ident),
    /// In other words.
    Text(Spanned<String>),
}

/// `expect …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// `not` before what is no expression.
    pub negated: bool,
    /// What.
    pub what: Told,
}

/// What is expected.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// A condition.
    Holds(Expr),
    /// `at s, t`.
    At(Vec<Path>),
    /// `ended ok`.
    Ended(Option<Spanned<String>>),
    /// `offered only a, b`: the names, and whether these are all.
    Offered(Vec<Path>, bool),
    /// `denied -> s`.
    Denied(Option<Path>),
    /// `called f(a)`.
    Called(Path, Option<Vec<Expr>>),
    /// `asked s`.
    Asked(Ident),
    /// `prompt of s contains "…"`.
    Prompt(Ident, Spanned<String>),
    /// `x contains "…"`.
    Text(Ident, Spanned<String>),
}
