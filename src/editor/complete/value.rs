//! Offers in expressions: names, fields, and values of enums.

use super::CompletionKind;
use super::binding::BoundName;
use super::cursor::{Cursor, bare};
use super::offer::{Offer, call};
use super::scope::VisibleNames;
use super::word::FUNCTIONS;
use crate::editor::known::{Decl, MemberName, parts};
use crate::editor::outline::SymbolKind;
use crate::editor::show;
use chartc_check::lower::observables;
use chartc_core::expr::type_text;
use chartc_text::front::chart::completion_context::BodyKind;
use chartc_text::syntax::{TypeExpr, TypeKind};

/// The kinds of declarations that have a value, with their weights.
const VALUES: &[(SymbolKind, u32)] = &[
    (SymbolKind::Variable, 1),
    (SymbolKind::Param, 1),
    (SymbolKind::Input, 1),
    (SymbolKind::Predicate, 2),
    (SymbolKind::Step, 3),
    (SymbolKind::Function, 4),
    (SymbolKind::Enum, 5),
    (SymbolKind::Type, 6),
];

/// Offers everything that an expression may begin with.
pub(super) fn offers(
    cursor: &Cursor<'_>,
    scope: &VisibleNames<'_>,
    bound: &[BoundName<'_>],
) -> Vec<Offer> {
    let mut found = expected(cursor, scope, bound);
    for (name, ty) in bound {
        let ty = ty.map(show::type_expr).unwrap_or_default();
        found.push(Offer::new(name, CompletionKind::Parameter, 0).detail(ty));
    }
    for decl in &scope.decls {
        if let Some((_, weight)) = VALUES.iter().find(|(kind, _)| *kind == decl.kind) {
            found.push(declared(decl, *weight, cursor.followed_by("(")));
        }
    }
    for (name, ty) in observables() {
        let ty = type_text(ty, &[]);
        found.push(Offer::new(name, CompletionKind::Variable, 7).detail(ty));
    }
    if scope.place == BodyKind::Test {
        found.push(
            Offer::new("result", CompletionKind::Variable, 7).detail("what the run ends with"),
        );
    }
    for (name, arguments, meaning) in FUNCTIONS {
        let offer = Offer::new(*name, CompletionKind::Function, 8).detail(*meaning);
        let bare = cursor.followed_by("(");
        found.push(if bare { offer } else { offer.snippet(call(name, arguments)) });
    }
    found
}

/// The offer for a declaration. Unless `bare`, a function is followed by its arguments.
pub(super) fn declared(decl: &Decl<'_>, weight: u32, bare: bool) -> Offer {
    let kind = kind_of(decl.kind);
    let offer = Offer::new(&decl.name, kind, weight).doc(decl.doc);
    let ty = decl.ty.map(show::type_expr).unwrap_or_default();
    let takes = matches!(decl.kind, SymbolKind::Function | SymbolKind::Effect);
    if !takes && decl.params.is_empty() {
        return offer.detail(ty);
    }
    let names: Vec<&str> = decl.params.iter().map(|param| param.name.node.as_str()).collect();
    let arrow = if ty.is_empty() { String::new() } else { format!(" -> {ty}") };
    let offer = offer.detail(format!("{}{arrow}", show::params(decl.params)));
    if bare { offer } else { offer.snippet(call(&decl.name, &names)) }
}

/// The kind with which a declaration is shown.
pub(super) fn kind_of(kind: SymbolKind) -> CompletionKind {
    match kind {
        SymbolKind::Import => CompletionKind::File,
        SymbolKind::Chart => CompletionKind::Chart,
        SymbolKind::State | SymbolKind::Parallel | SymbolKind::Final | SymbolKind::History => {
            CompletionKind::State
        }
        SymbolKind::Event => CompletionKind::Event,
        SymbolKind::Param => CompletionKind::Parameter,
        SymbolKind::Input | SymbolKind::Variable | SymbolKind::Predicate => {
            CompletionKind::Variable
        }
        SymbolKind::Step => CompletionKind::Step,
        SymbolKind::Option => CompletionKind::Option,
        SymbolKind::Tool | SymbolKind::ToolSet => CompletionKind::Tool,
        SymbolKind::Type => CompletionKind::Type,
        SymbolKind::Field => CompletionKind::Field,
        SymbolKind::Enum => CompletionKind::Enum,
        SymbolKind::EnumValue => CompletionKind::EnumMember,
        SymbolKind::Function | SymbolKind::Effect => CompletionKind::Function,
        SymbolKind::Client => CompletionKind::Client,
        SymbolKind::Component | SymbolKind::Test => CompletionKind::Value,
    }
}

/// The values of the enum that a comparison or an assignment expects, by the type of its other side.
fn expected(cursor: &Cursor<'_>, scope: &VisibleNames<'_>, bound: &[BoundName<'_>]) -> Vec<Offer> {
    if !matches!(cursor.back(1), "==" | "!=" | "=" | "in" | "[" | ",") {
        return Vec::new();
    }
    let other = bare(cursor.back(2));
    let Some(ty) = first(scope, bound, other) else { return Vec::new() };
    let TypeKind::Name(name) = &present(ty).kind else { return Vec::new() };
    let Some((decl, values)) = parts(&scope.decls, name) else { return Vec::new() };
    if decl.kind != SymbolKind::Enum {
        return Vec::new();
    }
    let offer = |(value, _): &MemberName<'_>| {
        Offer::new(format!("{name}.{value}"), CompletionKind::EnumMember, 0)
    };
    values.iter().map(offer).collect()
}

/// The type of the name that a chain begins with.
fn first<'c>(
    scope: &VisibleNames<'c>,
    bound: &[BoundName<'c>],
    name: &str,
) -> Option<&'c TypeExpr> {
    if let Some((_, ty)) = bound.iter().find(|(known, _)| known == name) {
        return *ty;
    }
    let values = VALUES.iter().map(|(kind, _)| *kind).collect::<Vec<_>>();
    scope.decls.iter().find(|decl| decl.name == name && values.contains(&decl.kind))?.ty
}

/// A type without the question marks of optional types.
fn present(ty: &TypeExpr) -> &TypeExpr {
    match &ty.kind {
        TypeKind::Optional(inner) => present(inner),
        TypeKind::Name(_) | TypeKind::List(_) | TypeKind::Map(..) => ty,
    }
}

/// Offers what may follow the dot of a chain of names.
pub(super) fn fields(
    cursor: &Cursor<'_>,
    scope: &VisibleNames<'_>,
    bound: &[BoundName<'_>],
) -> Vec<Offer> {
    let Some(Some(name)) = cursor.chain.first() else { return any_field(scope) };
    let is_bound = bound.iter().any(|(known, _)| known == name);
    if !is_bound
        && cursor.chain.len() == 1
        && let Some((decl, values)) = parts(&scope.decls, name)
        && decl.kind == SymbolKind::Enum
    {
        let offer = |(value, _): &MemberName<'_>| {
            Offer::new(*value, CompletionKind::EnumMember, 0).detail(name)
        };
        return values.iter().map(offer).collect();
    }
    let mut ty = first(scope, bound, name);
    for field in &cursor.chain[1..] {
        let inner = ty.and_then(|ty| record(scope, ty));
        let found = inner
            .and_then(|fields| fields.iter().find(|(known, _)| Some(*known) == field.as_deref()));
        ty = found.and_then(|(_, ty)| *ty);
    }
    match ty.and_then(|ty| record(scope, ty)) {
        Some(fields) => fields.iter().map(field).collect(),
        None => any_field(scope),
    }
}

fn record<'s, 'c>(scope: &'s VisibleNames<'c>, ty: &TypeExpr) -> Option<&'s [MemberName<'c>]> {
    let TypeKind::Name(name) = &present(ty).kind else { return None };
    let (decl, fields) = parts(&scope.decls, name)?;
    (decl.kind == SymbolKind::Type).then_some(fields)
}

fn field((name, ty): &MemberName<'_>) -> Offer {
    Offer::new(*name, CompletionKind::Field, 0).detail(ty.map(show::type_expr).unwrap_or_default())
}

/// Offers the fields of all records and the results of runs, because the type is unknown.
fn any_field(scope: &VisibleNames<'_>) -> Vec<Offer> {
    let records = scope.of_kind(&[SymbolKind::Type]).flat_map(|decl| &decl.parts).map(field);
    let mut found: Vec<Offer> = records.collect();
    let mut open: Vec<_> = scope.states.iter().collect();
    while let Some(node) = open.pop() {
        found.extend(node.params.iter().map(|param| {
            Offer::new(&param.name.node, CompletionKind::Field, 1)
                .detail(show::type_expr(&param.ty))
        }));
        open.extend(&node.children);
    }
    found
}
