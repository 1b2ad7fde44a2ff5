//! Writes the static tables of a chart. Fields with their default value come from `PLAIN`. For example, a state without children
//! and transitions becomes `StateRow { path: "p.l.b", parent: StateId(2), end: StateId(5), place: 3, ..StateRow::PLAIN }`.

use super::Context;
use crate::lint::words::{self, TransitionHead};
use chartc_core::arena::{ChoiceId, ClientId, EventId, StateId, StepId, ToolId, TransitionId};
use chartc_core::model::{ActionForm, Status};
use chartc_core::tables::{
    ChoiceRow, ClientRow, ComputedLimitRow, Dispatch, EachRow, EventRow, FailureRow, LimitsRow,
    PermissionRow, Reacts, RenameRow, RenamedRow, Route, Span, StateRow, StateRowKind, StepRow,
    StepRowKind, Summary, ToolRow, TransitionRow, TriggerRow, TypeRow, TypedRow, WalkRow,
};
use codegen::Scope;
use std::fmt::Write;

/// Adds `static TABLES`.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) {
    let t = &context.tables;
    let mut out = String::new();
    let _ = write!(
        out,
        "/// The chart as the step algorithm reads it; rows name each other by number.\n\
         static TABLES: tables::Tables = {{\n\
         use chartc_core::{{arena::*, tables::*}};\n\
         use chartc_core::tables::{{List::Static as list, Text::Static as text}};\n\
         Tables {{\n\
         name: text({:?}),\nhash: {:#018x},\n",
        &*t.name, t.hash
    );
    rows(&mut out, "states", t.states.iter().enumerate(), |(i, row)| state(context, i, row));
    rows(&mut out, "transitions", t.transitions.iter().enumerate(), |(i, row)| {
        format!("{}{}", comment(&transition_comment(context, i)), transition(row))
    });
    rows(&mut out, "events", t.events.iter(), event);
    rows(&mut out, "steps", t.steps.iter(), step);
    rows(&mut out, "choices", t.choices.iter(), choice);
    rows(&mut out, "tools", t.tools.iter(), tool);
    rows(&mut out, "clients", t.clients.iter(), client);
    rows(&mut out, "permissions", t.permissions.iter(), permission);
    rows(&mut out, "walks", t.walks.iter(), walk);
    rows(&mut out, "computed_limits", t.computed_limits.iter(), computed_limit);
    let _ = writeln!(out, "reads_amounts: {},", t.reads_amounts);
    rows(&mut out, "types", t.types.iter(), type_row);
    rows(&mut out, "renames", t.renames.iter(), rename);
    rows(&mut out, "state_pool", t.state_pool.iter(), |id| state_id(*id));
    rows(&mut out, "event_pool", t.event_pool.iter(), |EventId(n)| format!("EventId({n})"));
    rows(&mut out, "step_pool", t.step_pool.iter(), |StepId(n)| format!("StepId({n})"));
    rows(&mut out, "name_pool", t.name_pool.iter(), |name| text(name));
    rows(&mut out, "choice_pool", t.choice_pool.iter(), |ChoiceId(n)| format!("ChoiceId({n})"));
    rows(&mut out, "dispatch_pool", t.dispatch_pool.iter(), |row| {
        let event = match row.event {
            Dispatch::ANY => "Dispatch::ANY".to_owned(),
            EventId(n) => format!("EventId({n})"),
        };
        format!("Dispatch {{ event: {event}, line: TransitionId({}) }}", row.line.0)
    });
    rows(&mut out, "tool_pool", t.tool_pool.iter(), |ToolId(n)| format!("ToolId({n})"));
    rows(&mut out, "send_ids", t.send_ids.iter(), |name| text(name));
    let _ = write!(
        out,
        "sends: {},\ncalls_per_turn: {},\nhistory_kept: {:?},\nmicrosteps: {},\nsummary: {},\n}}\n}};",
        t.sends,
        t.calls_per_turn,
        t.history_kept,
        t.microsteps,
        literal(&t.summary)
    );
    scope.raw(&out);
}

fn rows<R>(
    out: &mut String,
    field: &str,
    all: impl Iterator<Item = R>,
    mut row: impl FnMut(R) -> String,
) {
    let _ = writeln!(out, "{field}: list(&[");
    for one in all {
        let _ = writeln!(out, "{},", row(one));
    }
    let _ = writeln!(out, "]),");
}

/// Writes a comment before the code that follows. (The formatter turns the attribute into a comment.)
pub(super) fn comment(text: &str) -> String {
    format!("#[comment = {:?}]\n", format!(" {}", text.replace('\n', " ")))
}

/// Returns a comment such as `observing: when -> observing`, for readers of the tables.
pub(super) fn transition_comment(context: &Context<'_>, index: usize) -> String {
    let chart = context.chart;
    let transition = &chart.transitions[index];
    let path = |id: StateId| match chart.state(id).path.as_str() {
        "" => chart.name.clone(),
        path => path.to_owned(),
    };
    let trigger = match words::head(chart, TransitionId::at(index)) {
        TransitionHead::Line(words) => words,
        TransitionHead::Outcome(what, step) => format!("{what} of {step}"),
    };
    let mut text = format!("{index} {}: {trigger}", path(transition.source));
    for (i, target) in transition.targets.iter().enumerate() {
        text.push_str(if i == 0 { " -> " } else { ", " });
        text.push_str(&path(target.state));
    }
    text
}

pub(super) fn state_id(StateId(n): StateId) -> String {
    format!("StateId({n})")
}

/// A text of a row.
fn text(text: &str) -> String {
    format!("text({text:?})")
}

pub(super) fn span(Span { start, len }: Span) -> String {
    format!("Span {{ start: {start}, len: {len} }}")
}

/// A literal `Kind { fields that differ from PLAIN, ..Kind::PLAIN }`.
struct StructLiteral {
    kind: &'static str,
    fields: Vec<String>,
    all: usize,
}

impl StructLiteral {
    fn new(kind: &'static str, all: usize) -> Self {
        Self { kind, fields: Vec::new(), all }
    }

    fn field(mut self, name: &str, value: impl Into<Option<String>>) -> Self {
        if let Some(value) = value.into() {
            self.fields.push(format!("{name}: {value}"));
        }
        self
    }

    fn text(self) -> String {
        let Self { kind, mut fields, all } = self;
        // Clippy rejects `..PLAIN` after a complete list of fields.
        if fields.len() < all {
            fields.push(format!("..{kind}::PLAIN"));
        }
        format!("{kind} {{ {} }}", fields.join(", "))
    }
}

fn yes(flag: bool) -> Option<String> {
    flag.then(|| "true".to_owned())
}

fn count(n: u32) -> Option<String> {
    (n > 0).then(|| n.to_string())
}

fn some(part: Span) -> Option<String> {
    (part.len > 0).then(|| span(part))
}

fn state(context: &Context<'_>, index: usize, row: &StateRow) -> String {
    let title = if index == 0 { &*context.chart.name } else { &*row.path };
    let kind = match row.kind {
        StateRowKind::Atomic => None,
        StateRowKind::Compound(initial) => Some(format!("Compound({})", span(initial))),
        StateRowKind::Parallel => Some("Parallel".to_owned()),
        StateRowKind::Final(status) => {
            Some(format!("Final(chartc_core::machine::Status::{})", status_name(status)))
        }
        StateRowKind::History { deep, default, slot } => {
            Some(format!("History {{ deep: {deep}, default: {}, slot: {slot} }}", span(default)))
        }
    };
    let row = StructLiteral::new("StateRow", 18)
        .field("path", (!row.path.is_empty()).then(|| text(&row.path)))
        .field("kind", kind.map(|k| format!("StateRowKind::{k}")))
        .field("parent", state_id(row.parent))
        .field("end", state_id(row.end))
        .field("transitions", some(row.transitions))
        .field("steps", some(row.steps))
        .field("choices", some(row.choices))
        .field("entry", count(row.entry))
        .field("exit", count(row.exit))
        .field("default_actions", yes(row.default_actions))
        .field("advice", yes(row.advice))
        .field("limits", limits(row.limits))
        .field("histories", some(row.histories))
        .field("here", reacts(row.here))
        .field("on_path", reacts(row.on_path))
        .field("index", some(row.index))
        .field("walk", count(row.walk))
        .field("place", count(row.place));
    format!("{}{}", comment(&format!("{index} {title}")), row.text())
}

fn walk(row: &WalkRow) -> String {
    let WalkRow { state, outer, steps } = *row;
    let (state, steps) = (state_id(state), span(steps));
    format!("WalkRow {{ state: {state}, outer: {outer}, steps: {steps} }}")
}

fn computed_limit(row: &ComputedLimitRow) -> String {
    let ComputedLimitRow { state, kind, is_soft } = *row;
    let state = state_id(state);
    format!(
        "ComputedLimitRow {{ state: {state}, kind: chartc_core::machine::LimitKind::{kind:?}, \
         is_soft: {is_soft} }}"
    )
}

fn status_name(status: Status) -> &'static str {
    match status {
        Status::Ok => "Ok",
        Status::Partial => "Partial",
        Status::Stuck => "Stuck",
        Status::Limit => "Limit",
        Status::Canceled => "Canceled",
        Status::Error => "Error",
    }
}

pub(super) fn reacts(set: Reacts) -> Option<String> {
    (set != Reacts::NOTHING).then(|| format!("Reacts({:#x})", set.0))
}

fn route(route: Route) -> Option<String> {
    match route {
        Route::Stay => None,
        Route::Known { domain, entry } => {
            Some(format!("Route::Known {{ domain: {}, entry: {} }}", state_id(domain), span(entry)))
        }
        Route::Computed => Some("Route::Computed".to_owned()),
    }
}

fn limits(row: LimitsRow) -> Option<String> {
    if row == LimitsRow::PLAIN {
        return None;
    }
    let LimitsRow { calls, calls_warn, turns, turns_warn, time, time_warn, .. } = row;
    let LimitsRow { tokens, tokens_warn, cost, cost_warn, .. } = row;
    let bounds = [
        ("calls", calls.map(u64::from)),
        ("calls_warn", calls_warn.map(u64::from)),
        ("turns", turns.map(u64::from)),
        ("turns_warn", turns_warn.map(u64::from)),
        ("time", time),
        ("time_warn", time_warn),
        ("tokens", tokens),
        ("tokens_warn", tokens_warn),
        ("cost", cost),
        ("cost_warn", cost_warn),
    ];
    let mut row = StructLiteral::new("LimitsRow", bounds.len());
    for (name, bound) in bounds {
        row = row.field(name, bound.map(|bound| format!("Some({bound})")));
    }
    Some(row.text())
}

fn client(row: &ClientRow) -> String {
    let some = |value: u64| (value != 0).then(|| value.to_string());
    StructLiteral::new("ClientRow", 10)
        .field("name", text(&row.name))
        .field("model", text(&row.model))
        .field("temperature", row.temperature.map(|x| format!("Some({x:?})")))
        .field("max_tokens", some(row.max_tokens))
        .field("timeout", some(row.timeout))
        .field("options", (!row.options.is_empty()).then(|| text(&row.options)))
        .field("input_price", row.input_price.map(|price| format!("Some({price})")))
        .field("output_price", row.output_price.map(|price| format!("Some({price})")))
        .field(
            "actions",
            (row.actions != ActionForm::Any).then(|| format!("ActionForm::{:?}", row.actions)),
        )
        .field("fallback", row.fallback.map(|ClientId(n)| format!("Some(ClientId({n}))")))
        .text()
}

fn transition(row: &TransitionRow) -> String {
    let trigger = match row.trigger {
        TriggerRow::Event(events) => format!("Event({})", span(events)),
        TriggerRow::AnyEvent => "AnyEvent".to_owned(),
        TriggerRow::AnyOccurrence => "AnyOccurrence".to_owned(),
        TriggerRow::Turn => "Turn".to_owned(),
        TriggerRow::When => "When".to_owned(),
        TriggerRow::StateDone(id) => format!("StateDone({})", state_id(id)),
        TriggerRow::After(slot) => format!("After({slot})"),
        TriggerRow::AfterTurns(slot) => format!("AfterTurns({slot})"),
        TriggerRow::Choice(ChoiceId(n)) => format!("Choice(ChoiceId({n}))"),
        TriggerRow::StepDone(StepId(n)) => format!("StepDone(StepId({n}))"),
        TriggerRow::StepError(StepId(n)) => format!("StepError(StepId({n}))"),
        TriggerRow::StepTimeout(StepId(n), slot) => format!("StepTimeout(StepId({n}), {slot})"),
        TriggerRow::StepDoubt(StepId(n)) => format!("StepDoubt(StepId({n}))"),
        TriggerRow::StepElse(StepId(n)) => format!("StepElse(StepId({n}))"),
        TriggerRow::Error(pattern) => format!("Error({pattern})"),
        TriggerRow::LimitWarn(pattern) => format!("LimitWarn({pattern})"),
    };
    StructLiteral::new("TransitionRow", 11)
        .field("source", state_id(row.source))
        .field("trigger", format!("TriggerRow::{trigger}"))
        .field("any_of", some(row.any_of))
        .field("none_of", some(row.none_of))
        .field("guard", yes(row.guard))
        .field("targets", some(row.targets))
        .field("internal", yes(row.internal))
        .field("actions", yes(row.actions))
        .field("arguments", yes(row.arguments))
        .field("alternatives", some(row.alternatives))
        .field("route", route(row.route))
        .text()
}

fn event(row: &EventRow) -> String {
    format!("EventRow {{ name: {}, fields: {} }}", text(&row.name), span(row.fields))
}

fn step(row: &StepRow) -> String {
    let kind = match row.kind {
        StepRowKind::Llm => Some("Llm".to_owned()),
        StepRowKind::Code => None,
        StepRowKind::Ask { on, always, otherwise } => {
            let on = on.map_or("None".to_owned(), |on| format!("Some({})", span(on)));
            let otherwise =
                otherwise.map_or("None".to_owned(), |t| format!("Some(TransitionId({}))", t.0));
            Some(format!("Ask {{ on: {on}, always: {always}, otherwise: {otherwise} }}"))
        }
        StepRowKind::Call => Some("Call".to_owned()),
        StepRowKind::Human => Some("Human".to_owned()),
        StepRowKind::Run { on_entry, forward } => {
            Some(format!("Run {{ on_entry: {on_entry}, forward: Forward::{forward:?} }}"))
        }
    };
    let failure = match row.failure {
        FailureRow::Fail => None,
        FailureRow::Skip => Some("Skip".to_owned()),
        FailureRow::Take(transition) => Some(format!("Take(TransitionId({}))", transition.0)),
    };
    StructLiteral::new("StepRow", 13)
        .field("name", text(&row.name))
        .field("state", state_id(row.state))
        .field("kind", kind.map(|k| format!("StepRowKind::{k}")))
        .field("guard", yes(row.guard))
        .field("retries", (row.retries > 0).then(|| row.retries.to_string()))
        .field("failure", failure.map(|f| format!("FailureRow::{f}")))
        .field("ends_turn", yes(row.ends_turn))
        .field("client", (!row.client.is_empty()).then(|| text(&row.client)))
        .field("tools", (row.tools.len > 0).then(|| span(row.tools)))
        .field("tool_calls", (row.tool_calls > 0).then(|| row.tool_calls.to_string()))
        .field("each", row.each.map(|row| format!("Some({})", each(row))))
        .field("retries_doubt", yes(row.retries_doubt))
        .field("accepts_cut", yes(row.accepts_cut))
        .text()
}

fn each(row: EachRow) -> String {
    let EachRow { slot, at_a_time, most, enough, lost } = row;
    format!(
        "EachRow {{ slot: {slot}, at_a_time: {at_a_time}, most: {most}, enough: {enough:?}, lost: Lost::{lost:?} }}"
    )
}

fn choice(row: &ChoiceRow) -> String {
    let tools = row.tools.map_or("None".to_owned(), |tools| format!("Some({})", span(tools)));
    format!(
        "ChoiceRow {{ name: {}, transition: TransitionId({}), fields: {}, tools: {tools} }}",
        text(&row.name),
        row.transition.0,
        span(row.fields)
    )
}

fn tool(row: &ToolRow) -> String {
    let ToolRow { name, fields, idempotent } = row;
    let (name, fields) = (text(name), span(*fields));
    format!("ToolRow {{ name: {name}, fields: {fields}, idempotent: {idempotent} }}")
}

fn permission(row: &PermissionRow) -> String {
    let from = row.from.map_or("None".to_owned(), |s| format!("Some({})", state_id(s)));
    format!("PermissionRow {{ from: {from}, to: {}, guard: {} }}", state_id(row.to), row.guard)
}

// Writes the summary of the tables: what follows from all their rows together.

/// Writes the facts that differ from those of a plain chart.
pub(super) fn literal(of: &Summary) -> String {
    let Summary { leaves, together, reacts: all, limits, default_actions, asks, .. } = *of;
    let Summary { entry_runs, histories, computed, .. } = *of;
    let flags = [
        ("limits", limits),
        ("default_actions", default_actions),
        ("asks", asks),
        ("entry_runs", entry_runs),
        ("histories", histories),
        ("computed", computed),
    ];
    let mut out = format!("Summary {{ leaves: {leaves}, together: {together}, ");
    if let Some(all) = reacts(all) {
        let _ = write!(out, "reacts: {all}, ");
    }
    for (flag, _) in flags.into_iter().filter(|(_, holds)| *holds) {
        let _ = write!(out, "{flag}: true, ");
    }
    out + "..Summary::PLAIN }"
}

fn type_row(row: &TypeRow) -> String {
    let of = match &row.of {
        TypedRow::Param(name) => format!("Param({})", text(name)),
        TypedRow::Variable(name) => format!("Variable({})", text(name)),
        TypedRow::Answer(StepId(n)) => format!("Answer(StepId({n}))"),
        TypedRow::Event(EventId(n), field) => format!("Event(EventId({n}), {})", text(field)),
        TypedRow::Record(name, field) => format!("Record({}, {})", text(name), text(field)),
    };
    format!("TypeRow {{ of: TypedRow::{of}, ty: {} }}", span(row.ty))
}

fn rename(row: &RenameRow) -> String {
    let what = match &row.what {
        RenamedRow::State(id) => format!("State({})", state_id(*id)),
        RenamedRow::Step(StepId(n)) => format!("Step(StepId({n}))"),
        RenamedRow::Variable(name) => format!("Variable({})", text(name)),
    };
    format!("RenameRow {{ what: RenamedRow::{what}, old: {} }}", text(&row.old))
}
