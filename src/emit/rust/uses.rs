//! What an expression uses, found by walking it.

use chartc_core::model::{Action, Expr, ExprKind, Observable, Template, TemplatePart};

/// Calls `found` with `expr` and every expression inside it.
pub(super) fn walk(expr: &Expr, found: &mut dyn FnMut(&Expr)) {
    found(expr);
    match &expr.kind {
        ExprKind::None
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Duration(_)
        | ExprKind::Enum(..)
        | ExprKind::Variable(_)
        | ExprKind::Local(_)
        | ExprKind::Payload(_)
        | ExprKind::Answer(_)
        | ExprKind::Predicate(_)
        | ExprKind::Observable(_)
        | ExprKind::Unknown(_) => {}
        ExprKind::Text(text) => template(text, found),
        ExprKind::Field(of, _) | ExprKind::Unary(_, of) => walk(of, found),
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Default(a, b) => {
            walk(a, found);
            walk(b, found);
        }
        ExprKind::Slice(of, from, to) => {
            walk(of, found);
            for e in from.iter().chain(to) {
                walk(e, found);
            }
        }
        ExprKind::Compare(first, rest) => {
            walk(first, found);
            for (_, e) in rest {
                walk(e, found);
            }
        }
        ExprKind::If(a, b, c) => {
            walk(a, found);
            walk(b, found);
            walk(c, found);
        }
        ExprKind::Builtin(_, all) | ExprKind::Call(_, all) | ExprKind::List(all) => {
            for e in all {
                walk(e, found);
            }
        }
        ExprKind::Map(entries) => {
            for (key, value) in entries {
                walk(key, found);
                walk(value, found);
            }
        }
        ExprKind::Record(_, fields) => {
            for (_, e) in fields {
                walk(e, found);
            }
        }
        ExprKind::Comprehension { item, source, filter, .. } => {
            walk(source, found);
            if let Some(filter) = filter {
                walk(filter, found);
            }
            walk(item, found);
        }
    }
}

/// The same for the placeholders of a text.
pub(super) fn template(text: &Template, found: &mut dyn FnMut(&Expr)) {
    for part in &text.parts {
        if let TemplatePart::Hole { expr, .. } = part {
            walk(expr, found);
        }
    }
}

/// Whether the code of the expression borrows the whole program: it calls one of its methods.
pub(super) fn borrows_program(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Predicate(_) | ExprKind::Observable(Observable::Advice))
}

/// The expressions of an action themselves, in order.
pub(super) fn direct(action: &Action, found: &mut dyn FnMut(&Expr)) {
    match action {
        Action::Assign(_, expr) => found(expr),
        Action::Do(_, all) | Action::Raise(_, all) => all.iter().for_each(found),
        Action::Send { arguments, after, .. } => arguments.iter().chain(after).for_each(found),
        Action::Cancel(_) => {}
        Action::Log(text) => {
            for part in &text.parts {
                if let TemplatePart::Hole { expr, .. } = part {
                    found(expr);
                }
            }
        }
    }
}
