//! Queries over the tables as a whole.

use super::{StateRow, StateRowKind, Summary, Tables, WalkRow};
use crate::arena::StateId;
use crate::structure::{self, Shape, Tree};

impl Tables<'_> {
    /// Tables without rows, as a base for others.
    pub const EMPTY: Self = Self {
        name: "",
        hash: 0,
        states: &[],
        transitions: &[],
        events: &[],
        steps: &[],
        choices: &[],
        tools: &[],
        clients: &[],
        permissions: &[],
        computed_limits: &[],
        reads_amounts: false,
        types: &[],
        renames: &[],
        walks: &[WalkRow::PLAIN],
        state_pool: &[],
        event_pool: &[],
        step_pool: &[],
        choice_pool: &[],
        tool_pool: &[],
        name_pool: &[],
        send_ids: &[],
        sends: 0,
        dispatch_pool: &[],
        calls_per_turn: 0,
        history_kept: None,
        microsteps: 0,
        summary: Summary::PLAIN,
    };

    /// The number of history states.
    pub fn histories(&self) -> usize {
        self.states.iter().filter(|s| matches!(s.kind, StateRowKind::History { .. })).count()
    }

    /// The number of deadline slots.
    pub fn deadlines(&self) -> usize {
        self.transitions.iter().filter(|t| t.trigger.deadline().is_some()).count()
    }

    /// The number of steps with an `each`.
    pub fn fans(&self) -> usize {
        self.steps.iter().filter(|step| step.each.is_some()).count()
    }

    /// The row of a state.
    pub fn state(&self, id: StateId) -> &StateRow<'_> {
        &self.states[id.index()]
    }

    /// The states as a tree.
    #[inline]
    pub const fn tree(&self) -> Rows<'_> {
        Rows { states: self.states, pool: self.state_pool }
    }

    /// Whether `inner` is `outer` or its descendant.
    pub fn contains(&self, outer: StateId, inner: StateId) -> bool {
        structure::contains(&self.tree(), outer, inner)
    }
}

/// The rows of states as a tree.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'t> {
    /// The states in document order.
    pub states: &'t [StateRow<'t>],
    /// The pool of states to which the rows refer.
    pub pool: &'t [StateId],
}

impl Tree for Rows<'_> {
    #[inline]
    fn shape(&self, state: StateId) -> Shape<'_> {
        match self.states[state.index()].kind {
            StateRowKind::Atomic | StateRowKind::Final(_) => Shape::Basic,
            StateRowKind::Compound(initial) => Shape::Compound(initial.of(self.pool)),
            StateRowKind::Parallel => Shape::Parallel,
            StateRowKind::History { default, .. } => Shape::History(default.of(self.pool)),
        }
    }

    #[inline]
    fn parent(&self, state: StateId) -> Option<StateId> {
        let parent = self.states[state.index()].parent;
        (parent != state).then_some(parent)
    }

    #[inline]
    fn end(&self, state: StateId) -> StateId {
        self.states[state.index()].end
    }
}
