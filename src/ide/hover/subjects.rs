//! Describes what a name stands for: data, states, steps, tools, prompts, and names that belong to no chart.
//!
//! **The problem.** A reader who points at a name wants to know what it is, what it does, and where it is used. The answer differs for each
//! kind of name.
//!
//! **The idea.** There is a function for each kind, and all have the same plan: the declaration, the `///` comment, and then lists of
//! relations. The declaration is written from the model, so a state of an `agent.yaml` or an SCXML document looks like one of a chart. The
//! places of use come from what lowering has recorded (`places`), so nothing is searched by text. A list without rows is left out.
//!
//! **Example.** The name `last` in the chart of a ticket, which declares `var last: Text = ""`:
//!
//! ```text
//! var last: Text = ""     the declaration, in a block of code
//! Set at                  ticket.chart:8 in waiting
//! Read at                 ticket.chart:11 in open
//! ```
//!
//! Order of the file: data, states and charts, steps and options, tools and clients, names outside of charts, places, prompts. A new kind
//! needs a variant of `Subject` and an arm in `super::show`, both in the parent module, and a function here.

use super::{Markdown, View, code, contains};
use crate::costs;
use crate::ide::hover;
use chartc_compiler::analysis::turn::Driver;
use chartc_compiler::analysis::turn::cost::{Cost, money};
use chartc_compiler::compile::Compilation;
use chartc_compiler::lint::words::{self, TransitionHead};
use chartc_compiler::lower::{Lowered, NameKind, Use};
use chartc_compiler::notation;
use chartc_compiler::syntax::source::{FileId, Ident, Span};
use chartc_compiler::syntax::visit::{self, Mode, Node};
use chartc_compiler::syntax::{File, Item, Path};
use chartc_core::arena::{
    ChoiceId, ClientId, EventId, FunctionId, PredicateId, StateId, StepId, ToolId, ToolSetId,
    TransitionId, TypeId, VarId,
};
use chartc_core::expr::{Value, field_text, type_text};
use chartc_core::host::{Offer, listed, summary};
use chartc_core::machine::LimitKind;
use chartc_core::model::{
    ActionForm, Chart, ChoiceKind, Expr, ExprKind, Failure, FailurePolicy, Field, FunctionKind,
    Limits, Lost, Otherwise, Position, Starts, StateKind, Step, StepKind, Template, TemplatePart,
    Trigger, Type, TypeKind, VariableKind, schema,
};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A type in the notation of charts.
pub(super) fn written(chart: &Chart, ty: &Type) -> String {
    type_text(ty, &chart.types)
}

/// Formats fields as `(a: T, b: T)`; empty if there are none.
pub(super) fn fields(chart: &Chart, fields: &[Field]) -> String {
    if fields.is_empty() {
        return String::new();
    }
    let one = |f: &Field| format!("{}: {}", notation::name(&f.name), field_text(f, &chart.types));
    format!("({})", fields.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn literal(chart: &Chart, value: &Value) -> String {
    let kind = match value {
        Value::None => ExprKind::None,
        Value::Bool(value) => ExprKind::Bool(*value),
        Value::Int(value) => ExprKind::Int(*value),
        Value::Float(value) => ExprKind::Float(*value),
        Value::Duration(value) => ExprKind::Duration(*value),
        Value::Text(text) => return format!("{text:?}"),
        Value::List(_) | Value::Map(_) => return "…".into(),
    };
    notation::expression(chart, &Expr { kind, ty: Type::Json })
}

/// Describes a param, an input or a var, with the places where it is set and read.
pub(super) fn variable(markdown: &mut Markdown, view: &View<'_>, id: VarId) {
    let chart = &view.one.chart;
    let row = &chart.variables[id.index()];
    let (word, range, end) = match &row.kind {
        VariableKind::Param { range } => ("param", range.as_ref(), ""),
        VariableKind::Input => ("input", None, ""),
        VariableKind::Asked => ("asked", None, ""),
        VariableKind::Var { per_turn: true } => ("var", None, " per turn"),
        VariableKind::Var { per_turn: false } => ("var", None, ""),
    };
    let range = range.map_or_else(String::new, |(from, to)| {
        format!(" in {}..{}", literal(chart, from), literal(chart, to))
    });
    let default = row.default.as_ref().map(|value| notation::expression(chart, value));
    let default = default.map_or_else(String::new, |value| format!(" = {value}"));
    let (name, ty) = (notation::name(&row.name), written(chart, &row.ty));
    markdown.code("chart", &format!("{word} {name}: {ty}{range}{default}{end}"));
    markdown.docs(&row.doc);
    let sets: BTreeSet<Span> = view.done.files.iter().flat_map(self::sets).collect();
    let uses = places(view, view.declared);
    let (set, read): (Vec<Span>, Vec<Span>) = uses.into_iter().partition(|at| sets.contains(at));
    markdown.list("Set at", rows(view, set));
    markdown.list("Read at", rows(view, read));
}

/// Describes an event, or all events with a dotted prefix, with what handles and sends them.
pub(super) fn events(markdown: &mut Markdown, view: &View<'_>, all: &[EventId]) {
    let chart = &view.one.chart;
    let rows = all.iter().map(|id| &chart.events[id.index()]);
    let written = rows
        .clone()
        .map(|row| format!("event {}{}", notation::path(&row.name), fields(chart, &row.fields)));
    markdown.code("chart", &written.collect::<Vec<_>>().join("\n"));
    if let [_] = all {
        rows.for_each(|row| markdown.docs(&row.doc));
    }
    let handles = |any: bool| {
        let lines = chart.transitions.iter().enumerate();
        lines.filter(move |(_, line)| match &line.trigger {
            Trigger::Event(events) => !any && events.iter().any(|event| all.contains(event)),
            Trigger::AnyEvent | Trigger::AnyOccurrence => any,
            _ => false,
        })
    };
    // Transitions for any event are tried after those that name the event.
    let lines = handles(false).chain(handles(true));
    let lines = lines.map(|(i, _)| line(view, TransitionId::at(i), true));
    let started = chart.steps.iter().enumerate();
    let started = started.filter(|(_, step)| step.events().iter().any(|event| all.contains(event)));
    let started = started.map(|(i, step)| {
        let place = view.place(view.one.map.step(StepId::at(i)).name);
        let head = head(chart, step);
        let word = head.split_once(' ').map_or("", |(word, _)| word);
        format!("{} {place}", code(&format!("{word} {}", step.name)))
    });
    markdown.list("Handled by", lines.chain(started).collect::<Vec<_>>());
    let posts = view.one.map.posts.iter().filter(|post| all.contains(&post.event));
    markdown.list("Raised or sent at", self::rows(view, posts.map(|post| post.span)));
}

/// Describes a record or an enum.
pub(super) fn of_type(markdown: &mut Markdown, view: &View<'_>, id: TypeId) {
    let chart = &view.one.chart;
    let row = &chart.types[id.index()];
    let name = notation::name(&row.name);
    markdown.code(
        "chart",
        &match &row.kind {
            TypeKind::Record(all) => {
                let one = |f: &Field| {
                    format!("{}: {}", notation::name(&f.name), field_text(f, &chart.types))
                };
                format!("type {name} {{ {} }}", all.iter().map(one).collect::<Vec<_>>().join("  "))
            }
            TypeKind::Enum(all) => {
                let all: Vec<String> = all.iter().map(|value| notation::name(value)).collect();
                format!("enum {name} {{ {} }}", all.join("  "))
            }
        },
    );
    markdown.docs(&row.doc);
}

/// Describes a value of an enum.
pub(super) fn value(markdown: &mut Markdown, view: &View<'_>, id: TypeId, name: &str) {
    let ty = &view.one.chart.types[id.index()].name;
    markdown.line(format!("{}, a value of", code(&format!("{ty}.{name}"))));
    of_type(markdown, view, id);
}

/// Describes a function of the host, declared by `fn` or `do`.
pub(super) fn function(markdown: &mut Markdown, view: &View<'_>, id: FunctionId) {
    let chart = &view.one.chart;
    let row = &chart.functions[id.index()];
    let name = notation::name(&row.name);
    let params = match fields(chart, &row.params) {
        none if none.is_empty() => "()".to_owned(),
        params => params,
    };
    markdown.code(
        "chart",
        &match &row.kind {
            FunctionKind::Pure { result, fallback, method } => {
                let method = method.as_ref().map_or_else(String::new, |method| {
                    format!(" from {:?} {:?}", method.artifact, method.name)
                });
                let fallback = fallback
                    .as_ref()
                    .map_or_else(String::new, |value| format!(" else {}", literal(chart, value)));
                format!("fn {name}{params} -> {}{method}{fallback}", written(chart, result))
            }
            FunctionKind::Effect => format!("do {name}{params}"),
        },
    );
    markdown.docs(&row.doc);
    markdown.list("Called at", rows(view, places(view, view.declared)));
}

/// Describes a named condition.
pub(super) fn predicate(markdown: &mut Markdown, view: &View<'_>, id: PredicateId) {
    let chart = &view.one.chart;
    let row = &chart.predicates[id.index()];
    let expr = notation::expression(chart, &row.expr);
    markdown.code("chart", &format!("pred {} = {expr}", notation::name(&row.name)));
    markdown.list("Read at", rows(view, places(view, view.declared)));
}

/// Describes a name of which only the type is known.
pub(super) fn typed(markdown: &mut Markdown, view: &View<'_>, name: &str, ty: &Type) {
    let written = written(&view.one.chart, ty);
    markdown.code("chart", &format!("{}: {written}", notation::name(name)));
    let mut ty = ty;
    while let Type::Optional(inner) | Type::List(inner) | Type::Map(inner) = ty {
        ty = inner;
    }
    if let Type::Named(id) = ty {
        of_type(markdown, view, *id);
    }
}

// Describes states and charts.

/// The numbers of model calls of a chart. `None` if it has errors, because the numbers would mean little, or if computing them would take
/// long.
pub(in crate::ide) fn figures<'c>(done: &'c Compilation, one: &Lowered) -> Option<&'c Cost> {
    let mut sound = done.charts.iter().chain(&done.tested);
    sound.find(|sound| sound.map().name == one.map.name)?.cost()
}

/// The trigger of a transition, as code.
fn state_head(chart: &Chart, id: TransitionId) -> String {
    match words::head(chart, id) {
        TransitionHead::Line(words) => code(&words),
        TransitionHead::Outcome(what, step) => format!("{} of {}", code(what), code(step)),
    }
}

/// A row for a transition. If `comes`, it shows the source, the trigger and the place; otherwise the trigger, the targets and the place.
pub(super) fn line(view: &View<'_>, id: TransitionId, comes: bool) -> String {
    let chart = &view.one.chart;
    let row = chart.transition(id);
    let mut text = String::new();
    if comes {
        text.push_str(&code(costs::path(chart, row.source)));
        text.push(' ');
    }
    text.push_str(&state_head(chart, id));
    if !comes && !row.targets.is_empty() {
        let all: Vec<String> =
            row.targets.iter().map(|target| code(&chart.state(target.state).path)).collect();
        text.push_str(&format!(" → {}", all.join(", ")));
    }
    text.push_str(&format!(" {}", view.place(view.one.map.transition(id).whole)));
    text
}

/// The limits of a state or a chart, as written.
pub(in crate::ide) fn limits(chart: &Chart, limits: &Limits) -> Vec<String> {
    let mut all = Vec::new();
    let mut add = |kind: LimitKind, name: &str, fixed: Option<String>, warn: Option<String>| {
        let formula = limits.formula(kind).map(|expr| notation::expression(chart, expr));
        if let Some(bound) = fixed.or(formula) {
            let warn = warn.map_or_else(String::new, |warn| format!(" warn {warn}"));
            all.push(format!("{name} {bound}{warn}"));
        }
    };
    let whole = |n: Option<i64>| n.map(|n| n.to_string());
    let money = |n: Option<f64>| n.map(|n| format!("{n:?}"));
    let time = |n: Option<u64>| n.map(notation::duration);
    add(LimitKind::Turns, "turns", whole(limits.turns), whole(limits.turns_warn));
    add(LimitKind::Calls, "calls", whole(limits.calls), whole(limits.calls_warn));
    add(LimitKind::Tokens, "tokens", whole(limits.tokens), whole(limits.tokens_warn));
    add(LimitKind::Cost, "cost", money(limits.cost), money(limits.cost_warn));
    add(LimitKind::Time, "time", time(limits.time), time(limits.time_warn));
    all
}

/// Formats the steps that call, as in `ask next 1 + 1 retry`.
pub(in crate::ide) fn drivers(chart: &Chart, drivers: &[Driver]) -> String {
    let all: Vec<String> = drivers.iter().take(4).map(|d| costs::driver(chart, d)).collect();
    let rest = if drivers.len() > 4 { " + …" } else { "" };
    all.join(" + ") + rest
}

/// Describes a state.
pub(super) fn state(markdown: &mut Markdown, view: &View<'_>, id: StateId) {
    let chart = &view.one.chart;
    let row = chart.state(id);
    let path = notation::path(&row.path);
    markdown.code(
        "chart",
        &match &row.kind {
            StateKind::Atomic | StateKind::Compound { .. } => format!("state {path}"),
            StateKind::Parallel => format!("parallel {path}"),
            StateKind::Final { params, status } => {
                format!("final {path}{} : {}", fields(chart, params), status.word())
            }
            StateKind::History { deep, default } => {
                let deep = if *deep { " deep" } else { "" };
                let all: Vec<String> =
                    default.iter().map(|s| chart.state(*s).path.clone()).collect();
                format!("history {path}{deep} -> {}", all.join(", "))
            }
        },
    );
    markdown.docs(&row.doc);
    if let StateKind::Compound { initial } = &row.kind {
        let all: Vec<String> = initial.iter().map(|s| code(&chart.state(*s).path)).collect();
        let children = chart.children(id).count();
        let s = if children == 1 { "" } else { "ren" };
        markdown.line(format!("{children} child{s}; begins in {}.", all.join(", ")));
    }
    if row.kind == StateKind::Parallel {
        let all: Vec<String> = chart.children(id).map(|s| code(&chart.state(s).path)).collect();
        markdown.line(format!("Active together: {}.", all.join(", ")));
    }
    let lines = || (0..chart.transitions.len()).map(TransitionId::at);
    let mut into: Vec<TransitionId> = lines()
        .filter(|line| {
            let row = chart.transition(*line);
            row.targets.iter().any(|target| target.state == id)
        })
        .collect();
    // A `from` line is a transition of each of its states: list it once.
    into.dedup_by_key(|line| view.one.map.transition(*line).whole);
    let begins = chart.state_ids().filter(|parent| match &chart.state(*parent).kind {
        StateKind::Compound { initial } => initial.contains(&id),
        _ => false,
    });
    let begins = begins.map(|parent| format!("{} begins here", code(costs::path(chart, parent))));
    let lines = into.into_iter().map(|id| line(view, id, true));
    markdown.list("Entered", begins.chain(lines).collect::<Vec<_>>());
    let mut from: Vec<TransitionId> = row.transitions.clone();
    let outcomes = row.steps.iter().flat_map(|step| &chart.steps[step.index()].outcomes);
    from.extend(outcomes.copied().filter(|line| !row.transitions.contains(line)));
    from.retain(|line| !chart.transition(*line).targets.is_empty());
    from.sort_unstable();
    from.dedup();
    markdown.list("Leads to", from.into_iter().map(|id| line(view, id, false)));
    markdown.list("Also left by enclosing states", above(view, id));
    markdown.list("Limits", limits(chart, &row.limits).iter().map(|limit| code(limit)));
    calls_of_state(markdown, view, id);
}

/// The transitions of ancestors that leave a state, those of the nearest ancestor first.
fn above(view: &View<'_>, id: StateId) -> Vec<String> {
    let chart = &view.one.chart;
    let row = chart.state(id);
    let stays = match &row.kind {
        // In a final state of the root the run is over, and a history is never active.
        StateKind::Final { .. } => row.parent == Some(StateId::at(0)),
        StateKind::History { .. } => true,
        StateKind::Atomic | StateKind::Compound { .. } | StateKind::Parallel => false,
    };
    let around = chart.ancestors(id).filter(|up| *up != id && !stays);
    let lines = around.flat_map(|up| chart.state(up).transitions.iter().copied());
    lines
        .filter(|line| !chart.transition(*line).targets.is_empty())
        .map(|id| {
            let source = code(costs::path(chart, chart.transition(id).source));
            format!("{source} {}", line(view, id, false))
        })
        .collect()
}

/// Adds the maximum number of model calls of turns that begin in a state.
fn calls_of_state(markdown: &mut Markdown, view: &View<'_>, id: StateId) {
    let chart = &view.one.chart;
    let Some(found) = figures(view.done, view.one) else { return };
    let inside = found.turns.iter().filter(|turn| chart.contains(id, turn.leaf));
    let Some(worst) = inside.max_by_key(|turn| (turn.worst, std::cmp::Reverse(turn.leaf))) else {
        return;
    };
    if worst.worst == 0 {
        markdown.line("A turn that begins here calls no model.");
        return;
    }
    let leaf = if worst.leaf == id {
        "here".to_owned()
    } else {
        format!("in {}", code(&chart.state(worst.leaf).path))
    };
    let plural = if worst.worst == 1 { "" } else { "s" };
    markdown.line(format!(
        "A turn that begins {leaf} makes at most {} model call{plural}: {}.",
        worst.worst,
        code(&drivers(chart, &worst.drivers))
    ));
}

/// Describes a chart.
pub(super) fn chart(markdown: &mut Markdown, view: &View<'_>) {
    let chart = &view.one.chart;
    markdown.code("chart", &format!("chart {}", notation::name(&chart.name)));
    markdown.docs(&chart.doc);
    let count = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let asks = chart
        .steps
        .iter()
        .filter(|step| matches!(&step.kind, StepKind::Llm | StepKind::Ask { .. }));
    markdown.line(format!(
        "{}, {}, {}, {} of a model.",
        count(chart.states.len().saturating_sub(1), "state"),
        count(chart.transitions.len(), "transition"),
        count(chart.steps.len(), "step"),
        asks.count()
    ));
    let root = chart.states.first();
    let limits = root.map_or_else(Vec::new, |root| limits(chart, &root.limits));
    markdown.list("Limits", limits.iter().map(|limit| code(limit)));
    let Some(found) = figures(view.done, view.one) else { return };
    let worst = found.turns.iter().max_by_key(|turn| (turn.worst, std::cmp::Reverse(turn.leaf)));
    let mut rows = Vec::new();
    if let Some(worst) = worst {
        let leaf = code(costs::path(chart, worst.leaf));
        rows.push(format!("a turn: at most {}, beginning in {leaf}", worst.worst));
    }
    let most = found.run.worst.calls().map_or("without a bound".into(), |n| format!("at most {n}"));
    let by = costs::bound(chart, &found.run);
    rows.push(format!("a run: {most} ({})", code(&by)));
    markdown.list("Model calls", rows);
    if let Some(found) = money(chart, &found.run)
        && !chart.clients.is_empty()
        && let Some(most) = found.most.known()
    {
        markdown.line(format!("A run costs at most {}.", costs::amount_text(most)));
    }
}

// Describes steps and options.

/// The policy for failed calls, as written.
pub(in crate::ide) fn policy(chart: &Chart, policy: FailurePolicy) -> String {
    let then = match policy.then {
        Failure::Fail => "fail".to_owned(),
        Failure::Skip => "skip".to_owned(),
        Failure::Take(line) => {
            let targets = chart.transition(line).targets.iter();
            let all: Vec<&str> = targets.map(|t| chart.state(t.state).path.as_str()).collect();
            format!("-> {}", all.join(", "))
        }
    };
    match (policy.retry.times, policy.then) {
        (0, Failure::Fail | Failure::Skip) => then,
        (0, Failure::Take(_)) => format!("then {then}"),
        _ => format!("{} then {then}", notation::retry(&policy.retry)),
    }
}

fn list(chart: &Chart, all: &[Expr]) -> String {
    let all: Vec<String> = all.iter().map(|expr| notation::expression(chart, expr)).collect();
    if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) }
}

fn head(chart: &Chart, step: &Step) -> String {
    let name = notation::name(&step.name);
    let each = step.each.as_ref().map_or_else(String::new, |each| {
        let list = notation::expression(chart, &each.list);
        format!(" each {} in {list}", notation::name(&each.local.name))
    });
    let client = step.client.map_or_else(String::new, |id| {
        format!(" with {}", notation::name(&chart.clients[id.index()].name))
    });
    let on = match &step.starts {
        Starts::OnEvent(events) => format!(" on {}", notation::event_pattern(chart, events)),
        Starts::InTurn | Starts::OnEntry => String::new(),
    };
    match &step.kind {
        StepKind::Llm => format!("llm {name}{on}{each}{client}"),
        StepKind::Code(_) => format!("code {name}"),
        StepKind::Ask { always, otherwise } => {
            let on = if step.is_on_event() { on } else { " on turn".to_owned() };
            let always = if *always { " always" } else { "" };
            let otherwise = match otherwise {
                Otherwise::Stay => "stay".to_owned(),
                Otherwise::Take(line) => {
                    let target = chart.transition(*line).targets.first();
                    target.map_or_else(String::new, |t| chart.state(t.state).path.clone())
                }
            };
            let exact = if step.is_exact { " exact" } else { "" };
            format!("ask {name}{exact}{client}{on}{always} else {otherwise}")
        }
        StepKind::Call(tool, arguments) => {
            let tool = notation::path(&chart.tools[tool.index()].name);
            format!("call {name}{on}{each} {tool}{}", list(chart, arguments))
        }
        StepKind::Human(_) => format!("human {name}{on}{each}"),
        StepKind::Run(run) => {
            let one = |(name, value): &(String, Expr)| {
                format!("{}: {}", notation::name(name), notation::expression(chart, value))
            };
            let all: Vec<String> = run.arguments.iter().map(one).collect();
            let all = if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) };
            let entry = if step.starts == Starts::OnEntry { " at entry" } else { "" };
            let forward = run.forward.words();
            format!("run {name}{each} {}{all}{entry}{forward}", notation::name(&run.chart))
        }
    }
}

/// Describes a step.
pub(super) fn step(markdown: &mut Markdown, view: &View<'_>, id: StepId) {
    let chart = &view.one.chart;
    let row = &chart.steps[id.index()];
    markdown.code("chart", &head(chart, row));
    markdown.docs(&row.doc);
    let mut rows = vec![format!("of {}", code(costs::path(chart, row.state)))];
    let is_code = matches!(row.kind, StepKind::Code(_));
    if let Some(guard) = &row.guard {
        rows.push(format!("if {}", code(&notation::expression(chart, guard))));
    }
    if !is_code {
        let into = row.into.map_or_else(String::new, |id| {
            format!(" into {}", code(&chart.variables[id.index()].name))
        });
        if !matches!(row.kind, StepKind::Ask { .. }) {
            rows.push(format!("answer: {}{into}", code(&written(chart, &row.returns))));
        }
        rows.push(format!("a failed call: {}", code(&policy(chart, row.failure))));
    }
    if matches!(row.kind, StepKind::Llm | StepKind::Ask { .. }) && row.client.is_none() {
        rows.push("client: the default of the host".to_owned());
    }
    if let Some(client) = row.client {
        let client = &chart.clients[client.index()];
        rows.push(format!("client: {} ({})", code(&client.name), code(&client.model)));
    }
    if let Some(each) = &row.each {
        let enough = each.enough.map_or_else(String::new, |n| format!(", enough {n}"));
        let lost = match each.lost {
            Lost::Fail => "the step fails",
            Lost::Skip => "the answer leaves it out",
            Lost::None => "the answer has `none` for it",
        };
        rows.push(format!("elements: up to {}, {} at a time{enough}", each.most, each.at_a_time));
        rows.push(format!("a failed element: {lost}"));
    }
    if let Some(guard) = &row.ends_turn {
        rows.push(format!("ends the turn if {}", code(&notation::expression(chart, guard))));
    }
    rows.extend(calls_of_step(chart, id));
    markdown.list("Step", rows);
    markdown.list("Outcomes", row.outcomes.iter().map(|id| line(view, *id, false)));
    sent(markdown, view, id);
}

/// The maximum number of model calls of one run of a step.
fn calls_of_step(chart: &Chart, id: StepId) -> Option<String> {
    let row = &chart.steps[id.index()];
    match row.kind {
        StepKind::Llm | StepKind::Ask { .. } => {}
        _ => {
            return None;
        }
    }
    let retry = row.failure.retry;
    let retries = retry.times;
    let of_client = row.client.and_then(|client| chart.clients[client.index()].retry);
    let most = Driver {
        step: id,
        times: row.each.as_ref().map_or(1, |each| u64::from(each.most)),
        retries: u64::from(retries),
        tools: row.tools.map_or(0, |tools| u64::from(tools.calls)),
        of_client: retries > 0 && of_client == Some(retry),
    };
    let words = code(&costs::driver(chart, &most));
    Some(format!("model calls of one run of it: at most {} ({words})", most.calls()))
}

/// Describes an option of a question.
pub(super) fn choice(markdown: &mut Markdown, view: &View<'_>, id: ChoiceId) {
    let chart = &view.one.chart;
    let row = &chart.choices[id.index()];
    let arguments = match &row.kind {
        ChoiceKind::Option(all) => fields(chart, all),
        ChoiceKind::Call(..) => String::new(),
    };
    markdown.code("chart", &format!("may {}{arguments}", notation::name(&row.name)));
    let offers = self::offers(view, id);
    offers
        .iter()
        .filter(|offer| !offer.text.is_empty())
        .for_each(|offer| markdown.docs(&offer.text));
    let transition = chart.transition(row.transition);
    let mut rows = vec![line(view, row.transition, false)];
    if let Some(guard) = &transition.guard {
        let guard = notation::expression_in(chart, guard, &notation::payload(transition));
        rows.push(format!("offered if {}", code(&guard)));
    }
    if !transition.actions.is_empty() {
        let payload = notation::payload(transition);
        let actions = notation::actions(chart, &transition.actions, &payload);
        rows.push(format!("then {}", code(&actions)));
    }
    markdown.list("Option", rows);
    let asked = (0..chart.steps.len()).map(StepId::at).filter(|step| {
        let asks = matches!(chart.steps[step.index()].kind, StepKind::Ask { .. });
        asks && choices(chart, *step).contains(&id)
    });
    let name = |id: StepId| {
        let place = view.place(view.one.map.step(id).name);
        format!("{} {place}", code(&chart.steps[id.index()].name))
    };
    markdown.list("Offered by", asked.map(name).collect::<Vec<_>>());
}

// Describes tools, sets of tools, clients and components.

/// Describes a tool, with the sets that contain it and the places that use it.
pub(super) fn tool(markdown: &mut Markdown, view: &View<'_>, id: ToolId) {
    let chart = &view.one.chart;
    let row = &chart.tools[id.index()];
    let params = match fields(chart, &row.params) {
        none if none.is_empty() => "()".to_owned(),
        params => params,
    };
    let idempotent = if row.idempotent { " idempotent" } else { "" };
    let (name, result) = (notation::path(&row.name), written(chart, &row.result));
    markdown.code("chart", &format!("tool {name}{params} -> {result}{idempotent}"));
    markdown.docs(&row.doc);
    let sets = (0..chart.tool_sets.len()).map(ToolSetId::at).filter(|set| {
        let is_named = view.one.map.tool_sets.get(set.index()).is_some_and(Option::is_some);
        is_named && chart.tools_of(*set).contains(&id)
    });
    let sets = sets.map(|set| code(&chart.tool_sets[set.index()].name)).collect::<Vec<_>>();
    markdown.list("In the sets", sets);
    markdown.list("Used at", rows(view, places(view, view.declared)));
}

/// Describes a set of tools, with its tools and the places that use it.
pub(super) fn set(markdown: &mut Markdown, view: &View<'_>, id: ToolSetId) {
    let chart = &view.one.chart;
    let row = &chart.tool_sets[id.index()];
    markdown.code("chart", &format!("tools {}", notation::name(&row.name)));
    let tools = chart.tools_of(id).into_iter().map(|tool| {
        let tool = &chart.tools[tool.index()];
        code(&format!("{}{}", tool.name, fields(chart, &tool.params)))
    });
    let tools: Vec<String> = tools.collect();
    if tools.is_empty() {
        markdown.line("No tool is in this set.");
    }
    markdown.list("Tools", tools);
    markdown.list("Used at", rows(view, places(view, view.declared)));
}

/// Describes a client, with its settings and the steps that use it.
pub(super) fn client(markdown: &mut Markdown, view: &View<'_>, id: ClientId) {
    let chart = &view.one.chart;
    let row = &chart.clients[id.index()];
    markdown.code(
        "chart",
        &format!("client {} {{ model {:?} }}", notation::name(&row.name), row.model),
    );
    let mut rows = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        rows.extend(value.map(|value| code(&format!("{name} {value}"))));
    };
    add("temperature", row.temperature.map(|n| format!("{n:?}")));
    add("max_tokens", row.max_tokens.map(|n| n.to_string()));
    add("timeout", row.timeout.map(notation::duration));
    add("options", (!row.options.is_empty()).then(|| row.options.clone()));
    add("retry", row.retry.map(|retry| notation::retry(&retry)["retry ".len()..].to_owned()));
    add("fallback", row.fallback.map(|id| chart.clients[id.index()].name.clone()));
    add("input_price", row.input_price.map(|n| format!("{n:?}")));
    add("output_price", row.output_price.map(|n| format!("{n:?}")));
    let form = Some(row.actions).filter(|form| *form != ActionForm::Any);
    add("actions", form.map(|form| form.word().to_owned()));
    markdown.list("Options", rows);
    let steps = chart.steps.iter().filter(|step| step.client == Some(id));
    markdown.list("Steps", steps.map(|step| code(&step.name)).collect::<Vec<_>>());
}

/// Describes a component: the steps whose prompts it changes, and its text.
pub(super) fn component(markdown: &mut Markdown, view: &View<'_>, nth: usize) {
    let chart = &view.one.chart;
    let row = &chart.components[nth];
    markdown.code("chart", &format!("component {}", notation::name(&row.name)));
    let inserts = row.inserts.iter().map(|insert| {
        let step = code(&chart.steps[insert.step.index()].name);
        let place = match insert.place {
            Position::Start => "before the prompt of",
            Position::End => "behind the prompt of",
            Position::Replace => "in place of the prompt of",
        };
        let guard = insert.guard.as_ref().map(|guard| notation::expression(chart, guard));
        let guard = guard.map_or_else(String::new, |guard| format!(" if {}", code(&guard)));
        format!("{place} {step}{guard}")
    });
    markdown.list("Goes", inserts.collect::<Vec<_>>());
    markdown.line("**Text**:");
    let parts = view.one.map.component_parts.get(nth).map_or(&[][..], Vec::as_slice);
    markdown.code("text", &text(view, &row.text, parts));
}

// Describes names that belong to no chart: ids of sent events, imported files, and declarations of files without charts.

/// Describes a name that is a file or is declared outside of charts. Returns whether anything was added.
pub(super) fn show(markdown: &mut Markdown, done: &Compilation, name: &Use) -> bool {
    if name.kind == NameKind::File {
        file(markdown, done, name.declared.file);
        return true;
    }
    if name.kind == NameKind::SendId {
        markdown.line("The id of what is sent here; `cancel` takes back what did not come yet.");
        return true;
    }
    let Some(file) = done.files.iter().find(|file| file.id == name.declared.file) else {
        return false;
    };
    let around = file.items.iter().find(|noted| contains(noted.span, name.declared));
    match around.map(|noted| (noted, &noted.node)) {
        None | Some((_, Item::Chart(_) | Item::Scenario(_) | Item::Import(_) | Item::Bad(_))) => {
            false
        }
        Some((
            noted,
            Item::Record(_)
            | Item::Enum(_)
            | Item::Function(_)
            | Item::Tool(_)
            | Item::ToolSet(_)
            | Item::Client(_)
            | Item::Component(_),
        )) => {
            markdown.code("chart", done.sources.get(file.id).slice(noted.span));
            markdown.docs(&noted.doc);
            true
        }
    }
}

/// Describes an imported file by its declarations.
fn file(markdown: &mut Markdown, done: &Compilation, id: FileId) {
    markdown.line(code(&done.sources.get(id).name));
    let ident = |name: &Ident| name.node.clone();
    let items = done.files.iter().filter(|file| file.id == id).flat_map(|file| &file.items);
    let names = items.filter_map(|noted| {
        let (word, name) = match &noted.node {
            Item::Chart(chart) => ("chart", ident(&chart.name)),
            Item::Record(record) => ("type", ident(&record.name)),
            Item::Enum(names) => ("enum", ident(&names.name)),
            Item::Function(function) => ("function", ident(&function.name)),
            Item::Tool(tool) => ("tool", Path::text(&tool.name)),
            Item::ToolSet(set) => ("tools", ident(&set.name)),
            Item::Client(client) => ("client", ident(&client.name)),
            Item::Component(component) => ("component", ident(&component.name)),
            Item::Import(_) | Item::Scenario(_) | Item::Bad(_) => return None,
        };
        Some(code(&format!("{word} {name}")))
    });
    markdown.list("Declares", names.collect::<Vec<_>>());
}

// Lists the places where a name is used.

/// The places where the thing declared at `declared` is used, in order, without the declaration.
pub(super) fn places(view: &View<'_>, declared: Span) -> Vec<Span> {
    let uses = view.done.uses.iter();
    let mut all: Vec<Span> = uses
        .filter(|one| one.declared == declared && one.at != declared)
        .map(|one| one.at)
        .collect();
    all.dedup();
    all
}

/// Formats places, each once.
pub(super) fn rows(view: &View<'_>, places: impl IntoIterator<Item = Span>) -> Vec<String> {
    let mut all: Vec<String> = places.into_iter().map(|span| row(view, span)).collect();
    all.dedup();
    all
}

/// Formats a place, with the state that it is in.
fn row(view: &View<'_>, span: Span) -> String {
    let mut text = view.place(span);
    let state = hover::name_around(view.one, span);
    if hover::contains(hover::whole(view.one), span) && state != StateId::at(0) {
        text.push_str(&format!(" in {}", code(&view.one.chart.state(state).path)));
    }
    text
}

/// The spans of the names that a file assigns to: by actions, by answers of steps and tools, and by tests.
pub(super) fn sets(file: &File) -> BTreeSet<Span> {
    let mut found = BTreeSet::new();
    visit::file(file, &mut |node| {
        if let Node::Name { parts, mode: Mode::Set, .. } = node {
            found.extend(parts.iter().map(|part| part.span));
        }
    });
    found
}

// Describes what a step sends to a model or a person: the prompt with its placeholders, the options, and the form of the answer.

/// Adds the prompt of a step, its options, and the form of its answer.
pub(super) fn sent(markdown: &mut Markdown, view: &View<'_>, id: StepId) {
    let chart = &view.one.chart;
    let step = &chart.steps[id.index()];
    match &step.kind {
        StepKind::Llm | StepKind::Ask { .. } | StepKind::Human(_) => {}
        StepKind::Code(_) | StepKind::Call(..) | StepKind::Run(_) => return,
    }
    prompt(markdown, view, id);
    if let StepKind::Ask { .. } = &step.kind {
        let choices = choices(chart, id);
        options(markdown, view, &choices);
    }
    if let Some(tools) = &step.tools {
        let offers: Vec<Offer> =
            chart.tools_of(tools.set).into_iter().map(|tool| of_tool(chart, tool)).collect();
        markdown.line(format!("**Tools** that it may call, {} times at most:", tools.calls));
        markdown.code("text", &listed(&offers));
    }
    let answer = schema::of_answer(chart, id);
    if !answer.is_empty() {
        markdown.line("**Answer**, by this schema:");
        markdown.code("json", &pretty(&answer));
    } else if step.kind == StepKind::Llm {
        let form = step.client.map_or(ActionForm::Any, |id| chart.clients[id.index()].actions);
        markdown.line(match form {
            ActionForm::Any => {
                "**Answer**: an action, `{reasoning, action, …}`; in a world `{thought_process, action: {action_type, …}}`."
            }
            ActionForm::Simple => {
                "**Answer**: an action, `{thought_process, action: {action_type, …}}`."
            }
            ActionForm::Ooda => {
                "**Answer**: an action, `{situation_assessment, action_rationale, action: {action_type, …}}`."
            }
        });
    }
}

fn pretty(json: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(json);
    value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or_else(|_| json.to_owned())
}

/// Adds the parts of the prompt, in the order in which they are sent.
fn prompt(markdown: &mut Markdown, view: &View<'_>, id: StepId) {
    let chart = &view.one.chart;
    let at = |place: Position| {
        chart.inserts(id).filter(move |(_, insert)| insert.place == place).collect::<Vec<_>>()
    };
    let is_replaced = at(Position::Replace).iter().any(|(_, insert)| insert.guard.is_none());
    let component = |markdown: &mut Markdown, place: Position| {
        for (component, insert) in at(place) {
            let guard = insert.guard.as_ref().map(|guard| notation::expression(chart, guard));
            let guard = guard.map_or_else(String::new, |guard| format!(", if {}", code(&guard)));
            let how = match place {
                Position::Start => "**Prompt**, first, from",
                Position::Replace => "**Prompt**, in place of the step's own, from",
                Position::End => "**Prompt**, last, from",
            };
            markdown.line(format!("{how} component {}{guard}:", code(&component.name)));
            let nth = chart.components.iter().position(|one| std::ptr::eq(one, component));
            let spans = nth.and_then(|nth| view.one.map.component_parts.get(nth));
            markdown.code("text", &text(view, &component.text, spans.map_or(&[], Vec::as_slice)));
        }
    };
    component(markdown, Position::Start);
    component(markdown, Position::Replace);
    if let Some(own) = chart.own_prompt(id).filter(|_| !is_replaced) {
        markdown.line("**Prompt**:");
        markdown.code("text", &text(view, own, &view.one.map.step(id).prompt_parts));
    }
    component(markdown, Position::End);
}

/// A text as it is sent, with its placeholders as they stand in the source.
pub(super) fn text(view: &View<'_>, template: &Template, parts: &[Span]) -> String {
    let chart = &view.one.chart;
    let place = |nth: usize| {
        let span = parts.get(nth).filter(|_| parts.len() == template.parts.len())?;
        let text = view.done.sources.get(span.file).slice(*span);
        (text.starts_with('{') && text.ends_with('}')).then_some(text)
    };
    let mut out = String::new();
    for (nth, part) in template.parts.iter().enumerate() {
        match part {
            TemplatePart::Text(text) | TemplatePart::Bad(text) => out.push_str(text),
            TemplatePart::Options => out.push_str("{options}"),
            TemplatePart::Hole { expr, spec } => {
                if let Some(written) = place(nth) {
                    out.push_str(written);
                } else {
                    let colon = if spec.is_empty() { "" } else { ":" };
                    let expr = notation::expression(chart, expr);
                    out.push_str(&format!("{{{expr}{colon}{spec}}}"));
                }
            }
        }
    }
    out
}

/// The options that a question may offer: those of the states around its own and of the states inside, innermost first.
pub(super) fn choices(chart: &Chart, id: StepId) -> Vec<ChoiceId> {
    let asks = chart.steps[id.index()].state;
    let source = |id: ChoiceId| chart.transition(chart.choices[id.index()].transition).source;
    let mut all: Vec<ChoiceId> = (0..chart.choices.len()).map(ChoiceId::at).collect();
    all.retain(|id| chart.contains(asks, source(*id)) || chart.contains(source(*id), asks));
    all.sort_by_key(|id| (std::cmp::Reverse(chart.ancestors(source(*id)).count()), *id));
    all
}

/// An option as it is offered. A permission for tools is an offer for each tool.
pub(super) fn offers(view: &View<'_>, id: ChoiceId) -> Vec<Offer> {
    let chart = &view.one.chart;
    let choice = &chart.choices[id.index()];
    let description = choice.text.as_ref().map(|template| text(view, template, &[]));
    match &choice.kind {
        ChoiceKind::Option(fields) => vec![Offer {
            choice: id,
            tool: None,
            name: choice.name.clone().into(),
            text: description.unwrap_or_default().into(),
            arguments: arguments(chart, fields),
        }],
        ChoiceKind::Call(set, _) => {
            let tools = chart.tools_of(*set).into_iter().map(|tool| of_tool(chart, tool));
            let said = |offer: Offer| Offer {
                choice: id,
                text: description.clone().map_or(offer.text, Cow::Owned),
                ..offer
            };
            tools.map(said).collect()
        }
    }
}

fn of_tool(chart: &Chart, id: ToolId) -> Offer {
    let tool = &chart.tools[id.index()];
    Offer {
        choice: Offer::NO_LINE,
        tool: Some(id),
        name: tool.name.clone().into(),
        text: summary(&tool.doc).into(),
        arguments: arguments(chart, &tool.params),
    }
}

fn arguments(chart: &Chart, fields: &[Field]) -> Vec<(Cow<'static, str>, Cow<'static, str>)> {
    let typed = |field: &Field| (field.name.clone().into(), field_text(field, &chart.types).into());
    fields.iter().map(typed).collect()
}

/// Adds the options of a question as its prompt shows them, and those that are offered only under a condition.
fn options(markdown: &mut Markdown, view: &View<'_>, choices: &[ChoiceId]) {
    let chart = &view.one.chart;
    let mut all: Vec<Offer> = Vec::new();
    for offer in choices.iter().flat_map(|id| offers(view, *id)) {
        // If several lines permit a tool, the first one offers it.
        if offer.tool.is_none() || all.iter().all(|known| known.tool != offer.tool) {
            all.push(offer);
        }
    }
    if all.is_empty() {
        return;
    }
    markdown.line("**Options**:");
    markdown.code("text", &listed(&all));
    let guarded = choices.iter().filter_map(|id| {
        let choice = &chart.choices[id.index()];
        let line = chart.transition(choice.transition);
        let guard = line.guard.as_ref()?;
        let guard = notation::expression_in(chart, guard, &notation::payload(line));
        Some(format!("{} if {}", code(&choice.name), code(&guard)))
    });
    markdown.list("Offered under a condition", guarded.collect::<Vec<_>>());
}
