//! Action blocks, code steps, prompts and what else the program computes for the machine.

use super::Context;
use super::body::{Arms, can_fail, for_line, title};
use super::expr::{Binding, Writer, unused};
use super::types::owned;
use super::uses;
use chartc_core::arena::{EventId, SendId, StateId, TransitionId, VarId};
use chartc_core::model::{Action, Expr, ExprKind, Receiver, StepKind, Type, VariableKind};
use chartc_core::program::Block;
use chartc_core::semantics::unroll::Place;
use codegen::Impl;

/// `run_block`: entry, exit and transition actions.
pub(super) fn blocks(context: &Context<'_>, methods: &mut Impl) {
    let mut arms = Arms::new("run_block", "block: program::Block", "block", "()", "()");
    for (i, state) in context.chart.states.iter().enumerate() {
        let id = StateId::at(i);
        let of_kind = |kind, len| (0..len as u32).map(move |nth| (kind, nth));
        for (kind, nth) in
            of_kind("Entry", state.entry.len()).chain(of_kind("Exit", state.exit.len()))
        {
            let block = if kind == "Entry" { Block::Entry(id, nth) } else { Block::Exit(id, nth) };
            let pattern = format!("program::Block::{kind}(arena::StateId({i}), {nth})");
            let title = format!("{} {}", kind.to_lowercase(), state.path);
            arms.pattern(&pattern, &title, &of(context, block, None), "()");
        }
        if !state.default_actions.is_empty() {
            let pattern = format!("program::Block::Default(arena::StateId({i}))");
            let title = format!("default of {}", state.path);
            arms.pattern(&pattern, &title, &of(context, Block::Default(id), None), "()");
        }
    }
    for (i, line) in context.chart.transitions.iter().enumerate() {
        if !line.actions.is_empty() {
            let pattern = format!("program::Block::Transition(arena::TransitionId({i}))");
            let body = of(context, Block::Transition(TransitionId::at(i)), None);
            arms.pattern(&pattern, &title(context, i), &body, "()");
        }
    }
    arms.emit_with(context, methods, &[("outbox", "&mut program::Outbox<'_>")]);
}

/// The actions of a block.
pub(super) fn list<'c>(context: &Context<'c>, block: Block) -> &'c [Action] {
    match block {
        Block::Entry(state, nth) => &context.chart.state(state).entry[nth as usize],
        Block::Exit(state, nth) => &context.chart.state(state).exit[nth as usize],
        Block::Default(state) => &context.chart.state(state).default_actions,
        Block::Transition(line) => &context.chart.transition(line).actions,
    }
}

/// The statements of a block, which runs in this place if that is known.
pub(super) fn of(context: &Context<'_>, block: Block, place: Option<&Place>) -> String {
    let list = list(context, block);
    let Block::Transition(line) = block else {
        let mut writer = Writer::new(context);
        writer.place = place.cloned();
        return actions(&writer, list);
    };
    let mut exprs: Vec<Expr> = Vec::new();
    Action::walk(list, &mut |action| {
        uses::direct(action, &mut |e| exprs.push(e.clone()));
    });
    let exprs: Vec<&Expr> = exprs.iter().collect();
    let (mut writer, prologue) = for_line(context, line, &exprs, true);
    writer.place = place.cloned();
    prologue + &actions(&writer, list)
}

fn actions(writer: &Writer<'_>, actions: &[Action]) -> String {
    actions.iter().map(|a| action(writer, a)).collect()
}

fn action(writer: &Writer<'_>, action: &Action) -> String {
    let context = writer.context;
    match action {
        Action::Assign(variable, expr) => assign(writer, *variable, expr),
        Action::If(condition, then, otherwise) => {
            let condition = writer.condition(condition, Binding::Block);
            let mut out = format!("if {condition} {{ {} }}", actions(writer, then));
            match &otherwise[..] {
                [] => {}
                [next @ Action::If(..)] => {
                    out.push_str(&format!(" else {}", self::action(writer, next)));
                }
                all => out.push_str(&format!(" else {{ {} }}", actions(writer, all))),
            }
            out + "\n"
        }
        Action::For(local, source, body) => {
            let head = writer.each(source, local.id, uses::nodes_of(context.chart, body));
            let body = actions(writer, body);
            writer.forget(local.id);
            let head = unused(head, local.id, &[&body]);
            format!("for {head} {{ {body} }}\n")
        }
        Action::Do(function, arguments) => {
            format!("{};\n", writer.host_call(*function, arguments))
        }
        Action::Raise(event, arguments) => {
            let row = &context.chart.events[event.index()];
            let name = &context.names.events[event.index()];
            let value = payload(writer, *event, arguments);
            let full = context.failure(&format!("no room to raise `{}`", row.name));
            context.raise(name, &value, &full)
        }
        Action::Send {
            event,
            arguments,
            after,
            id,
            to: to @ (Receiver::Parent | Receiver::Child(_)),
        } => super::post::send(writer, *event, arguments, after.as_ref(), *id, *to),
        Action::Send { event, arguments, after, id, to: Receiver::Own } => {
            let row = &context.chart.events[event.index()];
            let name = &context.names.events[event.index()];
            let (delay, id) = (delay(writer, after.as_ref()), id_of(*id));
            format!(
                "let event = {};\n\
                 let delay: u64 = {delay};\n\
                 let Some(slot) = outbox.send(EventName::{name}.id(), delay, {id}) \
                 else {{ return {}; }};\n\
                 self.sent[slot] = Payload::Event(event);\n",
                payload(writer, *event, arguments),
                context.failure(&format!("no room to send `{}`", row.name))
            )
        }
        Action::Result(state, values) => super::ending::given(writer, *state, values),
        Action::Cancel(SendId(n)) => format!("outbox.cancel(arena::SendId({n}));\n"),
        Action::Log(text) => {
            let text = writer.template(text);
            format!("{{ {text} generated::log(&mut self.notes, &text); }}\n")
        }
    }
}

/// Milliseconds.
pub(super) fn delay(writer: &Writer<'_>, after: Option<&Expr>) -> String {
    match after {
        None => "0".to_owned(),
        Some(Expr { kind: ExprKind::Duration(millis), .. }) => millis.to_string(),
        Some(after) => {
            let code = writer.value_code(after, &Type::Duration);
            format!("{}.0", code.within(Binding::Whole))
        }
    }
}

/// What `cancel` calls a sent event.
pub(super) fn id_of(id: Option<SendId>) -> String {
    id.map_or("None".to_owned(), |SendId(n)| format!("Some(arena::SendId({n}))"))
}

/// An event with its data.
fn payload(writer: &Writer<'_>, event: EventId, arguments: &[Expr]) -> String {
    let context = writer.context;
    let row = &context.chart.events[event.index()];
    let name = &context.names.events[event.index()];
    let fields = row.fields.iter().zip(&context.names.event_fields[event.index()]);
    let fields: Vec<String> = fields
        .zip(arguments)
        .map(|((field, name), value)| {
            format!("{name}: {}", writer.kept(value, &field.ty, &field.name))
        })
        .collect();
    if fields.is_empty() {
        return format!("Event::{name}");
    }
    format!("Event::{name} {{ {} }}", fields.join(", "))
}

fn assign(writer: &Writer<'_>, variable: VarId, expr: &Expr) -> String {
    let context = writer.context;
    let row = &context.chart.variables[variable.index()];
    let value = writer.kept(expr, &row.ty, &row.name);
    let value = if context.is_supplied(variable) { format!("Some({value})") } else { value };
    format!("self.data.{} = {value};\n", context.names.variables[variable.index()])
}

/// `run_code`: code steps.
pub(super) fn code(context: &Context<'_>, methods: &mut Impl) {
    let mut arms = Arms::new("run_code", "step: arena::StepId", "step.0", "()", "()");
    for (i, step) in context.chart.steps.iter().enumerate() {
        if let StepKind::Code(all) = &step.kind {
            let body = actions(&Writer::new(context), all);
            arms.arm(i, &step.name, body, "()".to_owned());
        }
    }
    arms.emit(context, methods);
}

/// `begin_turn`: `per turn` variables and answers start afresh.
pub(super) fn begin_turn(context: &Context<'_>, methods: &mut Impl) {
    let mut body = String::new();
    for (i, row) in context.chart.variables.iter().enumerate() {
        let VariableKind::Var { per_turn: true } = row.kind else { continue };
        let Some(default) = &row.default else { continue };
        let name = &context.names.variables[i];
        let value = Writer::new(context).value(default, &row.ty);
        if can_fail(&value) {
            let ty = owned(context, &row.ty);
            let error = context.error();
            body.push_str(&format!(
                "let fresh = (|| -> Result<{ty}, {error}> {{ Ok({value}) }})();\n{}",
                fresh(context, &row.name, name)
            ));
        } else {
            body.push_str(&format!("self.data.{name} = {value};\n"));
        }
    }
    if !context.answers.borrow().is_empty() {
        body.push_str("self.answers = Answers::default();\n");
    }
    let function = methods.new_fn("begin_turn").arg_mut_self();
    if let Some(view) = context.view(&body) {
        function.arg(view, "&program::View<'_>");
    }
    function.line(body);
}

impl Context<'_> {
    /// The statements that put an event on the internal queue, or leave the block with `full`.
    fn raise(&self, name: &str, event: &str, full: &str) -> String {
        if !self.is_direct() {
            return format!(
                "let event = {event};\n\
                 if !outbox.raise(EventName::{name}.id()) {{ return {full}; }}\n\
                 self.raised.push_back(Payload::Event(event));\n"
            );
        }
        let push = format!(
            "if self.queue.len() >= {} {{ return {full}; }}\n\
             self.queue.push_back(store::Occurrence::Event(EventName::{name}.id()));\n",
            self.places()
        );
        if self.is_binding() {
            return format!(
                "let event = {event};\n{push}self.raised.push_back(Payload::Event(event));\n"
            );
        }
        // Nobody reads the fields, but computing them may fail.
        if event.contains('{') { format!("let _ = {event};\n{push}") } else { push }
    }
}

/// Takes a default that may have failed.
fn fresh(context: &Context<'_>, name: &str, field: &str) -> String {
    if context.bare {
        return format!("if let Ok(value) = fresh {{ self.data.{field} = value; }}\n");
    }
    format!(
        "match fresh {{ Ok(value) => self.data.{field} = value, \
         Err(why) => {{ generated::note(&mut self.notes, {:?}, why); }} }}\n",
        format!("default of `{name}`")
    )
}
