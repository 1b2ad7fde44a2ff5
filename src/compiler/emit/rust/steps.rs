//! Writes the code of steps: tool calls, lists with `each`, prompts, and events for other charts.
//!
//! The problem: the engine is the same for all charts and knows steps only by number, so the generated program must answer its questions:
//! which tool does step 3 call, with which arguments, what is its prompt? The idea: for each question there is one method with a `match`
//! over the numbers. The functions here write one method each, mostly as `Arms`: an arm for each step that has an answer. A method or field
//! is written only if the chart needs it (`Context::has_calls`, `has_each`, `posts`), as Rust warns of code that is never used.
//!
//! The sections are calls of tools, steps with an `each`, prompts and other texts for the model, and events for other charts. For example:
//!
//! ```text
//! tool web.get(url: Text) -> Text
//! call fetch web.get(address)
//! ```
//!
//! becomes an arm of `step_call`, with the value of `address` in place of `…`:
//!
//! ```text
//! 0 => Ok(Some((arena::ToolId(0), Vec::from([…])))),
//! ```

use super::Context;
use super::code::{Binding, Code, Fragment, Use, code};
use super::expr::Writer;
use super::keep::{chosen, into, matched};
use super::methods::{Arms, HostMethods, Method, Methods};
use super::names::{list_item, owned};
use super::payload::answer_field;
use super::tables::comment;
use chartc_core::arena::StepId;
use chartc_core::model::{
    Action, Chart, ChoiceKind, Each, Expr, Field, Lost, Position, Receiver, StepKind, Template,
    Type, schema,
};
use codegen::{Enum, Impl, Scope, Struct, Variant};
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
            read.map_err(|why| generated::unfit(notes, &TABLES.tools[tool.index()].name, why))"
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
                let why = Payload::Reason(why);
                return Ok(if row.retries_doubt {{ Outcome::Failed(why) }} else {{ Outcome::Doubt(why) }});
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
                name: (&TABLES.tools[tool.index()].name).into(),
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

// Writes the code of steps with an `each`: it evaluates their lists and stores the answers of their elements.

impl<'c> Context<'c> {
    /// Returns the steps with an `each`.
    pub(super) fn each_steps(&self) -> impl Iterator<Item = (StepId, &'c Each)> + use<'c> {
        let rows = self.chart.steps.iter().enumerate();
        rows.filter_map(|(i, step)| Some((StepId::at(i), step.each.as_ref()?)))
    }

    /// Whether any step has an `each`.
    pub(super) fn has_each(&self) -> bool {
        self.each_steps().next().is_some()
    }
}

/// Returns the type of an element of the list; JSON if the list is JSON itself.
fn element(each: &Each) -> Type {
    list_item(&each.list.ty).cloned().unwrap_or(Type::Json)
}

/// Adds the enum `Gathered` of the answers of whole steps, and the struct `Elements` of the elements of the steps under way.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) {
    if !context.has_each() {
        return;
    }
    let mut gathered = Enum::new("Gathered");
    gathered.doc("The answers of the elements of a step.");
    gathered.derive("Debug").derive("Clone").derive("PartialEq");
    let mut elements = Struct::new("Elements");
    elements.doc("The elements of the steps under way, and their answers.");
    elements.derive("Debug").derive("Clone").derive("Default");
    for (step, each) in context.each_steps() {
        let mut variant = Variant::new(&context.names.steps[step.index()]);
        variant.tuple(owned(context, &context.chart.steps[step.index()].returns));
        gathered.push_variant(variant);
        let (item, answer) = (owned(context, &element(each)), owned(context, &each.returns));
        let ty = format!("generated::Gathering<{item}, {answer}>");
        elements.field(answer_field(context, step), ty);
    }
    scope.push_enum(gathered);
    scope.push_struct(elements);
}

/// Adds the methods of `Program` for steps with an `each`.
pub(super) fn each_hooks(context: &Context<'_>, methods: &mut Methods, program: &mut Methods) {
    if !context.has_each() {
        return;
    }
    if let Some(lists) = lists(context).emit(context, methods) {
        begin_each(&lists, program);
    }
    let (mut done, mut gathered, mut forget) = (Vec::new(), String::new(), Vec::new());
    for (step, each) in context.each_steps() {
        let (name, field) = (&context.names.steps[step.index()], answer_field(context, step));
        done.push((
            format!("Payload::Answer(Answer::{name}(answer))"),
            format!("self.elements.{field}.done(element, answer);"),
        ));
        let all = all(each);
        let _ = writeln!(
            gathered,
            "{} => Payload::Gathered(Gathered::{name}(self.elements.{field}.take(){all}.collect())),",
            step.0
        );
        forget.push((step.0.to_string(), format!("self.elements.{field}.forget();")));
    }
    let function = program.item.new_fn("element_done").arg_mut_self();
    function.arg("_step", "arena::StepId").arg("element", "machine::Element");
    function.arg("answer", "Payload").line(matched("answer", &done, true));
    let function = program.item.new_fn("gathered").arg_mut_self();
    function.arg("step", "arena::StepId").arg("_with_none", "bool").ret("Option<Payload>");
    function.line(format!("Some(match step.0 {{ {gathered} _ => return None }})"));
    let function = program.item.new_fn("forget_elements").arg_mut_self();
    function.arg("step", "arena::StepId");
    function.line(chosen("step.0", &forget));
}

/// Writes how the step's answer is made from the answers of its elements, of which some may be missing.
fn all(each: &Each) -> &'static str {
    match (each.lost, &each.returns) {
        (Lost::None, Type::Json) => ".map(Option::unwrap_or_default)",
        (Lost::None, _) => "",
        (Lost::Fail | Lost::Skip, _) => ".flatten()",
    }
}

/// Writes `step_list`, which evaluates and stores the list of a step.
fn lists(context: &Context<'_>) -> Arms {
    let step = ("step", "arena::StepId");
    let mut arms = Arms::new("step_list", step, "step.0", "u32", "0");
    for (step, each) in context.each_steps() {
        let mut writer = Writer::new(context);
        let list = if list_item(&each.list.ty).is_some() {
            writer.value(&each.list, &each.list.ty)
        } else {
            // Only at run time is it known whether JSON is a list.
            let list = writer.value(&each.list, &Type::Json);
            code!("expr::list({list})?", list).using(Use::Failure)
        };
        let field = answer_field(context, step);
        let stored = code!("let list = {list};\n", list);
        let size = Fragment::from(format!("Ok(self.elements.{field}.begin(list))"));
        arms.arm(step.index(), &context.chart.steps[step.index()].name, stored, size);
    }
    arms
}

/// Writes `elements`, which refuses a list that is too long.
fn begin_each(lists: &Method, program: &mut Methods) {
    let work = if lists.reads(Use::Work) { "self.work.begin();\n" } else { "" };
    let call = lists.call("self", "step");
    let view = if lists.reads(Use::View) { "view" } else { "_view" };
    let function = program.item.new_fn("elements").arg_mut_self();
    function.arg("step", "arena::StepId").arg("most", "u32").arg(view, "&program::View<'_>");
    function.ret("Result<u32, Option<Payload>>").line(format!(
        "{work}let size = {call}.map_err(|why| {{
            generated::note(&mut self.notes, || generated::list_of(&TABLES, step), why);
            None
        }})?;
        if size > most {{
            self.forget_elements(step);
            return Err(Some(Payload::Reason(generated::too_many(size, most))));
        }}
        Ok(size)"
    ));
}

impl Writer<'_> {
    /// Puts the element of the step in scope.
    pub(super) fn begin_element(&mut self, step: StepId) {
        if let Some(each) = &self.context.chart.steps[step.index()].each {
            self.bind(each.local.id, element(each));
        }
    }

    /// Writes the statement that reads the element of the step, if the code after it does.
    pub(super) fn element(&self, step: StepId, body: &Fragment) -> Fragment {
        let each = self.context.chart.steps[step.index()].each.as_ref();
        match each.filter(|each| body.uses.locals.contains(&each.local.id)) {
            None => Fragment::default(),
            Some(each) => {
                let (name, field) =
                    (super::expr::local_name(each.local.id), answer_field(self.context, step));
                Fragment::from(format!("let {name} = self.elements.{field}.element(key)?;\n"))
                    .using(Use::Failure)
            }
        }
    }
}

// Writes prompts, the texts of options, and advice.

/// Adds `advice`, if something reads it; it returns the advice of the innermost active state that has any.
pub(super) fn advice(context: &Context<'_>, methods: &mut Methods) {
    if !context.needs.advice {
        return;
    }
    let mut arms = Fragment::default();
    for (i, state) in context.chart.states.iter().enumerate() {
        if let Some(text) = &state.advice {
            let body = alone(Writer::new(context).template(text));
            let comment = comment(&state.path);
            arms += code!("{comment}Some(arena::StateId({i})) => {{ {body} Ok(text) }}\n", body);
        }
    }
    let body = if arms.is_empty() {
        "Ok(String::new())".into()
    } else {
        code!("match view.adviser() {{ {arms} _ => Ok(String::new()), }}", arms).using(Use::View)
    };
    let view = body.parameter("view", Use::View);
    let function = methods.add("advice", body);
    function.arg(&view, "&program::View<'_>");
    function.ret(format!("Result<String, {}>", context.error()));
}

/// Writes `prompt_of`, which returns the prompts of steps.
pub(super) fn prompts(context: &Context<'_>) -> Arms {
    let key = ("key", "machine::StepKey");
    let mut arms = Arms::new("prompt_of", key, "key.step.0", "String", "String::new()");
    for (i, step) in context.chart.steps.iter().enumerate() {
        let own = match &step.kind {
            StepKind::Human(question) => Some(question),
            StepKind::Llm
            | StepKind::Code(_)
            | StepKind::Ask { .. }
            | StepKind::Call(..)
            | StepKind::Run(..) => step.prompt.as_ref(),
        };
        if let Some(body) = prompt(context, StepId::at(i), own) {
            arms.arm(i, &step.name, body, "Ok(text)".into());
        }
    }
    arms
}

/// Writes `option_text`, which returns the descriptions of options.
pub(super) fn options(context: &Context<'_>) -> Arms {
    let choice = ("choice", "arena::ChoiceId");
    let mut arms = Arms::new("option_text", choice, "choice.0", "String", "String::new()");
    for (i, choice) in context.chart.choices.iter().enumerate() {
        if let Some(text) = &choice.text {
            let body = alone(Writer::new(context).template(text));
            arms.arm(i, &choice.name, body, "Ok(text)".into());
        }
    }
    arms
}

/// Writes a text outside a question, which has no options to show.
fn alone(body: Fragment) -> Fragment {
    if !body.has(Use::Options) {
        return body;
    }
    code!("let options: Option<&str> = None;\n{body}", body).without(Use::Options)
}

/// The text that a component inserts into a prompt.
struct ComponentPart<'c> {
    guard: Option<&'c Expr>,
    /// The name of the guard in the note that says that it failed.
    title: String,
    text: &'c Template,
}

/// Writes statements that leave the prompt in `text`: components at the start, the step's own text or its replacement, and components at
/// the end, separated by empty lines.
fn prompt(context: &Context<'_>, step: StepId, own: Option<&Template>) -> Option<Fragment> {
    let of = |wanted: Position| -> Vec<ComponentPart<'_>> {
        let mut parts = Vec::new();
        for component in &context.chart.components {
            for insert in &component.inserts {
                if insert.step == step && insert.place == wanted {
                    parts.push(ComponentPart {
                        guard: insert.guard.as_ref(),
                        title: format!(
                            "`if` of `{}` into `{}`",
                            component.name,
                            context.chart.steps[step.index()].name
                        ),
                        text: &component.text,
                    });
                }
            }
        }
        parts
    };
    let (start, replace, end) = (of(Position::Start), of(Position::Replace), of(Position::End));
    if start.is_empty() && replace.is_empty() && end.is_empty() {
        return own.map(|own| own_text(context, step, own));
    }
    let mut writer = Writer::new(context);
    let mut out = Fragment::from("let mut parts: Vec<String> = Vec::new();\n");
    for part in &start {
        out += guarded(&mut writer, part, "");
    }
    // An unconditional replacement makes the step's own text unnecessary.
    let own = own.filter(|_| replace.iter().all(|part| part.guard.is_some()));
    let mark = if own.is_some() && !replace.is_empty() { "replaced = true;" } else { "" };
    if !mark.is_empty() {
        out += "let mut replaced = false;\n".into();
    }
    for part in &replace {
        out += guarded(&mut writer, part, mark);
    }
    if let Some(own) = own {
        let test = if mark.is_empty() { "" } else { "if !replaced " };
        out += code!("{test}{{ {own} parts.push(text); }}\n", own = own_text(context, step, own));
    }
    for part in &end {
        out += guarded(&mut writer, part, "");
    }
    out += "let text = parts.join(\"\\n\\n\");\n".into();
    Some(out.using(Use::Allocator))
}

/// Writes the step's own text, which may show the element.
fn own_text(context: &Context<'_>, step: StepId, own: &Template) -> Fragment {
    let mut writer = Writer::new(context);
    writer.begin_element(step);
    let text = writer.template(own);
    code!("{element}{text}", element = writer.element(step, &text), text)
}

/// Writes the statements that add the text of a component if its guard holds, and that then run `also`.
fn guarded(writer: &mut Writer<'_>, part: &ComponentPart<'_>, also: &str) -> Fragment {
    let text = writer.template(part.text);
    let push = code!("{{ {text} parts.push(text); {also} }}\n", text);
    let Some(guard) = part.guard else { return push };
    let condition = writer.truth(guard);
    let test = condition.truth(Binding::Block);
    if !test.has(Use::Failure) {
        return code!("if {test} {push}", test, push);
    }
    // A guard that fails counts as false.
    let holds = writer.context.caught(&condition);
    let title = &part.title;
    code!(
        "let holds = {holds};\nif generated::holds(&mut self.notes, {title:?}, holds) {push}",
        holds,
        push
    )
}

// Writes the code that sends events to other charts.

/// Whether a chart sends events to others.
pub(super) fn any(chart: &Chart) -> bool {
    let mut found = false;
    let blocks = chart.states.iter().flat_map(|state| {
        let blocks = state.entry.iter().chain(&state.exit).map(Vec::as_slice);
        blocks.chain([state.default_actions.as_slice()])
    });
    for block in
        blocks.chain(chart.transitions.iter().map(|transition| transition.actions.as_slice()))
    {
        Action::walk(block, &mut |action| {
            found |= matches!(action, Action::Send { to, .. } if *to != Receiver::Own);
        });
    }
    found
}

impl Context<'_> {
    /// Returns the fields of `Core` for sent events, each with its type.
    fn post_fields(&self) -> &'static [(&'static str, &'static str)] {
        if self.posts {
            &[("posted", "Vec<host::Post>"), ("letters", "Vec<Vec<Value>>")]
        } else {
            &[]
        }
    }
}

/// Adds the fields for sent events to `Core`.
pub(super) fn fields(context: &Context<'_>, item: &mut Struct) {
    for (name, ty) in context.post_fields() {
        item.field(name, *ty);
    }
}

/// Writes the initializers of the fields for sent events.
pub(super) fn begin_posts(context: &Context<'_>) -> String {
    context.post_fields().iter().map(|(name, _)| format!("{name}: Vec::new(),")).collect()
}

/// Adds `Program::post`, which passes on an event whose delay has ended.
pub(super) fn program(context: &Context<'_>, item: &mut Impl) {
    if context.posts {
        let post = item.new_fn("post").arg_mut_self().arg("event", "arena::EventId");
        post.arg("slot", "usize").arg("to", "machine::Receiver").line(
            "let payload = self.letters.get_mut(slot).map(core::mem::take).unwrap_or_default();
            self.posted.push(host::Post { event, to, payload });",
        );
    }
}

/// Adds `Machine::take_posted`, from which the host takes the events to deliver.
pub(super) fn drive(context: &Context<'_>, item: &mut Impl) {
    if context.posts {
        item.new_fn("take_posted")
            .arg_mut_self()
            .ret("Vec<host::Post>")
            .line("core::mem::take(&mut self.engine.program.posted)");
    }
}

/// Adds the function `name` of `Payload`, which reads the `values` of the row `id`: a match over the number of the row, with these arms.
pub(super) fn reader(item: &mut Impl, name: &str, id: &str, values: &str, arms: &str) {
    let function = item.new_fn(name).arg("id", id);
    let (argument, ty) = values.split_once(": ").unwrap_or((values, ""));
    function.arg(argument, ty).ret("Result<Self, host::Mismatch>");
    let what = if name == "choice" { "option" } else { name };
    function.line(format!(
        "Ok(match id.0 {{ {arms} _ => return Err(generated::no_row({what:?}, id.0)), }})"
    ));
}

/// Writes `step_run`: the params of `run` steps.
pub(super) fn run_steps(context: &Context<'_>) -> Arms {
    let result = "Option<Vec<(&'static str, Value)>>";
    let mut steps =
        Arms::new("step_run", ("key", "machine::StepKey"), "key.step.0", result, "None");
    for (i, step) in context.chart.steps.iter().enumerate() {
        let StepKind::Run(run) = &step.kind else { continue };
        let id = StepId::at(i);
        let mut writer = Writer::new(context);
        writer.begin_element(id);
        let given = run.arguments.iter().map(|(name, argument)| {
            code!("({name:?}, {value})", value = writer.valued(argument, &argument.ty))
        });
        let given = Fragment::joined(given, ", ");
        let result = code!("Ok(Some(Vec::from([{given}])))", given);
        steps.arm(i, &step.name, writer.element(id, &result), result);
    }
    steps
}
