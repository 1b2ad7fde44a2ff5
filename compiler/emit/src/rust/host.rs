//! Writes the trait of a chart's host functions, and the code that calls one from an expression or action.

use super::Context;
use super::code::{Binding, Code, Constant, Form, Fragment, Use, code};
use super::expr::Writer;
use super::types::{lent, list_item, optional_inner, owned};
use chartc_core::arena::FunctionId;
use chartc_core::model::{Expr, ExprKind, Function, FunctionKind, Type};
use chartc_core::visible;
use codegen::{Function as CodeFunction, Impl, Scope, Trait};

/// Adds the trait `Host`; a chart without functions uses `()`.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) {
    let mut item = Trait::new("Host");
    item.vis("pub").doc(format!("The host functions of `{}`.", visible::line(&context.chart.name)));
    for (i, row) in context.chart.functions.iter().enumerate() {
        let function = item.new_fn(&context.names.functions[i]);
        let doc = super::doc(&row.doc, &format!("Host function `{}`.", row.name));
        function.doc(format!(
            "{doc}\n\n# Errors\nWhy it failed: a guard counts as false, an action block ends there."
        ));
        for (lint, applies) in [
            ("too_many_arguments", row.params.len() > 6),
            ("wrong_self_convention", is_conventional(&context.names.functions[i])),
            ("new_ret_no_self", context.names.functions[i] == "new"),
        ] {
            if applies {
                function.attr(&format!("allow(clippy::{lint}, reason = \"the chart says so\")"));
            }
        }
        signature(context, i, row, function);
    }
    scope.push_trait(item);
    if context.chart.functions.is_empty() {
        // A host of another chart of the family also serves this one, which has no functions.
        scope.raw(if context.lends() { "impl<H> Host for H {}" } else { "impl Host for () {}" });
    }
}

/// Whether Rust's naming conventions forbid `&mut self` for a method of this name.
fn is_conventional(name: &str) -> bool {
    name == "new" || ["from_", "into_", "to_"].iter().any(|head| name.starts_with(head))
}

/// Adds the parameters and the result to the method of a host function.
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

/// Returns the error type of a host function.
fn host_error(context: &Context<'_>) -> &'static str {
    if context.bare { "machine::Fault" } else { "String" }
}

/// Adds `ByName`, which makes a `Host` of a host that knows the functions by name.
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

/// Writes a borrowed argument as a `Value`.
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

/// The expressions that are evaluated before a call, with a name for each.
#[derive(Default)]
struct Lets {
    names: Vec<String>,
    code: Fragment,
}

impl Writer<'_> {
    /// Writes a call of a host function, as an expression of the function's result type.
    pub(super) fn host_call(&mut self, id: FunctionId, arguments: &[Expr]) -> Code {
        let context = self.context;
        let row = &context.chart.functions[id.index()];
        let (ty, fallback) = match &row.kind {
            FunctionKind::Pure { fallback, result, .. } => {
                (result.clone(), fallback.as_ref().map(|value| self.literal(value, result)))
            }
            FunctionKind::Effect => (Type::Json, None),
        };
        let mut lets = Lets::default();
        let (mut passed, mut noted) = (Vec::new(), Vec::new());
        for (argument, field) in arguments.iter().zip(&row.params) {
            let code = self.lent_argument(argument, &field.ty, &mut lets);
            passed.push(self.passed(&code, &field.ty));
            noted.push(code);
        }
        let name = &context.names.functions[id.index()];
        let lends = context.lends();
        let passed = Fragment::joined(passed, ", ");
        let call = if lends {
            code!("Host::{name}(self.host.get_mut(), {passed})", passed)
        } else {
            code!("self.host.{name}({passed})", passed)
        };
        let call = if !context.bare {
            self.noted_call(row, &ty, &call, fallback.as_ref(), noted)
        } else if let Some(value) = &fallback {
            // Without an allocator, the fallback is cheap to build, even if it is not used.
            Code::owned(code!("{call}.unwrap_or({value})", call, value), ty.clone())
        } else {
            Code::tried(call, ty.clone(), true)
        };
        let Lets { names, code: text } = lets;
        if text.is_empty() {
            return call;
        }
        let call = call.text();
        match fallback {
            // An argument that fails also yields the fallback, so its failure stays in a closure.
            Some(value) if text.has(Use::Failure) => {
                let names = names.join(", ");
                let arguments = code!(
                    "(|| -> Result<_, {error}> {{ {text}Ok(({names},)) }})()",
                    error = Fragment::from(context.error()),
                    text
                );
                let arguments = arguments.without(Use::Failure);
                let (bound, otherwise) = if context.bare {
                    ("_", value)
                } else {
                    let name = &row.name;
                    (
                        "why",
                        code!(
                            "generated::uncalled(&mut self.notes, {name:?}, &why, {value})",
                            value
                        ),
                    )
                };
                let text = code!(
                    "match {arguments} {{ Ok(({names},)) => {call}, Err({bound}) => {otherwise} }}",
                    arguments,
                    call,
                    otherwise
                );
                Code::owned(text, ty).bound(Binding::Block)
            }
            Some(_) | None => {
                Code::owned(code!("{{ {text}{call} }}", text, call), ty).bound(Binding::Block)
            }
        }
    }

    /// Writes the call so that it also records its effect for the trace.
    fn noted_call(
        &mut self,
        row: &Function,
        ty: &Type,
        call: &Fragment,
        fallback: Option<&Fragment>,
        noted: Vec<Code>,
    ) -> Code {
        let result = self.temporary();
        let noted = Fragment::joined(noted.into_iter().map(|code| self.json(code)), ", ");
        let name = &row.name;
        let done = match &row.kind {
            FunctionKind::Effect => {
                code!("generated::did(&mut self.notes, {name:?}, || [{noted}], {result})?", noted)
            }
            FunctionKind::Pure { .. } => {
                let value = match fallback {
                    Some(value) => code!("Some({value})", value),
                    None => "None".into(),
                };
                code!(
                    "generated::called(&mut self.notes, {name:?}, || [{noted}], {result}, {value})?",
                    noted,
                    value
                )
            }
        };
        let done = done.using(Use::Failure);
        let text = code!("{{ let {result} = {call};\n{done} }}", call, done);
        Code::owned(text, ty.clone()).bound(Binding::Block)
    }

    /// Writes an argument as the host takes it. An expression that may borrow the program is bound to a name in `lets` first.
    fn lent_argument(&mut self, argument: &Expr, want: &Type, lets: &mut Lets) -> Code {
        if matches!(argument.kind, ExprKind::None) && matches!(want, Type::Optional(_)) {
            return Self::none(want);
        }
        let code = self.value_argument(argument, want);
        let computed = code.form == Form::Owned && code.constant.is_none();
        if !computed && !code.text().has(Use::Failure) {
            return code;
        }
        let name = self.temporary();
        lets.code += code!("let {name} = {value};\n", value = self.own(&code));
        lets.names.push(name.clone());
        Code::place(name, code.ty)
    }

    /// Writes the code as an argument of the type that the host takes.
    fn passed(&self, code: &Code, want: &Type) -> Fragment {
        let copy = self.context.facts.is_copy(&code.ty);
        if (copy && code.ty == *want) || code.constant == Some(Constant::None) {
            return self.own(code);
        }
        match optional_inner(&code.ty) {
            Some(inner) if *inner == Type::Text || list_item(inner).is_some() => {
                code!("{whole}.as_deref()", whole = code.within(Binding::Whole))
            }
            Some(_) => code!("{whole}.as_ref()", whole = code.within(Binding::Whole)),
            None if optional_inner(want).is_none() => code.lend(),
            None if copy => code!("Some({value})", value = self.own(code)),
            None => code!("Some({value})", value = code.lend()),
        }
    }

    /// Writes the argument converted to `want`, but not wrapped in `Some`.
    fn value_argument(&mut self, argument: &Expr, want: &Type) -> Code {
        let code = self.expr(argument);
        if optional_inner(want) == Some(&code.ty) { code } else { self.convert(code, want) }
    }
}
