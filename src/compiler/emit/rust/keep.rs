//! Writes the code that stores answers and results, and what names the data of a chart.
//!
//! The problem: generated code keeps data in typed fields. The engine does not know them, and a saved machine must still load after the
//! chart was changed. The idea: the engine passes every answer and result to `keep`, which stores it in the field that some expression or
//! `into` reads. An answer that nothing reads is not stored. Hosts and saved machines read and write variables by name: `fields` gives them
//! each variable with its name.
//!
//! The sections are answers and results, arguments of final states, and names. For example, of
//!
//! ```text
//! var draft: Text = ""
//! llm write { prompt "…"  returns Text into draft }
//! ```
//!
//! this module writes, in short:
//!
//! ```text
//! if let Answer::Write(answer) = answer { self.data.draft = …; }                            in `keep`
//! fields.variable("draft", &mut data.draft);                                                in `fields`
//! ```

use super::code::{Code, Fragment, Use, code};
use super::expr::Writer;
use super::methods::{Arms, Hook, Methods, for_trigger};
use super::names::{optional_inner, owned};
use super::payload::{self, answer_field, answering, finals, given};
use super::tables::transition_comment;
use super::{Context, blocks};
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::model::{Expr, StateKind, Type, VariableKind};
use chartc_core::semantics::unroll::Place;
use codegen::{Enum, Impl, Scope, Variant};
use std::fmt::Write;

/// Adds methods that store an answer for expressions, `into` and `{last_result}`, if any of these needs it.
pub(super) fn answers(context: &Context<'_>, methods: &mut Methods) {
    let (each, whole): (Vec<StepId>, Vec<StepId>) =
        answering(context).partition(|step| context.chart.steps[step.index()].each.is_some());
    keeper(context, methods, ("keep", "Answer"), &whole, whole.len() + each.len());
    keeper(context, methods, ("keep_all", "Gathered"), &each, each.len());
}

/// Adds the method `name` for the answers of these steps, which are variants of the enum `enumeration` with `all` variants, if there is
/// anything to store.
fn keeper(
    context: &Context<'_>,
    methods: &mut Methods,
    (name, enumeration): (&str, &str),
    steps: &[StepId],
    all: usize,
) {
    let mut arms = Vec::new();
    for step in steps {
        let row = &context.chart.steps[step.index()];
        let variant = &context.names.steps[step.index()];
        let ty = &row.returns;
        let answer =
            Code::lent(if *ty == Type::Text { "answer.as_str()" } else { "answer" }, ty.clone());
        let mut writer = Writer::new(context);
        let mut body = Fragment::default();
        if context.needs.last_result {
            let value = if *ty == Type::Json {
                answer.lend()
            } else {
                code!("&{value}", value = writer.json(answer.clone()))
            };
            body += code!(
                "self.last_result = calls::LastResult::of(generated::shown({value}));\n",
                value
            );
        }
        if let Some(id) = row.into {
            body += into(context, &mut writer, id, answer.clone());
        }
        if context.needs.answers.contains(step) {
            let field = answer_field(context, *step);
            let value = writer.own(&answer);
            body += if optional_inner(ty).is_some() {
                code!("self.answers.{field} = {value};\n", value)
            } else {
                code!("self.answers.{field} = Some({value});\n", value)
            };
        }
        if !body.is_empty() {
            arms.push((format!("{enumeration}::{variant}(answer)"), body.text));
        }
    }
    if arms.is_empty() {
        return;
    }
    let body = matched("answer", &arms, arms.len() < all);
    methods.add(name, body.into()).arg("answer", format!("&{enumeration}"));
}

/// Writes a match whose arms are statements. With `rest`, it ignores all other values.
pub(super) fn matched(scrutinee: &str, rows: &[(String, String)], rest: bool) -> String {
    match rows {
        // Clippy rejects a `match` with a single arm that does something.
        [(pattern, body)] if rest => format!("if let {pattern} = {scrutinee} {{ {body} }}"),
        rows => {
            let arms = rows.iter().map(|(pattern, body)| format!("{pattern} => {{ {body} }}\n"));
            let arms: String = arms.collect();
            let rest = if rest { "_ => {}" } else { "" };
            format!("match {scrutinee} {{ {arms}{rest} }}")
        }
    }
}

/// Writes statements that store an answer in a variable. If its type does not fit, the variable keeps its value.
pub(super) fn into(
    context: &Context<'_>,
    writer: &mut Writer<'_>,
    id: VarId,
    answer: Code,
) -> Fragment {
    let variable = &context.chart.variables[id.index()];
    let place = format!("self.data.{}", context.names.variables[id.index()]);
    let supplied = context.is_supplied(id);
    let code = writer.convert(answer, &variable.ty);
    let copy = context.facts.is_copy(&variable.ty);
    if code.text().has(Use::Failure) {
        let result = context.caught(&code);
        blocks::fitted(context, &result, &place, supplied, &format!("`{}`", variable.name))
    } else if supplied {
        code!("{place} = Some({value});\n", value = code.own(copy))
    } else {
        code!("{place} = {value};\n", value = code.own(copy))
    }
}

// Writes the code that stores the arguments of final states.

/// Adds the enum `Ending`, with one variant for each final state with parameters.
pub(super) fn emit_ending(context: &Context<'_>, scope: &mut Scope) {
    let finals = finals(context);
    if finals.is_empty() {
        return;
    }
    let mut item = Enum::new("Ending");
    item.vis("pub").doc("What a final state was given.");
    item.derive("Debug").derive("Clone").derive("PartialEq");
    for one in &finals {
        let mut variant = Variant::new(one.name);
        variant.doc(format!("Of `{}`.", context.chart.state(one.id).path));
        for (param, name) in one.params.iter().zip(&one.fields) {
            let mut field = codegen::Field::new(name, owned(context, &param.ty));
            field.doc(format!("`{}: {}`.", param.name, context.written_field(param)));
            variant.push_named(field);
        }
        item.push_variant(variant);
    }
    scope.push_enum(item);
}

/// Writes `arguments`, which stores the arguments of a final state.
pub(super) fn arguments(context: &Context<'_>) -> Arms {
    let mut arms = Arms::new(Hook {
        name: "arguments",
        arguments: &[("line", "arena::TransitionId")],
        more: None,
        scrutinee: "line.0",
        result: "()",
        otherwise: "()",
    });
    for i in 0..context.chart.transitions.len() {
        let body = read(context, TransitionId::at(i), None);
        if !body.is_empty() {
            arms.arm(i, &transition_comment(context, i), body, "Ok(())".into());
        }
    }
    arms
}

/// Writes the statements that store a transition's arguments for a final state; empty without arguments.
pub(super) fn read(context: &Context<'_>, id: TransitionId, place: Option<&Place>) -> Fragment {
    let finals = finals(context);
    let mut out = Fragment::default();
    for target in &context.chart.transition(id).targets {
        let exprs: Vec<&Expr> = target.arguments.iter().collect();
        if exprs.is_empty() || !finals.iter().any(|f| f.id == target.state) {
            continue;
        }
        let (mut writer, reading) =
            for_trigger(context, &context.chart.transition(id).trigger, &exprs, true);
        writer.place = place.cloned();
        let body = given(&mut writer, target.state, &target.arguments);
        out += reading.before(&body);
        out += body;
    }
    out
}

/// Adds `ending`, which returns the arguments of the active final child of the root.
pub(super) fn ending(context: &Context<'_>, chart: &mut Impl) {
    let mut out = String::new();
    for (nth, one) in finals(context).iter().enumerate() {
        // Only a final child of the root ends the run.
        if context.chart.state(one.id).parent == Some(StateId(0)) {
            out.push_str(&format!(
                "if is_active(State::{}) {{ return self.endings[{nth}].as_ref(); }}\n",
                one.name
            ));
        }
    }
    if !out.is_empty() {
        let function = chart.new_fn("ending").arg_ref_self();
        function.arg("is_active", "&dyn Fn(State) -> bool").ret("Option<&Ending>");
        function.line(out + "None");
    }
}

impl Context<'_> {
    /// Whether any final state has parameters.
    pub(super) fn has_endings(&self) -> bool {
        self.chart.states.iter().any(|s| match &s.kind {
            StateKind::Final { params, .. } => !params.is_empty(),
            StateKind::Atomic
            | StateKind::Compound { .. }
            | StateKind::Parallel
            | StateKind::History { .. } => false,
        })
    }
}

// Writes the implementation of `Named`: the data of a chart by names, and what it saves besides.

/// Adds the implementation of `Named`.
pub(super) fn emit_named(context: &Context<'_>, scope: &mut Scope) {
    let mut item = Impl::new("Core<H>");
    item.generic(context.bounds()).impl_trait("generated::Named");
    super::types::given_params(context, &mut item);
    fields(context, &mut item);
    result(context, &mut item);
    save(context, &mut item);
    load(context, &mut item);
    scope.push_impl(item);
}

/// Adds `fields`, which shows params, inputs and variables.
fn fields(context: &Context<'_>, item: &mut Impl) {
    let mut body = String::new();
    let variables = context.chart.variables.iter().zip(&context.names.variables);
    for (i, (row, name)) in variables.enumerate() {
        let kind = match row.kind {
            VariableKind::Param { .. } => "param",
            VariableKind::Input => "input",
            VariableKind::Var { .. } | VariableKind::Asked => "variable",
        };
        let place = if context.is_supplied(VarId::at(i)) {
            format!("generated::Late(&mut data.{name})")
        } else {
            format!("data.{name}")
        };
        let _ = writeln!(body, "fields.{kind}({:?}, &mut {place});", row.name);
    }
    if !body.is_empty() {
        let function = item.new_fn("fields").arg("data", "&mut Data");
        function.arg("fields", "&mut dyn generated::FieldVisitor").line(body);
    }
}

/// Returns the method call that turns a borrowed value of this type into an owned one.
fn copied(context: &Context<'_>, ty: &Type) -> &'static str {
    if context.facts.is_copy(ty) { "" } else { ".clone()" }
}

/// Adds `result`, which returns the arguments of a final state by name.
fn result(context: &Context<'_>, item: &mut Impl) {
    let mut arms = String::new();
    for one in finals(context) {
        let rows = one.params.iter().zip(&one.fields);
        let rows: Vec<String> = rows
            .map(|(param, name)| {
                let copied = copied(context, &param.ty);
                format!("({:?}.into(), {name}{copied}.into_value())", param.name)
            })
            .collect();
        let (fields, rows) = (one.fields.join(", "), rows.join(", "));
        let _ = writeln!(arms, "Ending::{} {{ {fields} }} => Vec::from([{rows}]),", one.name);
    }
    if !arms.is_empty() {
        let function = item.new_fn("result").arg("ending", "&Ending").ret("Vec<(String, Value)>");
        function.line(format!("match ending {{ {arms} }}"));
    }
}

/// Returns what is saved besides variables: each field of `ProgramData` with the expression for it.
fn rest(context: &Context<'_>) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let list = |rows: &str| format!("Vec::from([{rows}]).into_iter().flatten().collect()");
    if context.has_endings() {
        all.push(("finals", list(&ending_rows(context))));
    }
    if context.sends() > 0 {
        all.push((
            "sent",
            "sends.iter().map(|sent| match self.sent.get(sent.slot as usize) {
                Some(Payload::Event(event)) => generated::Item::into_values(event.clone()),
                _ => Vec::new(),
            }).collect()"
                .to_owned(),
        ));
    }
    if context.bare || context.is_direct() {
        return all;
    }
    let rows = answer_rows(context);
    if !rows.is_empty() {
        all.push(("answers", list(&rows)));
    }
    if context.needs.last_result {
        all.push(("last_result", "self.last_result.clone()".to_owned()));
    }
    if context.keeps_calls() {
        all.push(("calls", "self.calls.clone()".to_owned()));
    }
    if context.has_each() {
        let mut rows = String::new();
        for (step, _) in context.each_steps() {
            let field = answer_field(context, step);
            let _ = writeln!(rows, "self.elements.{field}.saved(arena::StepId({})),", step.0);
        }
        all.push(("gathered", list(&rows)));
    }
    all
}

fn ending_rows(context: &Context<'_>) -> String {
    let mut rows = String::new();
    for (nth, one) in finals(context).iter().enumerate() {
        let values = one.fields.iter().zip(one.params);
        let values: Vec<String> = values
            .map(|(field, param)| format!("{field}{}.into_value()", copied(context, &param.ty)))
            .collect();
        let _ = writeln!(
            rows,
            "match &self.endings[{nth}] {{
                    Some(Ending::{} {{ {} }}) => Some((arena::StateId({}), Vec::from([{}]))),
                    _ => None,
                }},",
            one.name,
            one.fields.join(", "),
            one.id.0,
            values.join(", ")
        );
    }
    rows
}

fn answer_rows(context: &Context<'_>) -> String {
    let mut rows = String::new();
    for step in &context.needs.answers {
        let field = answer_field(context, *step);
        let clone = copied(context, &context.chart.steps[step.index()].returns);
        let _ = writeln!(
            rows,
            "self.answers.{field}{clone}.map(|answer| (arena::StepId({}), answer.into_value())),",
            step.0
        );
    }
    rows
}

fn save(context: &Context<'_>, item: &mut Impl) {
    let rest = rest(context);
    if rest.is_empty() {
        return;
    }
    let body: String =
        rest.into_iter().map(|(name, value)| format!("data.{name} = {value};\n")).collect();
    let sends = if context.sends() > 0 { "sends" } else { "_" };
    let function = item.new_fn("save").arg_ref_self().arg("data", "&mut saved::ProgramData");
    function.arg(sends, "&[store::Sent]").line(body);
}

/// Writes a match whose arms are statements for literals; it ignores all other values.
pub(super) fn chosen(scrutinee: &str, rows: &[(String, String)]) -> String {
    match rows {
        [(literal, body)] => format!("if {scrutinee} == {literal} {{ {body} }}"),
        rows => {
            let arms = rows.iter().map(|(literal, body)| format!("{literal} => {{ {body} }}\n"));
            format!("match {scrutinee} {{ {} _ => {{}} }}", arms.collect::<String>())
        }
    }
}

fn load(context: &Context<'_>, item: &mut Impl) {
    let mut body = String::new();
    if context.has_endings() {
        load_endings(context, &mut body);
    }
    if context.sends() > 0 {
        body.push_str(
            "self.sent = generated::Slots::new();
            for (sent, values) in sends.iter().zip(data.sent) {
                let event = generated::event::<Self>(sent.event, values)?;
                self.sent.put(sent.slot as usize, Payload::Event(event));
            }\n",
        );
    }
    if !context.bare && !context.is_direct() {
        load_rest(context, &mut body);
    }
    if body.is_empty() {
        return;
    }
    let sends = if context.sends() > 0 { "sends" } else { "_" };
    let function = item.new_fn("load").arg_mut_self().arg("data", "saved::ProgramData");
    function.arg(sends, "&[store::Sent]").ret("Result<(), saved::Unfit>").line(body + "Ok(())");
}

fn load_endings(context: &Context<'_>, body: &mut String) {
    body.push_str("self.endings = [const { None }; ");
    let finals = payload::finals(context);
    let _ = writeln!(body, "{}];", finals.len());
    let mut arms = Vec::new();
    for (nth, one) in finals.iter().enumerate() {
        let rows = one.params.iter().zip(&one.fields);
        let rows = rows.map(|(param, field)| format!("{field}: values.need({:?})?", param.name));
        let rows: Vec<String> = rows.collect();
        let names: Vec<&str> = one.params.iter().map(|param| param.name.as_str()).collect();
        let body = format!(
            "let mut values = generated::Given::zip(&{names:?}, values)?;
            self.endings[{nth}] = Some(Ending::{} {{ {} }});",
            one.name,
            rows.join(", ")
        );
        arms.push((one.id.0.to_string(), body));
    }
    let chosen = chosen("state.0", &arms);
    let _ = writeln!(body, "for (state, values) in data.finals {{ {chosen} }}");
}

/// Adds the statements that load what only a program with an allocator stores.
fn load_rest(context: &Context<'_>, body: &mut String) {
    let mut arms = Vec::new();
    for step in &context.needs.answers {
        let field = answer_field(context, *step);
        let name = &context.chart.steps[step.index()].name;
        let body = format!("self.answers.{field} = generated::fitted({name:?}, answer)?;");
        arms.push((step.0.to_string(), body));
    }
    if !arms.is_empty() {
        let _ = writeln!(
            body,
            "self.answers = Answers::default();
            for (step, answer) in data.answers {{ {} }}",
            chosen("step.0", &arms)
        );
    }
    if context.needs.last_result {
        body.push_str("self.last_result = data.last_result;\n");
    }
    if context.keeps_calls() {
        body.push_str("self.calls = data.calls;\n");
    }
    if context.has_each() {
        let mut arms = Vec::new();
        for (step, _) in context.each_steps() {
            let field = answer_field(context, step);
            let body =
                format!("self.elements.{field} = generated::Gathering::of(elements, answers)?;");
            arms.push((step.0.to_string(), body));
        }
        let _ = writeln!(
            body,
            "self.elements = Elements::default();
            for (step, elements, answers) in data.gathered {{ {} }}",
            chosen("step.0", &arms)
        );
    }
}
