//! Many agents of one chart, and who is in which state.
//!
//! Every session that has [`Population::join`]ed tells of the states that it enters and leaves. So a question costs what its
//! answer is long, not what the population is large.

use super::Session;
use chartc_core::arena::StateId;
use chartc_core::host::{Machine, Typed};
use chartc_core::tables::StateRowKind;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of an agent in its population, from 0 in the order of joining.
pub type AgentId = usize;

/// Agents of one chart, by its generated machine. Clones are the same population.
pub struct Population<M> {
    census: Census,
    chart: PhantomData<fn(M)>,
}

impl<M: Typed> Population<M> {
    /// Nobody yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a session an agent of the population, for as long as the session lives; one that joins again leaves where it was.
    pub fn join<T>(&self, session: &mut Session<M, T>) -> AgentId {
        let mut rows = self.census.rows();
        if rows.present.is_empty() {
            let tables = session.family.root().tables();
            let basic = |kind| matches!(kind, StateRowKind::Atomic | StateRowKind::Final(_));
            rows.basic = tables.states.iter().map(|row| basic(row.kind)).collect();
            rows.present.resize_with(tables.states.len(), BTreeSet::new);
        }
        let states = rows.present.len();
        let id = rows.joined;
        rows.joined += 1;
        drop(rows);
        let member = Member { id, census: self.census.clone() };
        // It may have been started before.
        member.tell(session.family.root(), (0..states).map(StateId::at));
        session.place = Some(member);
        id
    }

    /// How many agents are in a state now. Being in a state is being in those around it, too.
    pub fn count_in(&self, state: M::State) -> usize {
        self.census.rows().present.get(M::row_of(state).index()).map_or(0, BTreeSet::len)
    }

    /// The agents that are in a state now, ascending.
    pub fn agents_in_state(&self, state: M::State) -> Vec<AgentId> {
        let rows = self.census.rows();
        rows.present.get(M::row_of(state).index()).into_iter().flatten().copied().collect()
    }

    /// How many agents are in each basic state (atomic or final) now, in document order, with those where nobody is.
    ///
    /// Every agent that has started counts once, in a parallel once for each region; one that has ended counts where it ended.
    pub fn state_distribution(&self) -> Vec<(M::State, usize)> {
        let rows = self.census.rows();
        let states = M::STATES.iter().map(|state| (*state, M::row_of(*state).index()));
        let basic = states.filter(|(_, row)| rows.basic.get(*row) == Some(&true));
        basic.map(|(state, row)| (state, rows.present.get(row).map_or(0, BTreeSet::len))).collect()
    }
}

impl<M> Clone for Population<M> {
    fn clone(&self) -> Self {
        Self { census: self.census.clone(), chart: PhantomData }
    }
}

impl<M> Default for Population<M> {
    fn default() -> Self {
        Self { census: Census::default(), chart: PhantomData }
    }
}

impl<M> std::fmt::Debug for Population<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let joined = self.census.rows().joined;
        f.debug_struct("Population").field("joined", &joined).finish_non_exhaustive()
    }
}

#[derive(Clone, Default)]
struct Census(Arc<Mutex<Rows>>);

#[derive(Default)]
struct Rows {
    /// By the rows of the states: who is in them.
    present: Vec<BTreeSet<AgentId>>,
    /// By the rows of the states: whether they are basic ones.
    basic: Vec<bool>,
    /// Agents that ever joined.
    joined: usize,
}

impl Census {
    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session's place in its population; given up when it is dropped.
pub(super) struct Member {
    id: AgentId,
    census: Census,
}

impl Member {
    /// Tells of states that were entered or left. What counts is whether they are active now.
    pub(super) fn tell(&self, machine: &dyn Machine, touched: impl Iterator<Item = StateId>) {
        let mut touched = touched.peekable();
        if touched.peek().is_none() {
            return;
        }
        let mut rows = self.census.rows();
        for state in touched {
            let Some(present) = rows.present.get_mut(state.index()) else { continue };
            if machine.is_active(state) {
                present.insert(self.id);
            } else {
                present.remove(&self.id);
            }
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        for present in &mut self.census.rows().present {
            present.remove(&self.id);
        }
    }
}
