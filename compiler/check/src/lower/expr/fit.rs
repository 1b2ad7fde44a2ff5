//! Converts values to the types that are expected, and reports those that do not fit.

use super::{Env, expr, inner, is_faulty, may_be_missing, of};
use crate::lower::context::Cx;
use crate::lower::types;
use chartc_core::model::{Builtin, Expr, ExprKind, Field, Type};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::TYPE_ERROR;
use chartc_text::span::Span;
use chartc_text::syntax;

/// Lowers an expression that must be of type `want`.
pub(in crate::lower) fn expect(
    cx: &mut Cx<'_>,
    env: &mut Env,
    written: &syntax::Expr,
    want: &Type,
) -> Expr {
    let inside = inner(want);
    let parts = match (&written.kind, inside) {
        (syntax::ExprKind::List(items), Type::List(item)) => {
            let items = items.iter().map(|e| expect(cx, env, e, item)).collect();
            Some(ExprKind::List(items))
        }
        (syntax::ExprKind::Map(entries), Type::Map(value)) => {
            let mut pairs = Vec::new();
            for entry in entries {
                let key = expect(cx, env, &entry.key, &Type::Text);
                pairs.push((key, expect(cx, env, &entry.value, value)));
            }
            Some(ExprKind::Map(pairs))
        }
        _ => None,
    };
    if let Some(kind) = parts {
        return of(kind, inside.clone());
    }
    let lowered = expr(cx, env, written, Some(want));
    fit(cx, lowered, want, written.span)
}

/// Converts to `want`, or reports that it does not fit.
pub(super) fn fit(cx: &mut Cx<'_>, lowered: Expr, want: &Type, span: Span) -> Expr {
    match coerce(lowered, want) {
        Ok(fitting) => fitting,
        Err(other) => {
            if !is_faulty(&other) {
                cx.report(misfit(cx, &other, want, span));
            }
            other
        }
    }
}

fn misfit(cx: &Cx<'_>, found: &Expr, want: &Type, span: Span) -> Diagnostic {
    if found.kind == ExprKind::None {
        return TYPE_ERROR.at(span, format!("expected `{}`, found `none`", cx.type_name(want)));
    }
    if let Type::Optional(inner) = &found.ty
        && (**inner == *want || **inner == Type::Int && *want == Type::Float)
    {
        return may_be_missing(span);
    }
    blame(cx, types::mismatch(cx, span, want, &found.ty), &[found])
}

/// If exactly one of an expression's parts is a variable, the finding about it names the variable's declaration as the cause.
pub(super) fn blame(cx: &Cx<'_>, finding: Diagnostic, parts: &[&Expr]) -> Diagnostic {
    let variable = |part: &&Expr| {
        let ExprKind::Variable(id) = part.kind else { return None };
        Some(cx.map.variables[id.index()])
    };
    match parts.iter().filter_map(variable).collect::<Vec<_>>()[..] {
        [declared] => finding.because(declared),
        _ => finding,
    }
}

/// Converts an expression to `want`, or returns it unchanged.
pub(super) fn coerce(mut found: Expr, want: &Type) -> Result<Expr, Expr> {
    if found.ty == *want {
        return Ok(found);
    }
    let empty = matches!(&found.kind, ExprKind::List(items) if items.is_empty())
        || matches!(&found.kind, ExprKind::Map(items) if items.is_empty());
    let bare = found.kind == ExprKind::None;
    let same_shape =
        matches!((&found.ty, want), (Type::List(_), Type::List(_)) | (Type::Map(_), Type::Map(_)));
    if bare && matches!(want, Type::Optional(_) | Type::Json) || empty && same_shape {
        found.ty = want.clone();
        return Ok(found);
    }
    if bare {
        return Err(found);
    }
    // A value that is there fits `T?` if it fits `T`.
    if let (Type::Optional(wanted), false) = (want, matches!(found.ty, Type::Optional(_))) {
        return coerce(found, wanted);
    }
    if *want == Type::Float && found.ty == Type::Int {
        let kind = if let ExprKind::Int(i) = found.kind {
            ExprKind::Float(i as f64)
        } else {
            ExprKind::Builtin(Builtin::Float, vec![found])
        };
        return Ok(of(kind, Type::Float));
    }
    if dynamic(&found.ty, want) { Ok(found) } else { Err(found) }
}

/// Whether a value of type `found` may be stored as a `want` without conversion.
pub(in crate::lower) fn accepts(found: &Type, want: &Type) -> bool {
    dynamic(found, want)
}

/// Whether a value of type `found` may fit. Where the types differ, only the run can tell.
fn dynamic(found: &Type, want: &Type) -> bool {
    if *want == Type::Json || *found == Type::Json || found == want {
        return true;
    }
    match (found, want) {
        (Type::List(a), Type::List(b))
        | (Type::Map(a), Type::Map(b))
        | (Type::Optional(a), Type::Optional(b)) => dynamic(a, b),
        (a, Type::Optional(b)) => dynamic(a, b),
        _ => false,
    }
}

/// Converts two values to one type: `hint` if both fit it, otherwise the type that includes both.
#[allow(clippy::result_large_err, reason = "both values come back, whether they fit or not")]
pub(super) fn join(
    a: Expr,
    b: Expr,
    hint: Option<&Type>,
) -> Result<(Expr, Expr, Type), (Expr, Expr)> {
    let (a, b) = match hint {
        Some(want) => match (coerce(a, want), coerce(b, want)) {
            (Ok(a), Ok(b)) => return Ok((a, b, want.clone())),
            (Ok(a) | Err(a), Ok(b) | Err(b)) => (a, b),
        },
        None => (a, b),
    };
    let Some(ty) = common(&a, &b) else { return Err((a, b)) };
    match (coerce(a, &ty), coerce(b, &ty)) {
        (Ok(a), Ok(b)) => Ok((a, b, ty)),
        (Ok(a) | Err(a), Ok(b) | Err(b)) => Err((a, b)),
    }
}

fn common(a: &Expr, b: &Expr) -> Option<Type> {
    if a.ty == b.ty {
        return Some(a.ty.clone());
    }
    if a.kind == ExprKind::None {
        return Some(types::optional(b.ty.clone()));
    }
    if b.kind == ExprKind::None {
        return Some(types::optional(a.ty.clone()));
    }
    match (&a.ty, &b.ty) {
        (Type::Json, _) | (_, Type::Json) => Some(Type::Json),
        (Type::Int, Type::Float) | (Type::Float, Type::Int) => Some(Type::Float),
        (Type::Optional(_), _) => Some(a.ty.clone()),
        (_, Type::Optional(_)) => Some(b.ty.clone()),
        (Type::List(item), Type::List(_)) | (Type::Map(item), Type::Map(_)) => {
            Some(if **item == Type::Json { b.ty.clone() } else { a.ty.clone() })
        }
        _ => None,
    }
}

/// Lowers the arguments for declared parameters: the same number, each of its type. `what` names the callee, as in "event `e`".
pub(in crate::lower) fn arguments(
    cx: &mut Cx<'_>,
    env: &mut Env,
    what: &str,
    fields: &[Field],
    written: &[syntax::Expr],
    span: Span,
) -> Vec<Expr> {
    if fields.len() != written.len() {
        let wanted = match fields {
            [] => "no arguments".to_owned(),
            [one] => format!("1 argument (`{}: {}`)", one.name, cx.type_name(&one.ty)),
            more => {
                let list: Vec<_> =
                    more.iter().map(|f| format!("{}: {}", f.name, cx.type_name(&f.ty))).collect();
                format!("{} arguments (`{}`)", more.len(), list.join(", "))
            }
        };
        let message = format!("{what} takes {wanted}, {} given", written.len());
        cx.report(TYPE_ERROR.at(span, message));
    }
    let mut lowered = Vec::new();
    for (index, argument) in written.iter().enumerate() {
        lowered.push(match fields.get(index) {
            Some(field) => expect(cx, env, argument, &field.ty),
            None => expr(cx, env, argument, None),
        });
    }
    // Whatever was reported, the model has one argument for each parameter.
    lowered.truncate(fields.len());
    while lowered.len() < fields.len() {
        lowered.push(super::unknown(""));
    }
    lowered
}
