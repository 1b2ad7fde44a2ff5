//! Registers in arrays.

use super::queue::{Queue, Slots};
use super::{Amounts, Cells, CellsMut, Counts, Fan, Question, Store, Underway, Walk};
use crate::arena::{StateId, TransitionId};
use crate::machine::Instant;
use crate::tables::Tables;

/// Registers in arrays: `S` states, `W` words of a set of states, `K` steps, `D` deadlines, `HW` words of all histories, `Q` places of the
/// internal queue, `V` the maximum number of leaves that are active together, `N` sent events, `L` walks.
#[derive(Debug, Clone)]
pub struct Fixed<
    const S: usize,
    const W: usize,
    const K: usize,
    const D: usize,
    const HW: usize,
    const Q: usize,
    const V: usize,
    const N: usize,
    const L: usize,
> {
    // In the order of `cells_mut`: configuration, touched, unbroken, entry, domains, defaults, found.
    bits: [[u64; W]; 7],
    history: [u64; HW],
    entered: [Instant; S],
    counts: [Counts; S],
    questions: [Question; V],
    started: [Instant; K],
    steps: [Underway; K],
    walks: [Walk; L],
    // Charts that need the next two have an allocator, and use `Dynamic`.
    fans: [Fan; 0],
    amounts: [Amounts; 0],
    deadlines: [u64; D],
    sends: Slots<N>,
    due: [TransitionId; D],
    places: [u32; D],
    leaves: [StateId; V],
    queue: Queue<Q>,
}

impl<
    const S: usize,
    const W: usize,
    const K: usize,
    const D: usize,
    const HW: usize,
    const Q: usize,
    const V: usize,
    const N: usize,
    const L: usize,
> Fixed<S, W, K, D, HW, Q, V, N, L>
{
    /// The registers before the start: no state is active, and no deadline is armed.
    pub const fn new() -> Self {
        Self {
            bits: [[0; W]; 7],
            history: [0; HW],
            entered: [0; S],
            counts: [Counts::NEW; S],
            questions: [Question::NONE; V],
            started: [0; K],
            steps: [Underway::NEW; K],
            walks: [Walk::NEW; L],
            fans: [],
            amounts: [],
            deadlines: [u64::MAX; D],
            sends: Slots::new(),
            due: [TransitionId(0); D],
            places: [0; D],
            leaves: [StateId(0); V],
            queue: Queue::new(),
        }
    }
}

impl<
    const S: usize,
    const W: usize,
    const K: usize,
    const D: usize,
    const HW: usize,
    const Q: usize,
    const V: usize,
    const N: usize,
    const L: usize,
> Default for Fixed<S, W, K, D, HW, Q, V, N, L>
{
    fn default() -> Self {
        Self::new()
    }
}

impl<
    const S: usize,
    const W: usize,
    const K: usize,
    const D: usize,
    const HW: usize,
    const Q: usize,
    const V: usize,
    const N: usize,
    const L: usize,
> Store for Fixed<S, W, K, D, HW, Q, V, N, L>
{
    type Selected = [TransitionId; V];

    fn empty(_: &Tables) -> Self {
        Self::new()
    }

    #[inline]
    fn selected(_: usize) -> [TransitionId; V] {
        [TransitionId(0); V]
    }

    #[inline]
    fn cells(&self) -> Cells<'_> {
        let [configuration, touched, unbroken, entry, domains, _, found] = &self.bits;
        Cells {
            configuration,
            leaves: &self.leaves,
            history: &self.history,
            touched,
            unbroken,
            found,
            entered: &self.entered,
            counts: &self.counts,
            questions: &self.questions,
            started: &self.started,
            steps: &self.steps,
            walks: &self.walks,
            fans: &self.fans,
            amounts: &self.amounts,
            deadlines: &self.deadlines,
            sends: self.sends.all(),
            entry,
            domains,
            due: &self.due,
        }
    }

    #[inline]
    fn cells_mut(&mut self) -> CellsMut<'_> {
        let [configuration, touched, unbroken, entry, domains, defaults, found] = &mut self.bits;
        CellsMut {
            configuration,
            leaves: &mut self.leaves,
            history: &mut self.history,
            touched,
            unbroken,
            found,
            entered: &mut self.entered,
            counts: &mut self.counts,
            questions: &mut self.questions,
            started: &mut self.started,
            steps: &mut self.steps,
            walks: &mut self.walks,
            fans: &mut self.fans,
            amounts: &mut self.amounts,
            deadlines: &mut self.deadlines,
            sends: self.sends.lend(),
            entry,
            due: &mut self.due,
            places: &mut self.places,
            domains,
            defaults,
            queue: self.queue.lend(),
        }
    }

    #[cfg(feature = "alloc")]
    #[inline(always)]
    fn is_busy(&self) -> bool {
        self.queue.has_grown() || self.sends.has_grown()
    }

    #[cfg(feature = "alloc")]
    fn calm(&mut self) {
        self.queue.shrink();
        self.sends.shrink();
    }
}
