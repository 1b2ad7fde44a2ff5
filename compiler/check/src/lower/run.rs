//! Lowers `run` steps: the chart to run and its params. Refuses charts that would run each other forever.

use super::context::Cx;
use super::expr::{self, Env};
use super::items::{self, Sight};
use super::uses::{NameKind, Record};
use super::{Lowered, declare, one, types};
use chartc_core::arena::StepId;
use chartc_core::expr::Value;
use chartc_core::model::{Expr, Run, StepKind, Type};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::load::Loaded;
use chartc_text::rules::TYPE_ERROR;
use chartc_text::rules::{duplicate_name, endless_run};
use chartc_text::span::{FileId, Ident, Span};
use chartc_text::syntax::{self, ChartItem, Item, Noted};
use std::collections::{BTreeMap, BTreeSet};

/// A param of a chart, as seen by the chart that runs it.
struct Param<'s> {
    name: &'s str,
    place: Span,
    ty: Type,
    range: Option<(Value, Value)>,
    has_default: bool,
}

/// Lowers a `run` step.
pub(super) fn step(cx: &mut Cx<'_>, env: &mut Env, id: StepId, written: &syntax::Run) -> StepKind {
    let name = &written.chart;
    // Charts of this file come after imported ones, and hide those with the same name.
    let Some(child) = cx.charts.named(&name.node).last().copied() else {
        let known: Vec<&str> = cx.charts.names().collect();
        cx.unknown("chart", &name.node, name.span, known);
        for argument in &written.arguments {
            expr::expr(cx, env, &argument.value, None);
        }
        let chart = name.node.clone();
        let forward = written.forward;
        let run = Run { chart, arguments: Vec::new(), on_entry: false, forward };
        return StepKind::Run(run);
    };
    cx.record_use(name.span, child.name.span, NameKind::Chart);
    let file = cx.map.file;
    let charts = cx.charts.clone();
    let mut imported = charts.named(&name.node).iter().map(|c| c.name.span);
    if let (Some(first), Some(second)) = (imported.next(), imported.next())
        && child.name.span.file != file
    {
        cx.report(duplicate_name::imported_twice(&name.node, name.span, first, second));
    }
    cx.map.steps[id.index()].child = Some(child.name.span);
    let params = params(cx, child);
    let arguments = given(cx, env, &params, written);
    let (chart, on_entry, forward) = (name.node.clone(), written.at_entry, written.forward);
    StepKind::Run(Run { chart, arguments, on_entry, forward })
}

/// The params of a chart. Errors in them are reported where they are declared, not here.
fn params<'s>(cx: &mut Cx<'_>, child: &'s syntax::Chart) -> Vec<Param<'s>> {
    let (before, used) = (cx.findings.len(), cx.uses.len());
    let declared = child.items.iter().filter_map(|noted| match &noted.node {
        ChartItem::Variable(variable) if variable.kind == syntax::VariableKind::Param => {
            Some(variable)
        }
        _ => None,
    });
    let params = declared
        .map(|variable| {
            let ty = types::resolve(cx, &variable.ty);
            let bound = |cx: &mut Cx<'_>, bound| declare::constant(cx, bound, &ty, "a range");
            let range = variable.range.as_ref();
            let range = range.and_then(|(low, high)| Some((bound(cx, low)?, bound(cx, high)?)));
            let has_default = variable.default.is_some();
            let Ident { node: name, span: place } = &variable.name;
            Param { name, place: *place, ty, range, has_default }
        })
        .collect();
    cx.findings.truncate(before);
    cx.uses.truncate(used);
    params
}

fn given(
    cx: &mut Cx<'_>,
    env: &mut Env,
    params: &[Param<'_>],
    written: &syntax::Run,
) -> Vec<(String, Expr)> {
    let chart = &written.chart.node;
    let mut places: BTreeMap<&str, Span> = BTreeMap::new();
    let mut lowered = Vec::new();
    for (index, argument) in written.arguments.iter().enumerate() {
        let meant = match &argument.name {
            Some(name) => {
                let found = params.iter().find(|param| param.name == name.node);
                if let Some(param) = found {
                    cx.record_use(name.span, param.place, NameKind::Variable);
                }
                if found.is_none() {
                    let known: Vec<&str> = params.iter().map(|param| param.name).collect();
                    cx.unknown(&format!("param of `{chart}`"), &name.node, name.span, known);
                }
                found
            }
            None => {
                let found = params.get(index);
                if found.is_none() {
                    let many = if params.len() == 1 { "param" } else { "params" };
                    let message = format!("`{chart}` has {} {many}, no more", params.len());
                    cx.report(TYPE_ERROR.at(argument.value.span, message));
                }
                found
            }
        };
        let Some(param) = meant else {
            expr::expr(cx, env, &argument.value, None);
            continue;
        };
        let value = expr::expect(cx, env, &argument.value, &param.ty);
        let place = argument.name.as_ref().map_or(argument.value.span, |name| name.span);
        if let Some(first) = places.insert(param.name, place) {
            cx.report(duplicate_name::twice("param", param.name, place, first));
            continue;
        }
        in_range(cx, param, &value, argument.value.span);
        lowered.push((param.name.to_owned(), value));
    }
    // In the order of the params, whatever the order of the arguments.
    lowered.sort_by_key(|(name, _)| params.iter().position(|param| param.name == *name));
    let missing = params.iter().filter(|p| !p.has_default && !places.contains_key(p.name));
    let missing: Vec<String> = missing.map(|param| format!("`{}`", param.name)).collect();
    if !missing.is_empty() {
        let many = if missing.len() == 1 { "param" } else { "params" };
        let message = format!("`{chart}` is not given its {many} {}", missing.join(", "));
        cx.report(TYPE_ERROR.at(written.chart.span, message));
    }
    lowered
}

fn in_range(cx: &mut Cx<'_>, param: &Param<'_>, value: &Expr, span: Span) {
    let Some(((low, high), value)) = param.range.as_ref().zip(expr::value_of(value)) else {
        return;
    };
    if super::data::above(low, &value) || super::data::above(&value, high) {
        let message = format!("this lies outside of the range of `{}`", param.name);
        cx.report(TYPE_ERROR.at(span, message));
    }
}

/// An imported file: the declarations that are visible in it, and its charts by the places of their names.
struct Others<'s> {
    sight: Sight<'s>,
    named: BTreeMap<Span, Vec<(&'s Noted<Item>, &'s syntax::Chart)>>,
}

impl<'s> Others<'s> {
    fn new(loaded: &'s Loaded, file: FileId) -> Self {
        let mut named: BTreeMap<Span, Vec<_>> = BTreeMap::new();
        for noted in loaded.files.get(file.0 as usize).into_iter().flat_map(|file| &file.items) {
            if let Item::Chart(chart) = &noted.node {
                named.entry(chart.name.span).or_default().push((noted, chart));
            }
        }
        Self { sight: Sight::new(loaded, file), named }
    }
}

/// The charts of other files that the lowered ones run or that tests are for, and those that these run in turn.
pub(super) fn others<'s>(
    loaded: &'s Loaded,
    lowered: &[Lowered],
    scenarios: &items::Scenarios<'s>,
    record: &mut Record<'s>,
    findings: &mut Vec<Diagnostic>,
) -> Vec<Lowered> {
    let mut known: BTreeSet<Span> = lowered.iter().map(|one| one.map.name).collect();
    let mut wanted: Vec<Span> = lowered.iter().flat_map(children).collect();
    wanted.extend(scenarios.keys().copied());
    let mut found = Vec::new();
    let mut files: BTreeMap<FileId, Others<'_>> = BTreeMap::new();
    while let Some(name) = wanted.pop() {
        if !known.insert(name) {
            continue;
        }
        let Others { sight, named } =
            files.entry(name.file).or_insert_with(|| Others::new(loaded, name.file));
        for (noted, chart) in named.get(&name).into_iter().flatten() {
            let seen = sight.declarations(Some(chart));
            let cx = Cx::new(&chart.name, &noted.doc, record.is_kept);
            let child = one(cx, chart, noted.span, &seen, scenarios, record, findings);
            wanted.extend(children(&child));
            found.push(child);
        }
    }
    found.sort_by_key(|one| one.map.name);
    found
}

fn children(one: &Lowered) -> impl Iterator<Item = Span> + '_ {
    one.map.steps.iter().filter_map(|step| step.child)
}

/// Reports `run` steps without `if` through which charts run each other in a cycle.
pub(super) fn refuse_endless<'l>(
    lowered: impl Iterator<Item = &'l Lowered>,
    findings: &mut Vec<Diagnostic>,
) {
    // An edge for each step leads from its chart to the chart that it runs.
    let mut edges: Vec<Edge<'_>> = Vec::new();
    for one in lowered {
        for (step, spans) in one.chart.steps.iter().zip(&one.map.steps) {
            if let (Some(child), None) = (spans.child, &step.guard) {
                let (from, to) = (one.map.name, child);
                edges.push(Edge { from, to, place: spans.name, step: &step.name });
            }
        }
    }
    // No cycle contains a chart that no other one runs, so its edges are removed, and so on; then likewise from the other end. What remains
    // lies on a cycle or leads from one cycle to another.
    let edges = peel(edges, |edge| (edge.from, edge.to));
    let edges = peel(edges, |edge| (edge.to, edge.from));
    for Edge { from, to, place, step } in edges {
        findings.push(endless_run::found(step, from == to, place));
    }
}

/// A step without `if` by which a chart runs another.
struct Edge<'l> {
    from: Span,
    to: Span,
    place: Span,
    step: &'l str,
}

/// Removes edges to whose source no edge leads, until there are none left.
fn peel<'l>(edges: Vec<Edge<'l>>, ends: fn(&Edge<'l>) -> (Span, Span)) -> Vec<Edge<'l>> {
    let mut incoming: BTreeMap<Span, usize> = BTreeMap::new();
    let mut outgoing: BTreeMap<Span, Vec<Span>> = BTreeMap::new();
    for edge in &edges {
        let (from, to) = ends(edge);
        incoming.entry(from).or_default();
        *incoming.entry(to).or_default() += 1;
        outgoing.entry(from).or_default().push(to);
    }
    let mut free: Vec<Span> =
        incoming.iter().filter(|(_, count)| **count == 0).map(|(node, _)| *node).collect();
    let mut peeled = BTreeSet::new();
    while let Some(node) = free.pop() {
        peeled.insert(node);
        for to in outgoing.get(&node).into_iter().flatten() {
            if let Some(count) = incoming.get_mut(to) {
                *count -= 1;
                if *count == 0 {
                    free.push(*to);
                }
            }
        }
    }
    edges.into_iter().filter(|edge| !peeled.contains(&ends(edge).0)).collect()
}
