//! Describes variables, events, types, functions and conditions.

use super::markdown::{Markdown, code};
use super::state::line;
use super::{View, used};
use chartc_check::notation;
use chartc_core::arena::{EventId, FunctionId, PredicateId, StepId, TransitionId, TypeId, VarId};
use chartc_core::expr::{Value, type_text};
use chartc_core::model::{
    AskOn, Chart, Expr, ExprKind, Field, FunctionKind, StepKind, Trigger, Type, TypeKind,
    VariableKind,
};
use chartc_text::span::Span;
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
    let one = |f: &Field| format!("{}: {}", notation::name(&f.name), written(chart, &f.ty));
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
    let sets: BTreeSet<Span> = view.done.files.iter().flat_map(used::sets).collect();
    let uses = used::places(view, view.declared);
    let (set, read): (Vec<Span>, Vec<Span>) = uses.into_iter().partition(|at| sets.contains(at));
    markdown.list("Set at", used::rows(view, set));
    markdown.list("Read at", used::rows(view, read));
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
    let asks = chart.steps.iter().enumerate().filter(|(_, step)| match &step.kind {
        StepKind::Ask { on: AskOn::Event(events), .. } => {
            events.iter().any(|event| all.contains(event))
        }
        _ => false,
    });
    let asks = asks.map(|(i, step)| {
        let place = view.place(view.one.map.step(StepId::at(i)).name);
        format!("{} {place}", code(&format!("ask {}", step.name)))
    });
    markdown.list("Handled by", lines.chain(asks).collect::<Vec<_>>());
    let posts = view.one.map.posts.iter().filter(|post| all.contains(&post.event));
    markdown.list("Raised or sent at", used::rows(view, posts.map(|post| post.span)));
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
                let one =
                    |f: &Field| format!("{}: {}", notation::name(&f.name), written(chart, &f.ty));
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
    markdown.list("Called at", used::rows(view, used::places(view, view.declared)));
}

/// Describes a named condition.
pub(super) fn predicate(markdown: &mut Markdown, view: &View<'_>, id: PredicateId) {
    let chart = &view.one.chart;
    let row = &chart.predicates[id.index()];
    let expr = notation::expression(chart, &row.expr);
    markdown.code("chart", &format!("pred {} = {expr}", notation::name(&row.name)));
    markdown.list("Read at", used::rows(view, used::places(view, view.declared)));
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
