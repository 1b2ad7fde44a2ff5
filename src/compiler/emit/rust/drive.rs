//! Writes the dynamic interface of the machine, through which a host sends inputs, and the code for child machines.
//!
//! The problem: hosts such as `chartc serve` know a chart only at run time, by names and JSON, while a generated machine has typed
//! payloads. The idea: the trait `host::Machine` has numbers and `Value`s. Its implementation, written here, converts each input to a
//! payload (`Payload::event`, `Payload::choice`, `Payload::answer`), and passes it to the same engine as the typed interface. Numbers are
//! indexes into the tables of the chart. A value of the wrong type in an event is refused, as the host is to blame; in an answer it makes
//! the answer unusable, as the model is.
//!
//! Methods whose default suffices are left out, and parameters that are not read begin with `_`, as Rust warns otherwise. Machines of child
//! charts come from sibling modules; they are the variants of `Child`, and borrow the host of their parent while they run. For example, for
//! `event mail(text: Text)`, `Payload::event` has the arm
//!
//! ```text
//! 0 => { let mut values = generated::Values::of("event `mail`: ", values, 1)?;
//!        Payload::Event(Event::Mail { text: values.take("text")?, }) }
//! ```

use super::code::Use;
use super::methods::HostMethods;
use super::payload::{self, answering, choice_fields};
use super::steps::{self, reader};
use super::{Context, blocks, machine};
use chartc_core::arena::{ChoiceId, StepId, ToolId};
use chartc_core::model::{Field, StepKind, Type, VariableKind, schema};
use codegen::{Impl, Scope};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Adds the conversions from and to values, `impl host::Machine` and `impl host::Typed`.
pub(super) fn emit(context: &Context<'_>, asked: &HostMethods, scope: &mut Scope) {
    super::types::conversions(context, scope);
    super::payload::by_name(context, scope);
    payloads(context, scope);
    super::keep::conversions(context, scope);
    outcome(context, scope);
    let mut item = Impl::new("Machine<H>");
    item.generic(context.bounds()).impl_trait("host::Machine");
    item.new_fn("tables").arg_ref_self().ret("&tables::Tables").line("&TABLES");
    if context.chart.computed_limits().next().is_some() {
        item.new_fn("limits")
            .arg_ref_self()
            .arg("state", "arena::StateId")
            .ret("tables::LimitsRow")
            .line("self.engine.limits(state)");
    }
    handle(context, &mut item);
    set_input(context, &mut item);
    prompt(context, asked, &mut item);
    machine::options(context, asked, &mut item);
    schemas(context, &mut item);
    steps::call(context, asked, &mut item);
    item.new_fn("is_active")
        .arg_ref_self()
        .arg("state", "arena::StateId")
        .ret("bool")
        .line("self.engine.is_active(state)");
    item.new_fn("enabled_events")
        .arg_mut_self()
        .ret("Vec<arena::EventId>")
        .line("let mut enabled = Vec::new();")
        .line("self.engine.enabled_events(&mut |id| enabled.push(id));")
        .line("enabled");
    item.new_fn("next_deadline")
        .arg_ref_self()
        .ret("Option<machine::Instant>")
        .line("self.engine.next_deadline()");
    if context.sends() > 0 {
        item.new_fn("sends")
            .arg_ref_self()
            .ret("Vec<store::Sent>")
            .line("self.engine.sends().to_vec()");
    }
    super::steps::drive(context, &mut item);
    item.new_fn("is_walking").arg_ref_self().ret("bool").line("self.engine.is_walking()");
    variables(context, &mut item);
    result(context, &mut item);
    let notes = if context.bare { "Vec::new()" } else { "Machine::take_notes(self)" };
    item.new_fn("take_notes").arg_mut_self().ret("Vec<host::Note>").line(notes);
    drive(context, asked, &mut item);
    super::keep::emit_saved(context, &mut item);
    scope.push_impl(item);
    super::machine::emit_typed(context, scope);
}

/// The error for a tool that is given as a choice.
const CALLED: &str = "host::Mismatch(\"a tool is called, not chosen\".into())";

/// Writes `Payload::event`, `Payload::choice` and `Payload::answer`, which convert from values.
fn payloads(context: &Context<'_>, scope: &mut Scope) {
    let mut item = Impl::new("Payload");
    let names = &context.names;
    if context.has_events() {
        let mut arms = String::new();
        for (i, event) in context.chart.events.iter().enumerate() {
            let head = format!("Payload::Event(Event::{}", names.events[i]);
            let what = format!("event `{}`: ", event.name);
            let shape = shape(&head, &what, &event.fields, &names.event_fields[i]);
            let _ = writeln!(arms, "{i} => {shape}");
        }
        reader(&mut item, "event", "arena::EventId", "values: Vec<Value>", &arms);
    }
    if context.has_choices() {
        let mut arms = String::new();
        for (i, name) in names.choices.iter().enumerate() {
            let head = format!("Payload::Choice(Choice::{name}");
            let fields = choice_fields(context, ChoiceId::at(i));
            if context.tables.choices[i].tools.is_some() {
                let _ = writeln!(arms, "{i} => return Err({CALLED}),");
                continue;
            }
            let _ = writeln!(arms, "{i} => {}", shape(&head, "", fields, &names.choice_fields[i]));
        }
        if context.tables.choices.iter().all(|choice| choice.tools.is_some()) {
            let function =
                item.new_fn("choice").arg("id", "arena::ChoiceId").arg("_", "Vec<Value>");
            function.ret("Result<Self, host::Mismatch>").line(format!(
                "Err(if id.0 < {} {{ {CALLED} }} else {{ generated::no_row(\"option\", id.0) }})",
                names.choices.len()
            ));
        } else {
            reader(&mut item, "choice", "arena::ChoiceId", "values: Vec<Value>", &arms);
        }
    }
    if context.has_answers() {
        let mut arms = String::new();
        for step in answering(context) {
            let _ = writeln!(
                arms,
                "{} => Payload::Answer(Answer::{}(generated::read(answer)?)),",
                step.0,
                names.steps[step.index()],
            );
        }
        // Other steps take no answer; the step algorithm rejects it.
        let answers: Vec<StepId> = answering(context).collect();
        let others = (0..context.chart.steps.len()).map(StepId::at);
        let others: Vec<String> =
            others.filter(|id| !answers.contains(id)).map(|id| id.0.to_string()).collect();
        if !others.is_empty() {
            let _ = writeln!(arms, "{} => Payload::Nothing,", others.join(" | "));
        }
        reader(&mut item, "answer", "arena::StepId", "answer: Value", &arms);
    }
    steps::payloads(context, &mut item);
    scope.push_impl(item);
}

/// Writes an arm that reads the fields of the variant `head` from `values`.
fn shape(head: &str, what: &str, fields: &[Field], names: &[String]) -> String {
    let of = format!("generated::Values::of({what:?}, values, {})?", fields.len());
    if fields.is_empty() {
        return format!("{{ {of}; {head}) }}");
    }
    let mut out = format!("{{ let mut values = {of}; {head} {{ ");
    for (field, name) in fields.iter().zip(names) {
        let _ = write!(out, "{name}: values.take({:?})?, ", field.name);
    }
    out + "}) }"
}

fn handle(context: &Context<'_>, item: &mut Impl) {
    let function = item.new_fn("handle").arg_mut_self();
    function.arg("input", "machine::Input<Vec<Value>>").arg("now", "machine::Instant");
    function.arg("sink", "&mut dyn machine::Sink");
    function.ret("Result<machine::Receipt, host::Mismatch>");
    let refused = if context.bare {
        "let _: machine::Fault = why; return Err(host::Mismatch(\"a default has no value\".into()));"
    } else {
        "return Err(host::Mismatch(why.0));"
    };
    let begin = blocks::call(context, refused);
    let event = if context.has_events() {
        "Input::Event(id, values) => Input::Event(id, Payload::event(id, values)?)"
    } else {
        "Input::Event(id, _) => return Err(generated::no_row(\"event\", id.0))"
    };
    // A chart whose only steps are code steps never waits for an answer.
    let answer = if context.bare {
        "Input::Answer(key, _) => return Err(generated::no_row(\"open step\", key.step.0))"
    } else {
        "Input::Answer(key, outcome) => Input::Answer(key, self.outcome(key, outcome)?)"
    };
    if context.posts {
        function.line("self.engine.program.posted.clear();");
    }
    function.line(format!(
        "use machine::Input;
        let input = match input {{
            Input::Start => {{ {begin} Input::Start }}
            Input::Turn => Input::Turn,
            Input::Tick => Input::Tick,
            Input::Stop => Input::Stop,
            Input::Exhausted(key, kind) => Input::Exhausted(key, kind),
            Input::Unmade(key) => Input::Unmade(key),
            Input::Warn(kind) => Input::Warn(kind),
            Input::Charge(key, charge) => Input::Charge(key, charge),
            {event},
            {answer},
        }};
        Ok(self.engine.handle(input, now, sink))"
    ));
}

/// Writes `Machine::outcome`, which converts the result of a step; an answer of the wrong type is unusable.
fn outcome(context: &Context<'_>, scope: &mut Scope) {
    if context.bare {
        return;
    }
    let mut item = Impl::new("Machine<H>");
    item.generic(context.bounds());
    let function = item.new_fn("outcome").arg_mut_self().arg("key", "machine::StepKey");
    function.arg("outcome", "machine::Outcome<Vec<Value>>");
    function.ret("Result<machine::Outcome<Payload>, host::Mismatch>");
    let call = if context.has_calls() {
        "generated::usable(notes, step, Payload::tool(id, values))\
         .map(|arguments| Outcome::Call(id, arguments))"
    } else {
        "{ drop(values); generated::usable::<Payload>(notes, step, \
         Err(generated::no_row(\"tool\", id.0))).map(Outcome::Done) }"
    };
    let answer = if context.has_answers() {
        "{ let answer = generated::answer(values)?;
        generated::usable(notes, step, Payload::answer(key.step, answer)).map(Outcome::Done) }"
    } else {
        "{ generated::answer(values)?; Some(Outcome::Done(Payload::Nothing)) }"
    };
    let choice = if context.has_choices() {
        "generated::usable(notes, step, Payload::choice(id, values))\
         .map(|choice| Outcome::Choice(id, choice))"
    } else {
        "{ drop(values); generated::usable::<Payload>(notes, step, \
    Err(generated::no_row(\"option\", id.0))).map(Outcome::Done) }"
    };
    let reason = if context.has_reasons() {
        "Payload::Reason(generated::reason(values))"
    } else {
        "{ drop(values); Payload::Nothing }"
    };
    let returned = steps::returned(context);
    function.line(format!(
        "use machine::Outcome;
        let row = TABLES.steps.get(key.step.index());
        let Some(row) = row else {{ return Err(generated::no_row(\"step\", key.step.0)); }};
        {returned}
        let (notes, step) = (&mut self.engine.program.notes, &*row.name);
        let outcome = match outcome {{
            Outcome::Done(values) => {answer},
            Outcome::Choice(id, values) => {choice},
            Outcome::Call(id, values) => {call},
            Outcome::Forbidden(id) => Some(Outcome::Forbidden(id)),
            Outcome::Failed(values) => Some(Outcome::Failed({reason})),
            Outcome::Unusable => Some(Outcome::Unusable),
            Outcome::Doubt(values) => Some(Outcome::Doubt({reason})),
        }};
        Ok(outcome.unwrap_or(Outcome::Unusable))"
    ));
    scope.push_impl(item);
}

fn set_input(context: &Context<'_>, item: &mut Impl) {
    let mut arms = String::new();
    let rows = context.chart.variables.iter().zip(&context.names.variables);
    let inputs: Vec<_> = rows.filter(|(row, _)| row.kind == VariableKind::Input).collect();
    let others = if inputs.len() > 1 { ", ..Inputs::default()" } else { "" };
    for (row, name) in inputs {
        let _ = writeln!(
            arms,
            "{:?} => Inputs {{ {name}: Some(generated::read(value)?){others} }},",
            row.name
        );
    }
    let function = item.new_fn("set_input").arg_mut_self().arg("name", "&str");
    function.arg(if arms.is_empty() { "_value" } else { "value" }, "Value");
    function.ret("Result<(), host::Mismatch>");
    if arms.is_empty() {
        function.line("Err(generated::no_input(name))");
    } else {
        function.line(format!(
            "let inputs = match name {{ {arms} _ => return Err(generated::no_input(name)), }};"
        ));
        function.line("self.set_inputs(inputs);\nOk(())");
    }
}

fn prompt(context: &Context<'_>, asked: &HostMethods, item: &mut Impl) {
    let function = item.new_fn("prompt").arg_mut_self();
    function.arg(if asked.prompt.is_some() { "key" } else { "_key" }, "machine::StepKey");
    function.ret("Result<String, machine::Fault>");
    let Some(method) = &asked.prompt else {
        function.line("Ok(String::new())");
        return;
    };
    if method.reads(Use::Options) {
        // Only the prompt of a question can show the options.
        let steps = context.chart.steps.iter().enumerate();
        let asks = steps.filter(|(_, step)| matches!(step.kind, StepKind::Ask { .. }));
        let asks: Vec<String> = asks.map(|(i, _)| i.to_string()).collect();
        function.line(if asks.is_empty() {
            "let options = None::<String>;".to_owned()
        } else {
            format!(
                "let options = match key.step.0 {{ \
                 {} => Some(generated::listed(&host::Machine::options(self, key))), _ => None }};",
                asks.join(" | ")
            )
        });
    }
    function.line(format!(
        "self.engine.with_view(key.leaf, |core, {}| {{
            {}.map_err(|why| {{
                generated::note(&mut core.notes, || generated::prompt_of(&TABLES, key.step), why)
            }})
        }})",
        if method.reads(Use::View) { "view" } else { "_" },
        method.call("core", "key")
    ));
}

fn schemas(context: &Context<'_>, item: &mut Impl) {
    let mut answers = String::new();
    for (i, step) in context.chart.steps.iter().enumerate() {
        let asked = matches!(step.kind, StepKind::Llm | StepKind::Human(_));
        let text =
            if asked { schema::of_answer(context.chart, StepId::at(i)) } else { String::new() };
        if !text.is_empty() {
            let _ = writeln!(answers, "{i} => {text:?},");
        }
    }
    let mut arguments = String::new();
    for i in 0..context.chart.choices.len() {
        let text = schema::of_arguments(context.chart, ChoiceId::at(i));
        if !text.is_empty() {
            let _ = writeln!(arguments, "{i} => {text:?},");
        }
    }
    let mut tools = String::new();
    for i in 0..context.chart.tools.len() {
        let text = schema::of_tool(context.chart, ToolId::at(i));
        if !text.is_empty() {
            let _ = writeln!(tools, "{i} => {text:?},");
        }
    }
    for (name, argument, id, arms) in [
        ("answer_schema", "step", "arena::StepId", answers),
        ("argument_schema", "choice", "arena::ChoiceId", arguments),
        ("tool_schema", "tool", "arena::ToolId", tools),
    ] {
        if !arms.is_empty() {
            let function = item.new_fn(name).arg_ref_self().arg(argument, id).ret("String");
            function.line(format!("match {argument}.0 {{ {arms} _ => \"\", }}.into()"));
        }
    }
}

fn variables(context: &Context<'_>, item: &mut Impl) {
    let rows = context.chart.variables.iter().zip(&context.names.variables);
    let rows: Vec<String> = rows
        .map(|(row, name)| {
            format!("({:?}.into(), data.{name}{}.into_value())", row.name, clone(context, &row.ty))
        })
        .collect();
    let function = item.new_fn("variables").arg_ref_self().ret("Vec<(String, Value)>");
    if rows.is_empty() {
        function.line("Vec::new()");
    } else {
        function.line("let data = &self.engine.program.data;");
        function.line(format!("Vec::from([{}])", rows.join(", ")));
    }
}

/// Returns the method call that turns a borrowed value into an owned one.
fn clone(context: &Context<'_>, ty: &Type) -> &'static str {
    if context.facts.is_copy(ty) { "" } else { ".clone()" }
}

fn result(context: &Context<'_>, item: &mut Impl) {
    let function = item.new_fn("result").arg_ref_self().ret("Vec<(String, Value)>");
    let mut arms = String::new();
    for one in payload::finals(context) {
        let rows: Vec<String> = (one.params.iter().zip(&one.fields))
            .map(|(param, name)| {
                format!(
                    "({:?}.into(), {name}{}.into_value())",
                    param.name,
                    clone(context, &param.ty)
                )
            })
            .collect();
        let _ = writeln!(
            arms,
            "Some(Ending::{} {{ {} }}) => Vec::from([{}]),",
            one.name,
            one.fields.join(", "),
            rows.join(", ")
        );
    }
    if arms.is_empty() {
        function.line("Vec::new()");
    } else {
        function.line(format!("match self.ending() {{ {arms} None => Vec::new(), }}"));
    }
}

// Writes the code for child machines of `run` steps. They come from sibling modules, and borrow the host while they run.

impl Context<'_> {
    /// The trait bounds of this machine's host, including those of its child charts.
    pub(super) fn bounds(&self) -> String {
        let below = self.kin.below.iter().map(|module| format!(" + super::{module}::Host"));
        below.fold("H: Host".to_owned(), |text, bound| text + &bound)
    }

    /// Whether the host may be lent to a child or to the parent.
    pub(super) fn lends(&self) -> bool {
        self.kin.is_child || self.has_children()
    }

    /// Whether the chart has `run` steps.
    pub(super) fn has_children(&self) -> bool {
        !self.kin.children.is_empty()
    }

    /// The modules of the charts that it runs, each with its variant of `Child`.
    fn children(&self) -> impl Iterator<Item = (&String, String)> {
        // Several steps may run the same chart.
        let modules: BTreeSet<&String> = self.kin.children.values().collect();
        modules.into_iter().map(|module| (module, super::names::upper_camel(module)))
    }

    /// The `run` steps: number, chart and module.
    pub(super) fn runs(&self) -> impl Iterator<Item = (usize, &str, &String)> {
        self.chart.steps.iter().enumerate().filter_map(|(i, step)| match &step.kind {
            StepKind::Run(run) => Some((i, run.chart.as_str(), self.kin.children.get(&run.chart)?)),
            StepKind::Llm
            | StepKind::Code(_)
            | StepKind::Ask { .. }
            | StepKind::Call(..)
            | StepKind::Human(_) => None,
        })
    }
}

/// Adds `Child`, the enum of child machines.
pub(super) fn emit_children(context: &Context<'_>, scope: &mut Scope) {
    if !context.has_children() {
        return;
    }
    let mut variants = String::new();
    for (module, variant) in context.children() {
        let _ = writeln!(variants, "{variant}(Box<super::{module}::Machine<H>>),");
    }
    scope.raw(format!(
        "/// A machine that a `run` step has begun.\nenum Child<{}> {{ {variants} }}",
        context.bounds()
    ));
}

/// Adds the methods of `host::Machine` for children.
pub(super) fn drive(context: &Context<'_>, asked: &HostMethods, item: &mut Impl) {
    if !context.has_children() {
        return;
    }
    begin_child(context, asked, item);
    item.new_fn("children")
        .arg_ref_self()
        .ret("Vec<machine::StepKey>")
        .line("self.children.iter().map(|(key, _)| *key).collect()");
    let (mut seen, mut lent) = (String::new(), String::new());
    for (_, variant) in context.children() {
        let _ = writeln!(seen, "Child::{variant}(child) => child.as_ref(),");
        let _ = writeln!(
            lent,
            "Child::{variant}(child) => {{
                child.host_place().put(host);
                act(child.as_mut());
                self.engine.program.host.put(child.host_place().take());
            }}"
        );
    }
    let child = item.new_fn("child").arg_ref_self().arg("key", "machine::StepKey");
    child.ret("Option<&dyn host::Machine>").line(format!(
        "let (_, child) = self.children.iter().find(|(k, _)| *k == key)?;
        let child: &dyn host::Machine = match child {{ {seen} }};
        Some(child)"
    ));
    // The child has no host of its own: it borrows that of this machine during the call.
    let with = item.new_fn("with_child").arg_mut_self().arg("key", "machine::StepKey");
    with.arg("act", "&mut dyn FnMut(&mut dyn host::Machine)").ret("bool").line(format!(
        "let Some((_, child)) = self.children.iter_mut().find(|(k, _)| *k == key) else {{ return false; }};
        let host = self.engine.program.host.take();
        match child {{ {lent} }}
        true"
    ));
    item.new_fn("end_child")
        .arg_mut_self()
        .arg("key", "machine::StepKey")
        .line("self.children.retain(|(k, _)| *k != key);");
}

fn begin_child(context: &Context<'_>, asked: &HostMethods, item: &mut Impl) {
    let mut names = String::new();
    let mut made = String::new();
    for (i, chart, module) in context.runs() {
        let variant = super::names::upper_camel(module);
        let _ = writeln!(names, "{i} => {chart:?},");
        let _ = writeln!(
            made,
            "{i} => Child::{variant}(Box::new(generated::made(super::{module}::Machine::lent(
                super::{module}::Params::named(given)?, family::Lent::of(None)))?)),"
        );
    }
    let refused = "_ => return Err(host::Mismatch(\"no `run` step has this key\".into())),";
    let params = asked.run.as_ref().map_or("Ok(None)".to_owned(), |run| {
        format!(
            "{}.map_err(|why| {{
                generated::note(&mut core.notes, || generated::code_of(&TABLES, key.step), why)
            }})",
            run.call("core", "key")
        )
    });
    let view =
        if asked.run.as_ref().is_some_and(|run| run.reads(Use::View)) { "view" } else { "_" };
    // A machine with the same key is replaced.
    let begin = item.new_fn("begin_child").arg_mut_self().arg("key", "machine::StepKey");
    begin.ret("Result<(), host::Mismatch>").line(format!(
        "let name = match key.step.0 {{ {names} {refused} }};
        let given = self.engine.with_view(key.leaf, |core, {view}| {{ {params} }});
        let Ok(Some(given)) = given else {{ return Err(generated::no_params(name)); }};
        let child = match key.step.0 {{ {made} {refused} }};
        host::Machine::end_child(self, key);
        self.children.push((key, child));
        Ok(())"
    ));
}
