//! Lowers names and fields.

use super::env::Reads;
use super::narrow::place_of;
use super::{Bound, Env, expr, inner, is_faulty, of, record_fields, unknown};
use crate::lower::context::Cx;
use crate::lower::types;
use crate::lower::uses::NameKind;
use chartc_core::arena::{LocalId, StepId, VarId};
use chartc_core::model::{
    Expr, ExprKind, Observable, Since, StateKind, Type, TypeDef, TypeKind, VariableKind,
};
use chartc_text::diagnostic::{Diagnostic, near};
use chartc_text::rules::{TYPE_ERROR, UNKNOWN_NAME, UNKNOWN_PLACEHOLDER};
use chartc_text::rules::{type_error, unknown_name};
use chartc_text::span::{Ident, Span};
use chartc_text::syntax;

/// Observables that are written as a plain name.
static OBSERVABLES: [(&str, Observable, Type); 16] = [
    ("state", Observable::State, Type::Text),
    ("turns", Observable::Turns, Type::Int),
    ("turns_here", Observable::TurnsHere, Type::Int),
    ("fails_here", Observable::FailsHere, Type::Int),
    ("elapsed", Observable::Elapsed, Type::Duration),
    ("elapsed_here", Observable::ElapsedHere, Type::Duration),
    ("health", Observable::Health, Type::Text),
    ("advice", Observable::Advice, Type::Text),
    ("last_result", Observable::LastResult, Type::Text),
    ("event", Observable::Event, Type::Text),
    ("calls", Observable::Calls(Since::Start), Type::Int),
    ("calls_here", Observable::Calls(Since::Entry), Type::Int),
    ("tokens", Observable::Tokens(Since::Start), Type::Int),
    ("tokens_here", Observable::Tokens(Since::Entry), Type::Int),
    ("cost", Observable::Cost(Since::Start), Type::Float),
    ("cost_here", Observable::Cost(Since::Entry), Type::Float),
];

/// The observables of a run that are written as a plain name, each with its type.
pub fn observables() -> impl Iterator<Item = (&'static str, &'static Type)> {
    OBSERVABLES.iter().map(|(name, _, ty)| (*name, ty))
}

/// Resolves a name, innermost scope first, so that a chart's own names hide the machine's.
pub(super) fn name(cx: &mut Cx<'_>, env: &mut Env, name: &str, span: Span) -> Expr {
    match resolve(cx, env, name, span) {
        Some(found) => narrowed(env, found),
        None => {
            missing(cx, env, name, span);
            unknown(name)
        }
    }
}

fn resolve(cx: &mut Cx<'_>, env: &Env, name: &str, span: Span) -> Option<Expr> {
    if let Some(depth) = env.locals.iter().rposition(|local| local.name == name) {
        let ty = bound(cx, &env.locals[depth], span);
        return Some(of(ExprKind::Local(LocalId::at(depth)), ty));
    }
    if let Some(nth) = env.payload.iter().position(|field| field.name == name) {
        let ty = bound(cx, &env.payload[nth], span);
        return Some(of(ExprKind::Payload(nth as u32), ty));
    }
    if let Some((id, place)) = cx.names.variables.get(name).copied() {
        cx.record_use(span, place, NameKind::Variable);
        check_read(cx, env, id, span);
        let ty = cx.chart.variables[id.index()].ty.clone();
        return Some(of(ExprKind::Variable(id), ty));
    }
    if let Some((id, place)) = cx.names.predicates.get(name).copied() {
        cx.record_use(span, place, NameKind::Predicate);
        cx.length = cx.length.saturating_add(cx.lengths[id.index()]);
        only_when_running(cx, env, name, span);
        return Some(of(ExprKind::Predicate(id), Type::Bool));
    }
    if let Some((id, place)) = cx.names.steps.get(name).copied() {
        cx.record_use(span, place, NameKind::Step);
        only_when_running(cx, env, name, span);
        return Some(answer(cx, env, id));
    }
    let (_, observable, ty) = OBSERVABLES.iter().find(|(known, ..)| *known == name)?;
    only_when_running(cx, env, name, span);
    cx.chart.reads_amounts |= observable.is_amount();
    Some(of(ExprKind::Observable(observable.clone()), ty.clone()))
}

/// The type of the value that a bound name stands for; records the use of the name.
fn bound(cx: &mut Cx<'_>, bound: &Bound, span: Span) -> Type {
    if let Some((place, kind)) = bound.place {
        cx.record_use(span, place, kind);
    }
    bound.ty.clone()
}

fn answer(cx: &Cx<'_>, env: &Env, id: StepId) -> Expr {
    let returns = cx.chart.steps[id.index()].returns.clone();
    let ty = if env.answer == Some(id) { returns } else { types::optional(returns) };
    of(ExprKind::Answer(id), ty)
}

/// Removes the `?` from the type of a value that is known not to be `none`.
fn narrowed(env: &Env, mut found: Expr) -> Expr {
    if matches!(found.ty, Type::Optional(_))
        && place_of(&found).is_some_and(|place| env.facts.contains(&place))
    {
        found.ty = inner(&found.ty).clone();
    }
    found
}

/// Reports variables that may not be read here. A default reads only what has a value before it.
fn check_read(cx: &mut Cx<'_>, env: &Env, id: VarId, span: Span) {
    let variable = &cx.chart.variables[id.index()];
    let is_param = matches!(variable.kind, VariableKind::Param { .. });
    // Later variables are not declared yet, so `Before` needs no check.
    let (allowed, why) = match env.reads {
        Reads::All | Reads::Before(_) => (true, ""),
        Reads::ParamsBefore(_) => (is_param, "the default of a param may read params only"),
        Reads::Params => (is_param, "only params may be read here"),
        Reads::Nothing => (false, "a literal is wanted here"),
    };
    if !allowed {
        let finding = type_error::not_here(&variable.name, why, span);
        cx.report(finding);
    }
}

/// Reports what has a value only at run time, if a constant is expected.
pub(super) fn only_when_running(cx: &mut Cx<'_>, env: &Env, name: &str, span: Span) {
    let help = match env.reads {
        Reads::All => return,
        Reads::Before(_) | Reads::ParamsBefore(_) => {
            "a default may read what is declared before it, and nothing of the run"
        }
        Reads::Params => "only params may be read here",
        Reads::Nothing => "a literal is wanted here",
    };
    cx.report(type_error::not_here(name, help, span));
}

fn missing(cx: &mut Cx<'_>, env: &Env, name: &str, span: Span) {
    if env.hidden.iter().any(|hidden| hidden == name) {
        cx.report(unknown_name::not_given_yet(name, span));
        return;
    }
    let rule = if env.placeholder { &UNKNOWN_PLACEHOLDER } else { &UNKNOWN_NAME };
    if let Some(later) = cx.names.later.get(name) {
        let finding = unknown_name::too_early(rule, name, span, *later);
        cx.report(finding);
        return;
    }
    if name == "options" {
        let finding = rule
            .at(span, "`options` stands alone in the prompt of an `ask`, as `{options}`")
            .help("nowhere else are there options to show");
        cx.report(finding);
        return;
    }
    // Declarations are lowered before states exist, so there may be no such state.
    let state = cx.chart.states.get(env.state.index());
    if let Some(StateKind::Final { params, .. }) = state.map(|s| &s.kind)
        && params.iter().any(|param| param.name == name)
    {
        let finding = rule
            .at(span, format!("`{name}` is what the run ends with: it cannot be read here"))
            .help("set a `var` on the lines that lead here, and read that");
        cx.report(finding);
        return;
    }
    let what = if env.placeholder { "nothing in scope is named" } else { "no variable" };
    let mut finding = rule.at(span, format!("{what} `{name}`"));
    if cx.take_guess() {
        finding = guess(cx, env, name, finding);
    }
    cx.report(finding);
}

fn guess(cx: &Cx<'_>, env: &Env, name: &str, finding: Diagnostic) -> Diagnostic {
    if cx.names.types.contains_key(name) {
        return finding
            .help(format!("`{name}` is a type; a value of an enum is written `{name}.value`"));
    }
    if cx.names.functions.contains_key(name) || super::is_language_function(name) {
        return finding.help(format!("`{name}` is a function; call it: `{name}(…)`"));
    }
    let named = |ty: &&TypeDef| match &ty.kind {
        TypeKind::Enum(values) => values.iter().any(|value| value == name),
        TypeKind::Record(_) => false,
    };
    if let Some(ty) = cx.chart.types.iter().find(named) {
        let value = format!("{}.{name}", ty.name);
        let help = format!("a value of an enum is written `{value}`");
        return finding.help(help).rename(name, &value, false);
    }
    // The supplied names are all that an agent knows of its run, so observables are not suggested to it.
    let observables = if cx.supplied.is_empty() { &OBSERVABLES[..] } else { &[] };
    let bound = env.locals.iter().chain(&env.payload).map(|bound| bound.name.as_str());
    let known = bound
        .chain(cx.names.variables.keys().map(String::as_str))
        .chain(cx.names.predicates.keys().map(String::as_str))
        .chain(cx.names.steps.keys().map(String::as_str))
        .chain(cx.names.types.keys().map(String::as_str))
        .chain(cx.supplied.iter().copied())
        .chain(observables.iter().map(|(known, ..)| *known))
        .chain((env.offers && cx.supplied.is_empty()).then_some("options"));
    finding.meant(name, near(name, known))
}

/// Lowers `x.f`, or the value `E.a` of an enum.
pub(super) fn field(cx: &mut Cx<'_>, env: &mut Env, base: &syntax::Expr, field: &Ident) -> Expr {
    if let syntax::ExprKind::Name(name) = &base.kind
        && let Some(value) = enum_value(cx, env, (name, base.span), field)
    {
        return value;
    }
    if let syntax::ExprKind::Name(name) = &base.kind
        && env.payload.iter().any(|known| known.name == *name && known.place.is_none())
        && !env.locals.iter().any(|known| known.name == *name)
    {
        // `result` in a test stands for the result of any of the final states.
        cx.record_result_use(field);
    }
    let lowered = expr(cx, env, base, None);
    if is_faulty(&lowered) || *inner(&lowered.ty) == Type::Json {
        let kind = ExprKind::Field(Box::new(lowered), field.node.clone());
        return of(kind, Type::Json);
    }
    if let Type::Named(id) = *inner(&lowered.ty) {
        cx.record_member_use(id, field);
    }
    let optional = matches!(lowered.ty, Type::Optional(_));
    let Some(fields) = record_fields(cx, inner(&lowered.ty)) else {
        let message = format!("{} has no fields", cx.a(&lowered.ty));
        let mut finding = TYPE_ERROR.at(field.span, message);
        if matches!(inner(&lowered.ty), Type::Map(_)) {
            finding = finding.help(format!("write `[\"{}\"]`", field.node));
        }
        cx.report(finding);
        return unknown(&field.node);
    };
    let Some(found) = fields.iter().find(|f| f.name == field.node) else {
        let known = fields.iter().map(|f| f.name.as_str());
        let record = cx.type_name(inner(&lowered.ty));
        let finding = unknown_name::field(&record, &field.node, field.span, known);
        cx.report(finding);
        return unknown(&field.node);
    };
    let ty = if optional { types::optional(found.ty.clone()) } else { found.ty.clone() };
    narrowed(env, of(ExprKind::Field(Box::new(lowered), field.node.clone()), ty))
}

fn enum_value(
    cx: &mut Cx<'_>,
    env: &Env,
    (name, span): (&str, Span),
    field: &Ident,
) -> Option<Expr> {
    if env.binds(name) || cx.names.variables.contains_key(name) {
        return None;
    }
    let (id, place) = *cx.names.types.get(name)?;
    let TypeKind::Enum(_) = &cx.chart.types[id.index()].kind else { return None };
    cx.record_use(span, place, NameKind::Type);
    cx.record_member_use(id, field);
    let TypeKind::Enum(values) = &cx.chart.types[id.index()].kind else { return None };
    let ty = Type::Named(id);
    if values.contains(&field.node) {
        return Some(of(ExprKind::Enum(id, field.node.clone()), ty));
    }
    let known = values.iter().map(String::as_str);
    let finding = unknown_name::enum_value(name, &field.node, field.span, known);
    cx.report(finding);
    Some(unknown(&field.node))
}
