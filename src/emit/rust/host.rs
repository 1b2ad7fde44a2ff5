//! The trait of a chart's host functions, and how an expression or an action calls one.

use super::Context;
use super::body::can_fail;
use super::expr::{Binding, Code, Form, Writer};
use super::types::{lent, list_item, optional_inner, owned};
use chartc_core::arena::FunctionId;
use chartc_core::model::{Expr, ExprKind, Function, FunctionKind, Type};
use chartc_core::visible;
use codegen::{Function as CodeFunction, Impl, Scope, Trait};

/// Adds the trait `Host`; a chart without functions needs none and takes `()`.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) {
    let mut item = Trait::new("Host");
    item.vis("pub").doc(format!("The host functions of `{}`.", visible::line(&context.chart.name)));
    for (i, row) in context.chart.functions.iter().enumerate() {
        let function = item.new_fn(&context.names.functions[i]);
        let doc = super::doc(&row.doc, &format!("Host function `{}`.", row.name));
        function.doc(format!(
            "{doc}\n\n# Errors\nWhy it failed: a guard counts as false, an action block ends there."
        ));
        signature(context, i, row, function);
    }
    scope.push_trait(item);
    if context.chart.functions.is_empty() {
        // Whoever has the functions of another chart of the family has the none of this one.
        scope.raw(if context.lends() { "impl<H> Host for H {}" } else { "impl Host for () {}" });
    }
}

/// Arguments and result of the method of a host function.
fn signature(context: &Context<'_>, i: usize, row: &Function, function: &mut CodeFunction) {
    let ty = match &row.kind {
        FunctionKind::Pure { result, .. } => owned(context, result),
        FunctionKind::Effect => "()".to_owned(),
    };
    function.arg_mut_self().ret(format!("Result<{ty}, {}>", host_error(context)));
    for (field, name) in row.params.iter().zip(&context.names.function_fields[i]) {
        function.arg(name, lent(context, &field.ty));
    }
}

/// What a host function fails with.
fn host_error(context: &Context<'_>) -> &'static str {
    if context.bare { "machine::Fault" } else { "String" }
}

/// Adds `ByName`, by which a host that knows the functions by name serves as a `Host`.
pub(super) fn by_name(context: &Context<'_>, scope: &mut Scope) {
    if context.lends() {
        if context.chart.functions.is_empty() {
            let reason = "who makes the machine may need it";
            scope.raw(format!(
                "#[allow(unused_imports, reason = {reason:?})]\npub use generated::ByName;"
            ));
            return;
        }
        scope.raw("pub use generated::ByName;");
        return by_name_calls(context, scope);
    }
    scope.raw(
        "/// A host that is called by name, as the interpreter calls it.\n\
         #[derive(Debug, Clone)]\npub struct ByName<H>(pub H);",
    );
    by_name_calls(context, scope);
}

fn by_name_calls(context: &Context<'_>, scope: &mut Scope) {
    let mut item = Impl::new("ByName<H>");
    item.generic("H: host::Host").impl_trait("Host");
    for (i, row) in context.chart.functions.iter().enumerate() {
        let mut function = CodeFunction::new(&context.names.functions[i]);
        signature(context, i, row, &mut function);
        let arguments = row.params.iter().zip(&context.names.function_fields[i]);
        let arguments: Vec<String> =
            arguments.map(|(field, name)| lent_value(context, name, &field.ty)).collect();
        let error = if context.bare { ".map_err(|_| machine::Fault)?" } else { "?" };
        let call = format!("self.0.call({:?}, &[{}]){error}", row.name, arguments.join(", "));
        match &row.kind {
            FunctionKind::Pure { result, .. } => {
                let ty = owned(context, result);
                let why = if context.bare { "machine::Fault" } else { "why.to_string()" };
                let bound = if context.bare { "_" } else { "why" };
                function.line(format!("generated::read::<{ty}>({call}).map_err(|{bound}| {why})"));
            }
            FunctionKind::Effect => {
                function.line(format!("{call}; Ok(())"));
            }
        }
        item.push_fn(function);
    }
    scope.push_impl(item);
}

/// A lent argument as a `Value`.
fn lent_value(context: &Context<'_>, name: &str, ty: &Type) -> String {
    let copy = context.facts.is_copy(ty);
    if copy || *ty == Type::Text || optional_inner(ty) == Some(&Type::Text) {
        return format!("{name}.into_value()");
    }
    match optional_inner(ty) {
        None if list_item(ty).is_some() => format!("{name}.to_vec().into_value()"),
        None => format!("{name}.clone().into_value()"),
        Some(inner) if list_item(inner).is_some() => {
            format!("{name}.map(<[_]>::to_vec).into_value()")
        }
        Some(_) => format!("{name}.cloned().into_value()"),
    }
}

/// What is computed before a call, with a name for each.
#[derive(Default)]
struct Lets {
    names: Vec<String>,
    text: String,
}

impl Writer<'_> {
    /// A call of a host function: an expression of the function's result type.
    pub(super) fn host_call(&self, id: FunctionId, arguments: &[Expr]) -> String {
        let row = &self.context.chart.functions[id.index()];
        let mut lets = Lets::default();
        let (mut passed, mut noted) = (Vec::new(), Vec::new());
        for (argument, field) in arguments.iter().zip(&row.params) {
            let code = self.lent_argument(argument, &field.ty, &mut lets);
            passed.push(self.passed(&code, &field.ty));
            if !self.context.bare {
                noted.push(self.json(code));
            }
        }
        let name = &self.context.names.functions[id.index()];
        let call = if self.context.lends() {
            format!("Host::{name}(self.host.get_mut(), {})", passed.join(", "))
        } else {
            format!("self.host.{name}({})", passed.join(", "))
        };
        let fallback = match &row.kind {
            FunctionKind::Pure { fallback: Some(value), result, .. } => {
                Some(self.literal(value, result))
            }
            FunctionKind::Pure { fallback: None, .. } | FunctionKind::Effect => None,
        };
        let call = match &fallback {
            _ if !self.context.bare => self.noted_call(row, &call, fallback.as_deref(), &noted),
            Some(value) => format!("{call}.unwrap_or_else(|_| {value})"),
            None => format!("{call}?"),
        };
        let Lets { names, text } = lets;
        match fallback {
            Some(value) if can_fail(&text) => {
                let (error, names) = (self.context.error(), names.join(", "));
                let (bound, otherwise) = if self.context.bare {
                    ("_", value)
                } else {
                    let name = &row.name;
                    (
                        "why",
                        format!("generated::uncalled(&mut self.notes, {name:?}, &why, {value})"),
                    )
                };
                format!(
                    "{{ let arguments = (|| -> Result<_, {error}> {{ {text}Ok(({names},)) }})();\n\
                     match arguments {{ Ok(({names},)) => {call}, Err({bound}) => {otherwise} }} }}"
                )
            }
            Some(_) | None if text.is_empty() => call,
            Some(_) | None => format!("{{ {text}{call} }}"),
        }
    }

    /// The call with what it did kept for the trace.
    fn noted_call(
        &self,
        row: &Function,
        call: &str,
        fallback: Option<&str>,
        noted: &[String],
    ) -> String {
        let result = self.temporary();
        let (name, noted) = (&row.name, noted.join(", "));
        let done = match (&row.kind, fallback) {
            (FunctionKind::Effect, _) => {
                format!("generated::did(&mut self.notes, {name:?}, &[{noted}], {result})?")
            }
            (FunctionKind::Pure { .. }, value) => {
                let value = value.map_or_else(|| "None".to_owned(), |v| format!("Some({v})"));
                format!(
                    "generated::called(&mut self.notes, {name:?}, &[{noted}], {result}, {value})?"
                )
            }
        };
        format!("{{ let {result} = {call};\n{done} }}")
    }

    /// The argument as the host takes it. What is computed first gets a name in `lets`, because it may borrow the program.
    fn lent_argument(&self, argument: &Expr, want: &Type, lets: &mut Lets) -> Code {
        if matches!(argument.kind, ExprKind::None) && matches!(want, Type::Optional(_)) {
            return Code::owned("None", want.clone());
        }
        let mut code = self.value_argument(argument, want);
        let literal = code.form == Form::Lent && code.text.starts_with('"');
        if code.form == Form::Owned && !is_literal(argument) || (can_fail(&code.text) && !literal) {
            let name = self.temporary();
            lets.text.push_str(&format!("let {name} = {};\n", self.own(&code)));
            lets.names.push(name.clone());
            code = Code::place(name, code.ty);
        }
        code
    }

    /// An argument as the host takes it.
    fn passed(&self, code: &Code, want: &Type) -> String {
        let copy = self.context.facts.is_copy(&code.ty);
        if (copy && code.ty == *want) || code.text == "None" {
            return self.own(code);
        }
        match optional_inner(&code.ty) {
            Some(inner) if *inner == Type::Text || list_item(inner).is_some() => {
                format!("{}.as_deref()", code.within(Binding::Whole))
            }
            Some(_) => format!("{}.as_ref()", code.within(Binding::Whole)),
            None if optional_inner(want).is_none() => code.lend(),
            None if copy => format!("Some({})", self.own(code)),
            None => format!("Some({})", code.lend()),
        }
    }

    /// Converted to `want`, but not wrapped in `Some`.
    fn value_argument(&self, argument: &Expr, want: &Type) -> Code {
        let code = self.expr(argument);
        if optional_inner(want) == Some(&code.ty) { code } else { self.convert(code, want) }
    }
}

fn is_literal(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Duration(_)
            | ExprKind::Enum(..)
    )
}
