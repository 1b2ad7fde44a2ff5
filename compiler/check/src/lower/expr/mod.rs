//! Expressions: resolves names, checks types, makes conversions explicit.
//!
//! The problem: an author writes names and leaves conversions out, but evaluators, emitters and analyses want ids, a type for each node,
//! and no rules of conversion. The idea: one pass from the leaves to the root. An [`Env`] knows what is in scope, and which values are not
//! `none` there; a *hint* is the type that would be preferred. A faulty expression is reported once and becomes `Unknown`, which fits
//! everywhere. For example, the guard `price != none and price + n > 10.0`, with `price: Float?` and `n: Int`:
//!
//! 1. `price` is a variable of type `Float?`, so it can be compared with `none`. The environment learns from `price != none`.
//! 2. The right operand of `and` is lowered with this knowledge: there, `price` has the type `Float`.
//! 3. In `price + n`, a Float and an Int become a Float, so `n` becomes `float(n)`.
//! 4. The result, of type `Bool`, is `price != none and price + float(n) > 10.0`, with ids instead of names.
//!
//! An expression of type `T` fits where `T?` or `Json` is expected. One of type `Json` fits anywhere except as a condition: it is checked
//! at run time. An Int is wrapped in `float(…)` where a Float is expected.

mod builtin;
mod call;
mod constant;
mod env;
mod fit;
mod literal;
mod name;
mod narrow;
mod operator;
mod template;

pub(super) use builtin::is_language_function;
pub use builtin::names as language_functions;
pub(super) use call::unknown_function;
use chartc_text::rules::TYPE_ERROR;
pub(super) use constant::{is_faulty, value_of};
pub(super) use env::{Bound, Env};
pub(super) use fit::{accepts, arguments, expect};
pub use name::observables;
use narrow::place_of;
pub(super) use template::{Options, refuse_options, template};

use super::context::Cx;
use super::types;
use chartc_core::arena::LocalId;
use chartc_core::model::{Expr, ExprKind, Local, Type, TypeKind, UnaryOp};
use chartc_text::span::{Ident, Span};
use chartc_text::syntax;

/// The maximum nesting depth of an expression, because evaluators and analyses recurse.
const DEEPEST: u32 = 200;

/// The expression that stands for a faulty one, which has been reported.
pub(super) fn unknown(name: &str) -> Expr {
    Expr { kind: ExprKind::Unknown(name.to_owned()), ty: Type::Json }
}

/// An expression of this kind and type.
fn of(kind: ExprKind, ty: Type) -> Expr {
    Expr { kind, ty }
}

/// Resolves an expression. `hint` is the preferred type: it decides the types of literals, but nothing is refused because of it.
pub(super) fn expr(
    cx: &mut Cx<'_>,
    env: &mut Env,
    written: &syntax::Expr,
    hint: Option<&Type>,
) -> Expr {
    if env.depth >= DEEPEST {
        let finding = TYPE_ERROR
            .at(written.span, "this expression nests too deeply")
            .help("give parts of it a name with `pred`, or compute them in a `code` step");
        cx.report(finding);
        return unknown("");
    }
    env.depth += 1;
    let lowered = dispatch(cx, env, written, hint);
    env.depth -= 1;
    lowered
}

fn dispatch(cx: &mut Cx<'_>, env: &mut Env, written: &syntax::Expr, hint: Option<&Type>) -> Expr {
    use syntax::ExprKind as S;
    let span = written.span;
    match &written.kind {
        S::None => of(ExprKind::None, Type::Optional(Box::new(Type::Json))),
        S::Bad => unknown(""),
        S::Bool(b) => of(ExprKind::Bool(*b), Type::Bool),
        S::Int(i) => of(ExprKind::Int(*i), Type::Int),
        S::Float(x) => of(ExprKind::Float(*x), Type::Float),
        S::Duration(ms) => of(ExprKind::Duration(*ms), Type::Duration),
        S::Text(text) => {
            let (text, _) = template(cx, env, text, Options::No);
            of(ExprKind::Text(text), Type::Text)
        }
        S::Name(name) => name::name(cx, env, name, span),
        S::Field(base, field) => name::field(cx, env, base, field),
        S::Index(base, index) => index_of(cx, env, base, index),
        S::Slice(base, from, to) => slice(cx, env, base, from.as_deref(), to.as_deref()),
        S::Call(function, arguments) => call::call(cx, env, function, arguments, span, hint),
        S::Unary(UnaryOp::Not, inner) => {
            let inner = condition(cx, env, inner);
            of(ExprKind::Unary(UnaryOp::Not, Box::new(inner)), Type::Bool)
        }
        S::Unary(UnaryOp::Negate, inner) => operator::negate(cx, env, inner, hint),
        S::Binary(op, left, right) => operator::binary(cx, env, *op, left, right, span),
        S::Compare(first, rest) => operator::compare(cx, env, first, rest),
        S::If(test, then, other) => if_else(cx, env, [test, then, other], hint, span),
        S::Default(value, default) => default_of(cx, env, value, default, hint),
        S::List(items) => literal::list(cx, env, items, hint),
        S::Map(entries) => literal::map(cx, env, entries, hint),
        S::Record(name, fields) => literal::record(cx, env, name, fields),
        S::Comprehension { item, name, source, filter } => {
            comprehension(cx, env, name, [item, source], filter.as_deref(), hint)
        }
    }
}

/// Resolves a condition: an expression of type Bool.
pub(super) fn condition(cx: &mut Cx<'_>, env: &mut Env, written: &syntax::Expr) -> Expr {
    let lowered = expr(cx, env, written, Some(&Type::Bool));
    if lowered.ty == Type::Bool || is_faulty(&lowered) {
        return lowered;
    }
    let finding = TYPE_ERROR
        .at(written.span, format!("a condition is a `Bool`, this is {}", cx.a(&lowered.ty)))
        .help(match lowered.ty {
            Type::Json => {
                "write `bool(…)` around it to ask whether it is neither empty, zero nor none"
            }
            Type::Optional(_) => "compare it: `… != none`, or give a default with `??`",
            _ => "compare it with something",
        });
    cx.report(finding);
    lowered
}

/// Resolves an expression that cannot be `none`: reports a value that may be missing.
fn present(cx: &mut Cx<'_>, env: &mut Env, written: &syntax::Expr, hint: Option<&Type>) -> Expr {
    let lowered = expr(cx, env, written, hint);
    refuse_missing(cx, &lowered, written.span);
    lowered
}

/// Reports a value that may be missing. Returns whether it was reported.
fn refuse_missing(cx: &mut Cx<'_>, lowered: &Expr, span: Span) -> bool {
    let missing = matches!(lowered.ty, Type::Optional(_)) && !is_faulty(lowered);
    if missing {
        cx.report(may_be_missing(span));
    }
    missing
}

pub(super) fn may_be_missing(span: Span) -> chartc_text::diagnostic::Diagnostic {
    TYPE_ERROR
        .at(span, "this may be `none` here")
        .help("give a default with `??`, or test it with `!= none` first")
}

fn index_of(cx: &mut Cx<'_>, env: &mut Env, base: &syntax::Expr, index: &syntax::Expr) -> Expr {
    let lowered = present(cx, env, base, None);
    let (want, ty) = match inner(&lowered.ty) {
        Type::List(item) => (Some(Type::Int), (**item).clone()),
        Type::Text => (Some(Type::Int), Type::Text),
        Type::Map(value) => (Some(Type::Text), (**value).clone()),
        Type::Json => (None, Type::Json),
        _ => {
            let message = format!("{} has no elements", cx.a(&lowered.ty));
            cx.report(TYPE_ERROR.at(base.span, message));
            expr(cx, env, index, None);
            return unknown("");
        }
    };
    let index = match want {
        Some(want) => expect(cx, env, index, &want),
        None => present(cx, env, index, None),
    };
    of(ExprKind::Index(Box::new(lowered), Box::new(index)), ty)
}

fn slice(
    cx: &mut Cx<'_>,
    env: &mut Env,
    base: &syntax::Expr,
    from: Option<&syntax::Expr>,
    to: Option<&syntax::Expr>,
) -> Expr {
    let lowered = present(cx, env, base, None);
    let ty = inner(&lowered.ty).clone();
    if !matches!(ty, Type::List(_) | Type::Text | Type::Json) {
        let message = format!("{} has no parts to take", cx.a(&lowered.ty));
        cx.report(TYPE_ERROR.at(base.span, message));
        return unknown("");
    }
    let from = from.map(|e| Box::new(expect(cx, env, e, &Type::Int)));
    let to = to.map(|e| Box::new(expect(cx, env, e, &Type::Int)));
    of(ExprKind::Slice(Box::new(lowered), from, to), ty)
}

/// The type without `?`.
fn inner(ty: &Type) -> &Type {
    if let Type::Optional(inner) = ty { inner } else { ty }
}

fn if_else(
    cx: &mut Cx<'_>,
    env: &mut Env,
    [test, then, other]: [&syntax::Expr; 3],
    hint: Option<&Type>,
    span: Span,
) -> Expr {
    let test = condition(cx, env, test);
    let then = env.knowing(&test, true, |env| expr(cx, env, then, hint));
    let other = env.knowing(&test, false, |env| expr(cx, env, other, hint));
    let (then, other, ty) = match fit::join(then, other, hint) {
        Ok(joined) => joined,
        Err((then, other)) => {
            let message = format!("the branches are {} and {}", cx.a(&then.ty), cx.a(&other.ty));
            cx.report(TYPE_ERROR.at(span, message));
            (then, other, Type::Json)
        }
    };
    of(ExprKind::If(Box::new(test), Box::new(then), Box::new(other)), ty)
}

fn default_of(
    cx: &mut Cx<'_>,
    env: &mut Env,
    value: &syntax::Expr,
    default: &syntax::Expr,
    hint: Option<&Type>,
) -> Expr {
    let left = expr(cx, env, value, hint);
    let present = inner(&left.ty).clone();
    let hint = if present == Type::Json { hint } else { Some(&present) };
    let right = expr(cx, env, default, hint);
    // The type of a literal `none` says nothing, so the default decides.
    let bare = left.kind == ExprKind::None;
    if bare || present == Type::Json || right.ty == Type::Json {
        let ty = if bare { right.ty.clone() } else { Type::Json };
        return of(ExprKind::Default(Box::new(left), Box::new(right)), ty);
    }
    let optional = types::optional(present.clone());
    let want = if matches!(right.ty, Type::Optional(_)) { optional } else { present.clone() };
    // With a Float default, an optional Int would have to be converted, so this is reported instead.
    match fit::coerce(right, &want) {
        Ok(right) => of(ExprKind::Default(Box::new(left), Box::new(right)), want),
        Err(right) => {
            let finding = types::mismatch(cx, default.span, &present, &right.ty);
            cx.report(finding);
            unknown("")
        }
    }
}

fn comprehension(
    cx: &mut Cx<'_>,
    env: &mut Env,
    name: &Ident,
    [item, source]: [&syntax::Expr; 2],
    filter: Option<&syntax::Expr>,
    hint: Option<&Type>,
) -> Expr {
    // The source is outside of the scope of the variable.
    let from = present(cx, env, source, None);
    let element = element_of(cx, &from, source.span);
    let local = LocalId::at(env.locals.len());
    cx.record_binding(name, &element);
    env.locals.push(Bound::local(name, element));
    let hint = match hint.map(inner) {
        Some(Type::List(item)) => Some((**item).clone()),
        Some(Type::Json) => Some(Type::Json),
        _ => None,
    };
    let filter = filter.map(|f| condition(cx, env, f));
    let kept = match &filter {
        Some(test) => env.knowing(test, true, |env| expr(cx, env, item, hint.as_ref())),
        None => expr(cx, env, item, hint.as_ref()),
    };
    env.locals.pop();
    env.forget_local(local);
    let kept = match &hint {
        Some(want) => fit::coerce(kept, want).unwrap_or_else(|kept| kept),
        None => kept,
    };
    let ty = Type::List(Box::new(kept.ty.clone()));
    let kind = ExprKind::Comprehension {
        item: Box::new(kept),
        local: Local { id: local, name: name.node.clone() },
        source: Box::new(from),
        filter: filter.map(Box::new),
    };
    of(kind, ty)
}

/// The type of the elements when iterating over `from`: the elements of a list, the characters of a text, or the keys of a map.
pub(super) fn element_of(cx: &mut Cx<'_>, from: &Expr, span: Span) -> Type {
    match inner(&from.ty) {
        Type::List(item) => (**item).clone(),
        Type::Text | Type::Map(_) => Type::Text,
        Type::Json => Type::Json,
        _ => {
            let message = format!("cannot go through {}", cx.a(&from.ty));
            cx.report(TYPE_ERROR.at(span, message).help("a list, a text or a map is wanted"));
            Type::Json
        }
    }
}

/// The fields of a record type.
fn record_fields<'c>(cx: &'c Cx<'_>, ty: &Type) -> Option<&'c [chartc_core::model::Field]> {
    let Type::Named(id) = ty else { return None };
    match &cx.chart.types.get(id.index())?.kind {
        TypeKind::Record(fields) => Some(fields),
        TypeKind::Enum(_) => None,
    }
}
