//! Writes the code that saves a machine as data by names and loads it: `save`, `load` and `place_child` of `host::Machine`, and the params
//! of a saved machine.

use super::payload::answer_field;
use super::{Context, children, ending};
use chartc_core::arena::VarId;
use chartc_core::model::{Type, VariableKind};
use codegen::{Impl, Scope};
use std::fmt::Write;

/// Adds these methods.
pub(super) fn emit(context: &Context<'_>, item: &mut Impl) {
    save(context, item);
    load(context, item);
    children::place(context, item);
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
    if !rows.is_empty() {
        all.push(("variables", list(&rows)));
    }
    if context.has_endings() {
        let mut rows = String::new();
        for (nth, one) in ending::finals(context).iter().enumerate() {
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
        all.push(("finals", list(&rows)));
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
    if context.has_begin() {
        body.push_str("core.begun = given.begun;\n");
    }
    if context.has_endings() {
        body.push_str("core.endings = [const { None }; ");
        let finals = ending::finals(context);
        let _ = writeln!(body, "{}];", finals.len());
        let mut arms = Vec::new();
        for (nth, one) in finals.iter().enumerate() {
            let rows = one.params.iter().zip(&one.fields);
            let rows =
                rows.map(|(param, field)| format!("{field}: values.take({:?})?", param.name));
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
