//! Finds the state that a path such as `open.waiting`, or `Ticket.open.waiting` in the chart `Ticket`, names.

use super::context::{Cx, NameKind, NodeKind};
use crate::rules::{illegal_structure, unknown_name};
use crate::syntax::Path;
use crate::syntax::diagnostic::{Near, near, nearest};
use crate::syntax::source::{Ident, Span};
use chartc_core::arena::StateId;

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
        if id == StateId(0) {
            cx.record_use(name.span, cx.map.name, NameKind::Chart);
        } else {
            cx.record_use(name.span, cx.map.states[id.index()].name, NameKind::State);
        }
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
    // The chart's own name leads to what an inner state of the same name hides.
    let is_root = first.node == cx.chart.name && !rest.is_empty();
    let mut found = (cx.chart.ancestors(from).find_map(|scope| child(scope, first)))
        .or_else(|| is_root.then_some(StateId(0)))
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

/// Whether the states can be active together; reports two that cannot. Comparing neighbours in document order is enough, because what lies
/// between two targets shares their common ancestor.
pub(super) fn refuse_apart(cx: &mut Cx<'_>, found: &[(StateId, Span)]) -> bool {
    let mut sorted = found.to_vec();
    sorted.sort_unstable();
    for pair in sorted.windows(2) {
        let [(a, first), (b, second)] = pair else { continue };
        if !in_two_regions(cx, *a, *b) {
            let (x, y) = (&cx.chart.state(*a).path, &cx.chart.state(*b).path);
            let finding = illegal_structure::apart(x, y, *second, *first);
            cx.report(finding);
            return false;
        }
    }
    true
}
