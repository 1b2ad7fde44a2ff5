//! Lowers `from … { }`: lines with the states in which they apply.

use super::beside::{Beside, Neighbour};
use super::context::{Cx, NodeKind};
use super::paths;
use super::transition::{add, draft};
use chartc_core::arena::StateId;
use chartc_core::model::{Scope, StateKind};
use chartc_text::rules::ILLEGAL_STRUCTURE;
use chartc_text::rules::{illegal_structure, needless_except};
use chartc_text::syntax::{self, Noted};

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
            let left: Vec<StateId> = left.filter(|t| !paths::is_history(cx, *t)).collect();
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
        let Some(state) = paths::find(cx, source, path) else { continue };
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
        let Some(state) = paths::state(cx, source, path) else { continue };
        let together = cx.chart.contains(source, state)
            || cx.chart.contains(state, source)
            || paths::in_two_regions(cx, source, state);
        if paths::is_history(cx, state) {
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
