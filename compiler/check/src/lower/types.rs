//! Declares types, and resolves types as they are written.

use super::context::{Cx, declare};
use super::cycles;
use super::items::{Declared, TypeItem};
use super::uses::NameKind;
use chartc_core::arena::TypeId;
use chartc_core::model::{Field, Type, TypeDef, TypeKind};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::TYPE_ERROR;
use chartc_text::rules::{duplicate_name, type_error};
use chartc_text::span::{Ident, Span};
use chartc_text::syntax::{self, TypeExpr};
use std::collections::BTreeMap;

/// The names of the types that contain values of other types.
const CONTAINERS: [&str; 2] = ["List", "Map"];

static PLAIN: [(&str, Type); 6] = [
    ("Bool", Type::Bool),
    ("Int", Type::Int),
    ("Float", Type::Float),
    ("Text", Type::Text),
    ("Duration", Type::Duration),
    ("Json", Type::Json),
];

/// The names of the types of the language.
pub fn language_types<'n>() -> impl Iterator<Item = &'n str> {
    PLAIN.iter().map(|(name, _)| *name).chain(CONTAINERS)
}

/// Declares all records and enums. All names come first, so that types may refer to each other in any order.
pub(super) fn declare_all<'s>(cx: &mut Cx<'s>, items: &[Declared<'s, TypeItem<'s>>]) {
    let mut kept = Vec::new();
    for item in items {
        let name = item.node.name();
        cx.record_declaration(name, NameKind::Type);
        let id = TypeId::at(cx.chart.types.len());
        if CONTAINERS.contains(&name.node.as_str())
            || PLAIN.iter().any(|(plain, _)| *plain == name.node)
        {
            cx.report(duplicate_name::of_the_language(&name.node, "a type", name.span));
            continue;
        }
        let free =
            declare(&mut cx.findings, &mut cx.names.types, "type", &name.node, name.span, id);
        if free {
            kept.push((id, item));
            cx.map.types.push(name.span);
            if cx.records {
                cx.type_items.push(item.node);
            }
            cx.chart.types.push(TypeDef {
                name: name.node.clone(),
                doc: item.doc.to_owned(),
                // A placeholder until all names are declared.
                kind: TypeKind::Enum(Vec::new()),
            });
        }
    }
    for (id, item) in &kept {
        cx.chart.types[id.index()].kind = match item.node {
            TypeItem::Record(record) => TypeKind::Record(record_fields(cx, record)),
            TypeItem::Enum(node) => TypeKind::Enum(enum_names(cx, node)),
        };
    }
    let held: Vec<Vec<usize>> = cx.chart.types.iter().map(held).collect();
    let endless = cycles::on(&held);
    for (_, item) in kept.iter().filter(|(id, _)| endless[id.index()]) {
        let name = item.node.name();
        let finding = TYPE_ERROR
            .at(name.span, format!("record `{}` contains itself", name.node))
            .help("keep the inner ones in a `List(…)` or a `Map(Text, …)`");
        cx.report(finding);
    }
}

/// The indices of the types of which each value of this type contains a value. A record that contains itself, other than in a list or a
/// map, has no values.
fn held(ty: &TypeDef) -> Vec<usize> {
    let fields = if let TypeKind::Record(fields) = &ty.kind { &fields[..] } else { &[] };
    let named = fields.iter().filter_map(|field| {
        let mut ty = &field.ty;
        while let Type::Optional(inner) = ty {
            ty = inner;
        }
        if let Type::Named(inner) = ty { Some(inner.index()) } else { None }
    });
    named.collect()
}

fn record_fields(cx: &mut Cx<'_>, record: &syntax::Record) -> Vec<Field> {
    let params: Vec<_> = record.fields.iter().map(|f| f.node.clone()).collect();
    let mut fields = super::structure::fields(cx, &params, NameKind::Field);
    let mut seen = std::collections::BTreeSet::new();
    fields.retain(|f| seen.insert(f.name.clone()));
    fields
}

fn enum_names(cx: &mut Cx<'_>, node: &syntax::Enum) -> Vec<String> {
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    let mut names = Vec::new();
    for ident in node.names.iter().map(|n| &n.node) {
        cx.record_declaration(ident, NameKind::Value);
        let Ident { node: name, span } = ident;
        match seen.get(name.as_str()) {
            Some(first) => cx.findings.push(duplicate_name::twice("value", name, *span, *first)),
            None => {
                seen.insert(name, *span);
                names.push(name.clone());
            }
        }
    }
    names
}

/// The type that is written; reports an unknown one, which becomes `Json`.
pub(super) fn resolve(cx: &mut Cx<'_>, written: &TypeExpr) -> Type {
    match &written.kind {
        syntax::TypeKind::Name(name) => named(cx, name, written.span),
        syntax::TypeKind::List(item) => Type::List(Box::new(resolve(cx, item))),
        syntax::TypeKind::Map(key, value) => {
            if resolve(cx, key) != Type::Text {
                let finding = TYPE_ERROR.at(key.span, "the keys of a map are `Text`");
                cx.report(finding);
            }
            Type::Map(Box::new(resolve(cx, value)))
        }
        syntax::TypeKind::Optional(inner) => optional(resolve(cx, inner)),
    }
}

/// The type `T?`. A Json value may be none anyway, and no type is optional twice.
pub(super) fn optional(ty: Type) -> Type {
    match ty {
        Type::Json | Type::Optional(_) => ty,
        _ => Type::Optional(Box::new(ty)),
    }
}

fn named(cx: &mut Cx<'_>, name: &str, span: Span) -> Type {
    if let Some((_, plain)) = PLAIN.iter().find(|(plain, _)| *plain == name) {
        return plain.clone();
    }
    if let Some((id, place)) = cx.names.types.get(name).copied() {
        cx.record_use(span, place, NameKind::Type);
        return Type::Named(id);
    }
    let declared: Vec<String> = cx.names.types.keys().cloned().collect();
    let plain = language_types();
    let known = plain.chain(declared.iter().map(String::as_str));
    cx.unknown("type", name, span, known);
    Type::Json
}

/// The finding for a value of the wrong type.
pub(super) fn mismatch(cx: &Cx<'_>, span: Span, want: &Type, found: &Type) -> Diagnostic {
    type_error::mismatch(&cx.type_name(want), &cx.type_name(found), span)
}
