//! Writes the types of a chart as Rust types, and the records and enums that it declares.
//!
//! The problem: the same value is a field of a program, an argument of a host, JSON of a driver and a name in a trace. The idea: each type
//! of the chart is one Rust type, with conversions to and from `Value`. Enums of names (`emit_wire`) serve the declared enums as well as
//! `State`, `Step` and the like: their variants are identifiers, and `name`, `Display` and `FromStr` use the spelling of the chart.
//! `emit_data` writes params, inputs and variables as typed fields. `Data::new` computes the first values, in the order of declaration,
//! because a default may read earlier ones.
//!
//! `lent` is the type of an argument that a host function borrows; `names::owned` is the type of a field. For example:
//!
//! ```text
//! type Post { text: Text  score: Int? }    struct Post { text: String, score: Option<i64> }
//! enum Mode { fast slow }                  enum Mode { Fast, Slow }, with `name` and `FromStr` for `fast` and `slow`
//! param most: Int in 1..9 = 3              Params { most: Option<i64> }: `None` is 3; `Data::new` refuses 10
//! input note: Text                         Inputs { note: Option<String> }; Data { note: Option<String> }, as it may be unset
//! ```

use super::Context;
use super::code::{Constant, Fragment, Use, code};
use super::expr::Writer;
use super::names::{local, owned};
use chartc_core::arena::{TypeId, VarId};
use chartc_core::expr::Value;
use chartc_core::machine::LimitKind;
use chartc_core::model::{
    self, ComputedLimit, Expr, Type, TypeDef, TypeKind, Variable, VariableKind,
};
use chartc_core::visible;
use codegen::{Enum, Field, Field as CodeField, Function, Impl, Scope, Struct, Variant};
use std::collections::BTreeSet;
use std::fmt::Write;

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
    emit_wire(to, &names);
}

fn record(
    context: &Context<'_>,
    id: TypeId,
    def: &TypeDef,
    fields: &[model::Field],
    scope: &mut Scope,
) {
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

fn record_conversion(names: &[String], fields: &[model::Field]) -> (String, String) {
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

// Writes enums of names: `Display` writes a name as spelled in the chart, and `FromStr` reads it; with the feature `serde` of chartc-core,
// both serve for data, too.

/// An enum without payload, whose variants represent names of the chart.
pub(super) struct Names<'n> {
    /// The name of the Rust type.
    pub name: &'n str,
    /// The documentation of the type.
    pub doc: String,
    /// The kind of thing that is named, such as `state`, for the error of `FromStr`.
    pub what: &'n str,
    /// The id type that a variant's number converts to; `None` for an enum that the chart declares.
    pub id: Option<&'n str>,
    /// The variants, in order.
    pub rows: Vec<WireVariant>,
}

/// A variant of an enum of names.
pub(super) struct WireVariant {
    /// The Rust identifier.
    pub name: String,
    /// The name as spelled in the chart.
    pub wire: String,
    /// The documentation.
    pub doc: String,
    /// The number of the variant's id.
    pub number: usize,
}

/// Adds the enum with `ALL`, `name`, `id`, `Display` and `FromStr`. `FromStr` rejects a name that several variants share.
pub(super) fn emit_wire(scope: &mut Scope, names: &Names<'_>) {
    let mut item = Enum::new(names.name);
    item.vis("pub").doc(&names.doc);
    for derive in ["Debug", "Clone", "Copy", "PartialEq", "Eq", "PartialOrd", "Ord", "Hash"] {
        item.derive(derive);
    }
    for row in &names.rows {
        let mut variant = Variant::new(&row.name);
        variant.doc(&row.doc);
        // `id` converts a variant to its number.
        if names.id.is_some() {
            variant.discriminant(row.number);
        }
        item.push_variant(variant);
    }
    scope.push_enum(item);
    let all: Vec<String> = names.rows.iter().map(|r| format!("Self::{}", r.name)).collect();
    scope.raw(format!(
        "impl {} {{ /// Every {}, in document order.\npub const ALL: [Self; {}] = [{}]; }}",
        names.name,
        visible::line(names.what),
        all.len(),
        all.join(", ")
    ));
    scope.push_impl(inherent(names));
    scope.push_impl(display(names.name, "f.write_str(self.name())"));
    scope.push_impl(from_str(names));
    scope.raw(format!("chartc_core::serde_by_name!({});", names.name));
}

fn inherent(names: &Names<'_>) -> Impl {
    let mut item = Impl::new(names.name);
    let function = item.new_fn("name").vis("pub").set_const(true).ret("&'static str");
    function.doc("As the chart spells it.").arg_self();
    one_of(function, names, |r| format!("{:?}", r.wire));
    if let Some(id) = names.id {
        let function = item.new_fn("id").vis("pub").set_const(true).ret(format!("arena::{id}"));
        function.doc("Its row in the tables of the chart.").arg_self();
        if names.rows.is_empty() {
            function.line("match self {}");
        } else {
            function.line(format!("arena::{id}(self as u32)"));
        }
    }
    item
}

/// Writes a match over all variants.
fn one_of(
    function: &mut codegen::Function,
    names: &Names<'_>,
    arm: impl Fn(&WireVariant) -> String,
) {
    function.line("match self {");
    for row in &names.rows {
        function.line(format!("Self::{} => {},", row.name, arm(row)));
    }
    function.line("}");
}

/// Writes an implementation of `Display` with `body`, which writes to `f`.
pub(super) fn display(name: &str, body: &str) -> Impl {
    let mut item = Impl::new(name);
    item.impl_trait("core::fmt::Display");
    item.new_fn("fmt")
        .arg_ref_self()
        .arg("f", "&mut core::fmt::Formatter<'_>")
        .ret("core::fmt::Result")
        .line(body);
    item
}

fn from_str(names: &Names<'_>) -> Impl {
    let mut item = Impl::new(names.name);
    item.impl_trait("core::str::FromStr");
    item.associate_type("Err", "generated::UnknownName");
    let mut seen = BTreeSet::new();
    let twice: BTreeSet<&str> =
        names.rows.iter().map(|r| r.wire.as_str()).filter(|w| !seen.insert(*w)).collect();
    let once: Vec<_> = names.rows.iter().filter(|r| !twice.contains(r.wire.as_str())).collect();
    let unknown = format!("Err(generated::UnknownName({:?}))", names.what);
    // Rust warns of a match that has only a wildcard arm.
    let argument = if once.is_empty() { "_" } else { "name" };
    let function =
        item.new_fn("from_str").arg(argument, "&str").ret("Result<Self, generated::UnknownName>");
    if once.is_empty() {
        function.line(unknown);
        return item;
    }
    function.line("match name {");
    for row in once {
        function.line(format!("{:?} => Ok(Self::{}),", row.wire, row.name));
    }
    function.line(format!("_ => {unknown},"));
    function.line("}");
    item
}

// Writes params, inputs and variables as typed fields.

/// Adds `Params`, `Inputs` and `Data`.
pub(super) fn emit_data(context: &Context<'_>, scope: &mut Scope) {
    params(context, scope);
    inputs(context, scope);
    let mut item = Struct::new("Data");
    item.vis("pub").doc("Params, inputs and variables with their present values.");
    derive(&mut item);
    for (id, row, name) in variables(context) {
        let mut ty = owned(context, &row.ty);
        let mut doc = super::doc(&row.doc, &format!("{} `{}`.", kind(row), row.name));
        if context.is_supplied(id) {
            ty = format!("Option<{ty}>");
            doc.push_str(match row.kind {
                VariableKind::Var { .. } => "\n`None` before the start.",
                VariableKind::Param { .. } | VariableKind::Input => {
                    "\n`None` until the host has set it."
                }
            });
        }
        item.push_field(field(name, ty, &doc));
    }
    let computed = context.chart.computed_limits().count();
    if computed > 0 {
        item.field("limits", format!("[u64; {computed}]"));
    }
    scope.push_struct(item);
    scope.push_impl(data(context));
}

fn variables<'c>(
    context: &'c Context<'_>,
) -> impl Iterator<Item = (VarId, &'c Variable, &'c String)> {
    let rows = context.chart.variables.iter().zip(&context.names.variables);
    rows.enumerate().map(|(i, (row, name))| (VarId::at(i), row, name))
}

fn kind(row: &Variable) -> &'static str {
    match row.kind {
        VariableKind::Param { .. } => "Param",
        VariableKind::Input => "Input",
        VariableKind::Var { .. } => "Variable",
    }
}

fn is_param(row: &Variable) -> bool {
    matches!(row.kind, VariableKind::Param { .. })
}

fn field(name: &str, ty: String, doc: &str) -> Field {
    let mut field = Field::new(name, ty);
    field.vis("pub").doc(doc);
    field
}

fn derive(item: &mut Struct) {
    for name in ["Debug", "Clone", "PartialEq"] {
        item.derive(name);
    }
}

fn params(context: &Context<'_>, scope: &mut Scope) {
    let mut item = Struct::new("Params");
    item.vis("pub").doc("What an instance is made with.");
    derive(&mut item);
    let mut new = Function::new("new");
    new.vis("pub").ret("Self").doc("Params without a default; the others may be set afterwards.");
    let mut body = Vec::new();
    for (_, row, name) in variables(context).filter(|(_, row, _)| is_param(row)) {
        let ty = owned(context, &row.ty);
        let mut doc = super::doc(&row.doc, &format!("Param `{}`.", row.name));
        if let VariableKind::Param { range: Some((low, high)) } = &row.kind {
            doc.push_str(&format!("\nFrom {} to {}.", bound(low, row), bound(high, row)));
        }
        if row.default.is_some() {
            doc.push_str("\n`None` is the chart's default.");
            item.push_field(field(name, format!("Option<{ty}>"), &doc));
            body.push(format!("{name}: None,"));
        } else {
            item.push_field(field(name, ty.clone(), &doc));
            if row.ty == Type::Text {
                new.arg(name, format!("impl Into<{ty}>"));
                body.push(format!("{name}: {name}.into(),"));
            } else {
                new.arg(name, ty);
                body.push(format!("{name},"));
            }
        }
    }
    new.line(format!("Self {{ {} }}", body.join(" ")));
    let needed = variables(context).filter(|(_, row, _)| is_param(row) && row.default.is_none());
    // Clippy objects to more than seven arguments.
    if needed.count() > 7 {
        new.attr("allow(clippy::too_many_arguments, reason = \"the chart has so many\")");
    }
    // A param without a default has no value that `Default` could use.
    if variables(context).all(|(_, row, _)| !is_param(row) || row.default.is_some()) {
        item.derive("Default");
    }
    scope.push_struct(item);
    let item = scope.new_impl("Params").push_fn(new);
    named_params(context, item);
}

fn inputs(context: &Context<'_>, scope: &mut Scope) {
    let mut item = Struct::new("Inputs");
    item.vis("pub").doc("Values for inputs; one that is absent keeps what it has.");
    derive(&mut item);
    item.derive("Default");
    for (_, row, name) in variables(context).filter(|(_, r, _)| r.kind == VariableKind::Input) {
        let doc = super::doc(&row.doc, &format!("Input `{}`.", row.name));
        item.push_field(field(name, format!("Option<{}>", owned(context, &row.ty)), &doc));
    }
    scope.push_struct(item);
}

/// Writes `Data::new` and `Data::set_inputs`.
fn data(context: &Context<'_>) -> Impl {
    let mut item = Impl::new("Data");
    let names: Vec<String> = variables(context).map(|(id, ..)| local(context, id)).collect();
    let new = item.new_fn("new").ret("Result<Self, generated::BadParam>");
    new.arg(if context.has_params() { "params" } else { "_" }, "Params");
    for (id, row, name) in variables(context) {
        let local = local(context, id);
        let value = match &row.default {
            None if is_param(row) => format!("params.{name}"),
            Some(default) if is_param(row) => given(context, id, default, &row.ty),
            Some(default) if !context.is_supplied(id) => initial(context, default, row).text,
            Some(_) | None => "None".to_owned(),
        };
        new.line(format!("let {local} = {value};"));
        if let VariableKind::Param { range: Some((low, high)) } = &row.kind {
            let (low, high) = (bound(low, row), bound(high, row));
            let why = format!("is not in {low}..{high}");
            new.line(format!(
                "if !({low}..={high}).contains(&{local}) \
                 {{ return Err(generated::BadParam {{ name: {:?}, why: {why:?} }}); }}",
                row.name
            ));
        }
    }
    let fields = variables(context).zip(&names).map(|((_, _, name), local)| {
        if local == name { name.clone() } else { format!("{name}: {local}") }
    });
    let mut fields: Vec<String> = fields.collect();
    let limits = context.chart.computed_limits().map(|(_, limit)| computed_limit(context, limit));
    let limits: Vec<String> = limits.collect();
    if !limits.is_empty() {
        new.line(format!("let limits = [{}];", limits.join(", ")));
        fields.push("limits".into());
    }
    new.line(format!("Ok(Self {{ {} }})", fields.join(", ")));

    let inputs: Vec<_> =
        variables(context).filter(|(_, r, _)| r.kind == VariableKind::Input).collect();
    let set = item.new_fn("set_inputs").arg_mut_self();
    set.arg(if inputs.is_empty() { "_" } else { "inputs" }, "Inputs");
    for (id, _, name) in inputs {
        let value = if context.is_supplied(id) { "Some(value)" } else { "value" };
        set.line(format!("if let Some(value) = inputs.{name} {{ self.{name} = {value}; }}"));
    }
    item
}

/// The code for a param that the host may have set, or else for its default.
fn given(context: &Context<'_>, id: VarId, default: &Expr, ty: &Type) -> String {
    let row = &context.chart.variables[id.index()];
    let name = &context.names.variables[id.index()];
    let mut writer = Writer::before_start(context);
    let code = writer.value_code(default, ty);
    // `unwrap_or` evaluates the default even if the host has set the param.
    if writer.is_at_hand(&code) {
        return format!("params.{name}.unwrap_or({})", writer.own(&code).text);
    }
    if code.constant == Some(Constant::Empty) {
        return format!("params.{name}.unwrap_or_default()");
    }
    let value = initial(context, default, row).text;
    format!("match params.{name} {{ Some(value) => value, None => {value} }}")
}

/// The code for the initial value of a variable. Its default may read earlier variables, which are locals here.
pub(super) fn initial(context: &Context<'_>, default: &Expr, row: &Variable) -> Fragment {
    let code = Writer::before_start(context).value_code(default, &row.ty);
    let copy = context.facts.is_copy(&row.ty);
    if !code.text().has(Use::Failure) {
        return code.own(copy);
    }
    let value = context.caught(&code);
    let name = &row.name;
    code!(
        "{value}.map_err(|_| generated::BadParam {{ name: {name:?}, why: \"has a default without value\" }})?",
        value
    )
}

/// The code for a limit that is computed from params, which are locals here.
fn computed_limit(context: &Context<'_>, limit: &ComputedLimit) -> String {
    let (ty, bound) = match limit.kind {
        LimitKind::Cost => (Type::Float, "tables::bound_of_cost"),
        LimitKind::Time => (Type::Duration, "Some"),
        LimitKind::Calls | LimitKind::Tokens | LimitKind::Turns => {
            (Type::Int, "tables::bound_of_count")
        }
    };
    let mut writer = Writer::before_start(context);
    let code = writer.value_code(&limit.value, &ty);
    let part = if ty == Type::Duration { ".0" } else { "" };
    let value = if code.text().has(Use::Failure) {
        let value = context.caught(&code).text;
        format!("{value}.ok().and_then(|value| {bound}(value{part}))")
    } else {
        format!("{bound}({}{part})", writer.own(&code).text)
    };
    let name = format!("limits {{ {} }}", limit.kind.name());
    format!(
        "{value}.ok_or(generated::BadParam {{ name: {name:?}, why: \"cannot be computed, or is negative\" }})?"
    )
}

/// A bound of a range as a literal of the param's type.
fn bound(value: &Value, row: &Variable) -> String {
    match (value, &row.ty) {
        (Value::Int(i), Type::Float) => format!("{:?}", *i as f64),
        (Value::Float(x), _) => format!("{x:?}"),
        (Value::Int(i), _) => i.to_string(),
        (Value::Duration(ms), _) => format!("Duration({ms})"),
        (other, _) => format!("{other:?}"),
    }
}

/// Adds `Params::named`, through which a parent chart passes the params.
fn named_params(context: &Context<'_>, item: &mut Impl) {
    if !context.kin.is_child {
        return;
    }
    let (mut fields, mut checks) = (String::new(), String::new());
    for (row, name) in context.chart.variables.iter().zip(&context.names.variables) {
        let VariableKind::Param { range } = &row.kind else { continue };
        let read = if row.default.is_some() { "take" } else { "need" };
        let _ = write!(fields, "{name}: given.{read}({:?})?, ", row.name);
        let Some((low, high)) = range else { continue };
        let clone = if context.facts.is_copy(&row.ty) { "" } else { ".clone()" };
        let check = |value: &str| {
            format!(
                "generated::within({:?}, &{value}{clone}.into_value(), &Value::{low:?}, &Value::{high:?})?;",
                row.name
            )
        };
        if row.default.is_some() {
            let _ = write!(checks, "if let Some(value) = &params.{name} {{ {} }}", check("value"));
        } else {
            checks.push_str(&check(&format!("params.{name}")));
        }
    }
    let mut named = Function::new("named");
    named.vis("pub(super)").ret("Result<Self, host::Mismatch>");
    let unused = if fields.is_empty() { "_" } else { "" };
    named.arg(format!("{unused}given"), "Vec<(&'static str, Value)>");
    if fields.is_empty() {
        named.line("Ok(Self {})");
    } else {
        named.line(format!(
            "let mut given = generated::Given::of(given);
            let params = Self {{ {fields} }};
            {checks}
            Ok(params)"
        ));
    }
    item.push_fn(named);
}
