//! What is asked of the tables as a whole.

use super::{StateRow, StateRowKind, Tables};
use crate::arena::StateId;

impl Tables<'_> {
    /// Those of no chart.
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
    };

    /// Number of history states.
    pub fn histories(&self) -> usize {
        self.states.iter().filter(|s| matches!(s.kind, StateRowKind::History { .. })).count()
    }

    /// Number of deadline slots.
    pub fn deadlines(&self) -> usize {
        self.transitions.iter().filter(|t| t.trigger.deadline().is_some()).count()
    }

    /// The row of `id`.
    pub fn state(&self, id: StateId) -> &StateRow<'_> {
        &self.states[id.index()]
    }

    /// Whether `inner` is `outer` or lies below it.
    pub fn contains(&self, outer: StateId, inner: StateId) -> bool {
        outer <= inner && inner < self.state(outer).end
    }
}
