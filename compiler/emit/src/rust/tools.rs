//! Writes the code for tools that a `may call` transition or an `llm` step lets the model call, or that a `call` step calls.

use super::Context;
use super::body::{Arms, Methods};
use super::code::{Code, Fragment, Use, code};
use super::drive::reader;
use super::expr::Writer;
use super::keep::{into, matched};
use super::program::HostMethods;
use super::types::owned;
use chartc_core::arena::StepId;
use chartc_core::model::{ChoiceKind, Field, StepKind, Type, schema};
use codegen::Impl;
use std::fmt::Write;

impl Context<'_> {
    /// Whether the model may call tools.
    pub(super) fn has_calls(&self) -> bool {
        self.tables.choices.iter().any(|choice| choice.tools.is_some()) || self.has_step_tools()
    }

    /// Whether a step lets its model call tools.
    pub(super) fn has_step_tools(&self) -> bool {
        self.tables.steps.iter().any(|step| step.tools.len > 0)
    }

    /// Whether the program stores the model's calls.
    pub(super) fn keeps_calls(&self) -> bool {
        self.has_calls() || self.needs.streak
    }

    fn has_step_calls(&self) -> bool {
        self.chart.steps.iter().any(|step| matches!(step.kind, StepKind::Call(..)))
    }
}

/// Writes `step_call`, which returns the tool and the arguments of a `call` step.
pub(super) fn call_steps(context: &Context<'_>) -> Arms {
    let result = "Option<(arena::ToolId, Vec<Value>)>";
    let mut steps =
        Arms::new("step_call", ("key", "machine::StepKey"), "key.step.0", result, "None");
    for (i, step) in context.chart.steps.iter().enumerate() {
        let StepKind::Call(tool, arguments) = &step.kind else { continue };
        let params = &context.chart.tools[tool.index()].params;
        let id = StepId::at(i);
        let mut writer = Writer::new(context);
        writer.begin_element(id);
        let values = arguments.iter().zip(params);
        let values = values.map(|(value, param)| writer.valued(value, &param.ty));
        let (values, tool) = (Fragment::joined(values, ", "), tool.0);
        let result = code!("Ok(Some((arena::ToolId({tool}), Vec::from([{values}]))))", values);
        steps.arm(i, &step.name, writer.element(id, &result), result);
    }
    steps
}

/// Adds `keep_result`, which stores what a tool returned, if an expression or variable needs it.
pub(super) fn keep_result(context: &Context<'_>, methods: &mut Methods) -> bool {
    let mut arms = Vec::new();
    for (i, choice) in context.chart.choices.iter().enumerate() {
        let ChoiceKind::Call(_, Some(id)) = choice.kind else { continue };
        let kept = into(context, &mut Writer::new(context), id, Code::lent("result", Type::Json));
        arms.push((format!("Some({i})"), kept.text));
    }
    let mut body = String::new();
    if context.needs.last_result {
        body += "self.last_result = generated::shown(result);\n";
    }
    if !arms.is_empty() {
        body += &matched("choice.map(|choice| choice.0)", &arms, true);
    }
    if !context.has_calls() || body.is_empty() {
        return false;
    }
    // Rust warns of parameters that a body does not read.
    let unused = if arms.is_empty() { "_" } else { "" };
    methods
        .add("keep_result", body.into())
        .arg(format!("{unused}choice"), "Option<arena::ChoiceId>")
        .arg("result", "&Value");
    true
}

/// Writes the statements of `bind` that note the begin and end of calls.
pub(super) fn bound(context: &Context<'_>, keeps: bool) -> String {
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

/// Adds the methods of `Program` for calls.
pub(super) fn hooks(context: &Context<'_>, item: &mut Impl) {
    if context.keeps_calls() {
        item.new_fn("another_option").arg_mut_self().line("self.calls.break_streaks();");
        if context.needs.loops {
            let repeated = item.new_fn("repeated").arg_ref_self().ret("u32");
            repeated.line("self.calls.repeated()");
        }
        let forget = item.new_fn("forget_call").arg_mut_self().arg("caller", "program::Caller");
        forget.line("self.calls.forget(caller);");
    }
}

/// Adds `Payload::tool`, which reads the arguments of a tool, and `Payload::result`, which reads its result.
pub(super) fn payloads(context: &Context<'_>, item: &mut Impl) {
    if context.has_calls() {
        let mut arms = String::new();
        for (i, tool) in context.chart.tools.iter().enumerate() {
            let values = values(context, &tool.params);
            let _ = writeln!(
                arms,
                "{i} => {{ let {}values = generated::Values::of(\"\", values, {})?; {values} }},",
                if tool.params.is_empty() { "_" } else { "mut " },
                tool.params.len()
            );
        }
        reader(item, "tool", "arena::ToolId", "values: Vec<Value>", &arms);
    }
    if context.has_calls() || context.has_step_calls() {
        let mut arms = String::new();
        for (i, tool) in context.chart.tools.iter().enumerate() {
            let ty = owned(context, &tool.result);
            let _ = writeln!(
                arms,
                "{i} => generated::read::<{ty}>(value).map(|value| value.into_value()),"
            );
        }
        let function = item.new_fn("result").arg("tool", "arena::ToolId").arg("value", "Value");
        function.arg("notes", "&mut generated::Notes").ret("Result<Value, String>");
        function.line(format!(
            "let read = match tool.0 {{ {arms} _ => Err(generated::no_row(\"tool\", tool.0)), }};
            read.map_err(|why| generated::unfit(notes, TABLES.tools[tool.index()].name, why))"
        ));
    }
}

/// Writes the payload of a tool's arguments, each read with its declared type.
fn values(context: &Context<'_>, params: &[Field]) -> String {
    let values: Vec<String> = params
        .iter()
        .map(|param| {
            let ty = owned(context, &param.ty);
            format!("values.take::<{ty}>({:?})?.into_value()", param.name)
        })
        .collect();
    format!("Payload::Tool(Vec::from([{}]))", values.join(", "))
}

/// Writes the statements of `outcome` for the result of a tool.
pub(super) fn returned(context: &Context<'_>) -> String {
    let mut text = String::new();
    if context.has_calls() {
        text +=
            "if let Some(tool) = self.engine.calls(key) && let Outcome::Done(values) = outcome {
            let notes = &mut self.engine.program.notes;
            return Ok(match Payload::result(tool, generated::answer(values)?, notes) {
                Ok(value) => Outcome::Done(Payload::Tool(Vec::from([value]))),
                Err(why) => Outcome::Failed(Payload::Reason(why)),
            });
        }\n";
    }
    let mut arms = String::new();
    for (i, step) in context.chart.steps.iter().enumerate() {
        if let StepKind::Call(tool, _) = &step.kind {
            let _ = writeln!(arms, "{i} => Some(arena::ToolId({})),", tool.0);
        }
    }
    if !arms.is_empty() {
        text += &format!(
            "let tool = match key.step.0 {{ {arms} _ => None }};
            if let (Some(tool), Outcome::Done(values)) = (tool, &outcome)
                && let Err(why) = Payload::result(
                    tool, generated::answer(values.clone())?, &mut self.engine.program.notes,
                )
            {{
                return Ok(Outcome::Failed(Payload::Reason(why)));
            }}\n"
        );
    }
    text
}

/// Writes the description of an option for the model; `own` is the code for options that are no tool or have a text of their own.
pub(super) fn text(context: &Context<'_>, own: &str) -> String {
    // A call without a text of its own is described by its tool.
    let silent = context.chart.choices.iter().enumerate();
    let silent: Vec<String> = silent
        .filter(|(_, choice)| choice.text.is_none() && matches!(choice.kind, ChoiceKind::Call(..)))
        .map(|(i, _)| i.to_string())
        .collect();
    let mut arms = String::new();
    for (i, tool) in context.chart.tools.iter().enumerate() {
        let text = chartc_core::host::summary(&tool.doc);
        if !text.is_empty() && !silent.is_empty() {
            let _ = writeln!(
                arms,
                "Some(arena::ToolId({i})) if matches!(choice.0, {}) => {text:?}.into(),",
                silent.join(" | ")
            );
        }
    }
    if arms.is_empty() { own.to_owned() } else { format!("match tool {{ {arms} _ => {own} }}") }
}

/// Writes the arguments of an option; `own` is the code for options that are no tool.
pub(super) fn arguments(context: &Context<'_>, own: &str) -> String {
    if !context.has_calls() {
        return own.to_owned();
    }
    let mut arms = String::new();
    for (i, tool) in context.chart.tools.iter().enumerate() {
        let rows: Vec<String> = (tool.params.iter())
            .map(|f| format!("({:?}.into(), {:?}.into())", f.name, context.written(&f.ty)))
            .collect();
        let _ = writeln!(arms, "Some(arena::ToolId({i})) => Vec::from([{}]),", rows.join(", "));
    }
    format!("match tool {{ {arms} _ => {own} }}")
}

/// Writes the statements of `options` for the tools of `llm` steps; empty if no step has tools.
pub(super) fn offers(context: &Context<'_>) -> String {
    if !context.has_step_tools() {
        return String::new();
    }
    let (mut texts, mut arguments) = (String::new(), String::new());
    for (i, tool) in context.chart.tools.iter().enumerate() {
        let text = chartc_core::host::summary(&tool.doc);
        if !text.is_empty() {
            let _ = writeln!(texts, "{i} => {text:?},");
        }
        let rows: Vec<String> = (tool.params.iter())
            .map(|f| format!("({:?}.into(), {:?}.into())", f.name, context.written(&f.ty)))
            .collect();
        if !rows.is_empty() {
            let _ = writeln!(arguments, "{i} => Vec::from([{}]),", rows.join(", "));
        }
    }
    let text = if texts.is_empty() {
        r#""".into()"#.to_owned()
    } else {
        format!("match tool.0 {{ {texts} _ => \"\" }}.into()")
    };
    let arguments = if arguments.is_empty() {
        "Vec::new()".to_owned()
    } else {
        format!("match tool.0 {{ {arguments} _ => Vec::new() }}")
    };
    format!(
        "if self.engine.has_tools(key.step) {{
            let mut tools = Vec::new();
            self.engine.step_tools(key, &mut |tool| tools.push(tool));
            let offer = |tool: arena::ToolId| host::Offer {{
                choice: host::Offer::NO_LINE,
                tool: Some(tool),
                name: TABLES.tools[tool.index()].name.into(),
                text: {text},
                arguments: {arguments},
            }};
            return tools.into_iter().map(offer).collect();
        }}"
    )
}

/// Adds `Machine::call`, which returns the tool call that a step is waiting for.
pub(super) fn call(context: &Context<'_>, asked: &HostMethods, item: &mut Impl) {
    let used = context.has_calls() || context.has_step_calls();
    let function = item.new_fn("call").arg_mut_self();
    function.arg(if used { "key" } else { "_key" }, "machine::StepKey");
    function.ret("Result<host::ToolCall, machine::Fault>");
    if !used {
        function.line("Err(machine::Fault)");
        return;
    }
    let step = match &asked.call {
        Some(method) => format!(
            "self.engine.with_view(key.leaf, |core, {}| {{
                {}.map_err(|why| {{
                    generated::note(&mut core.notes, || generated::code_of(&TABLES, key.step), why)
                }})
            }})?.ok_or(machine::Fault)?",
            if method.reads(Use::View) { "view" } else { "_" },
            method.call("core", "key")
        ),
        None => "return Err(machine::Fault)".to_owned(),
    };
    let found = if context.has_calls() {
        format!(
            "match self.engine.calls(key) {{
                Some(tool) => {{
                    let call = self.engine.program.calls.open(self.engine.caller(key));
                    (tool, call.map(|call| call.arguments.clone()).unwrap_or_default())
                }}
                None => {step},
            }}"
        )
    } else {
        step
    };
    let mut results = String::new();
    for i in 0..context.chart.tools.len() {
        let text = schema::of_type(context.chart, &context.chart.tools[i].result);
        let _ = writeln!(results, "{i} => {text:?},");
    }
    function.line(format!(
        "let (tool, arguments) = {found};
        let result = match tool.0 {{ {results} _ => \"\", }};
        Ok(generated::tool_call(&TABLES, tool, arguments, result))"
    ));
}
