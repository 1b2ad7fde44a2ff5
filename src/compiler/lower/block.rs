//! Lowers the bodies of states, and the actions in blocks and `code` steps.

use super::context::{BodyItem, Cx, NodeKind};
use super::expr::{self, Env, Options};
use super::nodes::{self, Beside, item};
use super::{declare, paths, steps, transitions};
use crate::rules::{ILLEGAL_STRUCTURE, illegal_structure};
use crate::syntax::source::{Span, Spanned};
use crate::syntax::{self, Done, EventPattern, History, Initial, Noted, Path, StateItem};
use chartc_core::arena::{SendId, StateId, StepId};
use chartc_core::model::{Action, Permission, StateKind};
use std::collections::BTreeMap;

/// Reports every `cancel` of an id that no `send` uses. An id is declared by the first `send` with it.
pub(super) fn cancels(cx: &mut Cx<'_>) {
    let mut first: BTreeMap<SendId, Span> = BTreeMap::new();
    for (id, at) in std::mem::take(&mut cx.ids) {
        let declared = *first.entry(id).or_insert(at);
        cx.record_send_id(id, at, declared);
    }
    let names: Vec<String> =
        cx.sent.iter().map(|id| cx.chart.send_ids[id.index()].clone()).collect();
    for (id, span) in std::mem::take(&mut cx.canceled) {
        if let Some(declared) = first.get(&id) {
            cx.record_send_id(id, span, *declared);
        } else {
            let name = cx.chart.send_ids[id.index()].clone();
            cx.unknown("`send` id", &name, span, names.iter().map(String::as_str));
        }
    }
}

// Lowers the bodies of states, in document order.

/// Lowers the bodies of all states. Transitions are grouped by state: its own with its steps' outcomes, then those of `from`,
/// then copies of `each after`.
pub(super) fn all(cx: &mut Cx<'_>) {
    // The ids of the steps of a state and of its descendants are interleaved, so the steps are taken from the state's own list.
    for id in cx.chart.state_ids() {
        // Taken out of the context, which is borrowed mutably while the items are lowered.
        let parts = std::mem::take(&mut cx.nodes[id.index()].items);
        body(cx, id, &parts);
        // The parent comes first in document order, so its `each_above` is final.
        let above = cx.chart.state(id).parent.and_then(|p| cx.nodes[p.index()].each_above);
        let node = &mut cx.nodes[id.index()];
        node.each_above = if node.each.is_empty() { above } else { Some(id) };
        if cx.chart.state(id).kind == StateKind::Atomic {
            nodes::copy(cx, id);
        }
    }
}

fn body<'s>(cx: &mut Cx<'s>, id: StateId, parts: &[BodyItem<'s>]) {
    let mut steps = cx.chart.state(id).steps.clone().into_iter();
    let mut bounds: Vec<&'s [Noted<syntax::Limit>]> = Vec::new();
    let mut advised: Option<Span> = None;
    for (i, part) in parts.iter().enumerate() {
        match part.item {
            StateItem::Line(written) => {
                let near = |nth: usize| parts.get(nth).and_then(|p| Some((item(p.item)?, p.span)));
                let beside = Beside::new(i.checked_sub(1).and_then(near), near(i + 1));
                transitions::own(cx, id, written, part.span, beside);
            }
            StateItem::Step(_) => own_step(cx, id, &mut steps),
            StateItem::Enter(block) => {
                let actions = super::actions::actions(cx, &mut Env::at(id), block);
                if !actions.is_empty() {
                    cx.map.states[id.index()].entry.push(part.span);
                }
                add_block(&mut cx.chart.states[id.index()].entry, actions);
            }
            StateItem::Exit(block) => {
                let actions = super::actions::actions(cx, &mut Env::at(id), block);
                add_block(&mut cx.chart.states[id.index()].exit, actions);
            }
            StateItem::Defer(events) => defers(cx, id, events, part.span),
            StateItem::Advice(text) => {
                if let Some(first) = advised {
                    cx.report(illegal_structure::second("`advice` in one state", part.span, first));
                }
                advised = Some(part.span);
                let advice = expr::template(cx, &mut Env::at(id), text, Options::No).0;
                cx.chart.states[id.index()].advice = Some(advice);
            }
            StateItem::Limits(block) if refuse_in_final(cx, id, part.span, "`limits`") => {
                bounds.push(block);
            }
            StateItem::Allow(allow) if refuse_in_final(cx, id, part.span, "`allow`") => {
                permission(cx, id, allow, part.span);
            }
            StateItem::Initial(Initial { actions: Some(block), .. }) => {
                let actions = super::actions::actions(cx, &mut Env::at(id), block);
                cx.chart.states[id.index()].default_actions = actions;
            }
            _ => {}
        }
    }
    if let NodeKind::History(History { actions: Some(block), .. }) = cx.nodes[id.index()].kind {
        let parent = cx.chart.state(id).parent.unwrap_or(id);
        let actions = super::actions::actions(cx, &mut Env::at(parent), block);
        cx.chart.states[id.index()].default_actions = actions;
    }
    if let NodeKind::Final(params, values, _) = cx.nodes[id.index()].kind {
        result(cx, id, params, values);
    }
    steps::limits(cx, id, &bounds);
    // After the state's own lines, which are tried before those of `from`.
    for part in parts {
        if let StateItem::From(from) = part.item {
            transitions::from(cx, id, from);
        }
    }
}

/// Adds the values that a final state computes when it is entered, after its `enter` blocks.
fn result(cx: &mut Cx<'_>, id: StateId, params: &[syntax::Param], values: &[Option<syntax::Expr>]) {
    let StateKind::Final { params: fields, .. } = cx.chart.state(id).kind.clone() else { return };
    let mut env = Env::at(id);
    let mut given = Vec::new();
    for (value, field) in values.iter().zip(&fields) {
        given.extend(value.as_ref().map(|value| expr::expect(cx, &mut env, value, &field.ty)));
    }
    if fields.is_empty() {
        return;
    }
    if given.len() == fields.len() {
        add_block(&mut cx.chart.states[id.index()].entry, vec![Action::Result(id, given)]);
    } else if let (false, Some((param, _))) =
        (given.is_empty(), params.iter().zip(values).find(|(_, value)| value.is_none()))
    {
        let message = format!(
            "`{}` has no value, but other arguments of this final state have one",
            param.name.node
        );
        let finding = ILLEGAL_STRUCTURE.at(param.name.span, message);
        cx.report(finding.help("give each argument a value, or none"));
    }
}

/// Appends a block, unless it is empty.
fn add_block(blocks: &mut Vec<Vec<Action>>, actions: Vec<Action>) {
    if !actions.is_empty() {
        blocks.push(actions);
    }
}

/// Lowers the next step of a state. Steps of a final state were reported, and have no ids.
fn own_step(cx: &mut Cx<'_>, state: StateId, steps: &mut impl Iterator<Item = StepId>) {
    if !matches!(cx.nodes[state.index()].kind, NodeKind::Final(..))
        && let Some(id) = steps.find(|id| cx.chart.steps[id.index()].approves.is_none())
    {
        steps::step(cx, id);
    }
}

/// Whether the state may have the item; reports the item in a final state.
/// Adds the events of a `defer` line to those that the state defers.
fn defers(cx: &mut Cx<'_>, id: StateId, events: &[EventPattern], span: Span) {
    if refuse_in_final(cx, id, span, "`defer`") {
        for event in events {
            defer(cx, id, event);
        }
    }
}

fn defer(cx: &mut Cx<'_>, id: StateId, pattern: &EventPattern) {
    let (path, names) = match pattern {
        EventPattern::Event(path, names) => (path, names),
        EventPattern::Any(span)
        | EventPattern::Everything(span)
        | EventPattern::Turn(span)
        | EventPattern::Done(Done { subject: Path { span, .. }, .. })
        | EventPattern::Error(Done { subject: Path { span, .. }, .. })
        | EventPattern::Doubt(Done { subject: Path { span, .. }, .. })
        | EventPattern::Machine(Spanned { span, .. }) => {
            let finding = ILLEGAL_STRUCTURE
                .at(*span, "only declared events can be deferred")
                .help("write `defer` and the names of events that an `event` line declares");
            cx.report(finding);
            return;
        }
    };
    if let Some(name) = names.first() {
        let finding = ILLEGAL_STRUCTURE
            .at(name.span, "`defer` cannot name the data of its event")
            .help("the data are kept with the event; the line that takes it later names them");
        cx.report(finding);
    }
    for event in declare::events_of(cx, path) {
        let defers = &mut cx.chart.states[id.index()].defers;
        match defers.binary_search(&event) {
            Ok(_) => {
                let what = format!("`{}` is deferred here already", path.text());
                cx.report(ILLEGAL_STRUCTURE.at(path.span, what).help("remove it"));
            }
            Err(place) => {
                defers.insert(place, event);
                cx.map.states[id.index()].defers.push((event, path.span));
            }
        }
    }
}

fn refuse_in_final(cx: &mut Cx<'_>, id: StateId, span: Span, what: &str) -> bool {
    let NodeKind::Final(..) = cx.nodes[id.index()].kind else { return true };
    let (name, declared) = (&cx.chart.state(id).name, cx.map.state(id).name);
    let finding = illegal_structure::in_final(what, name, span, declared);
    cx.report(finding);
    false
}

fn permission(cx: &mut Cx<'_>, id: StateId, allow: &syntax::Allow, span: Span) {
    let from = allow.from.as_ref().map(|path| paths::state(cx, id, path));
    let to = paths::state(cx, id, &allow.to);
    let guard = allow.guard.as_ref().map(|g| expr::condition(cx, &mut Env::at(id), g));
    let from = match from {
        Some(None) => return,
        Some(Some(state)) => Some(state),
        None => None,
    };
    if let Some(to) = to {
        cx.chart.permissions.push(Permission { from, to, guard });
        cx.map.permissions.push(span);
    }
}
