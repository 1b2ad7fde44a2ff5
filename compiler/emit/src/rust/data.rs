//! Writes params, inputs and variables as typed fields.

use super::Context;
use super::code::{Constant, Fragment, Use, code};
use super::expr::Writer;
use super::types::owned;
use chartc_core::arena::VarId;
use chartc_core::expr::Value;
use chartc_core::machine::LimitKind;
use chartc_core::model::{ComputedLimit, Expr, Type, Variable, VariableKind};
use codegen::{Field, Function, Impl, Scope, Struct};

/// Adds `Params`, `Inputs` and `Data`.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) {
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
    super::children::params(context, item);
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

/// The name of a variable inside `Data::new`.
pub(super) fn local(context: &Context<'_>, id: VarId) -> String {
    super::local_name(&context.names.variables[id.index()])
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
