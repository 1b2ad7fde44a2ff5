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
//! becomes an arm of `call`, with the value of `address` in place of `…`:
//!
//! ```text
//! 0 => Ok(Some((arena::ToolId(0), Vec::from([…])))),
//! ```

use super::Context;
use super::code::{Binding, Code, Fragment, Use, code};
use super::expr::Writer;
use super::keep::{chosen, into, matched};
use super::methods::{Arms, Hook, Methods};
use super::names::{list_item, owned};
use super::payload::{answer_field, answering, choice_fields};
use super::tables::comment;
use super::types;
use chartc_core::arena::{ChoiceId, StepId, ToolId};
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

/// What a method is asked about an attempt of a step.
fn of_step(name: &'static str, result: &'static str, otherwise: &'static str) -> Hook {
    let arguments = &[("key", "machine::StepKey")];
    Hook { name, arguments, more: None, scrutinee: "key.step.0", result, otherwise }
}

/// Writes `call`, which returns the tool and the arguments of a `call` step.
pub(super) fn call_steps(context: &Context<'_>) -> Arms {
    let result = "Option<(arena::ToolId, Vec<Value>)>";
    let mut steps = Arms::new(of_step("call", result, "None"));
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

/// Adds `keep_result`, which stores what a tool returned, if a variable needs it.
pub(super) fn keep_result(context: &Context<'_>, methods: &mut Methods) {
    let mut arms = Vec::new();
    for (i, choice) in context.chart.choices.iter().enumerate() {
        let ChoiceKind::Call(_, Some(id)) = choice.kind else { continue };
        let kept = into(context, &mut Writer::new(context), id, Code::lent("result", Type::Json));
        arms.push((format!("Some({i})"), kept.text));
    }
    if !arms.is_empty() {
        let body = matched("choice.map(|choice| choice.0)", &arms, true);
        methods
            .add("keep_result", body.into())
            .arg("choice", "Option<arena::ChoiceId>")
            .arg("result", "&Value");
    }
}

/// Adds `tool`, which reads the arguments of a tool, and `returned`, which reads its result.
pub(super) fn tools(context: &Context<'_>, item: &mut Impl) {
    if context.has_calls() {
        let mut arms = String::new();
        for (i, tool) in context.chart.tools.iter().enumerate() {
            let read = tool.params.iter();
            let read: Vec<String> = read
                .map(|param| {
                    let (ty, range) = (owned(context, &param.ty), param.range.as_ref());
                    range.map_or_else(
                        || format!("values.checked::<{ty}>()?"),
                        |(low, high)| {
                            let (low, high) = (types::number(low), types::number(high));
                            format!("values.ranged::<{ty}>({low}, {high})?")
                        },
                    )
                })
                .collect();
            let list = if read.is_empty() {
                "Vec::new()".into()
            } else {
                format!("Vec::from([{}])", read.join(", "))
            };
            let _ = writeln!(arms, "{i} => {list},");
        }
        let function = item.new_fn("tool").arg("tool", "arena::ToolId");
        let values = if context.chart.tools.iter().all(|tool| tool.params.is_empty()) {
            "_"
        } else {
            "values"
        };
        function.arg(values, "&mut generated::Values");
        function.ret("Result<Vec<Value>, host::Mismatch>").line(format!(
            "Ok(match tool.0 {{ {arms} _ => return Err(generated::no_row(\"tool\", tool.0)), }})"
        ));
    }
    if context.has_calls() || context.has_step_calls() {
        let mut arms = String::new();
        for (i, tool) in context.chart.tools.iter().enumerate() {
            let ty = owned(context, &tool.result);
            let _ = writeln!(arms, "{i} => generated::as_declared::<{ty}>(value),");
        }
        let function = item.new_fn("returned").arg("tool", "arena::ToolId").arg("value", "Value");
        function.ret("Result<Value, host::Mismatch>").line(format!(
            "match tool.0 {{ {arms} _ => Err(generated::no_row(\"tool\", tool.0)), }}"
        ));
    }
}

/// The number of fields of [`chartc_core::generated::Words`].
const WORDS: usize = 10;

/// Adds `WORDS`: what the chart says to models about its steps, options and tools. `shows_options` says whether a prompt shows the options of
/// its question.
pub(super) fn words(context: &Context<'_>, item: &mut Impl, shows_options: bool) {
    let chart = context.chart;
    let mut fields = String::new();
    let mut list = |name: &str, texts: Vec<String>| {
        // What stands at the end without a text need not be there.
        let len = texts.iter().rposition(|text| !text.is_empty()).map_or(0, |last| last + 1);
        if len > 0 {
            let _ = writeln!(fields, "{name}: &{:?},", &texts[..len]);
        }
    };
    let asked = |step: &StepKind| matches!(step, StepKind::Llm | StepKind::Human(_));
    let steps = chart.steps.iter().enumerate();
    let answers = steps.map(|(i, step)| {
        if asked(&step.kind) { schema::of_answer(chart, StepId::at(i)) } else { String::new() }
    });
    list("answers", answers.collect());
    let choices = (0..chart.choices.len()).map(ChoiceId::at);
    list("arguments", choices.map(|id| schema::of_arguments(chart, id)).collect());
    let tools = (0..chart.tools.len()).map(ToolId::at);
    list("tools", tools.map(|id| schema::of_tool(chart, id)).collect());
    let is_called = context.has_calls() || context.has_step_calls();
    let results = chart.tools.iter().filter(|_| is_called);
    list("results", results.map(|tool| schema::of_type(chart, &tool.result)).collect());
    let summaries = chart.tools.iter().map(|tool| chartc_core::host::summary(&tool.doc));
    list("summaries", summaries.collect());
    let types = |params: &[Field]| -> Vec<String> {
        params.iter().map(|param| context.written_field(param)).collect()
    };
    let choices = (0..chart.choices.len()).map(ChoiceId::at);
    let options: Vec<_> = choices.map(|id| types(choice_fields(context, id))).collect();
    let tools: Vec<_> = chart.tools.iter().map(|tool| types(&tool.params)).collect();
    for (name, all) in [("option_types", options), ("tool_types", tools)] {
        if all.iter().any(|types| !types.is_empty()) {
            let rows: Vec<String> = all.iter().map(|types| format!("&{types:?}")).collect();
            let _ = writeln!(fields, "{name}: &[{}],", rows.join(", "));
        }
    }
    fields += &rows_of_calls(context);
    if shows_options {
        fields += "shows_options: true,\n";
    }
    if !fields.is_empty() {
        // Each field is a line.
        let is_whole = fields.lines().count() == WORDS;
        let rest = if is_whole { "" } else { "..generated::Words::NONE" };
        let value = format!("generated::Words {{ {fields} {rest} }}");
        item.associate_const("WORDS", "generated::Words", value, "");
    }
}

/// Writes the options that their tools describe, and the tools of `call` steps.
fn rows_of_calls(context: &Context<'_>) -> String {
    let chart = context.chart;
    // A call without a text of its own is described by its tool.
    let silent = chart.choices.iter().enumerate();
    let silent = silent
        .filter(|(_, choice)| choice.text.is_none() && matches!(choice.kind, ChoiceKind::Call(..)));
    let silent: Vec<String> = silent.map(|(i, _)| format!("arena::ChoiceId({i})")).collect();
    let called = chart.steps.iter().enumerate().filter_map(|(i, step)| match &step.kind {
        StepKind::Call(tool, _) => Some(format!("(arena::StepId({i}), arena::ToolId({}))", tool.0)),
        StepKind::Llm
        | StepKind::Code(_)
        | StepKind::Ask { .. }
        | StepKind::Human(_)
        | StepKind::Run(..) => None,
    });
    let called: Vec<String> = called.collect();
    let rows = [("silent", silent), ("called", called)];
    let rows = rows.into_iter().filter(|(_, rows)| !rows.is_empty());
    rows.map(|(name, rows)| format!("{name}: &[{}],\n", rows.join(", "))).collect()
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
    gathered.vis("pub").doc("The answers of the elements of a step.");
    gathered.derive("Debug").derive("Clone").derive("PartialEq");
    let mut elements = Struct::new("Elements");
    elements.doc("The elements of the steps under way, and their answers.");
    elements.derive("Debug").derive("Clone").derive("Default");
    for (step, each) in context.each_steps() {
        let mut variant = Variant::new(&context.names.steps[step.index()]);
        variant.doc(format!("Of `{}`.", context.chart.steps[step.index()].name));
        variant.tuple(owned(context, &context.chart.steps[step.index()].returns));
        gathered.push_variant(variant);
        let (item, answer) = (owned(context, &element(each)), owned(context, &each.returns));
        let ty = format!("generated::Gathering<{item}, {answer}>");
        elements.field(answer_field(context, step), ty);
    }
    scope.push_enum(gathered);
    scope.push_struct(elements);
}

/// Adds the methods for steps with an `each`.
pub(super) fn each_hooks(context: &Context<'_>, methods: &mut Methods) {
    if !context.has_each() {
        return;
    }
    lists(context).emit(context, methods, Use::View);
    let (mut done, mut gathered, mut forget) = (Vec::new(), String::new(), Vec::new());
    for (step, each) in context.each_steps() {
        let (name, field) = (&context.names.steps[step.index()], answer_field(context, step));
        done.push((
            format!("Answer::{name}(answer)"),
            format!("self.elements.{field}.done(element, answer);"),
        ));
        let all = all(each);
        let _ = writeln!(
            gathered,
            "{} => Gathered::{name}(self.elements.{field}.take(){all}.collect()),",
            step.0
        );
        forget.push((step.0.to_string(), format!("self.elements.{field}.forget();")));
    }
    let others = answering(context).count() > done.len();
    let function = methods.item.new_fn("element_done").arg_mut_self();
    function.arg("element", "machine::Element").arg("answer", "Answer");
    function.line(matched("answer", &done, others));
    let function = methods.item.new_fn("gathered").arg_mut_self().arg("step", "arena::StepId");
    function.ret("Option<Gathered>");
    function.line(format!("Some(match step.0 {{ {gathered} _ => return None }})"));
    let function = methods.item.new_fn("forget_elements").arg_mut_self();
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

/// Writes `elements`, which evaluates and stores the list of a step.
fn lists(context: &Context<'_>) -> Arms {
    let mut arms = Arms::new(Hook {
        name: "elements",
        arguments: &[("step", "arena::StepId")],
        more: None,
        scrutinee: "step.0",
        result: "u32",
        otherwise: "0",
    });
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

/// Writes `prompt`, which returns the prompts of steps.
pub(super) fn prompts(context: &Context<'_>) -> Arms {
    let mut hook = of_step("prompt", "String", "String::new()");
    hook.more = Some((Some(Use::Options), "options", "Option<&str>"));
    let mut arms = Arms::new(hook);
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

/// Writes `option`, which returns the descriptions of options.
pub(super) fn options(context: &Context<'_>) -> Arms {
    let mut arms = Arms::new(Hook {
        name: "option",
        arguments: &[("choice", "arena::ChoiceId")],
        more: None,
        scrutinee: "choice.0",
        result: "String",
        otherwise: "String::new()",
    });
    for (i, choice) in context.chart.choices.iter().enumerate() {
        match choice.text.as_ref().map(|text| (text, text.literal())) {
            Some((_, Some(text))) => {
                let text = Fragment::from(format!("Ok({text:?}.into())"));
                arms.arm(i, &choice.name, Fragment::default(), text);
            }
            Some((text, None)) => {
                let body = alone(Writer::new(context).template(text));
                arms.arm(i, &choice.name, body, "Ok(text)".into());
            }
            None => {}
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

/// Writes `run_params`: the params of `run` steps.
pub(super) fn run_steps(context: &Context<'_>) -> Arms {
    let result = "Option<Vec<(&'static str, Value)>>";
    let mut steps = Arms::new(of_step("run_params", result, "None"));
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
