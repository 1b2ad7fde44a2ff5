//! Tests of charts.

use super::{Comment, Expr, Noted, Path};
use crate::span::{Ident, Span, Spanned};

/// `test "name" for N { … }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The name of the test.
    pub name: Spanned<String>,
    /// The name of the chart.
    pub chart: Ident,
    /// The items, in order.
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
    /// `at s, t`: the states in which the run begins.
    At(Vec<Path>),
    /// `send e(a)`.
    Send(Path, Vec<Expr>),
    /// `turn`, or `turns 3` with the number.
    Turn(Option<Spanned<u32>>),
    /// `set x = 1`.
    Set(Ident, Expr),
    /// `wait 5s`.
    Wait(Expr),
    /// `answers s …`.
    Answers(StepRef, TestAnswer),
    /// `fails s timeout`.
    Fails(StepRef, FailureReason),
    /// `tool a.b returns 1`.
    Returns(Path, Expr),
    /// `tool a.b fails "why"`.
    ToolFails(Path, FailureReason),
    /// `expect …`.
    Expect(Expectation),
    /// A part that recovery skipped.
    Bad(Span),
}

/// A reference to a step that is asked: `s`, `child/s`, `s[1]`.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRef {
    /// The `run` steps that lead to the chart, outermost first.
    pub path: Vec<Ident>,
    /// The step.
    pub step: Ident,
    /// The index of the element, from 0.
    pub element: Option<Spanned<u32>>,
}

/// `fn f(a) = 1`, `fn f fails "why"`.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenFunction {
    /// The host function.
    pub name: Ident,
    /// The expected arguments; `None` matches any.
    pub arguments: Option<Vec<Expr>>,
    /// The result, or the reason why it fails.
    pub result: Result<Expr, FailureReason>,
}

/// An answer of a model or a person.
#[derive(Debug, Clone, PartialEq)]
pub enum TestAnswer {
    /// A literal text.
    Text(Spanned<String>),
    /// An option or a tool, with its arguments.
    Option(Path, Vec<Expr>),
    /// A value, sent as JSON.
    Value(Expr),
}

/// The reason with which a call fails.
#[derive(Debug, Clone, PartialEq)]
pub enum FailureReason {
    /// `timeout`, `rate_limited`, …
    Kind(Ident),
    /// Any other reason.
    Text(Spanned<String>),
}

/// `expect …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// `not` before an expectation that is not an expression.
    pub negated: bool,
    /// The expected fact.
    pub what: Assertion,
}

/// A fact that a test expects.
#[derive(Debug, Clone, PartialEq)]
pub enum Assertion {
    /// A condition that must hold.
    Holds(Expr),
    /// `at s, t`.
    At(Vec<Path>),
    /// `ended ok`.
    Ended(Option<Spanned<String>>),
    /// `offered only a, b`: the names, and whether there may be no others.
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
