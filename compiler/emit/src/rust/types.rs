//! Writes the types of a chart as Rust types, and the records and enums that it declares.

use super::Context;
use super::wire::{self, Names, WireVariant};
use chartc_core::arena::TypeId;
use chartc_core::model::{Field, Type, TypeDef, TypeKind};
use codegen::{Field as CodeField, Impl, Scope, Struct};

/// Returns the Rust type that holds a value of `ty`.
pub(super) fn owned(context: &Context<'_>, ty: &Type) -> String {
    match ty {
        Type::Bool => "bool".to_owned(),
        Type::Int => "i64".to_owned(),
        Type::Float => "f64".to_owned(),
        Type::Text => "String".to_owned(),
        Type::Duration => "Duration".to_owned(),
        Type::Json => "Value".to_owned(),
        Type::List(item) => format!("Vec<{}>", owned(context, item)),
        Type::Map(item) => format!("Map<{}>", owned(context, item)),
        Type::Optional(inner) => format!("Option<{}>", owned(context, inner)),
        Type::Named(id) => context.names.types[id.index()].clone(),
    }
}

/// Returns the type of a list's items; `None` for other types.
pub(super) fn list_item(ty: &Type) -> Option<&Type> {
    if let Type::List(item) = ty { Some(item) } else { None }
}

/// Returns the inner type of an optional; `None` for other types.
pub(super) fn optional_inner(ty: &Type) -> Option<&Type> {
    if let Type::Optional(inner) = ty { Some(inner) } else { None }
}

/// Returns the type made optional; an optional type is unchanged.
pub(super) fn optional(ty: Type) -> Type {
    if optional_inner(&ty).is_some() { ty } else { Type::Optional(Box::new(ty)) }
}

/// Returns the Rust type of a borrowed `ty` as an argument of a host function.
pub(super) fn lent(context: &Context<'_>, ty: &Type) -> String {
    match ty {
        Type::Bool | Type::Int | Type::Float | Type::Duration => owned(context, ty),
        Type::Text => "&str".to_owned(),
        Type::List(item) => format!("&[{}]", owned(context, item)),
        Type::Optional(inner) => format!("Option<{}>", lent(context, inner)),
        Type::Json | Type::Map(_) => format!("&{}", owned(context, ty)),
        Type::Named(_) if context.facts.is_copy(ty) => owned(context, ty),
        Type::Named(_) => format!("&{}", owned(context, ty)),
    }
}

/// Adds the records and enums of the chart.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) {
    for (i, def) in context.chart.types.iter().enumerate() {
        match &def.kind {
            TypeKind::Record(fields) => record(context, TypeId::at(i), def, fields, scope),
            TypeKind::Enum(names) => enumeration(context, i, def, names, scope),
        }
    }
}

fn enumeration(context: &Context<'_>, i: usize, def: &TypeDef, names: &[String], to: &mut Scope) {
    let rows = names.iter().zip(&context.names.type_fields[i]).enumerate();
    let names = Names {
        name: &context.names.types[i],
        doc: super::doc(&def.doc, &format!("Enum `{}` of the chart.", def.name)),
        what: &def.name,
        id: None,
        rows: rows
            .map(|(number, (wire, name))| WireVariant {
                name: name.clone(),
                wire: wire.clone(),
                doc: format!("`{wire}`."),
                number,
            })
            .collect(),
    };
    wire::emit(to, &names);
}

fn record(context: &Context<'_>, id: TypeId, def: &TypeDef, fields: &[Field], scope: &mut Scope) {
    let name = &context.names.types[id.index()];
    let mut item = Struct::new(name);
    item.vis("pub").doc(super::doc(&def.doc, &format!("Record `{}` of the chart.", def.name)));
    for derive in ["Debug", "Clone", "PartialEq"] {
        item.derive(derive);
    }
    if context.facts.is_copy(&Type::Named(id)) {
        item.derive("Copy");
    }
    for (field, name) in fields.iter().zip(&context.names.type_fields[id.index()]) {
        let mut code = CodeField::new(name, owned(context, &field.ty));
        code.vis("pub").doc(format!("`{}: {}`.", field.name, context.written(&field.ty)));
        item.push_field(code);
    }
    scope.push_struct(item);
}

/// Adds the conversions of records and enums to and from values, for hosts that know a chart only by names.
pub(super) fn conversions(context: &Context<'_>, scope: &mut Scope) {
    for (i, def) in context.chart.types.iter().enumerate() {
        let name = &context.names.types[i];
        let (to, from) = match &def.kind {
            TypeKind::Record(fields) => record_conversion(&context.names.type_fields[i], fields),
            TypeKind::Enum(names) => (
                "generated::text(self.name())".to_owned(),
                format!("generated::parsed(value, &{:?})", names),
            ),
        };
        let mut item = Impl::new(name);
        item.impl_trait("expr::IntoValue");
        item.new_fn("into_value").arg_self().ret("Value").line(to);
        scope.push_impl(item);
        let mut item = Impl::new(name);
        item.impl_trait("expr::FromValue");
        item.new_fn("type_text").ret("String").line(format!("{:?}.into()", def.name));
        let result = "Result<Self, host::Mismatch>";
        item.new_fn("from_value").arg("value", "Value").ret(result).line(from);
        scope.push_impl(item);
    }
}

fn record_conversion(names: &[String], fields: &[Field]) -> (String, String) {
    let mut to = "generated::record([".to_owned();
    let mut from =
        "let mut fields = generated::Fields::of::<Self>(value)?;\nlet record = Self {".to_owned();
    for (field, name) in fields.iter().zip(names) {
        to += &format!("({:?}, self.{name}.into_value()),", field.name);
        // A record may omit its optional fields.
        let read = if matches!(field.ty, Type::Optional(_)) { "take" } else { "need" };
        from += &format!("{name}: fields.{read}({:?})?,", field.name);
    }
    let declared: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
    (to + "])", from + &format!("}};\nfields.end(&{declared:?})?;\nOk(record)"))
}
