//! Writes the chart's guards, actions and data: the struct `Core`, and its implementation of `Program`.

use super::code::{self, Code, First, Fragment, Use, code};
use super::expr::Writer;
use super::methods::{Arms, HostMethods, Method, Methods, for_transition};
use super::names::{optional, owned};
use super::payload::{self, answer_field, answering};
use super::tables::transition_comment;
use super::{Context, blocks, keep, steps};
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Expr, StepKind, Trigger, Type, VariableKind};
use chartc_core::semantics::unroll::Place;
use codegen::{Impl, Scope, Struct};
use std::collections::BTreeMap;

/// Adds `Core` with the methods for the chart's expressions, and its implementation of `Program`.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) -> HostMethods {
    let mut methods = Methods::new(inherent(context));
    let mut program = program(context);
    for hook in hooks(context) {
        hook.emit(context, &mut methods, &mut program);
    }
    self::hook(context, &mut methods, &mut program);
    steps::each_hooks(context, &mut methods, &mut program);
    blocks::emit(context, &mut methods);
    let mut asked = HostMethods {
        call: steps::call_steps(context).emit(context, &mut methods),
        ..HostMethods::default()
    };
    asked.run = steps::run_steps(context).emit(context, &mut methods);
    if !context.bare {
        asked.prompt = steps::prompts(context).emit(context, &mut methods);
        asked.option = steps::options(context).emit(context, &mut methods);
    }
    let keeps = keep::answers(context, &mut methods);
    let keeps_results = steps::keep_result(context, &mut methods);
    keep::bind(context, &keeps, keeps_results, &mut program);
    blocks::begin_turn(context, &mut program);
    steps::advice(context, &mut methods);
    methods.predicates.append(&mut program.predicates);
    predicates(context, &mut methods);
    if context.needs.repeats {
        program.item.new_fn("refuel").arg_mut_self().line("self.work.refuel();");
    }
    if !context.bare {
        let heed = program.item.new_fn("heed").arg_mut_self();
        heed.arg("sink", "&dyn machine::Sink").line("self.notes.heed(sink);");
    }
    keep::emit_ending(context, scope);
    answers(context, scope);
    scope.push_struct(core(context));
    scope.push_impl(methods.item);
    scope.push_impl(program.item);
    asked
}

/// Creates the impl block for `Core`'s own methods.
pub(super) fn inherent(context: &Context<'_>) -> Impl {
    let mut item = Impl::new("Core<H>");
    item.generic(context.bounds());
    item
}

fn core(context: &Context<'_>) -> Struct {
    let mut item = Struct::new("Core<H>");
    item.doc("The chart's guards, actions and data.");
    let host = if context.lends() { "family::Lent<H>" } else { "H" };
    item.field("host", host).field("data", "Data").field("bound", "generated::Held<Payload>");
    if context.has_events() {
        item.field("raised", context.queue());
    }
    if context.sends() > 0 {
        item.field("sent", format!("generated::Slots<Payload, {}>", context.sends()));
    }
    super::steps::fields(context, &mut item);
    if context.has_begin() {
        item.field("begun", "bool");
    }
    if context.has_endings() {
        item.field("endings", format!("[Option<Ending>; {}]", payload::finals(context).len()));
    }
    if !context.bare {
        if !context.needs.answers.is_empty() {
            item.field("answers", "Answers");
        }
        if context.needs.last_result {
            item.field("last_result", "String");
        }
        if context.keeps_calls() {
            item.field("calls", "calls::Calls");
        }
        if context.has_each() {
            item.field("elements", "Elements");
        }
        item.field("notes", "generated::Notes");
        if context.needs.repeats {
            item.field("work", "generated::Work");
        }
    }
    item
}

/// Adds the struct of the answers that expressions read.
fn answers(context: &Context<'_>, scope: &mut Scope) {
    if context.needs.answers.is_empty() {
        return;
    }
    let mut item = Struct::new("Answers");
    item.doc("Answers of this turn's steps.").derive("Debug").derive("Clone").derive("Default");
    for step in &context.needs.answers {
        let ty = optional(context.chart.steps[step.index()].returns.clone());
        item.field(answer_field(context, *step), owned(context, &ty));
    }
    scope.push_struct(item);
}

/// A method of `Program` that calls the chart's method for a row of the tables.
struct Hook {
    name: &'static str,
    arms: Arms,
    /// The code that names the failed part of the chart in a note.
    what: &'static str,
}

impl Hook {
    fn emit(self, context: &Context<'_>, methods: &mut Methods, program: &mut Methods) {
        let Self { name, arms, what } = self;
        let ((argument, ty), result, otherwise) = (arms.argument, arms.result, arms.otherwise);
        let method = arms.emit(context, methods);
        let body = match &method {
            Some(method) => noted(context, method, &method.call("self", argument), what),
            None => format!("Ok({otherwise})"),
        };
        let reads = |what: Use| method.as_ref().is_some_and(|method| method.reads(what));
        let unused = |used: bool| if used { "" } else { "_" };
        let function = program.add(name, body.into());
        function.arg(format!("{}{argument}", unused(method.is_some())), ty);
        function.arg(format!("{}view", unused(reads(Use::View))), "&program::View<'_>");
        if name == "run" {
            function
                .arg(format!("{}outbox", unused(reads(Use::Outbox))), "&mut program::Outbox<'_>");
        }
        function.ret(format!("Result<{result}, machine::Fault>"));
    }
}

/// Returns the methods of `Program` through which the step algorithm evaluates expressions.
fn hooks(context: &Context<'_>) -> Vec<Hook> {
    let chart = context.chart;
    let line = ("line", "arena::TransitionId");
    let step = ("step", "arena::StepId");
    let mut guards = Arms::new("line_guard", line, "line.0", "bool", "true");
    for (i, transition) in chart.transitions.iter().enumerate() {
        if let Some(guard) = &transition.guard {
            let (before, condition) = self::guard(context, TransitionId::at(i), guard, None);
            guards.arm(i, &transition_comment(context, i), before, condition.result(true));
        }
    }
    let mut steps = Arms::new("step_if", step, "step.0", "bool", "true");
    let mut ends = Arms::new("step_ends_turn", step, "step.0", "bool", "false");
    for (i, step) in chart.steps.iter().enumerate() {
        for (arms, condition) in [(&mut steps, &step.guard), (&mut ends, &step.ends_turn)] {
            if let Some(condition) = condition {
                let code = Writer::new(context).truth(condition);
                arms.arm(i, &step.name, Fragment::default(), code.result(true));
            }
        }
    }
    let nth = ("nth", "usize");
    let mut permissions = Arms::new("permission_if", nth, "nth", "bool", "true");
    for (i, permission) in chart.permissions.iter().enumerate() {
        if let Some(guard) = &permission.guard {
            let name = |id: StateId| chart.state(id).path.clone();
            let from = permission.from.map_or("*".to_owned(), name);
            let text = format!("allow {from} -> {}", name(permission.to));
            let code = Writer::new(context).truth(guard);
            permissions.arm(i, &text, Fragment::default(), code.result(true));
        }
    }
    let hook = |name, arms, what| Hook { name, arms, what };
    vec![
        hook("guard", guards, "guard_of(&TABLES, line)"),
        hook("step_guard", steps, "if_of(&TABLES, step)"),
        hook("permission_guard", permissions, "permission_of(&TABLES, nth)"),
        hook("ends_turn", ends, "end_of(&TABLES, step)"),
        hook("deadline", deadlines(context), "bound_of(&TABLES, line)"),
        hook("arguments", keep::arguments(context), "arguments_of(&TABLES, line)"),
        hook("code", blocks::code_steps(context), "code_of(&TABLES, step)"),
        hook("run", blocks::blocks(context), "actions_of(&TABLES, block)"),
    ]
}

/// Adds the named conditions that are called, and those that they call.
pub(super) fn predicates(context: &Context<'_>, methods: &mut Methods) {
    let mut open: Vec<_> = methods.predicates.iter().copied().collect();
    let mut bodies = BTreeMap::new();
    // A named condition may call others, which need methods too.
    while let Some(id) = open.pop() {
        bodies.entry(id).or_insert_with(|| {
            let code = Writer::new(context).truth(&context.chart.predicates[id.index()].expr);
            let body = code.result(true);
            open.extend(&body.uses.predicates);
            body
        });
    }
    for (id, body) in bodies {
        let view = context.view(&body);
        let function = methods.add(&context.names.predicates[id.index()], body);
        function.doc(format!("`pred {}`.", context.chart.predicates[id.index()].name));
        if let Some(view) = view {
            function.arg(&view, "&program::View<'_>");
        }
        function.ret(format!("Result<bool, {}>", context.error()));
    }
}

/// Writes the bound of a deadline: milliseconds, or turns.
pub(super) fn deadline(context: &Context<'_>, trigger: &Trigger) -> Option<Code> {
    let (bound, ty) = match trigger {
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
        | Trigger::LimitWarn(_) => return None,
    };
    let mut writer = Writer::new(context);
    let code = writer.value_code(bound, &ty);
    Some(if ty == Type::Duration {
        Code::owned(blocks::millis(&code, bound), ty)
    } else {
        let call = code!("generated::turns({turns})", turns = writer.own(&code));
        Code::tried(call, ty, context.bare)
    })
}

fn deadlines(context: &Context<'_>) -> Arms {
    let line = ("line", "arena::TransitionId");
    let mut lines = Arms::new("line_deadline", line, "line.0", "u64", "u64::MAX");
    for (i, transition) in context.chart.transitions.iter().enumerate() {
        if let Some(code) = deadline(context, &transition.trigger) {
            lines.arm(i, &transition_comment(context, i), Fragment::default(), code.result(true));
        }
    }
    lines
}

fn program(context: &Context<'_>) -> Methods {
    let mut item = Impl::new("Core<H>");
    item.generic(context.bounds()).impl_trait("program::Program");
    item.associate_type("Store", context.store());
    item.associate_type("Payload", "Payload");
    item.associate_type("Tables", "&'static tables::Tables");
    let dequeue = item.new_fn("dequeue").arg_mut_self();
    if context.has_events() {
        dequeue.line("self.bound.set(self.raised.pop_front().and_then(Payload::read));");
    }
    if context.sends() > 0 {
        let deliver = item.new_fn("deliver").arg_mut_self();
        deliver.arg("_event", "arena::EventId").arg("slot", "usize");
        deliver.line("self.bound.set(self.sent.take(slot).and_then(Payload::read));");
    }
    super::steps::program(context, &mut item);
    if context.chart.computed_limits().next().is_some() {
        let limit = item.new_fn("limit").arg_ref_self().arg("nth", "usize").ret("u64");
        limit.line("self.data.limits.get(nth).copied().unwrap_or(0)");
    }
    steps::hooks(context, &mut item);
    Methods::new(item)
}

/// Writes a call that records the reason of a fault for the host's trace; `what` names the failed part of the chart.
fn noted(context: &Context<'_>, method: &Method, call: &str, what: &str) -> String {
    if context.bare {
        return call.to_owned();
    }
    let begin = if method.reads(Use::Work) { "self.work.begin();\n" } else { "" };
    format!(
        "{begin}{call}.map_err(|why| \
         generated::note(&mut self.notes, || generated::{what}, why))"
    )
}

/// Whether the chart's declarations require each kind of field.
impl Context<'_> {
    /// Whether the chart declares events.
    pub(super) fn has_events(&self) -> bool {
        !self.chart.events.is_empty()
    }

    /// Returns the capacity for events of `send` actions.
    pub(super) fn sends(&self) -> u32 {
        self.tables.sends
    }

    /// Whether the chart declares options.
    pub(super) fn has_choices(&self) -> bool {
        !self.chart.choices.is_empty()
    }

    /// Whether the chart declares steps whose answers have a payload.
    pub(super) fn has_answers(&self) -> bool {
        answering(self).next().is_some()
    }

    /// Whether the chart declares steps or tools that can fail with a reason.
    pub(super) fn has_reasons(&self) -> bool {
        let mut steps = self.chart.steps.iter();
        !self.bare && (self.has_calls() || steps.any(|s| !matches!(s.kind, StepKind::Code(_))))
    }

    /// Whether the chart declares params.
    pub(super) fn has_params(&self) -> bool {
        self.chart.variables.iter().any(|v| matches!(v.kind, VariableKind::Param { .. }))
    }
}

// Writes the bodies of the program's methods: a match over rows of the tables, with the code of each row.

/// Writes the guard of a transition: statements, and the condition.
pub(super) fn guard(
    context: &Context<'_>,
    transition: TransitionId,
    guard: &Expr,
    place: Option<&Place>,
) -> (Fragment, Code) {
    let surely = code::first(guard) == First::Field;
    let (mut writer, reading) = for_transition(context, transition, &[guard], surely);
    writer.place = place.cloned();
    let condition = writer.truth(guard);
    (reading.before(&condition.text()), condition)
}

// Writes the code that says for traces which alternatives of a guard hold. For example, for the guard `a or b` it says whether `a`, `b` or
// both were true.

/// Writes the alternatives that traces report, each as the statements before its `Result` and the `Result`.
fn alternatives(
    context: &Context<'_>,
    transition: TransitionId,
    place: Option<&Place>,
) -> Vec<(Fragment, Fragment)> {
    if context.tables.transitions[transition.index()].alternatives.len == 0 {
        return Vec::new();
    }
    let all = context.chart.alternatives(transition).into_iter().map(|alternative| {
        let (before, condition) = guard(context, transition, alternative, place);
        (before, condition.result(true))
    });
    all.collect()
}

/// Adds `Program::held`, if a guard has alternatives.
pub(super) fn hook(context: &Context<'_>, methods: &mut Methods, program: &mut Methods) {
    let place = ("place", "(u32, u32)");
    let mut arms = Arms::new("line_alternative", place, "place", "bool", "false");
    for i in 0..context.chart.transitions.len() {
        let all = alternatives(context, TransitionId::at(i), None);
        for (nth, (before, result)) in all.into_iter().enumerate() {
            let title = format!("{}, alternative {nth}", transition_comment(context, i));
            arms.pattern(&format!("({i}, {nth})"), &title, before, result);
        }
    }
    let Some(method) = arms.emit(context, methods) else { return };
    let call = method.call("self", "(line.0, nth)");
    let body = format!(
        "let alternatives = TABLES.transitions[line.index()].alternatives;
        program::held(alternatives.len, |nth| {call})"
    );
    let function = program.add("held", body.into()).arg("line", "arena::TransitionId");
    let view = if method.reads(Use::View) { "view" } else { "_view" };
    function.arg(view, "&program::View<'_>").ret("u64");
}

/// Writes the body of a method that says which alternatives hold in a place; `None` for a guard without alternatives.
pub(super) fn held(
    context: &Context<'_>,
    transition: TransitionId,
    place: &Place,
) -> Option<Fragment> {
    let all = alternatives(context, transition, Some(place));
    if all.is_empty() {
        return None;
    }
    let (count, error) = (all.len(), context.error());
    let mut arms = Fragment::default();
    for (nth, (before, result)) in all.into_iter().enumerate() {
        arms += code!("{nth} => {{ {before}\n{result} }}\n", before, result);
    }
    Some(code!(
        "program::held({count}, |nth| -> Result<bool, {error}> {{ match nth {{ {arms} _ => Ok(false) }} }})",
        arms
    ))
}
