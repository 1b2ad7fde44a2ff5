//! The tree of states: numbers, kinds, initial children, paths, and the scopes of `from`.

use super::context::{self, BodyItem, Cx, NameKind, NodeKind, StateSource, StepNode, declare};
use super::declare::fields;
use super::paths::{self, is_history};
use super::tool_lines;
use super::{StateSpans, StepSpans};
use crate::rules::{duplicate_name, illegal_structure, missing_initial};
use crate::syntax::source::{Ident, Span};
use crate::syntax::{self, ChartItem, History, Initial, StateItem, StepItem};
use chartc_core::arena::{StateId, StepId, ToolId};
use chartc_core::model::{
    Failure, FailurePolicy, Limits, Renamed, Retry, Starts, State, StateKind, Status, Step,
    StepKind, Type,
};

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
    cx.chart.children(id).find(|child| !is_history(cx, *child))
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
    let legal = !all.is_empty() && paths::refuse_apart(cx, &all);
    cx.dropped |= !legal;
    if legal { all.into_iter().map(|(state, _)| state).collect() } else { vec![otherwise] }
}

fn history_kind(cx: &mut Cx<'_>, id: StateId, history: &History) -> StateKind {
    let parent = cx.chart.state(id).parent.unwrap_or(StateId(0));
    let mut all = Vec::new();
    for path in &history.default {
        let found = paths::state(cx, parent, path);
        let legal =
            found.filter(|f| *f != parent && cx.chart.contains(parent, *f) && !is_history(cx, *f));
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

// Numbers states and steps in document order before anything is resolved.

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
                context::note(cx, Renamed::State(child), &state.name.node, &state.renamed);
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
                context::note(cx, Renamed::State(id), &history.name.node, &history.renamed);
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
        defers: Vec::new(),
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
    context::note(cx, Renamed::Step(id), name, &step.renamed);
    cx.chart.states[state.index()].steps.push(id);
    let row = blank(name.clone(), state, part.doc);
    cx.chart.steps.push(row);
    cx.map.steps.push(StepSpans { name: step.name.span, whole: part.span, ..StepSpans::default() });
    cx.step_nodes.push(node);
    let lines = step.items.iter().filter_map(|item| match &item.node {
        StepItem::Tool(line) if matches!(step.kind, syntax::StepKind::Llm) => Some((line, item)),
        _ => None,
    });
    for (line, item) in lines.filter(|(line, _)| line.approval.is_some()) {
        for tool in tool_lines::meant(cx, step, line) {
            add_approval(cx, id, tool, node, item.span);
        }
    }
}

/// Adds the step that asks a person whether the model of the step `caller` may call a tool.
fn add_approval<'s>(cx: &mut Cx<'s>, caller: StepId, tool: ToolId, node: StepNode<'s>, span: Span) {
    let row = &cx.chart.steps[caller.index()];
    let (name, state) = (tool_lines::approval(row, &cx.chart.tools[tool.index()].name), row.state);
    let id = StepId::at(cx.chart.steps.len());
    // A second line for the tool is reported when it is lowered.
    let is_second = (caller.index()..id.index()).any(|i| cx.chart.steps[i].name == name);
    if is_second || !declare(&mut cx.findings, &mut cx.names.steps, "step", &name, span, id) {
        return;
    }
    cx.chart.states[state.index()].steps.push(id);
    let row = blank(name, state, "");
    cx.chart.steps.push(Step { approves: Some(caller), returns: Type::Bool, ..row });
    cx.map.steps.push(StepSpans { name: span, whole: span, ..StepSpans::default() });
    cx.step_nodes.push(node);
}

/// A step with values that are replaced when its body is lowered.
fn blank(name: String, state: StateId, doc: &str) -> Step {
    Step {
        name,
        doc: doc.to_owned(),
        state,
        kind: StepKind::Llm,
        starts: Starts::InTurn,
        guard: None,
        client: None,
        prompt: None,
        failure: FailurePolicy { retry: Retry::times(0), then: Failure::Fail },
        returns: Type::Json,
        into: None,
        tools: None,
        tool_lines: Vec::new(),
        approves: None,
        each: None,
        range: None,
        retries_doubt: false,
        accepts_cut: false,
        is_exact: false,
        asking: Vec::new(),
        ends_turn: None,
        outcomes: Vec::new(),
    }
}

// Paths of states. The first name is looked up among the children of the state in which the path is written, then of each ancestor.

// Lowers `from … { }`: lines with the states in which they apply.

// Nodes of a directed graph that lie on a cycle.
