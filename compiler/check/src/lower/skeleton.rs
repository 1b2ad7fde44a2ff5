//! Numbers states and steps in document order before anything is resolved.

use super::context::{BodyItem, Cx, NodeKind, StateSource, StepNode, declare};
use super::uses::NameKind;
use super::{StateSpans, StepSpans, renamed};
use chartc_core::arena::{StateId, StepId};
use chartc_core::model::{
    Failure, FailurePolicy, Limits, Renamed, State, StateKind, Step, StepKind, Type,
};
use chartc_text::rules::{duplicate_name, illegal_structure};
use chartc_text::span::{Ident, Span};
use chartc_text::syntax::{self, ChartItem, StateItem};

/// Gives every state and step its id. Uses its own stack, because states may nest as deeply as the parser allows.
pub(super) fn number<'s>(cx: &mut Cx<'s>, chart: &'s syntax::Chart, whole: Span) {
    let items = chart
        .items
        .iter()
        .filter_map(|noted| match &noted.node {
            ChartItem::State(item) => Some(BodyItem { doc: &noted.doc, span: noted.span, item }),
            _ => None,
        })
        .collect();
    let root = NewState { parent: None, name: &chart.name, doc: "", whole };
    let root = add_state(cx, root, NodeKind::Root, items);
    let mut open = vec![(root, 0)];
    while let Some((id, at)) = open.last_mut() {
        let (id, index) = (*id, *at);
        *at += 1;
        let Some(part) = cx.nodes[id.index()].items.get(index).copied() else {
            cx.chart.states[id.index()].end = StateId::at(cx.chart.states.len());
            open.pop();
            continue;
        };
        if let StateItem::State(state) = part.item {
            if may_stand(cx, id, "a state", part.span) {
                let kind = match &state.kind {
                    syntax::StateKind::State => NodeKind::State,
                    syntax::StateKind::Parallel => NodeKind::Parallel,
                    syntax::StateKind::Final(params, values, status) => {
                        NodeKind::Final(params, values, status.as_ref())
                    }
                };
                let body = state.body.as_ref().map(parts).unwrap_or_default();
                let place = NewState {
                    parent: Some(id),
                    name: &state.name,
                    doc: part.doc,
                    whole: part.span,
                };
                let child = add_state(cx, place, kind, body);
                renamed::note(cx, Renamed::State(child), &state.name.node, &state.renamed);
                open.push((child, 0));
            }
        } else if let StateItem::History(history) = part.item {
            if may_stand(cx, id, "a history state", part.span) && has_states(cx, id, part.span) {
                let place = NewState {
                    parent: Some(id),
                    name: &history.name,
                    doc: part.doc,
                    whole: part.span,
                };
                let id = add_state(cx, place, NodeKind::History(history), Vec::new());
                renamed::note(cx, Renamed::State(id), &history.name.node, &history.renamed);
            }
        } else if let StateItem::Step(step) = part.item
            && may_stand(cx, id, "a step", part.span)
        {
            // If a step without a body is followed by something unreadable, its body may be in there.
            let next = cx.nodes[id.index()].items.get(index + 1);
            let is_open = step.items.is_empty() && step.then.is_none();
            let is_cut = is_open && next.is_some_and(|next| matches!(next.item, StateItem::Bad(_)));
            add_step(cx, id, StepNode { step, is_cut }, part);
        } else if let StateItem::Bad(_) = part.item {
            cx.dropped = true;
        }
    }
}

fn parts(body: &syntax::StateBody) -> Vec<BodyItem<'_>> {
    body.items
        .iter()
        .map(|noted| BodyItem { doc: &noted.doc, span: noted.span, item: &noted.node })
        .collect()
}

struct NewState<'s> {
    parent: Option<StateId>,
    name: &'s Ident,
    doc: &'s str,
    whole: Span,
}

/// Whether an item may stand in a state; reports items of a final state.
fn may_stand(cx: &mut Cx<'_>, id: StateId, what: &str, span: Span) -> bool {
    let NodeKind::Final(..) = cx.nodes[id.index()].kind else { return true };
    let name = &cx.chart.states[id.index()].name;
    let declared = cx.map.states[id.index()].name;
    let finding = illegal_structure::in_final(what, name, span, declared);
    cx.report(finding);
    cx.dropped = true;
    false
}

fn has_states(cx: &mut Cx<'_>, id: StateId, span: Span) -> bool {
    let found = cx.nodes[id.index()].items.iter().any(|p| matches!(p.item, StateItem::State(_)));
    if !found {
        cx.report(illegal_structure::history_of_nothing(span));
        cx.dropped = true;
    }
    found
}

fn add_state<'s>(
    cx: &mut Cx<'s>,
    place: NewState<'s>,
    kind: NodeKind<'s>,
    items: Vec<BodyItem<'s>>,
) -> StateId {
    let id = StateId::at(cx.chart.states.len());
    let name = &place.name.node;
    cx.record_declaration(place.name, place.parent.map_or(NameKind::Chart, |_| NameKind::State));
    let path = match place.parent {
        None => String::new(),
        Some(parent) => {
            match cx.children.entry((parent, name)) {
                std::collections::hash_map::Entry::Vacant(free) => {
                    free.insert(id);
                }
                std::collections::hash_map::Entry::Occupied(first) => {
                    // Both states stay in the model, but paths lead only to the first.
                    let first = cx.map.states[first.get().index()].name;
                    let finding = duplicate_name::twice("state", name, place.name.span, first);
                    cx.findings.push(finding);
                }
            }
            match cx.chart.states[parent.index()].path.as_str() {
                "" => name.clone(),
                above => format!("{above}.{name}"),
            }
        }
    };
    // `structure` determines the kind, and `body` fills in the rest.
    cx.chart.states.push(State {
        name: name.clone(),
        path,
        doc: place.doc.to_owned(),
        kind: StateKind::Atomic,
        parent: place.parent,
        end: StateId(id.0 + 1),
        entry: Vec::new(),
        exit: Vec::new(),
        default_actions: Vec::new(),
        transitions: Vec::new(),
        steps: Vec::new(),
        advice: None,
        limits: Limits::default(),
    });
    cx.map.states.push(StateSpans {
        name: place.name.span,
        whole: place.whole,
        ..StateSpans::default()
    });
    cx.nodes.push(StateSource { kind, items, each: Vec::new(), each_above: None });
    id
}

fn add_step<'s>(cx: &mut Cx<'s>, state: StateId, node: StepNode<'s>, part: BodyItem<'s>) {
    let step = node.step;
    let id = StepId::at(cx.chart.steps.len());
    let name = &step.name.node;
    cx.record_declaration(&step.name, NameKind::Step);
    declare(&mut cx.findings, &mut cx.names.steps, "step", name, step.name.span, id);
    renamed::note(cx, Renamed::Step(id), name, &step.renamed);
    cx.chart.states[state.index()].steps.push(id);
    // `step` replaces these values when it lowers the body.
    cx.chart.steps.push(Step {
        name: name.clone(),
        doc: part.doc.to_owned(),
        state,
        kind: StepKind::Llm,
        guard: None,
        client: None,
        prompt: None,
        failure: FailurePolicy { retries: 0, then: Failure::Fail },
        returns: Type::Json,
        into: None,
        tools: None,
        each: None,
        retries_doubt: false,
        accepts_cut: false,
        ends_turn: None,
        outcomes: Vec::new(),
    });
    cx.map.steps.push(StepSpans { name: step.name.span, whole: part.span, ..StepSpans::default() });
    cx.step_nodes.push(node);
}
