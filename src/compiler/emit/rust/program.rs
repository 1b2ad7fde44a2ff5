//! Writes the chart's guards, actions and data: the struct `Core`, and its implementation of `generated::Code`.

use super::code::{self, Code, First, Fragment, Use, code};
use super::expr::Writer;
use super::methods::{Arms, Hook, Methods, for_trigger};
use super::names::{optional, owned};
use super::payload::{self, answer_field, answering};
use super::tables::transition_comment;
use super::{Context, blocks, keep, machine, steps, types};
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Expr, FunctionKind, StepKind, Trigger, Type, VariableKind};
use chartc_core::semantics::unroll::Place;
use codegen::{Function, Impl, Scope, Struct};
use std::collections::BTreeMap;

/// Adds `Core` and its implementation of `Code`. `Core` has a method for each named condition and each call of a host function; `others`
/// are the methods of other traits, which may call them.
pub(super) fn emit(context: &Context<'_>, others: &Methods, scope: &mut Scope) {
    let mut methods = Methods::new(inherent(context));
    let mut code = self::code(context);
    blocks::emit(context, &mut code);
    blocks::begin_turn(context, &mut code);
    keep::answers(context, &mut code);
    for arms in arms(context) {
        arms.emit(context, &mut code, Use::View);
    }
    steps::each_hooks(context, &mut code);
    steps::keep_result(context, &mut code);
    steps::advice(context, &mut methods);
    methods.called_by(&code);
    methods.called_by(others);
    predicates(context, &mut methods);
    calls(context, &mut methods);
    keep::emit_ending(context, scope);
    answers(context, scope);
    scope.push_struct(machine::core(context));
    methods.push(scope);
    scope.push_impl(code.item);
}

/// Creates the impl block for `Core`'s own methods.
pub(super) fn inherent(context: &Context<'_>) -> Impl {
    let mut item = Impl::new("Core<H>");
    item.generic(context.bounds());
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

const LINE: &[(&str, &str)] = &[("line", "arena::TransitionId")];
const STEP: &[(&str, &str)] = &[("step", "arena::StepId")];

/// Returns the methods through which the step algorithm evaluates expressions.
fn arms(context: &Context<'_>) -> Vec<Arms> {
    let chart = context.chart;
    let hook = |name, arguments, scrutinee, result, otherwise| {
        Arms::new(Hook { name, arguments, more: None, scrutinee, result, otherwise })
    };
    let mut guards = hook("guard", LINE, "line.0", "bool", "true");
    for (i, transition) in chart.transitions.iter().enumerate() {
        if let Some(guard) = &transition.guard {
            let (before, condition) = self::guard(context, TransitionId::at(i), guard, None);
            guards.arm(i, &transition_comment(context, i), before, condition.result(true));
        }
    }
    let mut steps = hook("step_guard", STEP, "step.0", "bool", "true");
    let mut ends = hook("ends_turn", STEP, "step.0", "bool", "false");
    for (i, step) in chart.steps.iter().enumerate() {
        for (arms, condition) in [(&mut steps, &step.guard), (&mut ends, &step.ends_turn)] {
            if let Some(condition) = condition {
                let code = Writer::new(context).truth(condition);
                arms.arm(i, &step.name, Fragment::default(), code.result(true));
            }
        }
    }
    let mut permissions = hook("permission_guard", &[("nth", "usize")], "nth", "bool", "true");
    for (i, permission) in chart.permissions.iter().enumerate() {
        if let Some(guard) = &permission.guard {
            let name = |id: StateId| chart.state(id).path.clone();
            let from = permission.from.map_or("*".to_owned(), name);
            let text = format!("allow {from} -> {}", name(permission.to));
            let code = Writer::new(context).truth(guard);
            permissions.arm(i, &text, Fragment::default(), code.result(true));
        }
    }
    let mut lines = hook("tool_guard", &[("nth", "usize")], "nth", "bool", "true");
    for (nth, line) in chart.tool_lines().enumerate() {
        if let Some(guard) = &line.guard {
            let text = chartc_core::wording::tool_line_of(&context.tables, nth);
            let code = Writer::new(context).truth(guard);
            lines.arm(nth, &text, Fragment::default(), code.result(true));
        }
    }
    vec![
        guards,
        alternative_arms(context),
        steps,
        permissions,
        lines,
        ends,
        deadlines(context),
        keep::arguments(context),
        blocks::code_steps(context),
        blocks::blocks(context),
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

const MANY_ARGUMENTS: &str = "allow(clippy::too_many_arguments, reason = \"the chart says so\")";

/// Adds the methods that call the functions of the host, and note the calls for the trace.
pub(super) fn calls(context: &Context<'_>, methods: &mut Methods) {
    for id in std::mem::take(&mut methods.functions) {
        let row = &context.chart.functions[id.index()];
        let name = &context.names.functions[id.index()];
        let names = &context.names.function_fields[id.index()];
        let mut function = Function::new(format!("call_{name}"));
        // A parameter of the function may have one of these names.
        let free = |name: &str| {
            let mut name = name.to_owned();
            while names.contains(&name) {
                name.push('_');
            }
            name
        };
        let (host, notes, value) = (free("host"), free("notes"), free("value"));
        function.arg(&host, "&mut H").arg(&notes, "&mut generated::Notes");
        if names.len() > 5 {
            function.attr(MANY_ARGUMENTS);
        }
        for (field, name) in row.params.iter().zip(names) {
            function.arg(name, types::lent(context, &field.ty));
        }
        let noted = row.params.iter().zip(names);
        let noted: Vec<String> =
            noted.map(|(field, name)| payload::lent_value(context, name, &field.ty)).collect();
        let (spelled, noted) = (&row.name, noted.join(", "));
        // The host of a family implements the traits of several charts.
        let call = format!("Host::{name}({host}, {})", names.join(", "));
        let (ty, done) = match &row.kind {
            FunctionKind::Effect => ("()".to_owned(), "generated::did"),
            FunctionKind::Pure { result, .. } => (owned(context, result), "generated::called"),
        };
        let fallback = match &row.kind {
            FunctionKind::Effect => String::new(),
            FunctionKind::Pure { fallback: None, .. } => ", None".to_owned(),
            FunctionKind::Pure { fallback: Some(value), result, .. } => {
                format!(", Some({})", Writer::new(context).literal(value, result).text)
            }
        };
        function.ret(format!("Result<{ty}, {}>", context.error()));
        function.line(format!(
            "let {value} = {call};\n{done}({notes}, {spelled:?}, || [{noted}], {value}{fallback})"
        ));
        methods.push_function(function);
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
    let mut lines = Arms::new(Hook {
        name: "deadline",
        arguments: LINE,
        more: None,
        scrutinee: "line.0",
        result: "u64",
        otherwise: "u64::MAX",
    });
    for (i, transition) in context.chart.transitions.iter().enumerate() {
        if let Some(code) = deadline(context, &transition.trigger) {
            lines.arm(i, &transition_comment(context, i), Fragment::default(), code.result(true));
        }
    }
    lines
}

/// Begins the implementation of `Code`, with what the program stores.
fn code(context: &Context<'_>) -> Methods {
    let mut item = Impl::new("Core<H>");
    item.generic(context.bounds()).impl_trait("generated::Code");
    item.associate_type("Store", context.store());
    let field = "&mut self.bound";
    item.new_fn("bound").arg_mut_self().ret("&mut generated::Held<Payload>").line(field);
    if context.has_events() {
        let raised = item.new_fn("raised").arg_mut_self().ret("Option<Payload>");
        raised.line("self.raised.pop_front()");
    }
    if context.sends() > 0 {
        let sent = item.new_fn("sent").arg_mut_self().arg("slot", "usize");
        sent.ret("Option<Payload>").line("self.sent.take(slot)");
    }
    if context.chart.defers() {
        let defer = item.new_fn("defer").arg_mut_self().arg("slot", "usize");
        defer.arg("payload", "Payload").line("self.sent.put(slot, payload);");
    }
    if context.chart.computed_limits().next().is_some() {
        let limit = item.new_fn("limit").arg_ref_self().arg("nth", "usize").ret("u64");
        limit.line("self.data.limits.get(nth).copied().unwrap_or(0)");
    }
    for (is_kept, name, ty) in [
        (context.keeps_calls(), "calls", "calls::Calls"),
        (context.needs.last_result, "last_result", "calls::LastResult"),
        (context.posts, "posts", "generated::Posts"),
    ] {
        if is_kept && !context.bare {
            let function = item.new_fn(name).arg_mut_self().ret(format!("Option<&mut {ty}>"));
            function.line(format!("Some(&mut self.{name})"));
        }
    }
    if context.keeps_calls() && context.needs.loops {
        item.new_fn("repeated").arg_ref_self().ret("u32").line("self.calls.repeated()");
    }
    if context.needs.repeats {
        let work = item.new_fn("work").arg_ref_self().ret("Option<&generated::Work>");
        work.line("Some(&self.work)");
    }
    Methods::new(item)
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
    let (mut writer, reading) =
        for_trigger(context, &context.chart.transition(transition).trigger, &[guard], surely);
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

/// Writes `alternative`, which evaluates an alternative of a guard.
fn alternative_arms(context: &Context<'_>) -> Arms {
    let mut arms = Arms::new(Hook {
        name: "alternative",
        arguments: &[("line", "arena::TransitionId"), ("nth", "u32")],
        more: None,
        scrutinee: "(line.0, nth)",
        result: "bool",
        otherwise: "false",
    });
    for i in 0..context.chart.transitions.len() {
        let all = alternatives(context, TransitionId::at(i), None);
        for (nth, (before, result)) in all.into_iter().enumerate() {
            let title = format!("{}, alternative {nth}", transition_comment(context, i));
            arms.pattern(&format!("({i}, {nth})"), &title, before, result);
        }
    }
    arms
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
