//! Writes the inputs of a machine as enums with payloads, and the trait of a chart's host functions.
//!
//! The problem: the interpreter takes names and JSON, so a misspelled event is found only at run time. In generated code the compiler
//! should find it. The idea: everything that a host sends or sees becomes an enum of the chart, with typed fields. Events and options have
//! a twin with bare names, for tables and texts:
//!
//! | type | variants |
//! |---|---|
//! | `State`, `Step` | the states and steps of the chart |
//! | `Event`, `EventName` | the events, with and without their fields |
//! | `Choice`, `ChoiceName` | the options, with and without their arguments |
//! | `Answer` | the steps that have an answer, each with its type |
//! | `Payload` | whatever guards and actions may read as the current event, option or answer |
//! | `Host` | a trait with a method for each function; `ByName` makes one of a host that knows names only |
//!
//! Types and variants that the chart does not need are left out. `Writer::host_call` writes calls of the trait: arguments are borrowed
//! where possible, a failure becomes the fallback if there is one, and the call is noted for the trace. For example:
//!
//! ```text
//! event mail(text: Text)            enum Event { Mail { text: String } }
//!                                   enum EventName { Mail }
//! fn score(text: Text) -> Int       trait Host { fn score(&mut self, text: &str) -> Result<i64, String>; }
//! ```

use super::code::{Binding, Code, Constant, Form, Fragment, Use, code};
use super::expr::Writer;
use super::names::{list_item, optional_inner, owned};
use super::types::{self, Names, WireVariant, lent};
use super::{Context, doc};
use chartc_core::arena::{ChoiceId, FunctionId, StateId, StepId};
use chartc_core::model::{
    ChoiceKind, Expr, ExprKind, Field, Function, FunctionKind, StateKind, StepKind, Type,
};
use chartc_core::visible;
use codegen::{Function as CodeFunction, Impl, Scope, Trait};
use std::fmt::Write;

/// Adds `State`, `Step`, `EventName`, `Event`, `ChoiceName`, `Choice`, `Answer` and `Payload`.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) {
    states(context, scope);
    steps(context, scope);
    events(context, scope);
    choices(context, scope);
    answers(context, scope);
    payload(context, scope);
}

fn states(context: &Context<'_>, scope: &mut Scope) {
    let rows = context.chart.states.iter().zip(&context.names.states).enumerate();
    let names = Names {
        name: "State",
        doc: format!("A state of `{}`, named by its dotted path.", context.chart.name),
        what: "state",
        id: Some("StateId"),
        rows: rows
            .filter_map(|(number, (row, name))| {
                Some(WireVariant {
                    name: name.clone()?,
                    wire: row.path.clone(),
                    doc: doc(&row.doc, ""),
                    number,
                })
            })
            .collect(),
    };
    types::emit_wire(scope, &names);
}

fn steps(context: &Context<'_>, scope: &mut Scope) {
    if context.chart.steps.is_empty() {
        return;
    }
    let rows = context.chart.steps.iter().zip(&context.names.steps).enumerate();
    let names = Names {
        name: "Step",
        doc: format!("A step of `{}`.", context.chart.name),
        what: "step",
        id: Some("StepId"),
        rows: rows
            .map(|(number, (row, name))| WireVariant {
                name: name.clone(),
                wire: row.name.clone(),
                doc: doc(&row.doc, ""),
                number,
            })
            .collect(),
    };
    types::emit_wire(scope, &names);
}

fn events(context: &Context<'_>, scope: &mut Scope) {
    let chart = context.chart;
    let names: Vec<(String, String)> =
        (chart.events.iter()).map(|e| (e.name.clone(), doc(&e.doc, ""))).collect();
    let fields = chart.events.iter().map(|e| e.fields.as_slice()).collect();
    let both = Both {
        what: "event",
        name: "EventName",
        item: "Event",
        id: "EventId",
        doc: format!("An event that a host may send to `{}`.", chart.name),
        names: &names,
        variants: &context.names.events,
        fields,
        field_names: &context.names.event_fields,
    };
    both.emit(context, scope);
}

fn choices(context: &Context<'_>, scope: &mut Scope) {
    let chart = context.chart;
    let names: Vec<(String, String)> = (chart.choices.iter())
        .map(|c| {
            let text = c.text.as_ref().and_then(|t| t.literal()).unwrap_or_default();
            (c.name.clone(), doc(text, ""))
        })
        .collect();
    let fields = chart.choices.iter().map(|c| match &c.kind {
        ChoiceKind::Option(fields) => fields.as_slice(),
        ChoiceKind::Call(..) => &[],
    });
    let both = Both {
        what: "option",
        name: "ChoiceName",
        item: "Choice",
        id: "ChoiceId",
        doc: "An option that the model may choose.".to_owned(),
        names: &names,
        variants: &context.names.choices,
        fields: fields.collect(),
        field_names: &context.names.choice_fields,
    };
    both.emit(context, scope);
}

/// An enum of names, and an enum with the same variants and their typed fields.
struct Both<'b> {
    what: &'b str,
    name: &'b str,
    item: &'b str,
    id: &'b str,
    doc: String,
    /// The names as spelled in the chart, each with its documentation.
    names: &'b [(String, String)],
    variants: &'b [String],
    fields: Vec<&'b [Field]>,
    field_names: &'b [Vec<String>],
}

impl Both<'_> {
    fn emit(&self, context: &Context<'_>, scope: &mut Scope) {
        if self.names.is_empty() {
            return;
        }
        let mut text = format!("#[items({:?}, {}, {})]\n", self.what, self.id, self.name);
        let _ = writeln!(text, "{}pub enum {} {{", types::doc_lines(&self.doc), self.item);
        for (i, variant) in self.variants.iter().enumerate() {
            let (spelled, doc) = &self.names[i];
            text += &types::doc_lines(doc);
            text += variant;
            if !self.fields[i].is_empty() {
                text += " {\n";
                for (field, name) in self.fields[i].iter().zip(&self.field_names[i]) {
                    let doc = format!("`{}: {}`.", field.name, context.written_field(field));
                    let head = types::doc_lines(&visible::line(&doc))
                        + &types::within(field.range.as_ref());
                    let _ = writeln!(text, "{head}{name}: {},", owned(context, &field.ty));
                }
                text += "}";
            }
            let _ = writeln!(text, " = ({i}, {spelled:?}),");
        }
        scope.raw(text + "}");
    }
}

/// Returns the steps whose answer has a payload: calls of models, tools, people and child charts.
pub(super) fn answering(context: &Context<'_>) -> impl Iterator<Item = StepId> {
    let rows = context.chart.steps.iter().enumerate();
    rows.filter(|(_, step)| match step.kind {
        StepKind::Llm | StepKind::Call(..) | StepKind::Human(_) | StepKind::Run(..) => true,
        StepKind::Code(_) | StepKind::Ask { .. } => false,
    })
    .map(|(i, _)| StepId::at(i))
    .collect::<Vec<_>>()
    .into_iter()
}

fn answers(context: &Context<'_>, scope: &mut Scope) {
    let steps: Vec<StepId> = answering(context).collect();
    if steps.is_empty() {
        return;
    }
    let mut text = "#[answers(Step)]\n/// The answer of a step.\npub enum Answer {\n".to_owned();
    for step in steps {
        let row = &context.chart.steps[step.index()];
        let name = &context.names.steps[step.index()];
        let whose = if row.each.is_some() { "Of an element of" } else { "Of" };
        text += &types::doc_lines(&doc(&row.doc, &format!("{whose} `{}`.", row.name)));
        let range = types::within(row.range.as_ref());
        let ty = owned(context, row.one_returns());
        let _ = writeln!(text, "{name}({range}{ty}) = {},", step.0);
    }
    scope.raw(text + "}");
}

/// Adds the type of everything that guards and actions may read as the current event or answer.
fn payload(context: &Context<'_>, scope: &mut Scope) {
    if context.is_direct() && !context.is_binding() {
        return;
    }
    let types = context.payload_types().map(|(_, ty)| ty);
    scope.raw(format!("type Payload = generated::Payload<{}>;", types.join(", ")));
}

impl Context<'_> {
    /// The types of events, options and answers, each with its name among the types of a chart.
    pub(super) fn payload_types(&self) -> [(&'static str, &'static str); 4] {
        [
            (self.has_events(), "Event"),
            (self.has_choices(), "Choice"),
            (self.has_answers(), "Answer"),
            (self.has_each(), "Gathered"),
        ]
        .map(|(present, name)| (name, if present { name } else { "generated::Absent" }))
    }
}

/// Names the field that stores a step's answer of this turn.
pub(super) fn answer_field(context: &Context<'_>, step: StepId) -> String {
    super::names::snake(&context.names.steps[step.index()])
}

/// Returns the fields of an option.
pub(super) fn choice_fields<'c>(context: &'c Context<'_>, id: ChoiceId) -> &'c [Field] {
    match &context.chart.choices[id.index()].kind {
        ChoiceKind::Option(fields) => fields,
        ChoiceKind::Call(..) => &[],
    }
}

/// Returns the type of a step's answer.
pub(super) fn answer_type(context: &Context<'_>, step: StepId) -> Type {
    context.chart.steps[step.index()].returns.clone()
}

// Writes the trait of a chart's host functions, and the code that calls one from an expression or action.

/// Adds the trait `Host`; a chart without functions uses `()`.
pub(super) fn emit_host(context: &Context<'_>, scope: &mut Scope) {
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
pub(super) fn lent_value(context: &Context<'_>, name: &str, ty: &Type) -> String {
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

/// The methods that every Rust type has by value: before a method of `Host` with such a name, its trait has to stand.
const OF_EVERY_TYPE: [&str; 2] = ["into", "try_into"];

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
        let mut passed = Fragment::default();
        for (argument, field) in arguments.iter().zip(&row.params) {
            let code = self.lent_argument(argument, &field.ty, &mut lets);
            passed += code!("{value}, ", value = self.passed(&code, &field.ty));
        }
        let name = &context.names.functions[id.index()];
        let place = if context.lends() { "self.host.get_mut()" } else { "&mut self.host" };
        let call = if context.bare && OF_EVERY_TYPE.contains(&name.as_str()) {
            code!("Host::{name}(&mut self.host, {passed})", passed)
        } else if context.bare {
            code!("self.host.{name}({passed})", passed)
        } else {
            let mut call = code!("Self::call_{name}({place}, &mut self.notes, {passed})?", passed);
            call.uses.functions.insert(id);
            call.using(Use::Failure)
        };
        let call = if !context.bare {
            Code::owned(call, ty.clone())
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
                let lets = Lets { names, code: text };
                let text = self.or_fallback(&row.name, lets, &call, &value);
                Code::owned(text, ty).bound(Binding::Block)
            }
            Some(_) | None => {
                Code::owned(code!("{{ {text}{call} }}", text, call), ty).bound(Binding::Block)
            }
        }
    }

    /// Writes a call whose arguments may fail. Then its value is the fallback.
    fn or_fallback(&self, name: &str, lets: Lets, call: &Fragment, value: &Fragment) -> Fragment {
        let Lets { names, code: text } = lets;
        let names = names.join(", ");
        let arguments = code!(
            "(|| -> Result<_, {error}> {{ {text}Ok(({names},)) }})()",
            error = Fragment::from(self.context.error()),
            text
        );
        let arguments = arguments.without(Use::Failure);
        let (bound, otherwise) = if self.context.bare {
            ("_", value.clone())
        } else {
            ("why", code!("generated::uncalled(&mut self.notes, {name:?}, &why, {value})", value))
        };
        code!(
            "match {arguments} {{ Ok(({names},)) => {call}, Err({bound}) => {otherwise} }}",
            arguments,
            call,
            otherwise
        )
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

/// A final state with parameters.
pub(super) struct Final<'c> {
    /// The state.
    pub id: StateId,
    /// The variant of `Ending`, with the same name as the variant of `State`.
    pub name: &'c str,
    /// The declared parameters.
    pub params: &'c [Field],
    /// The fields of the variant, one for each parameter.
    pub fields: Vec<String>,
}

/// Returns all final states with parameters.
pub(super) fn finals<'c>(context: &'c Context<'_>) -> Vec<Final<'c>> {
    let all = context.chart.state_ids().filter_map(|id| match &context.chart.state(id).kind {
        StateKind::Final { params, .. } if !params.is_empty() => Some(Final {
            id,
            name: context.names.states[id.index()].as_deref()?,
            params,
            fields: params.iter().map(|f| super::names::snake(&f.name)).collect(),
        }),
        StateKind::Final { .. }
        | StateKind::Atomic
        | StateKind::Compound { .. }
        | StateKind::Parallel
        | StateKind::History { .. } => None,
    });
    all.collect()
}

/// Writes the statement that stores the arguments of a final state.
pub(super) fn given(writer: &mut Writer<'_>, state: StateId, values: &[Expr]) -> Fragment {
    let finals = finals(writer.context);
    let Some(nth) = finals.iter().position(|f| f.id == state) else { return Fragment::default() };
    let Final { name, params, fields, .. } = &finals[nth];
    let values = params.iter().zip(fields).zip(values).map(|((param, field), value)| {
        code!("{field}: {value}", value = writer.kept(value, &param.ty, &param.name))
    });
    let values = Fragment::joined(values, ", ");
    code!("self.endings[{nth}] = Some(Ending::{name} {{ {values} }});\n", values)
}
