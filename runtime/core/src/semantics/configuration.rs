//! Configurations: sets of states closed under parents.

use super::Engine;
use crate::arena::StateId;
use crate::bits;
use crate::program::Program;
use crate::store::Store;
use crate::tables::{StateRowKind, Tables};

/// Whether `configuration` is one that a chart can be in: the root is active, an active state's parent is active, an active
/// compound has exactly one active child, an active parallel all its regions, and no pseudo-state is active.
pub fn is_legal(tables: &Tables<'_>, configuration: &[u64]) -> bool {
    bits::has(configuration, 0)
        && tables.states.iter().enumerate().all(|(index, row)| {
            let id = StateId::at(index);
            if !bits::has(configuration, index) {
                return true;
            }
            let active = children(tables, id).filter(|c| bits::has(configuration, c.index()));
            bits::has(configuration, row.parent.index())
                && match row.kind {
                    StateRowKind::Atomic | StateRowKind::Final(_) => true,
                    StateRowKind::Compound(_) => active.count() == 1,
                    StateRowKind::Parallel => {
                        active.count()
                            == children(tables, id).filter(|c| is_real(tables, *c)).count()
                    }
                    StateRowKind::History { .. } => false,
                }
        })
}

/// The children of a state in document order, pseudo-states included.
pub(super) fn children<'a>(
    tables: &'a Tables<'_>,
    id: StateId,
) -> impl Iterator<Item = StateId> + use<'a> {
    let end = tables.states[id.index()].end;
    let rows = tables.states;
    core::iter::successors(Some(StateId(id.0 + 1)), move |s| rows.get(s.index()).map(|r| r.end))
        .take_while(move |s| *s < end)
}

/// Not a pseudo-state.
pub(super) fn is_real(tables: &Tables<'_>, id: StateId) -> bool {
    !matches!(tables.states[id.index()].kind, StateRowKind::History { .. })
}

/// Atomic or final: a basic state of configurations. (A chart without states has an atomic root.)
pub(super) fn is_leaf(tables: &Tables<'_>, id: StateId) -> bool {
    matches!(tables.states[id.index()].kind, StateRowKind::Atomic | StateRowKind::Final(_))
}

impl<P: Program> Engine<'_, P> {
    /// The first active leaf at or after `from` in document order and below `end`.
    pub(super) fn next_leaf(&self, from: usize, end: usize) -> Option<StateId> {
        let configuration = self.store.cells().configuration;
        let mut at = from;
        while let Some(found) = bits::first_in(configuration, at, end) {
            if is_leaf(&self.tables, StateId::at(found)) {
                return Some(StateId::at(found));
            }
            at = found + 1;
        }
        None
    }

    /// The first active leaf below `state`, or `state` itself.
    pub(super) fn leaf_of(&self, state: StateId) -> StateId {
        let end = self.tables.states[state.index()].end;
        self.next_leaf(state.index(), end.index()).unwrap_or(state)
    }

    /// The active leaves in document order.
    pub fn leaves(&self) -> impl Iterator<Item = StateId> + '_ {
        let end = self.tables.states.len();
        core::iter::successors(self.next_leaf(0, end), move |s| self.next_leaf(s.index() + 1, end))
    }

    /// Whether `inner` is `outer` or lies below it.
    pub(super) fn contains(&self, outer: StateId, inner: StateId) -> bool {
        outer <= inner && inner < self.tables.states[outer.index()].end
    }

    /// The parent; `None` for the root.
    pub(super) fn parent(&self, state: StateId) -> Option<StateId> {
        let parent = self.tables.states[state.index()].parent;
        (parent != state).then_some(parent)
    }

    /// Whether a compound has an active final child, or every region of a parallel is so.
    pub(super) fn is_in_final(&self, state: StateId) -> bool {
        match self.tables.states[state.index()].kind {
            StateRowKind::Compound(_) => children(&self.tables, state).any(|c| {
                matches!(self.tables.states[c.index()].kind, StateRowKind::Final(_))
                    && self.is_active(c)
            }),
            StateRowKind::Parallel => children(&self.tables, state)
                .filter(|c| is_real(&self.tables, *c))
                .all(|c| self.is_in_final(c)),
            StateRowKind::Atomic | StateRowKind::Final(_) | StateRowKind::History { .. } => false,
        }
    }
}
