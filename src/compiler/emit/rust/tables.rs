//! Writes the static tables of a chart, row by row. What differs from a plain row is added by a call: a state with a transition becomes
//! `state("p.l.b", 2, 5).lines(3, 1).reacts(0x201, 0x201).place(3)` (`chartc_core::generated::rows`).

use super::Context;
use crate::lint::words::{self, TransitionHead};
use chartc_core::arena::{ChoiceId, ClientId, EventId, StateId, StepId, ToolId, TransitionId};
use chartc_core::model::ActionForm;
use chartc_core::tables::{
    ChoiceRow, ClientRow, ComputedLimitRow, Dispatch, EachRow, EventRow, FailureRow, LimitsRow,
    PermissionRow, Reacts, RenameRow, RenamedRow, Route, Span, StartsRow, StateRow, StateRowKind,
    StepRow, StepRowKind, Summary, Tables, ToolLineRow, ToolRow, TransitionRow, TriggerRow,
    TypeRow, TypedRow, WalkRow,
};
use codegen::Scope;
use std::fmt::Write;

/// The tables that are not empty: constants with rows, and the fields of `Tables`.
#[derive(Default)]
struct Written {
    rows: String,
    fields: String,
}

impl Written {
    fn rows<R>(
        &mut self,
        (field, ty): (&str, &str),
        all: impl Iterator<Item = R>,
        row: impl FnMut(R) -> String,
    ) {
        let rows: Vec<String> = all.map(row).collect();
        if rows.is_empty() {
            return;
        }
        let name = field.to_uppercase();
        let _ = writeln!(self.rows, "const {name}: &[{ty}] = &[{}];", rows.join(",\n"));
        let _ = writeln!(self.fields, "{field}: list({name}),");
    }

    fn field(&mut self, name: &str, value: &str, differs: bool) {
        if differs {
            let _ = writeln!(self.fields, "{name}: {value},");
        }
    }
}

/// Adds `static TABLES`.
pub(super) fn emit(context: &Context<'_>, scope: &mut Scope) {
    let t = &context.tables;
    let mut out = Written::default();
    out.rows(("states", "StateRow"), t.states.iter().enumerate(), |(i, row)| {
        state(context, i, row)
    });
    out.rows(("transitions", "TransitionRow"), t.transitions.iter().enumerate(), |(i, row)| {
        format!("{}{}", comment(&transition_comment(context, i)), transition(row))
    });
    out.rows(("events", "EventRow"), t.events.iter(), event);
    out.rows(("steps", "StepRow"), t.steps.iter(), step);
    out.rows(("choices", "ChoiceRow"), t.choices.iter(), choice);
    out.rows(("tools", "ToolRow"), t.tools.iter(), tool);
    out.rows(("clients", "ClientRow"), t.clients.iter(), client);
    out.rows(("permissions", "PermissionRow"), t.permissions.iter(), permission);
    out.rows(("tool_lines", "ToolLineRow"), t.tool_lines.iter(), tool_line);
    if t.walks.len() > 1 || t.walks.iter().any(|walk| walk.steps.len > 0) {
        out.rows(("walks", "WalkRow"), t.walks.iter(), walk);
    }
    let limits = t.computed_limits.iter();
    out.rows(("computed_limits", "ComputedLimitRow"), limits, computed_limit);
    out.rows(("types", "TypeRow"), t.types.iter(), type_row);
    out.rows(("renames", "RenameRow"), t.renames.iter(), rename);
    pools(context, &mut out);
    let plain = Tables::PLAIN;
    out.field("reads_amounts", "true", t.reads_amounts);
    out.field("sends", &t.sends.to_string(), t.sends != plain.sends);
    let calls = t.calls_per_turn;
    out.field("calls_per_turn", &calls.to_string(), calls != plain.calls_per_turn);
    let kept = t.history_kept;
    out.field("history_kept", &format!("{kept:?}"), kept != plain.history_kept);
    let microsteps = t.microsteps;
    out.field("microsteps", &microsteps.to_string(), microsteps != plain.microsteps);
    out.field("summary", &literal(&t.summary), true);
    let Written { rows, fields } = out;
    scope.raw(format!(
        "/// The chart as the step algorithm reads it; rows name each other by number.\n\
         static TABLES: tables::Tables = {{\n\
         use chartc_core::generated::rows::*;\n\
         {rows}\n\
         Tables {{ name: text({:?}), hash: {:#018x}, {fields} ..Tables::PLAIN }}\n}};",
        &*t.name, t.hash
    ));
}

/// Writes the pools, from which rows have parts.
fn pools(context: &Context<'_>, out: &mut Written) {
    let t = &context.tables;
    out.rows(("state_pool", "StateId"), t.state_pool.iter(), |id| state_id(*id));
    out.rows(("event_pool", "EventId"), t.event_pool.iter(), |EventId(n)| format!("EventId({n})"));
    out.rows(("step_pool", "StepId"), t.step_pool.iter(), |StepId(n)| format!("StepId({n})"));
    out.rows(("name_pool", "Text"), t.name_pool.iter(), |name| text(name));
    let choices = t.choice_pool.iter();
    out.rows(("choice_pool", "ChoiceId"), choices, |ChoiceId(n)| format!("ChoiceId({n})"));
    out.rows(("dispatch_pool", "Dispatch"), t.dispatch_pool.iter(), |row| match row.event {
        Dispatch::ANY => format!("by_any({})", row.line.0),
        EventId(n) => format!("by({n}, {})", row.line.0),
    });
    out.rows(("tool_pool", "ToolId"), t.tool_pool.iter(), |ToolId(n)| format!("ToolId({n})"));
    out.rows(("send_ids", "Text"), t.send_ids.iter(), |name| text(name));
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

fn span(part: Span) -> String {
    format!("span({}, {})", part.start, part.len)
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

/// A row with a call for each column that differs from a plain one.
struct Row(String);

impl Row {
    fn add(self, name: &str, differs: bool) -> Self {
        self.with(name, differs.then(String::new))
    }

    fn with(mut self, name: &str, arguments: impl Into<Option<String>>) -> Self {
        if let Some(arguments) = arguments.into() {
            let _ = write!(self.0, ".{name}({arguments})");
        }
        self
    }

    fn part(self, name: &str, part: Span) -> Self {
        self.with(name, (part.len > 0).then(|| arguments(part)))
    }

    fn count(self, name: &str, n: u32) -> Self {
        self.with(name, (n > 0).then(|| n.to_string()))
    }
}

/// The arguments for a part of a pool.
fn arguments(part: Span) -> String {
    format!("{}, {}", part.start, part.len)
}

fn state(context: &Context<'_>, index: usize, row: &StateRow) -> String {
    let title = if index == 0 { &*context.chart.name } else { &*row.path };
    let mut out = Row(format!("state({:?}, {}, {})", &*row.path, row.parent.0, row.end.0));
    out = match row.kind {
        StateRowKind::Atomic => out,
        StateRowKind::Compound(initial) => out.with("compound", arguments(initial)),
        StateRowKind::Parallel => out.add("parallel", true),
        StateRowKind::Final(status) => out.with("ends", format!("Status::{status:?}")),
        StateRowKind::History { deep, default, slot } => {
            let name = if deep { "deep_history" } else { "history" };
            out.with(name, format!("{}, {slot}", arguments(default)))
        }
    };
    let blocks = row.entry + row.exit > 0;
    let reacts = row.on_path != Reacts::NOTHING;
    let out = out
        .part("lines", row.transitions)
        .part("steps", row.steps)
        .part("choices", row.choices)
        .with("blocks", blocks.then(|| format!("{}, {}", row.entry, row.exit)))
        .add("default_actions", row.default_actions)
        .part("defers", row.defers)
        .add("advises", row.advice)
        .with("limits", limits(row.limits))
        .part("histories", row.histories)
        .with("reacts", reacts.then(|| format!("{:#x}, {:#x}", row.here.0, row.on_path.0)))
        .part("index", row.index)
        .count("walk", row.walk)
        .count("place", row.place);
    format!("{}{}", comment(&format!("{index} {title}")), out.0)
}

fn walk(row: &WalkRow) -> String {
    format!("walk({}, {}, {})", row.state.0, row.outer, arguments(row.steps))
}

fn computed_limit(row: &ComputedLimitRow) -> String {
    let ComputedLimitRow { state, kind, is_soft } = *row;
    let state = state_id(state);
    format!("ComputedLimitRow {{ state: {state}, kind: LimitKind::{kind:?}, is_soft: {is_soft} }}")
}

fn reacts(set: Reacts) -> Option<String> {
    (set != Reacts::NOTHING).then(|| format!("Reacts({:#x})", set.0))
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
    let out = Row(format!("line({}, On::{trigger})", row.source.0))
        .part("any_of", row.any_of)
        .part("none_of", row.none_of)
        .add("guarded", row.guard)
        .part("alternatives", row.alternatives)
        .add("acts", row.actions)
        .add("gives", row.arguments)
        .add("internal", row.internal)
        .part("to", row.targets);
    let out = match row.route {
        Route::Stay => out,
        Route::Known { domain, entry } if entry == row.targets => {
            out.with("within", domain.0.to_string())
        }
        Route::Known { domain, entry } => {
            out.with("enters", format!("{}, {}", domain.0, arguments(entry)))
        }
        Route::Computed => out.add("computed", true),
    };
    out.0
}

fn event(row: &EventRow) -> String {
    format!("event({:?}, {})", &*row.name, arguments(row.fields))
}

fn step(row: &StepRow) -> String {
    let kind = match row.kind {
        StepRowKind::Llm => "Llm".to_owned(),
        StepRowKind::Code => "Code".to_owned(),
        StepRowKind::Ask { always, otherwise } => {
            let otherwise =
                otherwise.map_or("None".to_owned(), |t| format!("Some(TransitionId({}))", t.0));
            format!("Ask {{ always: {always}, otherwise: {otherwise} }}")
        }
        StepRowKind::Call => "Call".to_owned(),
        StepRowKind::Human => "Human".to_owned(),
        StepRowKind::Run { forward } => format!("Run {{ forward: Forward::{forward:?} }}"),
    };
    let failure = match row.failure {
        FailureRow::Fail => None,
        FailureRow::Skip => Some("Skip".to_owned()),
        FailureRow::Take(transition) => Some(format!("Take(TransitionId({}))", transition.0)),
    };
    let tools = row.tools.len > 0 || row.tool_calls > 0;
    let events = if let StartsRow::OnEvent(events) = row.starts { Some(events) } else { None };
    Row(format!("step({:?}, {}, StepRowKind::{kind})", &*row.name, row.state.0))
        .add("on_entry", row.starts == StartsRow::OnEntry)
        .with("on_event", events.map(arguments))
        .add("guarded", row.guard)
        .count("retries", row.retries)
        .with(
            "retries_on",
            (row.retries_on != chartc_core::tables::FailureKinds::ALL)
                .then(|| row.retries_on.0.to_string()),
        )
        .with("waits", row.wait.map(|[first, most]| format!("{first}, {most}")))
        .with("otherwise", failure.map(|f| format!("FailureRow::{f}")))
        .add("ends_turn", row.ends_turn)
        .with("client", (!row.client.is_empty()).then(|| format!("{:?}", &*row.client)))
        .with("tools", tools.then(|| format!("{}, {}", arguments(row.tools), row.tool_calls)))
        .with("each", row.each.map(each))
        .add("retries_doubt", row.retries_doubt)
        .add("accepts_cut", row.accepts_cut)
        .add("exact", row.is_exact)
        .add("asking", row.asking)
        .part("tool_lines", row.tool_lines)
        .with("approves", row.approves.map(|step| step.0.to_string()))
        .0
}

fn tool_line(row: &ToolLineRow) -> String {
    let ToolLineRow { tools, guard, calling, asks } = *row;
    let asks = asks.map_or("None".to_owned(), |step| format!("Some(StepId({}))", step.0));
    let tools = span(tools);
    format!("ToolLineRow {{ tools: {tools}, guard: {guard}, calling: {calling}, asks: {asks} }}")
}

fn each(row: EachRow) -> String {
    let EachRow { slot, at_a_time, most, enough, lost } = row;
    format!(
        "EachRow {{ slot: {slot}, at_a_time: {at_a_time}, most: {most}, enough: {enough:?}, lost: Lost::{lost:?} }}"
    )
}

fn choice(row: &ChoiceRow) -> String {
    Row(format!("choice({:?}, {})", &*row.name, row.transition.0))
        .part("fields", row.fields)
        .with("tools", row.tools.map(arguments))
        .0
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
    let ty = arguments(row.ty);
    match &row.of {
        TypedRow::Param(name) => format!("param({:?}, {ty})", &**name),
        TypedRow::Variable(name) => format!("variable({:?}, {ty})", &**name),
        TypedRow::Answer(StepId(n)) => format!("answer({n}, {ty})"),
        TypedRow::Event(EventId(n), field) => format!("event_field({n}, {:?}, {ty})", &**field),
        TypedRow::Record(name, field) => {
            format!("record_field({:?}, {:?}, {ty})", &**name, &**field)
        }
    }
}

fn rename(row: &RenameRow) -> String {
    let what = match &row.what {
        RenamedRow::State(id) => format!("State({})", state_id(*id)),
        RenamedRow::Step(StepId(n)) => format!("Step(StepId({n}))"),
        RenamedRow::Variable(name) => format!("Variable({})", text(name)),
        RenamedRow::Chart => "Chart".to_owned(),
    };
    format!("RenameRow {{ what: RenamedRow::{what}, old: {} }}", text(&row.old))
}
