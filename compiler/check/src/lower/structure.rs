//! Determines the kind of each state, and the child that each compound state enters.

use super::context::{Cx, NodeKind};
use super::uses::NameKind;
use super::{paths, transition, types};
use chartc_core::arena::StateId;
use chartc_core::model::{Field, StateKind, Status};
use chartc_text::rules::{duplicate_name, illegal_structure, missing_initial};
use chartc_text::span::{Ident, Span};
use chartc_text::syntax::{History, Initial, Param, StateItem};
use std::collections::BTreeMap;

/// Determines the kind of every state. Afterwards every `initial` and `default` is legal.
pub(super) fn settle(cx: &mut Cx<'_>) {
    for id in cx.chart.state_ids() {
        let kind = kind(cx, id);
        cx.chart.states[id.index()].kind = kind;
    }
}

fn kind(cx: &mut Cx<'_>, id: StateId) -> StateKind {
    let initial = initial_lines(cx, id);
    let name = cx.map.states[id.index()].name;
    match cx.nodes[id.index()].kind {
        NodeKind::Root | NodeKind::State => match first_child(cx, id) {
            Some(first) => compound(cx, id, first, initial),
            None => {
                if let Some(initial) = initial {
                    let what = if id.0 == 0 { "chart" } else { "state" };
                    cx.report(illegal_structure::initial_of_nothing(what, initial.span));
                }
                StateKind::Atomic
            }
        },
        NodeKind::Parallel => {
            refuse_initial(cx, initial, "a parallel state, which enters all of its children");
            if first_child(cx, id).is_none() {
                let finding = illegal_structure::no_regions(&cx.chart.state(id).name, name);
                cx.report(finding);
                return StateKind::Atomic;
            }
            StateKind::Parallel
        }
        NodeKind::Final(params, _, status) => {
            refuse_initial(cx, initial, "a final state");
            if in_parallel(cx, id) {
                cx.report(illegal_structure::final_region(name));
            }
            StateKind::Final {
                params: fields(cx, params, NameKind::Param),
                status: status.map_or(Status::Ok, |word| status_of(cx, word)),
            }
        }
        NodeKind::History(history) => history_kind(cx, id, history),
    }
}

fn in_parallel(cx: &Cx<'_>, id: StateId) -> bool {
    let parent = cx.chart.state(id).parent;
    parent.is_some_and(|p| matches!(cx.nodes[p.index()].kind, NodeKind::Parallel))
}

/// The first child that can be active, which a history cannot.
fn first_child(cx: &Cx<'_>, id: StateId) -> Option<StateId> {
    cx.chart.children(id).find(|child| !paths::is_history(cx, *child))
}

fn initial_lines<'s>(cx: &mut Cx<'s>, id: StateId) -> Option<&'s Initial> {
    let mut first: Option<(&'s Initial, Span)> = None;
    let mut findings = Vec::new();
    for part in &cx.nodes[id.index()].items {
        if let StateItem::Initial(initial) = part.item {
            match first {
                None => first = Some((initial, part.span)),
                Some((_, earlier)) => {
                    findings.push(illegal_structure::second("`initial` line", part.span, earlier));
                }
            }
        }
    }
    cx.findings.append(&mut findings);
    first.map(|(initial, _)| initial)
}

fn refuse_initial(cx: &mut Cx<'_>, initial: Option<&Initial>, place: &str) {
    if let Some(initial) = initial {
        cx.report(illegal_structure::initial_in(place, initial.span));
    }
}

fn compound(cx: &mut Cx<'_>, id: StateId, first: StateId, initial: Option<&Initial>) -> StateKind {
    let Some(written) = initial else {
        cx.dropped = true;
        let name = cx.map.states[id.index()].name;
        let what = if id.0 == 0 { "chart" } else { "state" };
        let (own, first_name) = (&cx.chart.state(id).name, &cx.chart.state(first).name);
        let finding = missing_initial::lacking(what, own, first_name, name);
        cx.report(finding);
        return StateKind::Compound { initial: vec![first] };
    };
    cx.map.states[id.index()].initial = Some(written.span);
    let mut all = Vec::new();
    for path in &written.targets {
        let found = paths::state(cx, id, path);
        let legal = found.filter(|f| *f != id && cx.chart.contains(id, *f));
        cx.dropped |= legal.is_none();
        if let (Some(found), None) = (found, legal) {
            let outer = &cx.chart.state(id).name;
            let inner = &cx.chart.state(first).name;
            let declared = cx.map.states[found.index()].name;
            let finding =
                illegal_structure::initial_outside(&path.text(), outer, inner, path.span, declared);
            cx.report(finding);
        }
        all.extend(legal.map(|state| (state, path.span)));
    }
    StateKind::Compound { initial: together(cx, all, first) }
}

/// The targets of a default if they can be active together, otherwise `otherwise`.
fn together(cx: &mut Cx<'_>, all: Vec<(StateId, Span)>, otherwise: StateId) -> Vec<StateId> {
    let legal = !all.is_empty() && transition::refuse_apart(cx, &all);
    cx.dropped |= !legal;
    if legal { all.into_iter().map(|(state, _)| state).collect() } else { vec![otherwise] }
}

fn history_kind(cx: &mut Cx<'_>, id: StateId, history: &History) -> StateKind {
    let parent = cx.chart.state(id).parent.unwrap_or(StateId(0));
    let mut all = Vec::new();
    for path in &history.default {
        let found = paths::state(cx, parent, path);
        let legal = found.filter(|f| {
            *f != parent && cx.chart.contains(parent, *f) && !paths::is_history(cx, *f)
        });
        cx.dropped |= legal.is_none();
        if let (Some(found), None) = (found, legal) {
            let declared = cx.map.state(found).name;
            let outer = &cx.chart.state(parent).name;
            let (name, span) = (&history.name.node, path.span);
            let finding = illegal_structure::history_default(name, outer, span, declared);
            cx.report(finding);
        }
        all.extend(legal.map(|state| (state, path.span)));
    }
    let otherwise = first_child(cx, parent).unwrap_or(parent);
    StateKind::History { deep: history.deep, default: together(cx, all, otherwise) }
}

fn status_of(cx: &mut Cx<'_>, word: &Ident) -> Status {
    let all = [
        Status::Ok,
        Status::Partial,
        Status::Stuck,
        Status::Limit,
        Status::Canceled,
        Status::Error,
    ];
    all.into_iter().find(|s| s.word() == word.node).unwrap_or_else(|| {
        cx.unknown("status", &word.node, word.span, all.map(Status::word));
        Status::Ok
    })
}

/// The fields of a record, or the parameters of a final state, event, function, tool or option. Reports duplicate names.
pub(super) fn fields(cx: &mut Cx<'_>, params: &[Param], kind: NameKind) -> Vec<Field> {
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    let mut fields = Vec::new();
    for param in params {
        cx.record_declaration(&param.name, kind);
        let name = param.name.node.as_str();
        if let Some(first) = seen.get(name) {
            cx.findings.push(duplicate_name::twice("parameter", name, param.name.span, *first));
        } else {
            seen.insert(name, param.name.span);
        }
        fields.push(Field { name: name.to_owned(), ty: types::resolve(cx, &param.ty) });
    }
    fields
}
