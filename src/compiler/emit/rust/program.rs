//! Writes the chart's guards, actions and data: the struct `Core`, and its implementation of `Program`.

use super::code::{self, Code, First, Fragment, Use, Uses, code};
use super::expr::Writer;
use super::payload::{answer_field, answer_type, answering, choice_fields};
use super::tables::{comment, transition_comment};
use super::types::{optional, owned};
use super::{Context, blocks, drive, keep, steps};
use chartc_core::arena::{PredicateId, StateId, TransitionId};
use chartc_core::model::{Expr, ExprKind, Field, StepKind, Trigger, Type, VariableKind};
use chartc_core::semantics::unroll::Place;
use codegen::{Function, Impl, Scope, Struct};
use std::collections::{BTreeMap, BTreeSet};

/// The methods that only hosts with values call: texts of prompts and options, calls of tools, and params of charts that a step runs.
#[derive(Default)]
pub(super) struct HostMethods {
    pub(super) prompt: Option<Method>,
    pub(super) option: Option<Method>,
    pub(super) call: Option<Method>,
    pub(super) run: Option<Method>,
}

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
    asked.run = drive::run_steps(context).emit(context, &mut methods);
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
        item.field("endings", format!("[Option<Ending>; {}]", keep::finals(context).len()));
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
    item.associate_type("Tables<'t>", "&'t tables::Tables<'t>");
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

/// The methods of a program, and the named conditions that they call.
pub(super) struct Methods {
    /// The `impl` block with the methods so far.
    pub item: Impl,
    /// The named conditions that they call.
    pub predicates: BTreeSet<PredicateId>,
}

impl Methods {
    /// Creates an empty collection around an `impl` block.
    pub(super) fn new(item: Impl) -> Self {
        Self { item, predicates: BTreeSet::new() }
    }

    /// Adds a method with this body.
    pub(super) fn add(&mut self, name: &str, body: Fragment) -> &mut Function {
        self.predicates.extend(body.uses.predicates);
        self.item.new_fn(name).arg_mut_self().line(body.text)
    }
}

/// A method generated from [`Arms`], with what its body reads.
pub(super) struct Method {
    name: &'static str,
    uses: Uses,
}

impl Method {
    /// Whether the body reads `what`: the method then has a parameter for it.
    pub(super) fn reads(&self, what: Use) -> bool {
        self.uses.has(what)
    }

    /// The call of the method for a row, where `core` is the expression for the program.
    pub(super) fn call(&self, core: &str, row: &str) -> String {
        let arguments =
            [(Use::View, "view"), (Use::Outbox, "outbox"), (Use::Options, "options.as_deref()")];
        let read = arguments.iter().filter(|(what, _)| self.reads(*what));
        let read: String = read.flat_map(|(_, argument)| [", ", argument]).collect();
        format!("{core}.{}({row}{read})", self.name)
    }
}

/// A method with a match arm for each relevant row of one table. Without such rows the method is omitted.
pub(super) struct Arms {
    name: &'static str,
    pub(super) argument: (&'static str, &'static str),
    scrutinee: &'static str,
    pub(super) result: &'static str,
    pub(super) otherwise: &'static str,
    rows: Fragment,
}

impl Arms {
    /// Creates a method without arms. `argument` is the parameter with its type; rows without an arm return `otherwise`.
    pub(super) fn new(
        name: &'static str,
        argument: (&'static str, &'static str),
        scrutinee: &'static str,
        result: &'static str,
        otherwise: &'static str,
    ) -> Self {
        Self { name, argument, scrutinee, result, otherwise, rows: Fragment::default() }
    }

    /// Adds the arm of row `index`, called `title` in its comment: statements, then the `Result`.
    pub(super) fn arm(
        &mut self,
        index: usize,
        title: &str,
        statements: Fragment,
        result: Fragment,
    ) {
        self.pattern(&index.to_string(), title, statements, result);
    }

    /// Adds an arm with a pattern other than a number.
    pub(super) fn pattern(
        &mut self,
        pattern: &str,
        title: &str,
        statements: Fragment,
        result: Fragment,
    ) {
        let comment = comment(title);
        self.rows +=
            code!("{comment}{pattern} => {{ {statements}\n{result} }}\n", statements, result);
    }

    /// Adds the method to `methods`. Its parameters are those that its arms read. Returns `None` if there are no arms.
    pub(super) fn emit(self, context: &Context<'_>, methods: &mut Methods) -> Option<Method> {
        let Self { name, argument, scrutinee, result, otherwise, rows } = self;
        if rows.is_empty() {
            return None;
        }
        let uses = rows.uses.clone();
        let body = code!("match {scrutinee} {{ {rows} _ => Ok({otherwise}), }}", rows);
        let function = methods.add(name, body).arg(argument.0, argument.1);
        for (what, name, ty) in [
            (Use::View, "view", "&program::View<'_>"),
            (Use::Outbox, "outbox", "&mut program::Outbox<'_>"),
            (Use::Options, "options", "Option<&str>"),
        ] {
            if uses.has(what) {
                function.arg(name, ty);
            }
        }
        function.ret(format!("Result<{result}, {}>", context.error()));
        Some(Method { name, uses })
    }
}

/// A reader of the fields of the current event or answer, for the code of a transition.
pub(super) struct FieldReader<'w> {
    context: &'w Context<'w>,
    sources: Vec<Source>,
    surely: bool,
}

/// Creates a writer for the expressions of a transition, and a reader for the statement that binds the fields which their code uses. With
/// `surely`, a missing field fails at once. Otherwise it fails only when it is read, because another effect may come before that.
pub(super) fn for_transition<'w>(
    context: &'w Context<'w>,
    transition: TransitionId,
    exprs: &[&Expr],
    surely: bool,
) -> (Writer<'w>, FieldReader<'w>) {
    let mut last = 0;
    for expr in exprs {
        code::walk(expr, &mut |e| {
            if let ExprKind::Payload(nth) = e.kind {
                last = last.max(nth as usize + 1);
            }
        });
    }
    let mut writer = Writer::new(context);
    let mut sources = sources(context, &context.chart.transition(transition).trigger);
    // A field is readable only if every event of the transition has it, with the same type.
    sources.retain(|s| s.fields.len() >= last);
    if let Some(first) = sources.first() {
        for nth in 0..last {
            let name = local(first, nth);
            let ty = first.fields[nth].1.clone();
            let text = match (surely, context.bare) {
                (true, _) => Fragment::from(name),
                (false, true) => {
                    Fragment::from(format!("generated::set({name})?")).using(Use::Failure)
                }
                (false, false) => {
                    Fragment::from(format!("generated::handled({name})?")).using(Use::Failure)
                }
            };
            let mut text = if ty == Type::Text { code!("{text}.as_str()", text) } else { text };
            text.uses.fields.insert(nth as u32);
            writer.payload.push(Code::lent(text, ty));
        }
    }
    (writer, FieldReader { context, sources, surely })
}

impl FieldReader<'_> {
    /// The statement that binds the fields, to be written before a body.
    pub(super) fn before(&self, body: &Fragment) -> Fragment {
        let used = &body.uses.fields;
        let Some(first) = self.sources.first().filter(|_| !used.is_empty()) else {
            return Fragment::default();
        };
        let arms = self.sources.iter().filter(|s| same_types(s, first, used));
        let is_direct = self.context.is_direct();
        let pattern = |source: &Source| {
            let pattern = source.pattern(used, first);
            if is_direct { pattern } else { format!("Some({pattern})") }
        };
        let patterns: Vec<String> = arms.map(pattern).collect();
        let names: Vec<String> = used.iter().map(|n| local(first, *n as usize)).collect();
        let tuple = |names: &[String]| match names {
            [name] => name.clone(),
            names => format!("({})", names.join(", ")),
        };
        // A method that borrows the whole program cannot be called while one of its fields is borrowed.
        let (copy, bound) = if body.has(Use::Program) {
            ("let bound = self.bound.clone();\n", "bound")
        } else {
            ("", "self.bound")
        };
        let bound = if is_direct { format!("&{bound}") } else { format!("{bound}.get()") };
        let (given, missing) = if self.surely {
            let nothing = self.context.failure("what is handled has no such field");
            (tuple(&names), format!("return {nothing}"))
        } else {
            let some: Vec<String> = names.iter().map(|n| format!("Some({n})")).collect();
            let none: Vec<String> = names.iter().map(|_| "None".to_owned()).collect();
            (tuple(&some), tuple(&none))
        };
        let text = match patterns.as_slice() {
            [pattern] if self.surely => {
                format!("{copy}let {pattern} = {bound} else {{ {missing}; }};\n")
            }
            patterns => {
                let rows: Vec<String> =
                    patterns.iter().map(|p| format!("{p} => {given},")).collect();
                let rows = rows.join("\n");
                let names = tuple(&names);
                format!("{copy}let {names} = match {bound} {{ {rows} _ => {missing} }};\n")
            }
        };
        let text = Fragment::from(text).using(Use::Braces);
        if self.surely { text.using(Use::Failure) } else { text }
    }
}

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

/// A possible form of the current event or answer.
struct Source {
    /// The path of the variant, such as `Event::SeesPost` or `Payload::Reason`.
    head: String,
    /// The variant of `Payload` that contains it, if it is not one itself.
    around: Option<&'static str>,
    /// The fields, each with its Rust name and type. Unnamed fields have an empty name.
    fields: Vec<(String, Type)>,
}

impl Source {
    /// The pattern that binds the used fields under their names in `first`.
    fn pattern(&self, used: &BTreeSet<u32>, first: &Self) -> String {
        let inner = if self.fields.iter().any(|(name, _)| name.is_empty()) {
            format!("{}({})", self.head, local(first, 0))
        } else {
            self.named(used, first)
        };
        match self.around {
            Some(around) => format!("Payload::{around}({inner})"),
            None => inner,
        }
    }

    fn named(&self, used: &BTreeSet<u32>, first: &Self) -> String {
        let mut bindings: Vec<String> = Vec::new();
        for nth in used {
            let (own, bound) = (&self.fields[*nth as usize].0, local(first, *nth as usize));
            bindings.push(if *own == bound { bound } else { format!("{own}: {bound}") });
        }
        if used.len() < self.fields.len() {
            bindings.push("..".to_owned());
        }
        format!("{} {{ {} }}", self.head, bindings.join(", "))
    }
}

fn local(source: &Source, nth: usize) -> String {
    match source.fields[nth].0.as_str() {
        "" => "answer".to_owned(),
        name => super::local_name(name),
    }
}

fn same_types(source: &Source, first: &Source, used: &BTreeSet<u32>) -> bool {
    used.iter().all(|n| source.fields[*n as usize].1 == first.fields[*n as usize].1)
}

fn sources(context: &Context<'_>, trigger: &Trigger) -> Vec<Source> {
    let names = &context.names;
    let typed = |fields: &[Field], rust: &[String]| {
        rust.iter().cloned().zip(fields.iter().map(|f| f.ty.clone())).collect()
    };
    match trigger {
        Trigger::Event(events) => events
            .iter()
            .map(|id| Source {
                around: Some("Event"),
                head: format!("Event::{}", names.events[id.index()]),
                fields: typed(
                    &context.chart.events[id.index()].fields,
                    &names.event_fields[id.index()],
                ),
            })
            .collect(),
        Trigger::Choice(id) => vec![Source {
            around: Some("Choice"),
            head: format!("Choice::{}", names.choices[id.index()]),
            fields: typed(choice_fields(context, *id), &names.choice_fields[id.index()]),
        }],
        Trigger::StepDone(id) if super::payload::answering(context).any(|s| s == *id) => {
            let all =
                if context.chart.steps[id.index()].each.is_some() { "Gathered" } else { "Answer" };
            vec![Source {
                around: Some(all),
                head: format!("{all}::{}", names.steps[id.index()]),
                fields: vec![(String::new(), answer_type(context, *id))],
            }]
        }
        Trigger::StepError(_) if context.has_reasons() => vec![Source {
            around: None,
            head: "Payload::Reason".to_owned(),
            fields: vec![(String::new(), Type::Text)],
        }],
        Trigger::StepDone(_)
        | Trigger::StepError(_)
        | Trigger::AnyEvent
        | Trigger::AnyOccurrence
        | Trigger::Turn
        | Trigger::When
        | Trigger::StateDone(_)
        | Trigger::After(_)
        | Trigger::AfterTurns(_)
        | Trigger::StepTimeout(..)
        | Trigger::StepDoubt(_)
        | Trigger::StepElse(_)
        | Trigger::Error(_)
        | Trigger::LimitWarn(_) => Vec::new(),
    }
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
