//! Finds what an expression uses, by a walk over it.

use chartc_core::model::{Action, BinaryOp, Chart, Expr, ExprKind, Observable, Template, UnaryOp};

/// Calls `found` with `expr` and every expression inside it.
pub(super) fn walk(expr: &Expr, found: &mut dyn FnMut(&Expr)) {
    found(expr);
    expr.each_part(&mut |part| walk(part, found));
}

/// Counts the nodes of an expression and of its named conditions: an upper bound on the work, apart from repetitions of loops.
pub(super) fn nodes(chart: &Chart, expr: &Expr) -> u64 {
    let mut count = 0_u64;
    walk(expr, &mut |part| {
        let named = if let ExprKind::Predicate(id) = part.kind {
            nodes(chart, &chart.predicates[id.index()].expr)
        } else {
            0
        };
        count = count.saturating_add(named).saturating_add(1);
    });
    count
}

/// Counts the nodes of actions, like [`nodes`].
pub(super) fn nodes_of(chart: &Chart, actions: &[Action]) -> u64 {
    let mut count = 0_u64;
    for action in actions {
        direct(action, &mut |expr| count = count.saturating_add(nodes(chart, expr)));
        let inner = match action {
            Action::If(_, then, otherwise) => {
                nodes_of(chart, then).saturating_add(nodes_of(chart, otherwise))
            }
            Action::For(_, _, body) => nodes_of(chart, body),
            Action::Assign(..)
            | Action::Do(..)
            | Action::Raise(..)
            | Action::Send { .. }
            | Action::Cancel(_)
            | Action::Result(..)
            | Action::Log(_) => 0,
        };
        count = count.saturating_add(inner).saturating_add(1);
    }
    count
}

/// Calls `found` with the expressions of a text's placeholders and all expressions inside them.
pub(super) fn template(text: &Template, found: &mut dyn FnMut(&Expr)) {
    text.holes().for_each(|expr| walk(expr, found));
}

/// Calls `found` with the expressions of an action in order, without those of its branches.
pub(super) fn direct(action: &Action, found: &mut dyn FnMut(&Expr)) {
    match action {
        Action::Assign(_, expr) | Action::If(expr, ..) | Action::For(_, expr, _) => found(expr),
        Action::Do(_, all) | Action::Raise(_, all) | Action::Result(_, all) => {
            all.iter().for_each(found);
        }
        Action::Send { arguments, after, element, .. } => {
            arguments.iter().chain(after).chain(element.as_deref()).for_each(found);
        }
        Action::Cancel(_) => {}
        Action::Log(text) => text.holes().for_each(found),
    }
}

/// The first effect of evaluating an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// None: nothing can fail or be observed.
    Nothing,
    /// A read of a field of the current event or answer, whatever the data.
    Field,
    /// Another effect, or a read of a field in a part that is not always evaluated.
    Other,
}

/// Returns the first effect of evaluating `expr`.
pub(super) fn first(expr: &Expr) -> First {
    match &expr.kind {
        ExprKind::Payload(_) => First::Field,
        ExprKind::None
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Duration(_)
        | ExprKind::Enum(..)
        | ExprKind::Variable(_)
        | ExprKind::Local(_)
        | ExprKind::Answer(_)
        | ExprKind::Observable(
            Observable::State
            | Observable::Turns
            | Observable::TurnsHere
            | Observable::TurnsIn(_)
            | Observable::FailsHere
            | Observable::Elapsed
            | Observable::ElapsedHere
            | Observable::In(_)
            | Observable::Health
            | Observable::LastResult
            | Observable::Event
            | Observable::Calls(_)
            | Observable::Tokens(_)
            | Observable::Cost(_),
        ) => First::Nothing,
        ExprKind::Unary(UnaryOp::Not, of) => first(of),
        ExprKind::Field(of, _) => then(first(of), First::Other),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right)
        | ExprKind::Default(left, right) => then(first(left), perhaps(&[right])),
        ExprKind::Binary(_, left, right) | ExprKind::Index(left, right) => {
            then(then(first(left), first(right)), First::Other)
        }
        ExprKind::Compare(left, rest) => {
            let mut so_far = first(left);
            for (i, (_, right)) in rest.iter().enumerate() {
                so_far = then(so_far, if i == 0 { first(right) } else { perhaps(&[right]) });
            }
            so_far
        }
        ExprKind::If(condition, a, b) => then(first(condition), perhaps(&[a, b])),
        ExprKind::Builtin(_, all) => {
            then(all.iter().map(first).fold(First::Nothing, then), First::Other)
        }
        ExprKind::List(all) => all.iter().map(first).fold(First::Nothing, then),
        ExprKind::Record(_, fields) => {
            fields.iter().map(|(_, e)| first(e)).fold(First::Nothing, then)
        }
        ExprKind::Text(_)
        | ExprKind::Slice(..)
        | ExprKind::Unary(UnaryOp::Negate, _)
        | ExprKind::Map(_)
        | ExprKind::Comprehension { .. }
        | ExprKind::Predicate(_)
        // If an argument fails, the function may return its fallback, which is a value and no fault.
        | ExprKind::Call(..)
        | ExprKind::Observable(
            Observable::Advice | Observable::Streak(_) | Observable::Repeated(..),
        )
        | ExprKind::Unknown(_) => First::Other,
    }
}

fn then(a: First, b: First) -> First {
    if a == First::Nothing { b } else { a }
}

/// Returns the first effect of parts that may not be evaluated at all: never certain.
fn perhaps(parts: &[&Expr]) -> First {
    if parts.iter().all(|e| first(e) == First::Nothing) { First::Nothing } else { First::Other }
}
