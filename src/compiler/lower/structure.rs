//! The tree of states: numbers, kinds, initial children, paths, and the scopes of `from`.

use super::context::{BodyItem, Cx, NameKind, NodeKind, StateSource, StepNode, declare};
use super::nodes::{Beside, Neighbour};
use super::transitions::{self, add, draft};
use super::{StateSpans, StepSpans, closing, declare};
use crate::rules::{
    ILLEGAL_STRUCTURE, duplicate_name, illegal_structure, missing_initial, needless_except,
    unknown_name,
};
use crate::syntax::diagnostic::{Near, near, nearest};
use crate::syntax::source::{Ident, Span};
use crate::syntax::{self, ChartItem, History, Initial, Noted, Param, Path, StateItem};
use chartc_core::arena::{StateId, StepId};
use chartc_core::model::{
    Failure, FailurePolicy, Field, Limits, Renamed, Scope, State, StateKind, Status, Step,
    StepKind, Type,
};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
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
        let found = self::state(cx, id, path);
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
    let legal = !all.is_empty() && transitions::refuse_apart(cx, &all);
    cx.dropped |= !legal;
    if legal { all.into_iter().map(|(state, _)| state).collect() } else { vec![otherwise] }
}

fn history_kind(cx: &mut Cx<'_>, id: StateId, history: &History) -> StateKind {
    let parent = cx.chart.state(id).parent.unwrap_or(StateId(0));
    let mut all = Vec::new();
    for path in &history.default {
        let found = self::state(cx, parent, path);
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
        fields.push(Field { name: name.to_owned(), ty: declare::resolve(cx, &param.ty) });
    }
    fields
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
                closing::note(cx, Renamed::State(child), &state.name.node, &state.renamed);
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
                closing::note(cx, Renamed::State(id), &history.name.node, &history.renamed);
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
    closing::note(cx, Renamed::Step(id), name, &step.renamed);
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

// Paths of states. The first name is looked up among the children of the state in which the path is written, then of each ancestor.

/// The state that `path` means where it is written in the state `from`; reports a path that leads to none.
pub(super) fn state(cx: &mut Cx<'_>, from: StateId, path: &Path) -> Option<StateId> {
    names(cx, from, &path.names.iter().collect::<Vec<_>>())
}

/// Like `state`, for a list of names.
pub(super) fn names(cx: &mut Cx<'_>, from: StateId, names: &[&Ident]) -> Option<StateId> {
    match look_up(cx, from, names) {
        Ok(id) => {
            record(cx, names, id);
            Some(id)
        }
        Err(miss) => {
            // Editors know the names before the missing one.
            if let Some(inside) = miss.inside {
                record(cx, &names[..miss.at], inside);
            }
            report(cx, from, names, miss);
            None
        }
    }
}

/// Records the meanings of the names of a path. The last one is the state `last`.
fn record(cx: &mut Cx<'_>, names: &[&Ident], last: StateId) {
    let mut state = Some(last);
    for name in names.iter().rev() {
        let Some(id) = state else { return };
        cx.record_use(name.span, cx.map.states[id.index()].name, NameKind::State);
        state = cx.chart.state(id).parent;
    }
}

/// The state to which a path leads; reports nothing.
pub(super) fn find(cx: &Cx<'_>, from: StateId, path: &Path) -> Option<StateId> {
    look_up(cx, from, &path.names.iter().collect::<Vec<_>>()).ok()
}

/// The failure to find a path: the index of the missing name, and the state that the names before it mean, if there are any.
struct Miss {
    at: usize,
    inside: Option<StateId>,
}

fn look_up(cx: &Cx<'_>, from: StateId, names: &[&Ident]) -> Result<StateId, Miss> {
    let Some((first, rest)) = names.split_first() else {
        return Err(Miss { at: 0, inside: None });
    };
    let child =
        |parent: StateId, name: &Ident| cx.children.get(&(parent, name.node.as_str())).copied();
    let mut found = cx
        .chart
        .ancestors(from)
        .find_map(|scope| child(scope, first))
        .ok_or(Miss { at: 0, inside: None })?;
    for (index, name) in rest.iter().enumerate() {
        found = child(found, name).ok_or(Miss { at: index + 1, inside: Some(found) })?;
    }
    Ok(found)
}

fn report(cx: &mut Cx<'_>, from: StateId, names: &[&Ident], miss: Miss) {
    let Some(missing) = names.get(miss.at) else { return };
    let (name, span) = (missing.node.as_str(), missing.span);
    if !cx.take_guess() {
        cx.report(unknown_name::state(name, span, None));
        return;
    }
    if let Some(parent) = miss.inside {
        let known = cx.chart.children(parent).map(|c| cx.chart.state(c).name.as_str());
        let finding = unknown_name::child(&cx.chart.state(parent).path, name, span, known);
        cx.report(finding);
        return;
    }
    // A state with exactly this name deeper in the tree is a better guess than a similar name nearby.
    let deeper: Vec<&str> =
        cx.chart.states.iter().skip(1).filter(|s| s.name == name).map(|s| &*s.path).collect();
    if !deeper.is_empty() {
        let finding = unknown_name::nested(name, span, &deeper);
        cx.report(finding);
        return;
    }
    let visible = cx.chart.ancestors(from).flat_map(|scope| cx.chart.children(scope));
    let near = near(name, visible.map(|c| cx.chart.state(c).name.as_str()));
    let near = near.or_else(|| {
        let all = cx.chart.states.iter().skip(1);
        let near = nearest(name, all.map(|s| s.name.as_str()))?;
        let state = cx.chart.states.iter().find(|s| s.name == near)?;
        Some(Near { name: &state.path, is_only: false })
    });
    let finding = unknown_name::state(name, span, near);
    cx.report(finding);
}

/// Whether the state is a history.
pub(super) fn is_history(cx: &Cx<'_>, id: StateId) -> bool {
    matches!(cx.nodes[id.index()].kind, NodeKind::History(_))
}

/// The state that counts when targets must be active together: for a history, its parent.
fn region(cx: &Cx<'_>, id: StateId) -> StateId {
    if is_history(cx, id) { cx.chart.state(id).parent.unwrap_or(id) } else { id }
}

/// Whether two states are in different regions of a parallel. A state and its descendant are not.
pub(super) fn in_two_regions(cx: &Cx<'_>, a: StateId, b: StateId) -> bool {
    let (a, b) = (region(cx, a), region(cx, b));
    if cx.chart.contains(a, b) || cx.chart.contains(b, a) {
        return false;
    }
    cx.chart
        .ancestors(a)
        .find(|up| cx.chart.contains(*up, b))
        .is_some_and(|common| matches!(cx.nodes[common.index()].kind, NodeKind::Parallel))
}

// Lowers `from … { }`: lines with the states in which they apply.

/// Adds the transitions of a `from … { }`.
pub(super) fn from(cx: &mut Cx<'_>, source: StateId, from: &syntax::From) {
    let Some(scope) = scope(cx, source, from) else {
        cx.dropped = true;
        return;
    };
    let mut targets: Vec<Vec<StateId>> = Vec::new();
    for (i, Noted { node: line, span, .. }) in from.lines.iter().enumerate() {
        let near = |nth: usize| {
            from.lines.get(nth).map(|noted| (Neighbour::Line(&noted.node), noted.span))
        };
        let beside = Beside::new(i.checked_sub(1).and_then(near), near(i + 1));
        let Some(mut draft) = draft(cx, source, line, *span, beside) else {
            cx.dropped = true;
            continue;
        };
        if draft.each {
            cx.dropped = true;
            let finding = ILLEGAL_STRUCTURE
                .at(*span, "`each after` is not allowed in `from`")
                .help("write it as a line of the state whose leaves it is meant for");
            cx.report(finding);
            continue;
        }
        let mut scope = scope.clone();
        // A line of `from *` does not apply in its own targets, so that it does not restart them.
        if scope.wildcard {
            let left = draft.transition.targets.iter().map(|t| t.state);
            let left: Vec<StateId> = left.filter(|t| !is_history(cx, *t)).collect();
            scope.none_of.extend(&left);
            targets.push(left);
            scope.none_of.sort_unstable();
            scope.none_of.dedup();
        }
        draft.transition.scope = Some(scope);
        draft.spans.from = Some(from.span);
        add(cx, draft);
    }
    if scope.wildcard {
        needless(cx, source, from, &targets);
    }
}

/// Reports exceptions that a `from *` makes anyway: final children, and states that are targets of each of its lines. `targets` contains
/// the targets by line.
fn needless(cx: &mut Cx<'_>, source: StateId, from: &syntax::From, targets: &[Vec<StateId>]) {
    for path in &from.except {
        let Some(state) = find(cx, source, path) else { continue };
        let row = cx.chart.state(state);
        let is_final = row.parent == Some(source) && matches!(row.kind, StateKind::Final { .. });
        let always = !targets.is_empty() && targets.iter().all(|left| left.contains(&state));
        if is_final || always {
            let finding = needless_except::left_out(&row.name, is_final, path.span);
            cx.report(finding);
        }
    }
}

fn scope(cx: &mut Cx<'_>, source: StateId, from: &syntax::From) -> Option<Scope> {
    if let NodeKind::Final(..) = cx.nodes[source.index()].kind {
        let (name, declared) = (&cx.chart.state(source).name, cx.map.state(source).name);
        let finding = illegal_structure::in_final("`from`", name, from.span, declared);
        cx.report(finding);
        return None;
    }
    let wildcard = from.states.is_empty();
    let any_of = reachable(cx, source, &from.states);
    let mut none_of = reachable(cx, source, &from.except);
    if !wildcard && any_of.is_empty() {
        return None;
    }
    // Nothing leads out of a final child.
    if wildcard {
        none_of.extend(finals(cx, source));
    }
    none_of.sort_unstable();
    none_of.dedup();
    Some(Scope { wildcard, any_of, none_of })
}

/// The final children of a state, cached because many lines may ask for them.
fn finals(cx: &mut Cx<'_>, state: StateId) -> Vec<StateId> {
    if let Some((_, known)) = cx.finals.as_ref().filter(|(known, _)| *known == state) {
        return known.clone();
    }
    let is_final = |s: &StateId| matches!(cx.chart.state(*s).kind, StateKind::Final { .. });
    let found: Vec<StateId> = cx.chart.children(state).filter(is_final).collect();
    cx.finals = Some((state, found.clone()));
    found
}

/// The states of a list that can be active together with `source`, in document order; reports the others.
fn reachable(cx: &mut Cx<'_>, source: StateId, written: &[syntax::Path]) -> Vec<StateId> {
    let mut found = Vec::new();
    for path in written {
        let Some(state) = self::state(cx, source, path) else { continue };
        let together = cx.chart.contains(source, state)
            || cx.chart.contains(state, source)
            || in_two_regions(cx, source, state);
        if is_history(cx, state) {
            let declared = cx.map.state(state).name;
            cx.report(illegal_structure::history_in_from(&path.text(), path.span, declared));
            continue;
        }
        if !together {
            let outer = &cx.chart.state(source).name;
            let declared = cx.map.state(state).name;
            let finding =
                illegal_structure::from_elsewhere(&path.text(), outer, path.span, declared);
            cx.report(finding);
            continue;
        }
        found.push(state);
    }
    found.sort_unstable();
    found.dedup();
    found
}

// Nodes of a directed graph that lie on a cycle.

/// Whether each node lies on a cycle. `next` lists the successors of each node. Takes linear time in nodes and edges, and does not recurse.
pub(super) fn on(next: &[Vec<usize>]) -> Vec<bool> {
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    for _ in next {
        graph.add_node(());
    }
    for (from, all) in next.iter().enumerate() {
        graph.extend_with_edges(all.iter().map(|to| (NodeIndex::new(from), NodeIndex::new(*to))));
    }
    let mut found = vec![false; next.len()];
    for component in kosaraju_scc(&graph) {
        for node in &component {
            // A component of one node is a cycle only if the node is its own successor.
            found[node.index()] = component.len() > 1 || next[node.index()].contains(&node.index());
        }
    }
    found
}
