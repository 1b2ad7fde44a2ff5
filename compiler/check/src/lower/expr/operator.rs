//! Lowers arithmetic, `and`, `or` and comparisons.

use super::constant::is_count;
use super::{Env, condition, expr, fit, inner, is_faulty, of, present};
use crate::lower::context::Cx;
use chartc_core::model::{BinaryOp, CompareOp, Expr, ExprKind, Type, TypeKind, UnaryOp};
use chartc_text::rules::TYPE_ERROR;
use chartc_text::span::Span;
use chartc_text::syntax;

/// Lowers `-x`.
pub(super) fn negate(
    cx: &mut Cx<'_>,
    env: &mut Env,
    written: &syntax::Expr,
    hint: Option<&Type>,
) -> Expr {
    let value = present(cx, env, written, hint);
    let ty = inner(&value.ty).clone();
    if !matches!(ty, Type::Int | Type::Float | Type::Json) {
        let message = format!("cannot negate {}", cx.a(&ty));
        cx.report(TYPE_ERROR.at(written.span, message));
        return super::unknown("");
    }
    of(ExprKind::Unary(UnaryOp::Negate, Box::new(value)), ty)
}

/// Lowers `a op b`.
pub(super) fn binary(
    cx: &mut Cx<'_>,
    env: &mut Env,
    op: BinaryOp,
    left: &syntax::Expr,
    right: &syntax::Expr,
    span: Span,
) -> Expr {
    match op {
        BinaryOp::And | BinaryOp::Or => {
            let first = condition(cx, env, left);
            // The right operand is evaluated only if the left one does not decide the result, so its value is known there.
            let second = env.knowing(&first, op == BinaryOp::And, |env| condition(cx, env, right));
            of(ExprKind::Binary(op, Box::new(first), Box::new(second)), Type::Bool)
        }
        _ => {
            let a = present(cx, env, left, None);
            let hint = a.ty.clone();
            let b = present(cx, env, right, Some(&hint));
            arithmetic(cx, op, a, b, span)
        }
    }
}

fn arithmetic(cx: &mut Cx<'_>, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
    let (at, bt) = (inner(&a.ty).clone(), inner(&b.ty).clone());
    let result = if at == Type::Json || bt == Type::Json {
        Some(Type::Json)
    } else {
        result_of(op, &at, &bt, &b)
    };
    let Some(ty) = result else {
        let faulty = is_faulty(&a) || is_faulty(&b);
        if !faulty {
            let message = format!("`{}` does not take {} and {}", word(op), cx.a(&at), cx.a(&bt));
            let mut finding = TYPE_ERROR.at(span, message);
            if op == BinaryOp::Add && (at == Type::Text || bt == Type::Text) {
                finding =
                    finding.help("put the value into the text: `\"… {x} …\"`, or use `str(x)`");
            }
            cx.report(fit::blame(cx, finding, &[&a, &b]));
        }
        return of(ExprKind::Binary(op, Box::new(a), Box::new(b)), Type::Json);
    };
    let (a, b) = if ty == Type::Float { (floating(a), floating(b)) } else { (a, b) };
    of(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty)
}

/// Converts an Int to a Float, and leaves anything else as it is.
fn floating(e: Expr) -> Expr {
    if e.ty == Type::Int { fit::coerce(e, &Type::Float).unwrap_or_else(|e| e) } else { e }
}

fn result_of(op: BinaryOp, a: &Type, b: &Type, right: &Expr) -> Option<Type> {
    let number = |t: &Type| matches!(t, Type::Int | Type::Float);
    if number(a) && number(b) {
        let ints = *a == Type::Int && *b == Type::Int;
        return Some(match op {
            BinaryOp::Divide => Type::Float,
            BinaryOp::Power if ints && is_count(right) => Type::Int,
            BinaryOp::Power => Type::Float,
            _ => {
                if ints {
                    Type::Int
                } else {
                    Type::Float
                }
            }
        });
    }
    match (op, a, b) {
        (BinaryOp::Add, Type::Text, Type::Text) => Some(Type::Text),
        (BinaryOp::Add, Type::List(_), Type::List(_)) if a == b => Some(a.clone()),
        (BinaryOp::Add, Type::List(x), Type::List(y)) if **x == Type::Json || **y == Type::Json => {
            Some(Type::List(Box::new(Type::Json)))
        }
        (BinaryOp::Add | BinaryOp::Subtract, Type::Duration, Type::Duration) => {
            Some(Type::Duration)
        }
        (BinaryOp::Divide, Type::Duration, Type::Duration) => Some(Type::Float),
        (BinaryOp::Multiply, Type::Duration, Type::Int)
        | (BinaryOp::Multiply, Type::Int, Type::Duration) => Some(Type::Duration),
        (BinaryOp::Multiply, Type::Text | Type::List(_), Type::Int) => Some(a.clone()),
        (BinaryOp::Multiply, Type::Int, Type::Text | Type::List(_)) => Some(b.clone()),
        _ => None,
    }
}

fn word(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::FloorDivide => "div",
        BinaryOp::Modulo => "%",
        BinaryOp::Power => "**",
    }
}

/// The maximum number of comparisons in a chain, because the analyses of guards split chains into single comparisons.
const MOST_COMPARED: usize = 100;

/// Lowers `a < b <= c`.
pub(super) fn compare(
    cx: &mut Cx<'_>,
    env: &mut Env,
    first: &syntax::Expr,
    rest: &[(CompareOp, syntax::Expr)],
) -> Expr {
    if rest.len() > MOST_COMPARED {
        let span = first.span.to(rest.last().map_or(first.span, |(_, e)| e.span));
        let message = format!("more than {MOST_COMPARED} comparisons in one chain");
        cx.report(
            TYPE_ERROR.at(span, message).help("put them into a list, or join them with `and`"),
        );
        return super::unknown("");
    }
    let head = expr(cx, env, first, None);
    let mut lowered: Vec<(CompareOp, Expr)> = Vec::new();
    let mut left_span = first.span;
    for (op, written) in rest {
        let left_ty = lowered.last().map_or(&head, |(_, e)| e).ty.clone();
        let hint = match op {
            CompareOp::In | CompareOp::NotIn => Type::List(Box::new(inner(&left_ty).clone())),
            _ => inner(&left_ty).clone(),
        };
        let right = expr(cx, env, written, Some(&hint));
        let left = lowered.last().map_or(&head, |(_, e)| e);
        let spans = (left_span, written.span);
        if !is_faulty(left)
            && !is_faulty(&right)
            && let Some(finding) = comparison(cx, *op, left, &right, spans)
        {
            cx.report(super::fit::blame(cx, finding, &[left, &right]));
        }
        lowered.push((*op, right));
        left_span = written.span;
    }
    of(ExprKind::Compare(Box::new(head), lowered), Type::Bool)
}

fn comparison(
    cx: &Cx<'_>,
    op: CompareOp,
    left: &Expr,
    right: &Expr,
    (left_span, right_span): (Span, Span),
) -> Option<chartc_text::diagnostic::Diagnostic> {
    let whole = left_span.to(right_span);
    let names = || (cx.a(&left.ty), cx.a(&right.ty));
    match op {
        CompareOp::Equal | CompareOp::NotEqual => {
            if alike(cx, left, right) {
                return None;
            }
            let (a, b) = names();
            let message = if left.kind == ExprKind::None {
                format!("{b} is never `none`")
            } else if right.kind == ExprKind::None {
                format!("{a} is never `none`")
            } else {
                format!("{a} is never equal to {b}")
            };
            let finding = TYPE_ERROR.at(whole, message);
            Some(match enum_hint(cx, left, right).or_else(|| enum_hint(cx, right, left)) {
                Some(help) => finding.help(help),
                None => finding,
            })
        }
        CompareOp::Less | CompareOp::LessEqual | CompareOp::Greater | CompareOp::GreaterEqual => {
            for (side, span) in [(left, left_span), (right, right_span)] {
                if matches!(side.ty, Type::Optional(_)) {
                    return Some(super::may_be_missing(span));
                }
            }
            if ordered(&left.ty, &right.ty) {
                return None;
            }
            let (a, b) = names();
            Some(TYPE_ERROR.at(whole, format!("{a} and {b} have no order")))
        }
        CompareOp::In | CompareOp::NotIn => match &right.ty {
            Type::Optional(_) => Some(super::may_be_missing(right_span)),
            Type::Json => None,
            Type::List(item) if same(inner(&left.ty), inner(item)) => None,
            Type::Text | Type::Map(_) if matches!(left.ty, Type::Text | Type::Json) => None,
            _ => {
                let (a, b) = names();
                Some(TYPE_ERROR.at(whole, format!("{a} is never in {b}")))
            }
        },
    }
}

fn ordered(a: &Type, b: &Type) -> bool {
    let number = |t: &Type| matches!(t, Type::Int | Type::Float);
    *a == Type::Json
        || *b == Type::Json
        || number(a) && number(b)
        || a == b && matches!(a, Type::Text | Type::Duration)
}

/// Whether two values may be equal.
fn alike(cx: &Cx<'_>, a: &Expr, b: &Expr) -> bool {
    let may_be_none = |e: &Expr| matches!(e.ty, Type::Optional(_) | Type::Json);
    if a.kind == ExprKind::None {
        return may_be_none(b) || was_missing(cx, b);
    }
    if b.kind == ExprKind::None {
        return may_be_none(a) || was_missing(cx, a);
    }
    same(inner(&a.ty), inner(&b.ty))
}

/// Whether the declaration of the value allows `none`, although it is known not to be. Testing it again is useless, but not wrong.
fn was_missing(cx: &Cx<'_>, e: &Expr) -> bool {
    if let ExprKind::Variable(id) = e.kind {
        matches!(cx.chart.variables[id.index()].ty, Type::Optional(_))
    } else {
        super::place_of(e).is_some()
    }
}

fn same(a: &Type, b: &Type) -> bool {
    let number = |t: &Type| matches!(t, Type::Int | Type::Float);
    match (a, b) {
        (Type::Json, _) | (_, Type::Json) => true,
        (Type::List(x), Type::List(y)) | (Type::Map(x), Type::Map(y)) => same(inner(x), inner(y)),
        (x, y) => x == y || number(x) && number(y),
    }
}

/// The help for an enum that is compared with a text: its value was meant.
fn enum_hint(cx: &Cx<'_>, left: &Expr, right: &Expr) -> Option<String> {
    let Type::Named(id) = inner(&left.ty) else { return None };
    let TypeKind::Enum(values) = &cx.chart.types[id.index()].kind else { return None };
    let ExprKind::Text(text) = &right.kind else { return None };
    let value = values.iter().find(|v| Some(v.as_str()) == text.literal())?;
    Some(format!("write `{}.{value}`", cx.chart.types[id.index()].name))
}
