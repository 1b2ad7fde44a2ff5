//! Lowers literal lists, maps and records.

use super::{Env, expect, expr, fit, inner, of, unknown};
use crate::lower::context::Cx;
use crate::lower::uses::NameKind;
use chartc_core::model::{Expr, ExprKind, Type};
use chartc_text::rules::TYPE_ERROR;
use chartc_text::rules::{duplicate_name, unknown_name};
use chartc_text::span::{Ident, Span};
use chartc_text::syntax;
use std::collections::BTreeMap;

/// Lowers `[a, b]`.
pub(super) fn list(
    cx: &mut Cx<'_>,
    env: &mut Env,
    items: &[syntax::Expr],
    hint: Option<&Type>,
) -> Expr {
    let want = match hint.map(inner) {
        Some(Type::List(item)) => Some((**item).clone()),
        Some(Type::Json) => Some(Type::Json),
        _ => None,
    };
    let lowered = items.iter().map(|item| expr(cx, env, item, want.as_ref())).collect();
    let (lowered, item) = one_type(lowered, want.as_ref());
    of(ExprKind::List(lowered), Type::List(Box::new(item)))
}

/// Lowers `{"a": b}`.
pub(super) fn map(
    cx: &mut Cx<'_>,
    env: &mut Env,
    entries: &[syntax::Entry],
    hint: Option<&Type>,
) -> Expr {
    let want = match hint.map(inner) {
        Some(Type::Map(value)) => Some((**value).clone()),
        Some(Type::Json) => Some(Type::Json),
        _ => None,
    };
    let keys: Vec<Expr> =
        entries.iter().map(|entry| expect(cx, env, &entry.key, &Type::Text)).collect();
    let values = entries.iter().map(|entry| expr(cx, env, &entry.value, want.as_ref())).collect();
    let (values, value) = one_type(values, want.as_ref());
    let entries = keys.into_iter().zip(values).collect();
    of(ExprKind::Map(entries), Type::Map(Box::new(value)))
}

/// Converts elements to `want` if all fit, otherwise to a type that includes them all: `Json` if there is no other.
fn one_type(items: Vec<Expr>, want: Option<&Type>) -> (Vec<Expr>, Type) {
    let Some(first) = items.first() else {
        return (items, want.cloned().unwrap_or(Type::Json));
    };
    let common = match want {
        Some(want) if items.iter().all(|e| fit::coerce(e.clone(), want).is_ok()) => want.clone(),
        _ => {
            // The elements are joined one by one, so that a Float widens the Ints before it, too.
            let mut widest = first.clone();
            let mut mixed = false;
            for item in &items[1..] {
                match fit::join(widest, item.clone(), None) {
                    Ok((a, b, ty)) => {
                        widest = if a.ty == ty { a } else { b };
                        widest.ty = ty;
                    }
                    Err((a, _)) => {
                        widest = a;
                        mixed = true;
                    }
                }
            }
            if mixed { Type::Json } else { widest.ty }
        }
    };
    let items = items.into_iter().map(|e| fit::coerce(e, &common).unwrap_or_else(|e| e)).collect();
    (items, common)
}

/// Lowers `P { a: b }`. Each field appears once; a field that may be none can be left out.
pub(super) fn record(
    cx: &mut Cx<'_>,
    env: &mut Env,
    name: &Ident,
    written: &[(Ident, syntax::Expr)],
) -> Expr {
    let found = cx.names.types.get(&name.node).copied();
    if let Some((_, place)) = found {
        cx.record_use(name.span, place, NameKind::Type);
    }
    let found = found.map(|(id, _)| id);
    let fields = found
        .and_then(|id| super::record_fields(cx, &Type::Named(id)))
        .map(<[chartc_core::model::Field]>::to_vec);
    let (Some(id), Some(fields)) = (found, fields) else {
        unknown_record(cx, name);
        for (_, value) in written {
            expr(cx, env, value, None);
        }
        return unknown(&name.node);
    };
    let mut given: BTreeMap<&str, (Expr, Span)> = BTreeMap::new();
    for (field, value) in written {
        cx.record_member_use(id, field);
        let Some(known) = fields.iter().find(|f| f.name == field.node) else {
            let known = fields.iter().map(|f| f.name.as_str());
            cx.report(unknown_name::field(&name.node, &field.node, field.span, known));
            continue;
        };
        let lowered = expect(cx, env, value, &known.ty);
        if let Some((_, first)) = given.get(field.node.as_str()) {
            cx.findings.push(duplicate_name::twice("field", &field.node, field.span, *first));
            continue;
        }
        given.insert(&field.node, (lowered, field.span));
    }
    let mut complete = Vec::new();
    for field in &fields {
        let value = match given.remove(field.name.as_str()) {
            Some((value, _)) => value,
            None if matches!(field.ty, Type::Optional(_) | Type::Json) => {
                of(ExprKind::None, field.ty.clone())
            }
            None => {
                let message = format!("`{}` has no value for `{}`", name.node, field.name);
                let help = format!("add `{}: …`", field.name);
                cx.report(TYPE_ERROR.at(name.span, message).help(help));
                unknown(&field.name)
            }
        };
        complete.push((field.name.clone(), value));
    }
    of(ExprKind::Record(id, complete), Type::Named(id))
}

fn unknown_record(cx: &mut Cx<'_>, name: &Ident) {
    if cx.names.types.contains_key(&name.node) {
        let message = format!("`{}` is an enum, which has no fields", name.node);
        cx.report(TYPE_ERROR.at(name.span, message));
        return;
    }
    let known: Vec<String> = cx.names.types.keys().cloned().collect();
    cx.unknown("type", &name.node, name.span, known.iter().map(String::as_str));
}
