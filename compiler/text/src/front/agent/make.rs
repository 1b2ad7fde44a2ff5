//! Constructors of syntax nodes.

use crate::span::{Ident, Span, Spanned};
use crate::syntax::{
    BinaryOp, ChartItem, CompareOp, Expr, ExprKind, Noted, Path, StateItem, Step, Tail, Target,
    Template, TemplatePart, Trivia, UnaryOp,
};

/// A node without comments and without a blank line before it.
pub(super) fn noted<T>(node: T, span: Span) -> Noted<T> {
    Noted { trivia: Trivia::default(), doc: String::new(), node, span }
}

/// A node with a blank line before it.
pub(super) fn apart<T>(node: T, span: Span) -> Noted<T> {
    let trivia = Trivia { blank_before: true, ..Trivia::default() };
    Noted { trivia, doc: String::new(), node, span }
}

/// A path that consists of one name.
pub(super) fn path(name: &Ident) -> Path {
    Path { names: vec![name.clone()], span: name.span }
}

/// A target without arguments.
pub(super) fn target(name: &Ident) -> Target {
    Target { path: path(name), arguments: Vec::new() }
}

/// The end of a line: `[if guard] [-> to]`.
pub(super) fn tail(guard: Option<Expr>, to: Option<&Ident>) -> Tail {
    Tail { guard, targets: to.map(target).into_iter().collect(), reenter: false, actions: None }
}

/// A step as an item of a chart's body, after a blank line.
pub(super) fn chart_step(step: Step, span: Span) -> Noted<ChartItem> {
    apart(ChartItem::State(StateItem::Step(step)), span)
}

/// An expression of a given kind.
pub(super) fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}

/// An expression that reads a name.
pub(super) fn name(name: impl Into<String>, span: Span) -> Expr {
    expr(ExprKind::Name(name.into()), span)
}

/// A string without placeholders, as an expression.
pub(super) fn text(value: impl Into<String>, span: Span) -> Expr {
    expr(ExprKind::Text(literal(value, span)), span)
}

/// A template without placeholders.
pub(super) fn literal(value: impl Into<String>, span: Span) -> Template {
    let value = value.into();
    let parts = if value.is_empty() { Vec::new() } else { vec![TemplatePart::Text(value, span)] };
    Template { parts, span, block: false }
}

/// A call: `f(arguments)`.
pub(super) fn call(function: &str, arguments: Vec<Expr>, span: Span) -> Expr {
    expr(ExprKind::Call(Spanned::new(function.to_owned(), span), arguments), span)
}

/// A binary operation: `left op right`.
pub(super) fn binary(op: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
    expr(ExprKind::Binary(op, Box::new(left), Box::new(right)), span)
}

/// A comparison: `left op right`.
pub(super) fn compare(left: Expr, op: CompareOp, right: Expr, span: Span) -> Expr {
    expr(ExprKind::Compare(Box::new(left), vec![(op, right)]), span)
}

/// A negation: `not operand`.
pub(super) fn not(operand: Expr, span: Span) -> Expr {
    expr(ExprKind::Unary(UnaryOp::Not, Box::new(operand)), span)
}

/// A conditional expression: `if condition then yes else no`.
pub(super) fn choose(condition: Expr, yes: Expr, no: Expr, span: Span) -> Expr {
    expr(ExprKind::If(Box::new(condition), Box::new(yes), Box::new(no)), span)
}

/// A condition on the active state: `in(a) or in(b)`; `false` for no state.
pub(super) fn in_any(states: &[Ident], at: Span) -> Expr {
    let one = |s: &Ident| call("in", vec![name(s.node.clone(), s.span)], s.span);
    let mut all = states.iter();
    let Some(first) = all.next() else { return expr(ExprKind::Bool(false), at) };
    all.fold(one(first), |left, s| {
        let span = left.span.to(s.span);
        binary(BinaryOp::Or, left, one(s), span)
    })
}

/// The conjunction of both conditions, or the one that exists.
pub(super) fn both(left: Option<Expr>, right: Option<Expr>) -> Option<Expr> {
    match (left, right) {
        (Some(l), Some(r)) => {
            let span = r.span;
            Some(binary(BinaryOp::And, l, r, span))
        }
        (one, None) | (None, one) => one,
    }
}
