//! Where a machine's registers live: arrays for generated code without alloc, vectors for the interpreter.

pub mod bits;
#[cfg(feature = "alloc")]
mod kept;
mod queue;
mod register;

pub use queue::Places;
pub use register::{Amounts, Fan, Question, Sent, StateRegister, StepRegister, Walk, WalkStage};

use crate::arena::{ChoiceId, EventId, StateId, StepId, TransitionId};
use crate::machine::{ErrorKind, LimitKind};

/// An occurrence: something that can trigger transitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Occurrence {
    /// A host event, or a raised one (whose payload is dequeued).
    Event(EventId),
    /// The built-in event.
    Turn,
    /// Completion of a state.
    StateDone(StateId),
    /// A deadline was due.
    Deadline(TransitionId),
    /// An option was chosen.
    Choice(ChoiceId),
    /// The tool that a `may call` transition permitted has returned. The guard held when the call began.
    Returned(ChoiceId),
    /// A step ended well.
    StepDone(StepId),
    /// A step failed for good.
    StepError(StepId),
    /// Whether a step's call took effect is unknown.
    StepDoubt(StepId),
    /// An `ask` has no usable answer, or a policy takes its transition.
    StepElse(StepId),
    /// `error.*`.
    Error(ErrorKind),
    /// `limit.warn.*`.
    Warn(LimitKind),
}

/// All registers, as slices. Lengths: `W` words a set, `S` states, `K` steps, `D` deadlines, `H` history states, `N` sent events,
/// `L` walks.
#[derive(Debug, Clone, Copy)]
pub struct Cells<'c> {
    /// W. Active states, root included.
    pub configuration: &'c [u64],
    /// S. The active leaves in document order; the engine knows their number.
    pub leaves: &'c [StateId],
    /// H × W. The states that each history has recorded; all zero for none.
    pub history: &'c [u64],
    /// W. Active at any moment of this turn.
    pub touched: &'c [u64],
    /// W. States active continuously since this turn began.
    pub unbroken: &'c [u64],
    /// W. The leaves that were active when the current event for questions occurred, and have not been exited since.
    pub found: &'c [u64],
    /// S. Times and counts.
    pub states: &'c [StateRegister],
    /// S. The open question of each leaf.
    pub questions: &'c [Option<Question>],
    /// K.
    pub steps: &'c [StepRegister],
    /// L. The walks of the current turn.
    pub walks: &'c [Walk],
    /// The steps with an `each`; empty in a store of arrays.
    pub fans: &'c [Fan],
    /// S, or empty: of charts that do not read them, and in a store of arrays.
    pub amounts: &'c [Amounts],
    /// D. Due time or number of turns; `u64::MAX` if not armed.
    pub deadlines: &'c [u64],
    /// N. Sent events: the waiting ones by due time, then by order of sending; after them free slots. Every slot occurs once.
    pub sends: &'c [Sent],
    /// W. Entry set of the microstep.
    pub entry: &'c [u64],
    /// W. Domains of the transitions being taken, where the domain is computed.
    pub domains: &'c [u64],
    /// S + 1. Selected transitions, in selection order.
    pub selected: &'c [TransitionId],
    /// D. The transitions with armed deadlines, as a heap; the engine knows their number.
    pub due: &'c [TransitionId],
}

/// The part of the registers that guards and actions can see.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the fields are those of `Cells`")]
pub struct Observed<'c> {
    pub configuration: &'c [u64],
    pub states: &'c [StateRegister],
    pub amounts: &'c [Amounts],
}

/// Write access to [`Cells`], and the scratch space of a microstep.
#[derive(Debug)]
#[allow(missing_docs, reason = "the fields are those of `Cells`")]
pub struct CellsMut<'c> {
    pub configuration: &'c mut [u64],
    pub leaves: &'c mut [StateId],
    pub history: &'c mut [u64],
    pub touched: &'c mut [u64],
    pub unbroken: &'c mut [u64],
    /// As [`Cells::found`].
    pub found: &'c mut [u64],
    pub states: &'c mut [StateRegister],
    pub questions: &'c mut [Option<Question>],
    pub steps: &'c mut [StepRegister],
    pub walks: &'c mut [Walk],
    pub fans: &'c mut [Fan],
    pub amounts: &'c mut [Amounts],
    pub deadlines: &'c mut [u64],
    pub sends: &'c mut [Sent],
    pub entry: &'c mut [u64],
    pub due: &'c mut [TransitionId],
    /// D. The index in `due` of each armed deadline.
    pub places: &'c mut [u32],
    pub domains: &'c mut [u64],
    /// W. States whose `initial`, and histories whose default, is being entered and has actions; empty between microsteps.
    pub defaults: &'c mut [u64],
    pub selected: &'c mut [TransitionId],
    /// Internal queue.
    pub queue: Places<'c>,
}

/// Storage for the registers of one machine.
pub trait Store {
    /// Read access.
    fn cells(&self) -> Cells<'_>;
    /// Write access.
    fn cells_mut(&mut self) -> CellsMut<'_>;
}

/// Registers in arrays: `S` states, `W` words, `K` steps, `D` deadlines, `HW` history words, `Q` queue capacity, `N` sent events,
/// `L` walks; `SEL` is `S + 1`.
#[derive(Debug, Clone)]
pub struct Fixed<
    const S: usize,
    const W: usize,
    const K: usize,
    const D: usize,
    const HW: usize,
    const Q: usize,
    const SEL: usize,
    const N: usize,
    const L: usize,
> {
    bits: [[u64; W]; 7],
    history: [u64; HW],
    states: [StateRegister; S],
    questions: [Option<Question>; S],
    steps: [StepRegister; K],
    walks: [Walk; L],
    fans: [Fan; 0],
    amounts: [Amounts; 0],
    deadlines: [u64; D],
    sends: [Sent; N],
    due: [TransitionId; D],
    places: [u32; D],
    leaves: [StateId; S],
    selected: [TransitionId; SEL],
    queue: queue::Few<Q>,
}

impl<
    const S: usize,
    const W: usize,
    const K: usize,
    const D: usize,
    const HW: usize,
    const Q: usize,
    const SEL: usize,
    const N: usize,
    const L: usize,
> Fixed<S, W, K, D, HW, Q, SEL, N, L>
{
    /// Nothing active, nothing armed.
    pub const fn new() -> Self {
        let mut sends = [Sent::free(0); N];
        let mut slot = 0;
        while slot < N {
            sends[slot] = Sent::free(slot as u32);
            slot += 1;
        }
        Self {
            bits: [[0; W]; 7],
            history: [0; HW],
            states: [StateRegister::NEW; S],
            questions: [None; S],
            steps: [StepRegister::NEW; K],
            walks: [Walk::NEW; L],
            fans: [],
            amounts: [],
            deadlines: [u64::MAX; D],
            sends,
            due: [TransitionId(0); D],
            places: [0; D],
            leaves: [StateId(0); S],
            selected: [TransitionId(0); SEL],
            queue: queue::Few([Occurrence::Turn; Q]),
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
    const SEL: usize,
    const N: usize,
    const L: usize,
> Default for Fixed<S, W, K, D, HW, Q, SEL, N, L>
{
    fn default() -> Self {
        Self::new()
    }
}

macro_rules! lend {
    () => {
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
                states: &self.states,
                questions: &self.questions,
                steps: &self.steps,
                walks: &self.walks,
                fans: &self.fans,
                amounts: &self.amounts,
                deadlines: &self.deadlines,
                sends: &self.sends,
                entry,
                domains,
                due: &self.due,
                selected: &self.selected,
            }
        }

        #[inline]
        fn cells_mut(&mut self) -> CellsMut<'_> {
            let [configuration, touched, unbroken, entry, domains, defaults, found] =
                &mut self.bits;
            CellsMut {
                configuration,
                leaves: &mut self.leaves,
                history: &mut self.history,
                touched,
                unbroken,
                found,
                states: &mut self.states,
                questions: &mut self.questions,
                steps: &mut self.steps,
                walks: &mut self.walks,
                fans: &mut self.fans,
                amounts: &mut self.amounts,
                deadlines: &mut self.deadlines,
                sends: &mut self.sends,
                entry,
                due: &mut self.due,
                places: &mut self.places,
                domains,
                defaults,
                selected: &mut self.selected,
                queue: self.queue.lend(),
            }
        }
    };
}

impl<
    const S: usize,
    const W: usize,
    const K: usize,
    const D: usize,
    const HW: usize,
    const Q: usize,
    const SEL: usize,
    const N: usize,
    const L: usize,
> Store for Fixed<S, W, K, D, HW, Q, SEL, N, L>
{
    lend!();
}

/// The capacity of the internal queue of a chart with this number of states: completions of all of them, and raised events. It is the same
/// for every store, because charts can observe it: `raise` fails when the queue is full.
pub const fn queue_places(states: usize) -> usize {
    2 * states + 128
}

/// Registers in vectors, sized by the tables.
#[cfg(feature = "alloc")]
#[derive(Debug)]
pub struct Dynamic {
    bits: [alloc::vec::Vec<u64>; 7],
    history: alloc::vec::Vec<u64>,
    states: alloc::vec::Vec<StateRegister>,
    questions: alloc::vec::Vec<Option<Question>>,
    steps: alloc::vec::Vec<StepRegister>,
    walks: alloc::vec::Vec<Walk>,
    fans: alloc::vec::Vec<Fan>,
    amounts: alloc::vec::Vec<Amounts>,
    deadlines: alloc::vec::Vec<u64>,
    sends: alloc::vec::Vec<Sent>,
    due: alloc::vec::Vec<TransitionId>,
    places: alloc::vec::Vec<u32>,
    leaves: alloc::vec::Vec<StateId>,
    selected: alloc::vec::Vec<TransitionId>,
    queue: queue::Many,
}

#[cfg(feature = "alloc")]
impl Dynamic {
    /// Nothing active, nothing armed.
    pub fn new(tables: &crate::tables::Tables<'_>) -> Self {
        use alloc::vec;
        let states = tables.states.len();
        let words = bits::words(states);
        let deadlines = tables.deadlines();
        Self {
            bits: core::array::from_fn(|_| vec![0; words]),
            history: vec![0; words * tables.histories()],
            states: vec![StateRegister::NEW; states],
            questions: vec![None; states],
            steps: vec![StepRegister::default(); tables.steps.len()],
            walks: vec![Walk::NEW; tables.walks.len()],
            fans: vec![Fan::default(); tables.fans()],
            amounts: vec![Amounts::default(); if tables.reads_amounts { states } else { 0 }],
            deadlines: vec![u64::MAX; deadlines],
            sends: (0..tables.sends).map(Sent::free).collect(),
            due: vec![TransitionId(0); deadlines],
            places: vec![0; deadlines],
            leaves: vec![StateId(0); states],
            selected: vec![TransitionId(0); states + 1],
            queue: queue::Many::new(queue_places(states)),
        }
    }
}

#[cfg(feature = "alloc")]
impl Store for Dynamic {
    lend!();
}
