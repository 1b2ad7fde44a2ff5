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
    self, ComputedLimit, Expr, ExprKind, Type, TypeDef, TypeKind, Variable, VariableKind, Within,
};
use codegen::{Field, Function, Impl, Scope, Struct};
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
                doc: String::new(),
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
    let spelled: String = fields.iter().map(|field| format!(", {:?}", field.name)).collect();
    let mut text = format!("#[record({:?}{spelled})]\n", def.name);
    text += &doc_lines(&super::doc(&def.doc, &format!("Record `{}` of the chart.", def.name)));
    let copy = if context.facts.is_copy(&Type::Named(id)) { ", Copy" } else { "" };
    let _ = writeln!(text, "#[derive(Debug, Clone, PartialEq{copy})]");
    let _ = writeln!(text, "pub struct {} {{", context.names.types[id.index()]);
    for (field, name) in fields.iter().zip(&context.names.type_fields[id.index()]) {
        let doc = format!("`{}: {}`.", field.name, context.written_field(field));
        let head = doc_lines(&doc) + &within(field.range.as_ref());
        let _ = writeln!(text, "{head}pub {name}: {},", owned(context, &field.ty));
    }
    scope.raw(text + "}");
}

/// Writes the attribute with which the macros of the core read a range: `#[within(1..=9)]`.
pub(super) fn within(range: Option<&Within>) -> String {
    range.map_or_else(String::new, |(low, high)| {
        format!("#[within({}..={})] ", number(low), number(high))
    })
}

/// Writes a constant number.
pub(super) fn number(value: &Value) -> String {
    if let Value::Float(x) = value {
        return format!("{x:?}");
    }
    // An integer is shown as such.
    chartc_core::expr::format::str(value).unwrap_or_default()
}

/// Writes documentation.
pub(super) fn doc_lines(text: &str) -> String {
    text.lines().map(|line| format!("/// {line}\n")).collect()
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
    /// The documentation beside the spelling; empty for none.
    pub doc: String,
    /// The number of the variant's id.
    pub number: usize,
}

/// Adds the enum, from which `chartc_core::names` makes `ALL`, `name`, `id`, `Display` and `FromStr`.
pub(super) fn emit_wire(scope: &mut Scope, names: &Names<'_>) {
    let id = names.id.map_or_else(String::new, |id| format!(", {id}"));
    let mut text = format!("#[names({:?}{id})]\n{}", names.what, doc_lines(&names.doc));
    let _ = writeln!(text, "pub enum {} {{", names.name);
    for row in &names.rows {
        text += &doc_lines(&row.doc);
        let _ = writeln!(text, "{} = ({}, {:?}),", row.name, row.number, row.wire);
    }
    scope.raw(text + "}");
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
                VariableKind::Var { .. } | VariableKind::Asked => "\n`None` before the start.",
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
        VariableKind::Var { .. } | VariableKind::Asked => "Variable",
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
    scope.new_impl("Params").push_fn(new);
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

/// Adds `first`, which computes the first values of the data, and `set_inputs`.
pub(super) fn data(context: &Context<'_>, item: &mut Impl) {
    let read = read_early(context);
    let new = item.new_fn("first").ret("Result<Data, generated::BadParam>");
    new.arg(if context.has_params() { "params" } else { "_" }, "Params");
    let mut fields = Vec::new();
    for (id, row, name) in variables(context) {
        let local = local(context, id);
        let value = match &row.default {
            None if is_param(row) => format!("params.{name}"),
            Some(default) if is_param(row) => given(context, id, default, &row.ty),
            Some(default) if !context.is_supplied(id) => initial(context, default, row).text,
            Some(_) | None => "None".to_owned(),
        };
        let range = match &row.kind {
            VariableKind::Param { range: Some((low, high)) } => {
                Some((bound(low, row), bound(high, row)))
            }
            VariableKind::Param { range: None }
            | VariableKind::Input
            | VariableKind::Var { .. }
            | VariableKind::Asked => None,
        };
        let reads = row.default.as_ref().is_some_and(|default| !variables_of(default).is_empty());
        if range.is_none() && !reads && !read.contains(&id) {
            fields.push(format!("{name}: {value}"));
            continue;
        }
        new.line(format!("let {local} = {value};"));
        if let Some((low, high)) = range {
            let why = format!("is not in {low}..{high}");
            new.line(format!(
                "generated::check({:?}, ({low}..={high}).contains(&{local}), {why:?})?;",
                row.name
            ));
        }
        fields.push(if local == *name { local } else { format!("{name}: {local}") });
    }
    let limits = context.chart.computed_limits().map(|(_, limit)| computed_limit(context, limit));
    let limits: Vec<String> = limits.collect();
    if !limits.is_empty() {
        new.line(format!("let limits = [{}];", limits.join(", ")));
        fields.push("limits".into());
    }
    new.line(format!("Ok(Data {{ {} }})", fields.join(", ")));

    let mut body = String::new();
    for (id, _, name) in variables(context).filter(|(_, r, _)| r.kind == VariableKind::Input) {
        let value = if context.is_supplied(id) { "Some(value)" } else { "value" };
        body += &format!("if let Some(value) = inputs.{name} {{ data.{name} = {value}; }}\n");
    }
    if !body.is_empty() {
        let set = item.new_fn("set_inputs").arg("data", "&mut Data").arg("inputs", "Inputs");
        set.line(body);
    }
}

/// The variables that other first values read.
fn read_early(context: &Context<'_>) -> BTreeSet<VarId> {
    let defaults = context.chart.variables.iter().filter_map(|row| row.default.as_ref());
    let limits = context.chart.computed_limits().map(|(_, limit)| &limit.value);
    defaults.chain(limits).flat_map(variables_of).collect()
}

/// The variables that an expression reads.
fn variables_of(expr: &Expr) -> BTreeSet<VarId> {
    let mut read = BTreeSet::new();
    expr.walk(&mut |part| {
        if let ExprKind::Variable(id) = part.kind {
            read.insert(id);
        }
    });
    read
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

/// Adds `params`, which reads the params by name, and for a chart that others run `check`, which compares them with their ranges.
pub(super) fn given_params(context: &Context<'_>, item: &mut Impl) {
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
    let given = if fields.is_empty() { "_" } else { "given" };
    let params = item.new_fn("params").arg(given, "&mut generated::Given<'_>");
    params.ret("Result<Params, host::Mismatch>").line(format!("Ok(Params {{ {fields} }})"));
    if context.kin.is_child && !checks.is_empty() {
        let check = item.new_fn("check").arg("params", "&Params");
        check.ret("Result<(), host::Mismatch>").line(checks + "Ok(())");
    }
}
