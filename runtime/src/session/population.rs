//! Populations: many agents of one chart, with an index of the states in which they are.
//!
//! Each session that has [`Population::join`]ed reports the states that it enters and exits. A population keeps one bit per agent and
//! state, in blocks of 4,096 agents that have their own locks. So agents on different threads rarely wait for each other, and a query
//! costs as much as the size of its answer, plus a few words per block.

use super::Session;
use chartc_core::arena::StateId;
use chartc_core::host::{Machine, Typed};
use chartc_core::tables::StateRowKind;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

/// The number of an agent in its population: its position in the order of joining, from 0, or the number given to [`Population::join_as`].
pub type AgentId = usize;

/// The agents of one chart, interpreted or generated. Clones are the same population.
pub struct Population<M> {
    census: Arc<Census>,
    chart: PhantomData<fn(M)>,
}

impl<M: Machine> Population<M> {
    /// Creates a population without agents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a session to the population, until the session is dropped. A session that joins again gives up its earlier number.
    pub fn join<T>(&self, session: &mut Session<M, T>) -> AgentId {
        let id = self.census.joined.fetch_add(1, Relaxed);
        self.enter(id, session);
        id
    }

    /// Like [`Population::join`], with a number that the host chooses. Two sessions that exist at the same time must not have the same
    /// number.
    pub fn join_as<T>(&self, id: AgentId, session: &mut Session<M, T>) {
        self.census.joined.fetch_max(id.saturating_add(1), Relaxed);
        self.enter(id, session);
    }

    fn enter<T>(&self, id: AgentId, session: &mut Session<M, T>) {
        session.place = None;
        let root = session.family.root();
        let states = self.census.chart(root).paths.len();
        let member =
            Membership { nth: (id % BLOCK) as u32, block: self.census.block(id / BLOCK, states) };
        // The session may have been started already, so all states are reported once.
        member.tell(root, (0..states).map(StateId::at));
        session.place = Some(Box::new(member));
    }

    /// The number of agents in the state with this dotted path; `None` if the chart has no such state, or if no agent has joined yet. An
    /// agent in a state is also in its ancestors.
    pub fn count_at(&self, path: &str) -> Option<usize> {
        Some(self.census.count(self.census.row(path)?))
    }

    /// The agents in the state with this dotted path, ascending; `None` as for [`Population::count_at`].
    pub fn agents_at(&self, path: &str) -> Option<Vec<AgentId>> {
        Some(self.census.agents(self.census.row(path)?))
    }

    /// Like [`Population::state_distribution`], by dotted paths, also for interpreted charts. Empty before an agent has joined.
    pub fn distribution(&self) -> Vec<(String, usize)> {
        let counts = self.census.counts();
        let Some(chart) = self.census.chart.get() else { return Vec::new() };
        let rows = chart.paths.iter().zip(&chart.basic).zip(counts);
        rows.filter(|((_, basic), _)| **basic).map(|((path, _), n)| (path.clone(), n)).collect()
    }
}

impl<M: Typed> Population<M> {
    /// The number of agents in a state. An agent in a state is also in its ancestors.
    pub fn count_in(&self, state: M::State) -> usize {
        self.census.count(M::row_of(state).index())
    }

    /// The agents in a state, ascending.
    pub fn agents_in_state(&self, state: M::State) -> Vec<AgentId> {
        self.census.agents(M::row_of(state).index())
    }

    /// The number of agents in each leaf, in document order, including leaves without agents. Empty before an agent has joined.
    ///
    /// Every agent that has started counts once; in a parallel state, once for each region. An agent that has ended counts where it ended.
    pub fn state_distribution(&self) -> Vec<(M::State, usize)> {
        let counts = self.census.counts();
        let Some(chart) = self.census.chart.get() else { return Vec::new() };
        let states = M::STATES.iter().map(|state| (*state, M::row_of(*state).index()));
        let basic = states.filter(|(_, row)| chart.basic.get(*row) == Some(&true));
        basic.map(|(state, row)| (state, counts.get(row).copied().unwrap_or(0))).collect()
    }
}

impl<M> Clone for Population<M> {
    fn clone(&self) -> Self {
        Self { census: self.census.clone(), chart: PhantomData }
    }
}

impl<M> Default for Population<M> {
    fn default() -> Self {
        Self { census: Arc::default(), chart: PhantomData }
    }
}

impl<M> std::fmt::Debug for Population<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let joined = self.census.joined.load(Relaxed);
        f.debug_struct("Population").field("joined", &joined).finish_non_exhaustive()
    }
}

/// The number of agents per block.
const BLOCK: usize = 4096;
const WORD: usize = u64::BITS as usize;

#[derive(Default)]
struct Census {
    /// The states of the chart; known once the first agent has joined.
    chart: OnceLock<Chart>,
    blocks: RwLock<BTreeMap<usize, Arc<Mutex<Block>>>>,
    /// The number of the next agent.
    joined: AtomicUsize,
}

/// The states of the chart, in the order of its tables.
struct Chart {
    paths: Vec<String>,
    /// Whether each state can be a leaf: it is atomic or final.
    basic: Vec<bool>,
}

/// For each state, the agents in it as a bit set, and their number.
struct Block {
    present: Vec<[u64; BLOCK / WORD]>,
    counts: Vec<usize>,
}

impl Census {
    fn chart(&self, machine: &dyn Machine) -> &Chart {
        self.chart.get_or_init(|| {
            let states = &machine.tables().states;
            let basic = |kind| matches!(kind, StateRowKind::Atomic | StateRowKind::Final(_));
            Chart {
                paths: states.iter().map(|row| String::from(&row.path)).collect(),
                basic: states.iter().map(|row| basic(row.kind)).collect(),
            }
        })
    }

    fn row(&self, path: &str) -> Option<usize> {
        self.chart.get()?.paths.iter().position(|other| other == path)
    }

    fn block(&self, nth: usize, states: usize) -> Arc<Mutex<Block>> {
        let blocks = self.blocks.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = blocks.get(&nth) {
            return block.clone();
        }
        drop(blocks);
        // Another thread may have added the block between both locks; `entry` then finds it.
        let mut blocks = self.blocks.write().unwrap_or_else(PoisonError::into_inner);
        let empty = || {
            let present = vec![[0; BLOCK / WORD]; states];
            Arc::new(Mutex::new(Block { present, counts: vec![0; states] }))
        };
        blocks.entry(nth).or_insert_with(empty).clone()
    }

    /// Calls `act` with each block and the number of its first agent, in order.
    fn each_block(&self, mut act: impl FnMut(usize, &Block)) {
        let blocks = self.blocks.read().unwrap_or_else(PoisonError::into_inner);
        for (nth, block) in blocks.iter() {
            act(nth * BLOCK, &lock(block));
        }
    }

    fn count(&self, row: usize) -> usize {
        let mut sum = 0;
        self.each_block(|_, block| sum += block.counts.get(row).copied().unwrap_or(0));
        sum
    }

    fn counts(&self) -> Vec<usize> {
        let mut sums = vec![0; self.chart.get().map_or(0, |chart| chart.paths.len())];
        self.each_block(|_, block| {
            for (sum, count) in sums.iter_mut().zip(&block.counts) {
                *sum += count;
            }
        });
        sums
    }

    fn agents(&self, row: usize) -> Vec<AgentId> {
        let mut found = Vec::new();
        self.each_block(|first, block| {
            let Some(present) = block.present.get(row).filter(|_| block.counts[row] > 0) else {
                return;
            };
            found.reserve(block.counts[row]);
            for (nth, word) in present.iter().enumerate() {
                let mut left = *word;
                while left != 0 {
                    found.push(first + nth * WORD + left.trailing_zeros() as usize);
                    left &= left - 1;
                }
            }
        });
        found
    }
}

fn lock(block: &Mutex<Block>) -> MutexGuard<'_, Block> {
    block.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Block {
    fn set(&mut self, row: usize, nth: u32, is_in: bool) {
        let (Some(present), Some(count)) = (self.present.get_mut(row), self.counts.get_mut(row))
        else {
            return;
        };
        let word = &mut present[nth as usize / WORD];
        let bit = 1 << (nth as usize % WORD);
        match (*word & bit != 0, is_in) {
            (false, true) => *count += 1,
            (true, false) => *count -= 1,
            (true, true) | (false, false) => return,
        }
        *word ^= bit;
    }
}

/// A session's membership in a population. Dropping it removes the agent.
pub(super) struct Membership {
    nth: u32,
    block: Arc<Mutex<Block>>,
}

impl Membership {
    /// Reports states that were entered or exited. Their present state is read from the machine.
    pub(super) fn tell(&self, machine: &dyn Machine, touched: impl Iterator<Item = StateId>) {
        let mut touched = touched.peekable();
        if touched.peek().is_none() {
            return;
        }
        let mut block = lock(&self.block);
        for state in touched {
            block.set(state.index(), self.nth, machine.is_active(state));
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        let mut block = lock(&self.block);
        for row in 0..block.counts.len() {
            block.set(row, self.nth, false);
        }
    }
}
