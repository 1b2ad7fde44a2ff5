//! Lowers literals, texts with placeholders and their formats, and fits values to the types that are expected.
//!
//! The problem: the meaning of `[]`, `none` or `1` depends on the type that is expected, and a value may have to be converted: an `Int`
//! where a `Float` is expected, anything where a `T?` is. The idea: types are pushed down and pulled up. `expect` passes the expected type
//! to the parts of a literal. Where there is none, `join` and `one_type` find the narrowest type that includes all parts. `coerce` converts
//! a value, or returns it unchanged as an error, which `fit` reports. A part that is already an error (`is_faulty`) is never reported
//! again.
//!
//! `Json` fits every type, because only the run can tell (`dynamic`). `template` lowers texts, and `check` tests a format spec by
//! formatting a value of the type, so the rules of formats exist only once, in the core. For example:
//!
//! | written | expected | becomes |
//! |---|---|---|
//! | `[1, 2.5]` | `List(Float)` | `[1.0, 2.5]` |
//! | `[1, 2.5]` | nothing | the same, as `Float` includes `Int` |
//! | `[1, "a"]` | nothing | a list of `Json` |
//! | `none` | `Int?` | `none` of the type `Int?` |
//! | `none` | `Int` | an error |
//! | `"{rate:.0%}"` with `rate: Text` | | an error: this format cannot show a text |

use super::{Env, expr, inner, may_be_missing, of, unknown};
use crate::lower::context::{Cx, NameKind};
use crate::rules::{
    TYPE_ERROR, duplicate_name, unescaped_brace, unknown_name, unknown_placeholder,
};
use crate::syntax;
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{Ident, Span};
use chartc_core::expr::format::{format, python_repr};
use chartc_core::expr::{Map, Value};
use chartc_core::model::{
    Builtin, Expr, ExprKind, Field, Template, TemplatePart, Type, TypeKind, UnaryOp, Within,
};
use std::collections::BTreeMap;

/// The value of a literal; also of a list, map or record of literals, and of a negated number.
pub(in crate::lower) fn value_of(expr: &Expr) -> Option<Value> {
    match &expr.kind {
        ExprKind::None => Some(Value::None),
        ExprKind::Bool(b) => Some(Value::Bool(*b)),
        ExprKind::Int(i) => Some(Value::Int(*i)),
        ExprKind::Float(x) => Some(Value::Float(*x)),
        ExprKind::Text(text) => text.literal().map(|t| Value::Text(t.to_owned())),
        ExprKind::Duration(ms) => Some(Value::Duration(*ms)),
        ExprKind::Enum(_, name) => Some(Value::Text(name.clone())),
        ExprKind::List(items) => items.iter().map(value_of).collect::<Option<_>>().map(Value::List),
        ExprKind::Map(entries) => entries
            .iter()
            .map(|(key, value)| match value_of(key)? {
                Value::Text(key) => Some((key, value_of(value)?)),
                _ => None,
            })
            .collect::<Option<_>>()
            .map(Value::Map),
        ExprKind::Record(_, fields) => fields
            .iter()
            .map(|(name, value)| Some((name.clone(), value_of(value)?)))
            .collect::<Option<_>>()
            .map(Value::Map),
        ExprKind::Unary(UnaryOp::Negate, inner) => match value_of(inner)? {
            Value::Int(i) => i.checked_neg().map(Value::Int),
            Value::Float(x) => Some(Value::Float(-x)),
            _ => None,
        },
        ExprKind::Builtin(chartc_core::model::Builtin::Float, arguments) => {
            match value_of(arguments.first()?)? {
                Value::Int(i) => Some(Value::Float(i as f64)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a part of the expression is an error that was already reported, so that its type means nothing.
pub(in crate::lower) fn is_faulty(expr: &Expr) -> bool {
    let mut open = vec![expr];
    while let Some(next) = open.pop() {
        if matches!(next.kind, ExprKind::Unknown(_)) {
            return true;
        }
        next.each_part(&mut |part| open.push(part));
    }
    false
}

/// Lowers the value of a field. A value that is not known here is checked against the range of the field when it is computed.
pub(in crate::lower) fn into_field(
    cx: &mut Cx<'_>,
    env: &mut Env,
    written: &syntax::Expr,
    field: &Field,
) -> Expr {
    let value = expect(cx, env, written, &field.ty);
    let Some(range) = &field.range else { return value };
    if is_faulty(&value) || refuse_outside(cx, range, &field.name, &value, written.span) {
        return value;
    }
    let (ty, (low, high)) = (value.ty.clone(), range.clone());
    let name = Template { parts: vec![TemplatePart::Text(field.name.clone())] };
    let name = ExprKind::Text(name);
    let arguments = vec![value, constant(low), constant(high), of(name, Type::Text)];
    of(ExprKind::Builtin(Builtin::Within, arguments), ty)
}

/// An end of a range as an expression.
fn constant(value: Value) -> Expr {
    match value {
        Value::Int(n) => of(ExprKind::Int(n), Type::Int),
        Value::Float(x) => of(ExprKind::Float(x), Type::Float),
        _ => of(ExprKind::None, Type::Json),
    }
}

/// Reports a literal outside of the range of `name`. Whether the value is a literal.
pub(in crate::lower) fn refuse_outside(
    cx: &mut Cx<'_>,
    (low, high): &Within,
    name: &str,
    value: &Expr,
    span: Span,
) -> bool {
    let Some(value) = value_of(value) else { return false };
    if above(low, &value) || above(&value, high) {
        let message = format!("this lies outside of the range of `{name}`");
        let shown = |value| python_repr(value).unwrap_or_default();
        let help = format!("`{name}` is in {}..{}", shown(low), shown(high));
        cx.report(TYPE_ERROR.at(span, message).help(help));
    }
    true
}

/// Whether `a > b`, for two numbers or durations of one type.
pub(in crate::lower) fn above(a: &Value, b: &Value) -> bool {
    if let (Value::Int(a), Value::Int(b)) = (a, b) {
        a > b
    } else if let (Value::Float(a), Value::Float(b)) = (a, b) {
        a > b
    } else if let (Value::Duration(a), Value::Duration(b)) = (a, b) {
        a > b
    } else {
        false
    }
}

/// Whether the expression is an Int literal that is not negative.
pub(in crate::lower) fn is_count(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Int(i) if i >= 0)
}

// Converts values to the types that are expected, and reports those that do not fit.

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
pub(in crate::lower) fn fit(cx: &mut Cx<'_>, lowered: Expr, want: &Type, span: Span) -> Expr {
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
    blame(cx, super::mismatch(cx, span, want, &found.ty), &[found])
}

/// If exactly one of an expression's parts is a variable, the finding about it names the variable's declaration as the cause.
pub(in crate::lower) fn blame(cx: &Cx<'_>, finding: Diagnostic, parts: &[&Expr]) -> Diagnostic {
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
pub(in crate::lower) fn coerce(mut found: Expr, want: &Type) -> Result<Expr, Expr> {
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
pub(in crate::lower) fn join(
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
        return Some(super::optional(b.ty.clone()));
    }
    if b.kind == ExprKind::None {
        return Some(super::optional(a.ty.clone()));
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
            Some(field) => into_field(cx, env, argument, field),
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

// Lowers literal lists, maps and records.

/// Lowers `[a, b]`.
pub(in crate::lower) fn list(
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
pub(in crate::lower) fn map(
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
        Some(want) if items.iter().all(|e| self::coerce(e.clone(), want).is_ok()) => want.clone(),
        _ => {
            // The elements are joined one by one, so that a Float widens the Ints before it, too.
            let mut widest = first.clone();
            let mut mixed = false;
            for item in &items[1..] {
                match join(widest, item.clone(), None) {
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
    let items = items.into_iter().map(|e| self::coerce(e, &common).unwrap_or_else(|e| e)).collect();
    (items, common)
}

/// Lowers `P { a: b }`. Each field appears once; a field that may be none can be left out.
pub(in crate::lower) fn record(
    cx: &mut Cx<'_>,
    env: &mut Env,
    name: &Ident,
    written: &[(Ident, syntax::Expr)],
) -> Expr {
    let found = cx.type_of(&name.node, name.span);
    if let Some((_, Some(place))) = found {
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
        let lowered = into_field(cx, env, value, known);
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

// Lowers texts with placeholders.

/// Whether `{options}` may stand in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lower) enum Options {
    /// The prompt of an `ask`, or a component.
    Yes,
    /// Any other text.
    No,
}

/// Lowers a text. The spans are parallel to its parts.
pub(in crate::lower) fn template(
    cx: &mut Cx<'_>,
    env: &mut Env,
    written: &syntax::Template,
    options: Options,
) -> (Template, Vec<Span>) {
    let mut parts: Vec<TemplatePart> = Vec::new();
    let mut spans: Vec<Span> = Vec::new();
    for part in &written.parts {
        match part {
            syntax::TemplatePart::Text(text, span) => {
                if text.is_empty() {
                    continue;
                }
                if let Some(TemplatePart::Text(before)) = parts.last_mut() {
                    before.push_str(text);
                    if let Some(last) = spans.last_mut() {
                        *last = last.to(*span);
                    }
                    continue;
                }
                parts.push(TemplatePart::Text(text.clone()));
                spans.push(*span);
            }
            syntax::TemplatePart::Hole(hole) => {
                parts.push(placeholder(cx, env, hole, options));
                spans.push(hole.span);
            }
            syntax::TemplatePart::Bad { text, why, span } => {
                cx.report(unescaped_brace::stray(why, *span));
                parts.push(TemplatePart::Bad(text.clone()));
                spans.push(*span);
            }
        }
    }
    (Template { parts }, spans)
}

fn placeholder(
    cx: &mut Cx<'_>,
    env: &mut Env,
    hole: &syntax::Hole,
    options: Options,
) -> TemplatePart {
    if let syntax::ExprKind::Name(name) = &hole.expr.kind
        && name == "options"
        && options == Options::Yes
        && !cx.names.variables.contains_key("options")
    {
        if !hole.spec.node.is_empty() {
            cx.report(TYPE_ERROR.at(hole.spec.span, "`{options}` takes no format"));
        }
        return TemplatePart::Options;
    }
    let outer = (env.placeholder, env.offers);
    (env.placeholder, env.offers) = (true, options == Options::Yes);
    let shown = expr(cx, env, &hole.expr, None);
    (env.placeholder, env.offers) = outer;
    if !is_faulty(&shown) {
        if matches!(shown.ty, Type::Optional(_)) {
            let finding = may_be_missing(hole.expr.span);
            cx.report(match (&hole.expr.kind, inner(&shown.ty)) {
                (_, Type::Text) => finding,
                (syntax::ExprKind::Name(name), _) => finding.help(format!(
                    "say what to show without it: `{{if {name} != none then str({name}) else \"…\"}}`"
                )),
                _ => finding,
            });
        } else if let Err(why) = check(cx, &hole.spec.node, &shown.ty) {
            let message = format!("`{}` cannot show {}", hole.spec.node, cx.a(&shown.ty));
            cx.report(TYPE_ERROR.at(hole.spec.span, message).label(why));
        }
    }
    let shown = if hole.spec.node.is_empty() { said(cx, shown) } else { shown };
    TemplatePart::Hole { expr: shown, spec: hole.spec.node.clone() }
}

/// Messages and images as the lines that a text shows; any other value itself.
fn said(cx: &Cx<'_>, shown: Expr) -> Expr {
    let item = if let Type::List(item) = &shown.ty { item } else { &shown.ty };
    let is_said = ["Message", "Image"].iter().any(|name| {
        let id = cx.names.built_in.get(name);
        id.is_some_and(|id| *item == Type::Named(*id))
    });
    if !is_said {
        return shown;
    }
    of(ExprKind::Builtin(Builtin::Said, vec![shown]), Type::Text)
}

/// Reports `{options}` in a text for steps that have none.
pub(in crate::lower) fn refuse_options(cx: &mut Cx<'_>, text: &Template, spans: &[Span]) {
    for (part, span) in text.parts.iter().zip(spans) {
        if *part == TemplatePart::Options {
            cx.report(unknown_placeholder::options_elsewhere(*span));
        }
    }
}

// The format specs of placeholders, as in Python. To check one, a value of the type is formatted as at run time.

/// Whether `spec` can show values of type `ty`.
///
/// # Errors
/// The reason why it cannot.
pub(in crate::lower) fn check(cx: &Cx<'_>, spec: &str, ty: &Type) -> Result<(), String> {
    if spec.is_empty() {
        return Ok(());
    }
    let value = match ty {
        Type::Bool => Value::Bool(true),
        // A number that is also a character, for `c`.
        Type::Int => Value::Int(65),
        Type::Float => Value::Float(0.5),
        Type::Text => Value::Text(String::new()),
        Type::Duration => Value::Duration(1000),
        Type::List(_) => Value::List(Vec::new()),
        Type::Map(_) => Value::Map(Map::new()),
        Type::Named(id) => match &cx.chart.types[id.index()].kind {
            TypeKind::Enum(_) => Value::Text(String::new()),
            TypeKind::Record(_) => Value::Map(Map::new()),
        },
        Type::Json | Type::Optional(_) => return for_some_value(spec),
    };
    format(&value, spec).map(drop).map_err(|why| why.to_string())
}

/// Whether the spec can show any value at all.
fn for_some_value(spec: &str) -> Result<(), String> {
    let values = [Value::Int(65), Value::Float(0.5), Value::Text(String::new())];
    let shown: Vec<_> = values.iter().map(|value| format(value, spec)).collect();
    if shown.iter().any(Result::is_ok) {
        return Ok(());
    }
    shown.into_iter().next().map_or(Ok(()), |first| first.map(drop).map_err(|why| why.to_string()))
}

/// The value of a `var` without an initial value.
pub(in crate::lower) fn zero(cx: &Cx<'_>, ty: &Type) -> Expr {
    let kind = match ty {
        Type::Bool => ExprKind::Bool(false),
        Type::Int => ExprKind::Int(0),
        Type::Float => ExprKind::Float(0.0),
        Type::Text => ExprKind::Text(Template::default()),
        Type::Duration => ExprKind::Duration(0),
        Type::Json | Type::Optional(_) => ExprKind::None,
        Type::List(_) => ExprKind::List(Vec::new()),
        Type::Map(_) => ExprKind::Map(Vec::new()),
        Type::Named(id) => match &cx.chart.types[id.index()].kind {
            TypeKind::Enum(names) => {
                ExprKind::Enum(*id, names.first().cloned().unwrap_or_default())
            }
            TypeKind::Record(_) => ExprKind::Unknown(String::new()),
        },
    };
    Expr { kind, ty: ty.clone() }
}
