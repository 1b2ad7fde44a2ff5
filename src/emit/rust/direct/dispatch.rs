//! The steps of a chart: for each leaf and occurrence what it does there.

use super::super::Context;
use super::super::body::mentions;
use super::cell::Cells;
use super::configuration;
use super::core::over_sink;
use super::pool::Guard;
use super::shape::Form;
use super::uniform;
use chartc_core::arena::{EventId, StateId};
use chartc_core::semantics::unroll::Candidate;
use chartc_core::store::Occurrence;
use codegen::{Function, Impl};
use std::collections::BTreeMap;

const NOTHING: &str = "false";

/// Adds the methods that step.
pub(super) fn emit(cells: &mut Cells<'_>, item: &mut Impl) {
    let body = cells.start();
    item.push_fn(sinking("enter", &[], &body, false));
    let body = leave(cells);
    item.push_fn(sinking("leave", &[], &body, false));
    let body = on_event(cells);
    item.push_fn(sinking("on_event", &[("event", "EventName")], &body, true));
    let body = on_other(cells);
    item.push_fn(sinking("on_other", &[("occurrence", "store::Occurrence")], &body, true));
    let body = on_nothing(cells);
    item.push_fn(sinking("on_nothing", &[("faults", "&mut u32")], &body, true));
    dead_end(cells, item);
    let body = would_handle(cells);
    let event = if mentions(&body, "event") { "event" } else { "_event" };
    item.new_fn("would_handle").arg_mut_self().arg(event, "EventName").ret("bool").line(body);
}

/// Adds `is_dead_end`.
pub(super) fn dead_end(cells: &mut Cells<'_>, item: &mut Impl) {
    let body = match cells.dead_ends().as_slice() {
        [] => NOTHING.to_owned(),
        ends => format!("matches!(self.configuration, {})", ends.join(" | ")),
    };
    item.new_fn("is_dead_end").arg_ref_self().ret("bool").line(body);
}

pub(super) fn sinking(name: &str, arguments: &[(&str, &str)], body: &str, gives: bool) -> Function {
    let mut function = over_sink(name, body);
    for (name, ty) in arguments.iter().chain(&[("sink", "&mut S")]) {
        let unused = if mentions(body, name) { "" } else { "_" };
        function.arg(format!("{unused}{name}"), *ty);
    }
    if gives {
        function.ret("bool");
    }
    function.line(body);
    function
}

/// Arms of a match with equal right sides put together; what most arms say comes last, as the rest.
fn arms(rows: Vec<(String, String)>) -> String {
    let mut order: Vec<(String, Vec<String>)> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (pattern, code) in rows {
        match known.get(&code) {
            Some(i) => order[*i].1.push(pattern),
            None => {
                known.insert(code.clone(), order.len());
                order.push((code, vec![pattern]));
            }
        }
    }
    let most = (0..order.len()).max_by_key(|i| (order[*i].1.len(), usize::MAX - i));
    let mut out = String::new();
    let mut rest = String::new();
    for (i, (code, patterns)) in order.iter().enumerate() {
        let last = Some(i) == most && (patterns.len() > 1 || order.len() == 1);
        let pattern = if last { "_".to_owned() } else { patterns.join(" | ") };
        let arm = format!("{pattern} => {{ {code} }}\n");
        if last { rest = arm } else { out += &arm }
    }
    out + &rest
}

/// A match, unless all arms are one.
fn one_of(scrutinee: &str, rows: Vec<(String, String)>) -> String {
    if rows.iter().all(|(_, code)| *code == rows[0].1) {
        return rows.into_iter().next().map_or(NOTHING.to_owned(), |(_, code)| code);
    }
    format!("match {scrutinee} {{ {} }}", arms(rows))
}

/// By leaf: what an occurrence does there.
fn by_leaf(cells: &mut Cells<'_>, on: Option<Occurrence>) -> String {
    let leaves = leaves(cells.context).into_iter();
    let rows = leaves.map(|leaf| (cells.context.within(&[leaf]), cells.cell(leaf, on)));
    one_of("self.configuration", rows.collect())
}

/// By event first, where leaves do alike: what they go to is in tables then, and there is little to guess for the processor. Else by
/// leaf first, because what most events do differs by leaf and one jump is cheaper than two.
fn on_event(cells: &mut Cells<'_>) -> String {
    let context = cells.context;
    let leaves = leaves(context);
    let len = leaves.len();
    let events: Vec<_> = events(context).collect();
    let mut all: Vec<Vec<String>> = Vec::new();
    for (id, _) in &events {
        let on = Some(Occurrence::Event(*id));
        all.push(leaves.iter().map(|leaf| cells.cell(*leaf, on)).collect());
    }
    let dense: Vec<(usize, String)> = all.iter().flatten().cloned().enumerate().collect();
    let at = format!("event as usize * {len} + self.configuration as usize");
    if let Some(code) = uniform::merged(&dense, len * events.len(), &at) {
        context.form.set(Form::Uniform);
        return code;
    }
    let groups: Vec<Vec<Vec<usize>>> = all.iter().map(|row| uniform::groups(row)).collect();
    if 2 * groups.iter().map(Vec::len).sum::<usize>() <= dense.len() {
        context.form.set(Form::ByEvent);
        let rows = events.iter().zip(all.iter().zip(&groups));
        let rows = rows.map(|((_, name), (row, groups))| {
            let arms = groups.iter().map(|group| {
                let names: Vec<String> =
                    group.iter().map(|nth| context.within(&[leaves[*nth]])).collect();
                let alike: Vec<_> = group.iter().map(|nth| (*nth, row[*nth].clone())).collect();
                let code = uniform::merged(&alike, len, "self.configuration as usize");
                (names.join(" | "), code.unwrap_or_default())
            });
            (name.clone(), one_of("self.configuration", arms.collect()))
        });
        return one_of("event", rows.collect());
    }
    context.form.set(Form::ByLeaf);
    let rows = leaves.iter().enumerate().map(|(i, leaf)| {
        let rows = events.iter().zip(&all).map(|((_, name), row)| (name.clone(), row[i].clone()));
        (context.within(&[*leaf]), one_of("event", rows.collect()))
    });
    one_of("self.configuration", rows.collect())
}

/// Charts without parallels only: the leaf of each configuration.
fn leaves(context: &Context<'_>) -> Vec<StateId> {
    context.configurations().iter().flatten().copied().collect()
}

pub(super) fn events<'c>(
    context: &'c Context<'_>,
) -> impl Iterator<Item = (EventId, String)> + use<'c> {
    let names = context.names.events.iter().enumerate();
    names.map(|(i, name)| (EventId::at(i), format!("EventName::{name}")))
}

fn on_other(cells: &mut Cells<'_>) -> String {
    let all = configuration::others(cells.context.chart).into_iter();
    let mut rows: Vec<(String, String)> =
        all.map(|other| (pattern(other), by_leaf(cells, Some(other)))).collect();
    rows.retain(|(_, code)| code != NOTHING);
    if rows.is_empty() {
        return NOTHING.to_owned();
    }
    // Whatever else occurs means nothing to the chart.
    rows.push(("_".to_owned(), NOTHING.to_owned()));
    let arms: String = rows.iter().map(|(p, code)| format!("{p} => {{ {code} }}\n")).collect();
    format!("match occurrence {{ {arms} }}")
}

/// An occurrence as Rust writes it.
pub(super) fn pattern(occurrence: Occurrence) -> String {
    let text = format!("{occurrence:?}");
    let text = text.replace("StateId", "arena::StateId");
    let text = text.replacen("Error(", "Error(machine::ErrorKind::", 1);
    format!("store::Occurrence::{text}")
}

fn on_nothing(cells: &mut Cells<'_>) -> String {
    by_leaf(cells, None)
}

/// How everything is left at the end of the run, in each leaf.
fn leave(cells: &mut Cells<'_>) -> String {
    let leaves = leaves(cells.context).into_iter();
    let rows = leaves.map(|leaf| (cells.context.within(&[leaf]), cells.finish(leaf)));
    one_of("self.configuration", rows.collect())
}

/// Whether an event has a line whose guard holds or fails: it may need the event's data.
fn would_handle(cells: &mut Cells<'_>) -> String {
    let context = cells.context;
    let mut rows = Vec::new();
    for leaf in leaves(context) {
        let mut inner = Vec::new();
        for (id, name) in events(context) {
            inner.push((name, condition(cells, leaf, id)));
        }
        rows.push((context.within(&[leaf]), one_of("event", inner)));
    }
    one_of("self.configuration", rows)
}

fn condition(cells: &mut Cells<'_>, leaf: StateId, event: EventId) -> String {
    let mut tests = Vec::new();
    for candidate in cells.candidates(leaf, Some(Occurrence::Event(event))) {
        match candidate {
            Candidate::Guarded(line, place) => tests.push(match cells.pool.guard(line, &place) {
                Guard::Plain(condition) => condition,
                Guard::Fallible(call) => format!("{call}.unwrap_or(true)"),
            }),
            Candidate::OutOfScope(_) => {}
            Candidate::Sure(_) => tests.push("true".to_owned()),
        }
    }
    match tests.as_slice() {
        [] => NOTHING.to_owned(),
        // Each reads what it needs: one that fails must not hide the next.
        tests => {
            let (last, all) = tests.split_last().map_or(("", [].as_slice()), |(l, a)| (l, a));
            let all: String =
                all.iter().map(|test| format!("if {test} {{ return true; }}\n")).collect();
            all + last
        }
    }
}
