//! The chart's guards, actions and data: `Core`, and its `Program` implementation.

use super::Context;
use super::body::{self, Arms, can_fail};
use super::expr::{Binding, Code, Writer};
use super::payload::{answer_field, answering};
use super::types::{optional_inner, owned};
use super::uses::{self, First};
use super::{blocks, children, direct, ending, prompt, start, tools};
use chartc_core::arena::{PredicateId, StateId, TransitionId, VarId};
use chartc_core::model::{ExprKind, StepKind, Trigger, Type, VariableKind};
use codegen::{Impl, Scope, Struct};

/// Adds `Core` with the methods that hold the chart's expressions, and its `Program`.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) {
    if context.is_direct() {
        direct::emit(context, scope);
        return;
    }
    let mut methods = inherent(context);
    guards(context, &mut methods);
    deadlines(context, &mut methods);
    blocks::blocks(context, &mut methods);
    blocks::code(context, &mut methods);
    ending::arguments(context, &mut methods);
    start::emit(context, &mut methods);
    if !context.bare {
        prompt::emit(context, &mut methods);
    }
    predicates(context, &mut methods);
    keep(context, &mut methods);
    tools::methods(context, &mut methods);
    children::methods(context, &mut methods);
    let mut program = program(context);
    // Now it is known which answers and texts anything reads.
    prompt::advice(context, &mut methods);
    if context.repeats.get() {
        program.new_fn("refuel").arg_mut_self().line("self.work.refuel();");
    }
    ending::emit(context, scope);
    answers(context, scope);
    scope.push_struct(core(context));
    scope.push_impl(methods);
    scope.push_impl(program);
}

pub(super) fn inherent(context: &Context<'_>) -> Impl {
    let mut item = Impl::new("Core<H>");
    item.generic(context.bounds());
    item
}

fn core(context: &Context<'_>) -> Struct {
    let mut item = Struct::new("Core<H>");
    item.doc("The chart's guards, actions and data.");
    let host = if context.lends() { "family::Lent<H>" } else { "H" };
    item.field("host", host).field("data", "Data").field("bound", "Payload");
    if context.has_events() {
        item.field("raised", context.queue());
    }
    if context.sends() > 0 {
        let places = format!("[Payload; {}]", context.sends());
        item.field("sent", if context.bare { places } else { "Vec<Payload>".to_owned() });
    }
    super::post::fields(context, &mut item);
    if context.has_begin() {
        item.field("begun", "bool");
    }
    if context.has_endings() {
        item.field("endings", format!("[Option<Ending>; {}]", ending::finals(context).len()));
    }
    if !context.bare {
        if !context.answers.borrow().is_empty() {
            item.field("answers", "Answers");
        }
        if context.last_result.get() {
            item.field("last_result", "String");
        }
        if context.keeps_calls() {
            item.field("calls", "calls::Calls");
        }
        item.field("notes", "Vec<host::Note>");
        if context.repeats.get() {
            item.field("work", "generated::Work");
        }
    }
    item
}

/// The struct of the answers that expressions read.
fn answers(context: &Context<'_>, scope: &mut Scope) {
    if context.answers.borrow().is_empty() {
        return;
    }
    let mut item = Struct::new("Answers");
    item.doc("Answers of this turn's steps.").derive("Debug").derive("Clone").derive("Default");
    for step in context.answers.borrow().iter() {
        let ty = owned(context, &context.chart.steps[step.index()].returns);
        let ty = if ty.starts_with("Option<") { ty } else { format!("Option<{ty}>") };
        item.field(answer_field(context, *step), ty);
    }
    scope.push_struct(item);
}

fn guards(context: &Context<'_>, methods: &mut Impl) {
    let chart = context.chart;
    let mut lines = Arms::new("line_guard", "line: arena::TransitionId", "line.0", "bool", "true");
    for (i, line) in chart.transitions.iter().enumerate() {
        if let Some(guard) = &line.guard {
            let surely = uses::first(guard) == First::Field;
            let id = TransitionId::at(i);
            let (writer, prologue) = body::for_line(context, id, &[guard], surely);
            let condition = writer.condition(guard, Binding::Block);
            lines.arm(i, &super::tables::line_comment(context, i), prologue, condition);
        }
    }
    lines.emit(context, methods);

    let mut steps = Arms::new("step_if", "step: arena::StepId", "step.0", "bool", "true");
    let mut ends = Arms::new("step_ends_turn", "step: arena::StepId", "step.0", "bool", "false");
    for (i, step) in chart.steps.iter().enumerate() {
        let writer = Writer::new(context);
        if let Some(guard) = &step.guard {
            steps.arm(i, &step.name, String::new(), writer.condition(guard, Binding::Block));
        }
        if let Some(condition) = &step.ends_turn {
            ends.arm(i, &step.name, String::new(), writer.condition(condition, Binding::Block));
        }
    }
    steps.emit(context, methods);
    ends.emit(context, methods);

    let mut permissions = Arms::new("permission_if", "nth: usize", "nth", "bool", "true");
    for (i, permission) in chart.permissions.iter().enumerate() {
        if let Some(guard) = &permission.guard {
            let name = |id: StateId| chart.state(id).path.clone();
            let from = permission.from.map_or("*".to_owned(), name);
            let text = format!("allow {from} -> {}", name(permission.to));
            let condition = Writer::new(context).condition(guard, Binding::Block);
            permissions.arm(i, &text, String::new(), condition);
        }
    }
    permissions.emit(context, methods);
}

fn deadlines(context: &Context<'_>, methods: &mut Impl) {
    let mut lines =
        Arms::new("line_deadline", "line: arena::TransitionId", "line.0", "u64", "u64::MAX");
    for (i, line) in context.chart.transitions.iter().enumerate() {
        let (bound, ty) = match &line.trigger {
            Trigger::After(bound) | Trigger::StepTimeout(_, bound) => (bound, Type::Duration),
            Trigger::AfterTurns(bound) => (bound, Type::Int),
            Trigger::Event(_)
            | Trigger::AnyEvent
            | Trigger::AnyOccurrence
            | Trigger::Turn
            | Trigger::When
            | Trigger::StateDone(_)
            | Trigger::Choice(_)
            | Trigger::StepDone(_)
            | Trigger::StepError(_)
            | Trigger::StepDoubt(_)
            | Trigger::StepElse(_)
            | Trigger::Error(_)
            | Trigger::LimitWarn(_) => continue,
        };
        let writer = Writer::new(context);
        let code = writer.value_code(bound, &ty);
        let value = if let ExprKind::Duration(ms) = bound.kind {
            ms.to_string()
        } else if ty == Type::Int {
            format!("generated::turns({})?", writer.own(&code))
        } else {
            format!("{}.0", code.within(Binding::Whole))
        };
        lines.arm(i, &super::tables::line_comment(context, i), String::new(), value);
    }
    lines.emit(context, methods);
}

pub(super) fn predicates(context: &Context<'_>, methods: &mut Impl) {
    for (i, predicate) in context.chart.predicates.iter().enumerate() {
        let name = &context.names.predicates[PredicateId::at(i).index()];
        let condition = Writer::new(context).condition(&predicate.expr, Binding::Block);
        let function = methods.new_fn(name).arg_mut_self();
        function.doc(format!("`pred {}`.", predicate.name));
        if let Some(view) = context.view(&condition) {
            function.arg(view, "&program::View<'_>");
        }
        function.ret(format!("Result<bool, {}>", context.error()));
        function.line(format!("Ok({condition})"));
    }
}

fn program(context: &Context<'_>) -> Impl {
    let mut item = Impl::new("Core<H>");
    item.generic(context.bounds()).impl_trait("program::Program");
    item.associate_type("Store", context.store());
    item.associate_type("Payload", "Payload");
    bind(context, &mut item);

    let dequeue = item.new_fn("dequeue").arg_mut_self();
    if context.has_events() {
        dequeue.line("self.bound = self.raised.pop_front().unwrap_or(Payload::Nothing);");
    }
    if context.sends() > 0 {
        let deliver = item.new_fn("deliver").arg_mut_self();
        deliver.arg("_event", "arena::EventId").arg("slot", "usize");
        deliver.line("self.bound = core::mem::replace(&mut self.sent[slot], Payload::Nothing);");
    }
    super::post::program(context, &mut item);
    blocks::begin_turn(context, &mut item);
    tools::hooks(context, &mut item);

    let line = "arena::TransitionId";
    let step = "arena::StepId";
    for (name, inner, argument, ty, result, otherwise, what) in [
        ("guard", "line_guard", "line", line, "bool", "true", "guard_of(&TABLES, line)"),
        ("step_guard", "step_if", "step", step, "bool", "true", "if_of(&TABLES, step)"),
        (
            "permission_guard",
            "permission_if",
            "nth",
            "usize",
            "bool",
            "true",
            "permission_of(&TABLES, nth)",
        ),
        ("ends_turn", "step_ends_turn", "step", step, "bool", "false", "end_of(&TABLES, step)"),
        ("deadline", "line_deadline", "line", line, "u64", "u64::MAX", "bound_of(&TABLES, line)"),
        ("arguments", "read_arguments", "line", line, "()", "()", "arguments_of(&TABLES, line)"),
        ("code", "run_code", "step", step, "()", "()", "code_of(&TABLES, step)"),
    ] {
        let present = context.methods.borrow().contains(inner);
        let unused = if present { "" } else { "_" };
        let function = item.new_fn(name).arg_mut_self().arg(format!("{unused}{argument}"), ty);
        function.arg(format!("{unused}view"), "&program::View<'_>");
        function.ret(format!("Result<{result}, machine::Fault>"));
        if present {
            let call = format!("self.{inner}({argument}, view)");
            function.line(noted(context, &call, what));
        } else {
            function.line(format!("Ok({otherwise})"));
        }
    }
    let present = context.methods.borrow().contains("run_block");
    let unused = if present { "" } else { "_" };
    let run = item.new_fn("run").arg_mut_self().arg(format!("{unused}block"), "program::Block");
    run.arg(format!("{unused}view"), "&program::View<'_>");
    run.arg(format!("{unused}outbox"), "&mut program::Outbox<'_>");
    run.ret("Result<(), machine::Fault>");
    if present {
        let call = "self.run_block(block, view, outbox)";
        run.line(noted(context, call, "actions_of(&TABLES, block)"));
    } else {
        run.line("Ok(())");
    }
    item
}

/// Keeps the reason of a fault for the host's trace; `what` of the place is what failed.
fn noted(context: &Context<'_>, call: &str, what: &str) -> String {
    if context.bare {
        return call.to_owned();
    }
    let begin = if context.repeats.get() { "self.work.begin();\n" } else { "" };
    format!(
        "{begin}{call}.map_err(|why| \
         generated::note(&mut self.notes, &generated::{what}, why))"
    )
}

/// Adds `keep`, which keeps an answer for expressions, for `into` and for `{last_result}`.
fn keep(context: &Context<'_>, methods: &mut Impl) {
    if !context.has_answers() {
        return;
    }
    let mut arms = String::new();
    for step in answering(context) {
        let row = &context.chart.steps[step.index()];
        let name = &context.names.steps[step.index()];
        let ty = &row.returns;
        let answer =
            Code::lent(if *ty == Type::Text { "answer.as_str()" } else { "answer" }, ty.clone());
        let writer = Writer::new(context);
        let mut body = String::new();
        if context.last_result.get() {
            let value = if *ty == Type::Json {
                answer.lend()
            } else {
                format!("&{}", writer.json(answer.clone()))
            };
            body += &format!("self.last_result = generated::shown({value});\n");
        }
        if let Some(id) = row.into {
            body += &into(context, &writer, id, answer.clone());
        }
        if context.answers.borrow().contains(&step) {
            let value = writer.own(&answer);
            let value = if optional_inner(ty).is_some() { value } else { format!("Some({value})") };
            body += &format!("self.answers.{} = {value};\n", answer_field(context, step));
        }
        if !body.is_empty() {
            arms += &format!("Answer::{name}(answer) => {{ {body} }}\n");
        }
    }
    if arms.is_empty() {
        return;
    }
    context.methods.borrow_mut().insert("keep");
    if arms.matches("Answer::").count() < answering(context).count() {
        arms += "_ => {}\n";
    }
    methods
        .new_fn("keep")
        .arg_mut_self()
        .arg("answer", "&Answer")
        .line(format!("match answer {{ {arms} }}"));
}

/// Statements that keep an answer in a variable, if it fits.
pub(super) fn into(context: &Context<'_>, writer: &Writer<'_>, id: VarId, answer: Code) -> String {
    let variable = &context.chart.variables[id.index()];
    let field = &context.names.variables[id.index()];
    let code = writer.convert(answer, &variable.ty);
    let value = writer.own(&code);
    let kept = |value: &str| {
        if context.is_supplied(id) { format!("Some({value})") } else { value.to_owned() }
    };
    if can_fail(&value) {
        format!(
            "let fitted = (|| -> Result<{}, {}> {{ Ok({value}) }})();\n\
             match fitted {{ Ok(value) => self.data.{field} = {}, \
             Err(why) => {{ generated::note(&mut self.notes, {:?}, why); }} }}\n",
            owned(context, &variable.ty),
            context.error(),
            kept("value"),
            format!("`{}`", variable.name)
        )
    } else {
        format!("self.data.{field} = {};\n", kept(&value))
    }
}

fn bind(context: &Context<'_>, item: &mut Impl) {
    let bind = item.new_fn("bind").arg_mut_self().arg("bound", "program::Bound<Payload>");
    if context.methods.borrow().contains("keep") {
        bind.line("if let program::Bound::Answer(_, Payload::Answer(answer)) = &bound { self.keep(answer); }");
    }
    bind.line(tools::bound(context));
    bind.line("self.bound = match bound {");
    bind.line(
        "program::Bound::Nothing | program::Bound::Call(..) | program::Bound::Returned(..) \
         | program::Bound::CallFailed(..) => Payload::Nothing,",
    );
    bind.line(
        "program::Bound::Event(_, payload) | program::Bound::Answer(_, payload) \
         | program::Bound::Reason(_, payload) | program::Bound::Choice(_, payload) => payload,",
    );
    bind.line("};");
}

/// Whether some step or final makes a field of the kind necessary.
impl Context<'_> {
    /// Host events are declared.
    pub(super) fn has_events(&self) -> bool {
        !self.chart.events.is_empty()
    }

    /// Places for events that `send` lines send.
    pub(super) fn sends(&self) -> u32 {
        self.tables.sends
    }

    /// `may` lines are declared.
    pub(super) fn has_choices(&self) -> bool {
        !self.chart.choices.is_empty()
    }

    /// Steps with a payload are declared.
    pub(super) fn has_answers(&self) -> bool {
        answering(self).next().is_some()
    }

    /// Steps or tools that can fail with a reason are declared.
    pub(super) fn has_reasons(&self) -> bool {
        let mut steps = self.chart.steps.iter();
        !self.bare && (self.has_calls() || steps.any(|s| !matches!(s.kind, StepKind::Code(_))))
    }

    /// Params are declared.
    pub(super) fn has_params(&self) -> bool {
        self.chart.variables.iter().any(|v| matches!(v.kind, VariableKind::Param { .. }))
    }
}
