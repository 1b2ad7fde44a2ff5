//! Stored registers to return to, so that several inputs can be tried at one point of a run.

use super::{Scalars, Stepper};
use crate::arena::StateId;
use crate::machine::Instant;
use crate::program::Program;
use crate::store::{Cells, Question, Sent, Store};

/// The registers of a machine in a stable configuration. Cheaper than a snapshot, and only for machines with the same tables.
#[derive(Debug, Clone)]
pub struct Registers<S> {
    scalars: Scalars,
    store: S,
    leaves: u32,
    armed: u32,
    open: u32,
}

/// Read access to the registers of a machine. Together with the program's data, they determine its future.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'m> {
    /// The registers of states, steps and deadlines.
    pub cells: Cells<'m>,
    /// The open questions in the order of their leaves.
    pub questions: &'m [Question],
    /// The waiting sent events.
    pub sends: &'m [Sent],
    /// The number of turns that have ended.
    pub turns: u32,
    /// The present time of the clock.
    pub now: Instant,
    /// The time at which the run started.
    pub started_at: Instant,
    /// Whether `error.stuck.dead` was raised and no state was entered since.
    pub dead: bool,
    /// Whether a turn is being walked.
    pub walking: bool,
    /// Whether nothing further may start in this turn.
    pub stopped: bool,
}

impl<P: Program> Stepper<'_, P> {
    /// Read access to all registers.
    pub fn standing(&self) -> Standing<'_> {
        let Scalars { turns, now, started_at, dead, walking, stopped, .. } = self.scalars;
        Standing {
            cells: self.store.cells(),
            questions: self.questions(),
            sends: self.sends(),
            turns,
            now,
            started_at,
            dead,
            walking,
            stopped,
        }
    }

    /// A copy of the registers.
    pub(crate) fn registers(&self) -> Registers<P::Store>
    where
        P::Store: Clone,
    {
        let Self { scalars, leaves, armed, open, .. } = *self;
        Registers { scalars, store: self.store.clone(), leaves, armed, open }
    }

    /// Restores registers of a machine with the same tables.
    pub(crate) fn go_to(&mut self, registers: &Registers<P::Store>)
    where
        P::Store: Clone,
    {
        self.scalars = registers.scalars;
        self.store.clone_from(&registers.store);
        self.leaves = registers.leaves;
        self.armed = registers.armed;
        self.open = registers.open;
    }

    /// Sets the number of turns that have ended in the run.
    pub(crate) fn set_turns(&mut self, turns: u32) {
        self.scalars.turns = turns;
    }

    /// Sets the counts that a state's limits on calls and turns read; `None` keeps a count.
    pub(crate) fn set_counted(&mut self, state: StateId, calls: Option<u32>, turns: Option<u32>) {
        let row = self.counts_mut(state);
        row.calls = calls.unwrap_or(row.calls);
        row.turns_in = turns.unwrap_or(row.turns_in);
    }
}
