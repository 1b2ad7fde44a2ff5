//! What needs all states and steps: components, permissions, earlier names, and charts with one name.

use super::context::{Cx, Declared, NameKind, Written, declare};
use super::expr::{self, Env, Options};
use super::{Lowered, steps, transitions};
use crate::rules::{duplicate_name, faulty_rename, unknown_name};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{FileId, Span};
use crate::syntax::{self, MetaValue};
use chartc_core::arena::{ComponentId, StateId, StepId};
use chartc_core::expr::Value;
use chartc_core::model::{Component, Insert, Position, Rename, Renamed};
use std::collections::{BTreeMap, BTreeSet};

/// Lowers a component. A shared one is left out of charts that have none of its steps.
pub(super) fn component(
    cx: &mut Cx<'_>,
    names: &mut super::context::Table<ComponentId>,
    item: &Declared<'_, &syntax::Component>,
) {
    let node = item.node;
    let (name, span) = (&node.name.node, node.name.span);
    cx.record_declaration(&node.name, NameKind::Component);
    let mut inserts = Vec::new();
    let mut asks_only = true;
    let mut told: Vec<(StepId, syntax::InsertPosition, Span)> = Vec::new();
    for insert in &node.inserts {
        let Some(found) = steps::named(cx, &insert.step) else {
            if !item.shared {
                let finding = steps::no_such(cx, &insert.step);
                cx.report(finding);
            }
            continue;
        };
        // Insertions under a condition may repeat, as the conditions may exclude each other.
        if insert.guard.is_none() {
            let first =
                told.iter().find(|(step, place, _)| (*step, *place) == (found, insert.place));
            if let Some((.., first)) = first {
                let message = format!("`{name}` goes into `{}` twice", insert.step.node);
                cx.report(duplicate_name::again(message, insert.step.span, *first));
                continue;
            }
            told.push((found, insert.place, insert.step.span));
        }
        asks_only &= transitions::is_ask(&cx.chart.steps[found.index()].kind);
        let state = cx.chart.steps[found.index()].state;
        let guard = insert.guard.as_ref().map(|g| expr::condition(cx, &mut Env::at(state), g));
        let place = match insert.place {
            syntax::InsertPosition::Start => Position::Start,
            syntax::InsertPosition::End => Position::End,
            syntax::InsertPosition::Replace => Position::Replace,
        };
        inserts.push(Insert { step: found, guard, place });
    }
    if item.shared && inserts.is_empty() {
        return;
    }
    let mut env = Env::at(StateId(0));
    let (text, spans) = expr::template(cx, &mut env, &node.text, Options::Yes);
    if !asks_only {
        expr::refuse_options(cx, &text, &spans);
    }
    let id = ComponentId::at(cx.chart.components.len());
    if declare(&mut cx.findings, names, "component", name, span, id) {
        cx.chart.components.push(Component { name: name.clone(), inserts, text });
        cx.map.components.push(span);
        cx.map.component_parts.push(spans);
    }
}

/// Converts a value of `meta`.
pub(super) fn meta(value: &MetaValue) -> Value {
    match value {
        MetaValue::None => Value::None,
        MetaValue::Bool(b) => Value::Bool(*b),
        MetaValue::Int(i) => Value::Int(*i),
        MetaValue::Float(x) => Value::Float(*x),
        MetaValue::Text(t) => Value::Text(t.clone()),
        MetaValue::List(items) => Value::List(items.iter().map(meta).collect()),
        MetaValue::Map(entries) => {
            Value::Map(entries.iter().map(|(k, v)| (k.clone(), meta(v))).collect())
        }
    }
}

/// Reports shared components that name a step which no visible chart has.
pub(super) fn lost_components(
    components: &[&syntax::Component],
    charts: &[&super::Lowered],
    findings: &mut Vec<crate::syntax::diagnostic::Diagnostic>,
) {
    if charts.is_empty() {
        return;
    }
    for insert in components.iter().flat_map(|c| &c.inserts) {
        let name = insert.step.node.as_str();
        let steps = || charts.iter().flat_map(|c| &c.chart.steps).map(|s| s.name.as_str());
        if !steps().any(|known| known == name) {
            findings.push(unknown_name::unknown("step", name, insert.step.span, Some(steps())));
        }
    }
}

// `renamed_from`: the earlier names of charts, states, steps and variables, by which saved runs continue.

/// Adds the earlier names to the model. Each must be free now, and be the earlier name of one thing only.
pub(super) fn close(cx: &mut Cx<'_>) {
    let mut seen: BTreeMap<(u8, Option<StateId>, &str), Span> = BTreeMap::new();
    for Written { what, now, old } in std::mem::take(&mut cx.renamed) {
        let name = old.node.as_str();
        let (kind, word, parent, there) = match what {
            Renamed::State(id) => {
                let parent = cx.chart.state(id).parent;
                let there = parent.and_then(|parent| cx.children.get(&(parent, name)).copied());
                (0, "state", parent, there.map(|id| cx.map.states[id.index()].name))
            }
            Renamed::Step(_) => (1, "step", None, cx.names.steps.get(name).map(|(_, span)| *span)),
            Renamed::Variable(_) => {
                (2, "variable", None, cx.names.variables.get(name).map(|(_, span)| *span))
            }
            Renamed::Chart => {
                let there = cx.charts.named(name).first().map(|chart| chart.name.span);
                (3, "chart", None, there)
            }
        };
        let finding = if name == now {
            Some(faulty_rename::itself(word, name, old.span))
        } else if let Some(there) = there {
            Some(faulty_rename::still_there(word, name, old.span, there))
        } else {
            let first = seen.get(&(kind, parent, name));
            first.map(|first| faulty_rename::twice(word, name, old.span, *first))
        };
        if let Some(finding) = finding {
            cx.report(finding);
            continue;
        }
        seen.insert((kind, parent, name), old.span);
        cx.chart.renames.push(Rename { what, old: name.to_owned() });
    }
}

// Charts with the same name among those that a chart runs. A run distinguishes them only by their names.

/// Reports, for each chart, the first `run` step through which it runs two charts with the same name from different files.
pub(super) fn refuse(lowered: &[Lowered], others: &[Lowered], findings: &mut Vec<Diagnostic>) {
    let all: BTreeMap<Span, &Lowered> =
        lowered.iter().chain(others).map(|one| (one.map.name, one)).collect();
    let files: BTreeSet<FileId> = all.keys().map(|name| name.file).collect();
    if files.len() < 2 {
        return;
    }
    for one in all.values() {
        findings.extend(namesakes(one, &all));
    }
}

fn namesakes(one: &Lowered, all: &BTreeMap<Span, &Lowered>) -> Option<Diagnostic> {
    let mut known = BTreeMap::from([(one.chart.name.as_str(), one.map.name)]);
    for step in &one.map.steps {
        let mut open: Vec<Span> = step.child.into_iter().collect();
        while let Some(child) = open.pop().and_then(|name| all.get(&name)) {
            let name = child.chart.name.as_str();
            let place = child.map.name;
            match known.get(name) {
                None => {
                    known.insert(name, place);
                    open.extend(child.map.steps.iter().filter_map(|step| step.child));
                }
                Some(first) if first.file != place.file => {
                    return Some(duplicate_name::namesakes(name, step.name, *first, place));
                }
                // The same chart again, or a second one in its file, which another finding reports.
                Some(_) => {}
            }
        }
    }
    None
}
