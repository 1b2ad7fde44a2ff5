//! Writes the code that stores answers and results, and that saves and loads a machine by names.
//!
//! The problem: generated code keeps data in typed fields. The engine does not know them, and a saved machine must still load after the
//! chart was changed. The idea: the engine passes every answer and result to `bind`, which stores it in the field that some expression or
//! `into` reads. What nothing reads is not stored. To save, each field is written as a `Value` with the name of its variable, step or state
//! (`fields`); to load, a match over names reads it back with its current type. Params come first, as the machine is created with them
//! (`Params::saved`).
//!
//! The sections are answers and results, arguments of final states, and saved machines. Each `*_rows` function has a counterpart that
//! loads: a new kind of data needs an entry in `fields` and statements in `load` or `rest`. For example, of
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
//! generated::named("draft", Some(core.data.draft.clone().into_value())),                    in `save`
//! for (name, value) in given.variables { if name == "draft" { core.data.draft = …; } }      in `load`
//! ```

use super::code::{Code, Fragment, Use, code};
use super::expr::Writer;
use super::methods::{Arms, Methods, for_transition};
use super::names::{optional_inner, owned};
use super::payload::{self, answer_field, answering, finals, given};
use super::tables::transition_comment;
use super::{Context, blocks};
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::model::{Expr, StateKind, Type, VariableKind};
use chartc_core::semantics::unroll::Place;
use codegen::{Enum, Impl, Scope, Variant};
use std::fmt::Write;

/// Adds methods that store an answer for expressions, `into` and `{last_result}`, if any of these needs it. Returns the statements of
/// `bind` that call them.
pub(super) fn answers(context: &Context<'_>, methods: &mut Methods) -> String {
    let (each, whole): (Vec<StepId>, Vec<StepId>) =
        answering(context).partition(|step| context.chart.steps[step.index()].each.is_some());
    let mut calls = String::new();
    for (name, answer, steps, all) in [
        ("keep", "Answer", &whole, whole.len() + each.len()),
        ("keep_all", "Gathered", &each, each.len()),
    ] {
        if keeper(context, methods, name, answer, steps, all) {
            calls += &format!(
                "if let program::Bound::Answer(_, Payload::{answer}(answer)) = &bound \
                 {{ self.{name}(answer); }}\n"
            );
        }
    }
    calls
}

/// Adds the method `name` for the answers of these steps, which are variants of the enum `enumeration` with `all` variants. Returns whether
/// there is anything to store.
fn keeper(
    context: &Context<'_>,
    methods: &mut Methods,
    name: &str,
    enumeration: &str,
    steps: &[StepId],
    all: usize,
) -> bool {
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
            body += code!("self.last_result = generated::shown({value});\n", value);
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
        return false;
    }
    let body = matched("answer", &arms, arms.len() < all);
    methods.add(name, body.into()).arg("answer", format!("&{enumeration}"));
    true
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

/// Adds `bind`, which the engine calls with each event, answer and result before expressions read it, and `rest`, which clears it. `keeps`
/// are the statements that store answers.
pub(super) fn bind(context: &Context<'_>, keeps: &str, keeps_results: bool, program: &mut Methods) {
    let bind = program.item.new_fn("bind").arg_mut_self().arg("bound", "program::Bound<Payload>");
    bind.line(keeps);
    bind.line(bound(context, keeps_results));
    bind.line("self.bound.set(match bound {");
    bind.line(
        "program::Bound::Nothing | program::Bound::Call(..) | program::Bound::Returned(..) \
         | program::Bound::CallFailed(..) => None,",
    );
    bind.line(
        "program::Bound::Event(_, payload) | program::Bound::Answer(_, payload) \
         | program::Bound::Reason(_, payload) | program::Bound::Choice(_, payload) => payload.read(),",
    );
    bind.line("});");
    if !context.bare {
        let rest = program.item.new_fn("rest").arg_mut_self();
        rest.line("self.bound.set(None);");
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
            field.doc(format!("`{}: {}`.", param.name, context.written(&param.ty)));
            variant.push_named(field);
        }
        item.push_variant(variant);
    }
    scope.push_enum(item);
}

/// Writes `read_arguments`, which stores the arguments of a final state.
pub(super) fn arguments(context: &Context<'_>) -> Arms {
    let line = ("line", "arena::TransitionId");
    let mut arms = Arms::new("read_arguments", line, "line.0", "()", "()");
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
        let (mut writer, reading) = for_transition(context, id, &exprs, true);
        writer.place = place.cloned();
        let body = given(&mut writer, target.state, &target.arguments);
        out += reading.before(&body);
        out += body;
    }
    out
}

/// Writes the body of `Machine::ending`, which returns the arguments of the active final child of the root.
pub(super) fn query(context: &Context<'_>) -> String {
    let mut out = String::new();
    for (nth, one) in finals(context).iter().enumerate() {
        // Only a final child of the root ends the run.
        if context.chart.state(one.id).parent == Some(StateId(0)) {
            out.push_str(&format!(
                "if self.is_in(State::{}) {{ return self.engine.program.endings[{nth}].as_ref(); }}\n",
                one.name
            ));
        }
    }
    out + "None"
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

// Writes the code that saves a machine as data by names and loads it: `save`, `load` and `place_child` of `host::Machine`, and the params
// of a saved machine.

/// Adds `save`, `load` and `place_child`.
pub(super) fn emit_saved(context: &Context<'_>, item: &mut Impl) {
    save(context, item);
    load(context, item);
    place(context, item);
}

/// Adds `Params::saved`, which takes the params of a saved machine, and `Event::values`, which returns the data of an event.
pub(super) fn conversions(context: &Context<'_>, scope: &mut Scope) {
    let mut fields = String::new();
    for (row, name) in context.chart.variables.iter().zip(&context.names.variables) {
        if !matches!(row.kind, VariableKind::Param { .. }) {
            continue;
        }
        let read = if row.default.is_some() { "take_saved" } else { "need_saved" };
        let _ = write!(fields, "{name}: generated::{read}(&TABLES, saved, {:?})?, ", row.name);
    }
    let unused = if fields.is_empty() { "_" } else { "" };
    let function = scope.new_impl("Params").new_fn("saved").vis("pub(super)");
    function.arg(format!("{unused}saved"), "&saved::Saved").ret("Result<Self, saved::Unfit>");
    function.line(format!("Ok(Self {{ {fields} }})"));
    if context.sends() == 0 {
        return;
    }
    let mut arms = String::new();
    for (i, event) in context.chart.events.iter().enumerate() {
        let names = &context.names.event_fields[i];
        let pattern =
            if names.is_empty() { String::new() } else { format!("{{ {} }}", names.join(", ")) };
        let values = event.fields.iter().zip(names);
        let values: Vec<String> = values
            .map(|(field, name)| format!("{name}{}.into_value()", copied(context, &field.ty)))
            .collect();
        let values = values.join(", ");
        let _ =
            writeln!(arms, "Self::{} {pattern} => Vec::from([{values}]),", context.names.events[i]);
    }
    let function = scope.new_impl("Event").new_fn("values").arg_ref_self().ret("Vec<Value>");
    function.line(format!("match self {{ {arms} }}"));
}

/// Returns the method call that turns a borrowed value of this type into an owned one.
fn copied(context: &Context<'_>, ty: &Type) -> &'static str {
    if context.facts.is_copy(ty) { "" } else { ".clone()" }
}

/// Returns the fields of `ProgramData` that differ from their defaults, each with the expression that reads it from `core`.
fn fields(context: &Context<'_>) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let list = |rows: &str| format!("Vec::from([{rows}]).into_iter().flatten().collect()");
    let rows = variable_rows(context);
    if !rows.is_empty() {
        all.push(("variables", list(&rows)));
    }
    if context.has_endings() {
        all.push(("finals", list(&ending_rows(context))));
    }
    if context.sends() > 0 {
        all.push((
            "sent",
            "self.engine.sends().iter().map(|sent| match core.sent.get(sent.slot as usize) {
                Some(Payload::Event(event)) => event.values(),
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
        all.push(("last_result", "core.last_result.clone()".to_owned()));
    }
    if context.keeps_calls() {
        all.push(("calls", "core.calls.clone()".to_owned()));
    }
    if context.has_each() {
        let mut rows = String::new();
        for (step, _) in context.each_steps() {
            let field = answer_field(context, step);
            let _ = writeln!(rows, "core.elements.{field}.saved(arena::StepId({})),", step.0);
        }
        all.push(("gathered", list(&rows)));
    }
    all
}

fn variable_rows(context: &Context<'_>) -> String {
    let mut rows = String::new();
    let variables = context.chart.variables.iter().zip(&context.names.variables);
    for (i, (row, name)) in variables.enumerate() {
        let clone = copied(context, &row.ty);
        let value = if context.is_supplied(VarId::at(i)) {
            format!("core.data.{name}{clone}.map(expr::IntoValue::into_value)")
        } else {
            format!("Some(core.data.{name}{clone}.into_value())")
        };
        let _ = writeln!(rows, "generated::named({:?}, {value}),", row.name);
    }
    rows
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
            "match &core.endings[{nth}] {{
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
            "core.answers.{field}{clone}.map(|answer| (arena::StepId({}), answer.into_value())),",
            step.0
        );
    }
    rows
}

fn save(context: &Context<'_>, item: &mut Impl) {
    let mut fields = fields(context);
    let begun = if context.has_begin() { "core.begun" } else { "self.engine.has_started()" };
    let core = if fields.is_empty() && !context.has_begin() {
        ""
    } else {
        "let core = &self.engine.program;"
    };
    fields.insert(0, ("begun", begun.to_owned()));
    let fields: Vec<String> =
        fields.into_iter().map(|(name, value)| format!("{name}: {value},")).collect();
    let fields = fields.concat();
    item.new_fn("save").arg_ref_self().ret("Option<saved::Saved>").line(format!(
        "{core}
        let data = saved::ProgramData {{ {fields} ..saved::ProgramData::default() }};
        Some(saved::Saved::of(&TABLES, &self.engine.snapshot(), &data))"
    ));
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
    load_variables(context, &mut body);
    if context.has_begin() {
        body.push_str("core.begun = given.begun;\n");
    }
    if context.has_endings() {
        load_endings(context, &mut body);
    }
    if context.sends() > 0 {
        body.push_str(
            "core.sent = generated::Slots::new();
            for (sent, values) in self.engine.sends().to_vec().iter().zip(given.sent) {
                let payload = Payload::event(sent.event, values)?;
                self.engine.program.sent.put(sent.slot as usize, payload);
            }
            let core = &mut self.engine.program;\n",
        );
    }
    if !context.bare && !context.is_direct() {
        rest(context, &mut body);
    }
    let given = if body.is_empty() { "_" } else { "given" };
    if !context.is_direct() {
        body.push_str("core.bound.set(None);\n");
    } else if context.is_binding() {
        body.push_str("core.bound = Payload::Nothing;\n");
    }
    let core = if body.is_empty() { "" } else { "let core = &mut self.engine.program;" };
    let children = if context.has_children() { "self.children.clear();" } else { "" };
    // Machines with direct code have no deadlines.
    let added = if context.is_direct() || context.tables.deadlines() == 0 {
        ""
    } else {
        "self.engine.arm_added(&registers);"
    };
    let function = item.new_fn("load").arg_mut_self().arg("saved", "&saved::Saved");
    function.ret("Result<(), saved::Unfit>").line(format!(
        "let (registers, {given}) = saved.parts(&TABLES)?;
        let data = Data::new(Params::saved(saved)?)?;
        self.engine.restore(&registers)?;
        self.engine.program.data = data;
        {children}
        {core}
        {body}
        {added}
        Ok(())"
    ));
}

fn load_variables(context: &Context<'_>, body: &mut String) {
    let mut arms = Vec::new();
    let variables = context.chart.variables.iter().zip(&context.names.variables);
    for (i, (row, name)) in variables.enumerate() {
        // The machine is created with its params.
        if matches!(row.kind, VariableKind::Param { .. }) {
            continue;
        }
        let read = format!("generated::fitted({:?}, value)?", row.name);
        let read = if context.is_supplied(VarId::at(i)) { format!("Some({read})") } else { read };
        arms.push((format!("{:?}", row.name), format!("core.data.{name} = {read};")));
    }
    if !arms.is_empty() {
        let chosen = chosen("name.as_str()", &arms);
        let _ = writeln!(body, "for (name, value) in given.variables {{ {chosen} }}");
    }
}

fn load_endings(context: &Context<'_>, body: &mut String) {
    body.push_str("core.endings = [const { None }; ");
    let finals = payload::finals(context);
    let _ = writeln!(body, "{}];", finals.len());
    let mut arms = Vec::new();
    for (nth, one) in finals.iter().enumerate() {
        let rows = one.params.iter().zip(&one.fields);
        let rows = rows.map(|(param, field)| format!("{field}: values.take({:?})?", param.name));
        let rows: Vec<String> = rows.collect();
        let body = format!(
            "let mut values = generated::Values::of(\"\", values, {})?;
            core.endings[{nth}] = Some(Ending::{} {{ {} }});",
            one.params.len(),
            one.name,
            rows.join(", ")
        );
        arms.push((one.id.0.to_string(), body));
    }
    let chosen = chosen("state.0", &arms);
    let _ = writeln!(body, "for (state, values) in given.finals {{ {chosen} }}");
}

/// Adds the statements that load what only a program with an allocator stores.
fn rest(context: &Context<'_>, body: &mut String) {
    let mut arms = Vec::new();
    for step in &context.needs.answers {
        let field = answer_field(context, *step);
        let name = &context.chart.steps[step.index()].name;
        let body = format!("core.answers.{field} = generated::fitted({name:?}, answer)?;");
        arms.push((step.0.to_string(), body));
    }
    if !arms.is_empty() {
        let _ = writeln!(
            body,
            "core.answers = Answers::default();
            for (step, answer) in given.answers {{ {} }}",
            chosen("step.0", &arms)
        );
    }
    if context.needs.last_result {
        body.push_str("core.last_result = given.last_result;\n");
    }
    if context.keeps_calls() {
        body.push_str("core.calls = given.calls;\n");
    }
    if context.has_each() {
        let mut arms = Vec::new();
        for (step, _) in context.each_steps() {
            let field = answer_field(context, step);
            let body =
                format!("core.elements.{field} = generated::Gathering::of(elements, answers)?;");
            arms.push((step.0.to_string(), body));
        }
        let _ = writeln!(
            body,
            "core.elements = Elements::default();
            for (step, elements, answers) in given.gathered {{ {} }}",
            chosen("step.0", &arms)
        );
    }
}

// Writes the code that places the child machines of a saved run, and the code that notes calls.

/// Adds `place_child`, which creates the machine of a `run` step that was under way when the machine was saved.
fn place(context: &Context<'_>, item: &mut Impl) {
    if !context.has_children() {
        return;
    }
    let mut made = String::new();
    for (i, chart, module) in context.runs() {
        let variant = super::names::upper_camel(module);
        let _ = writeln!(
            made,
            "({i}, {chart:?}) => Child::{variant}(Box::new(super::{module}::Machine::lent(
                super::{module}::Params::saved(saved)?, family::Lent::of(None))?)),"
        );
    }
    let place = item.new_fn("place_child").arg_mut_self().arg("key", "machine::StepKey");
    place.arg("saved", "&saved::Saved").ret("Result<(), saved::Unfit>").line(format!(
        "let child = match (key.step.0, saved.chart()) {{
            {made}
            (_, chart) => return Err(saved::Unfit::OtherChart(chart.into())),
        }};
        self.children.push((key, child));
        Ok(())"
    ));
}

/// Writes the statements of `bind` that note the begin and end of calls.
fn bound(context: &Context<'_>, keeps: bool) -> String {
    if !context.has_calls() {
        return String::new();
    }
    let (choice, values, keep) = if keeps {
        ("choice", "values", "self.keep_result(*choice, values.first().unwrap_or(&Value::None));")
    } else {
        ("_", "_", "")
    };
    let (why, failed) = if context.needs.last_result {
        ("why", "self.last_result = calls::failure(why);")
    } else {
        ("_", "")
    };
    format!(
        "match &bound {{
            program::Bound::Call(caller, tool, Payload::Tool(arguments)) => {{
                self.calls.begin(*caller, *tool, arguments.clone());
            }}
            program::Bound::Returned(caller, {choice}, Payload::Tool({values})) => {{
                self.calls.end(*caller);
                {keep}
            }}
            program::Bound::CallFailed(caller, Payload::Reason({why})) => {{
                self.calls.end(*caller);
                {failed}
            }}
            _ => {{}}
        }}"
    )
}
