//! Registers that are kept to come back to: for whoever tries several inputs at one point of a run.

use super::{Scalars, Stepper, Walk};
use crate::arena::StateId;
use crate::machine::Instant;
use crate::program::Program;
use crate::store::{Cells, Sent, Store};

/// The registers of a machine at a stable point. Cheaper than a snapshot, and only for machines of the same plan.
#[derive(Debug, Clone)]
pub struct Registers<S> {
    scalars: Scalars,
    store: S,
    leaves: usize,
    armed: usize,
}

/// The registers of a machine, to read: what its future depends on beside the program's data.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'m> {
    /// Those of states, steps and deadlines.
    pub cells: Cells<'m>,
    /// Sent events that wait.
    pub sends: &'m [Sent],
    /// Turns ended.
    pub turns: u32,
    /// The clock.
    pub now: Instant,
    /// When the run began.
    pub started_at: Instant,
    /// How often regions competed for the first call of a turn.
    pub rotation: u32,
    /// `error.stuck.dead` was raised and nothing was entered since.
    pub dead: bool,
    /// The turn that is being walked.
    pub walk: Option<Walk>,
}

impl<P: Program> Stepper<'_, P> {
    /// The registers, to read.
    pub fn standing(&self) -> Standing<'_> {
        let Scalars { turns, now, started_at, rotation, dead, walk, .. } = self.scalars;
        Standing {
            cells: self.store.cells(),
            sends: self.sends(),
            turns,
            now,
            started_at,
            rotation,
            dead,
            walk,
        }
    }

    /// The registers, kept.
    pub(crate) fn registers(&self) -> Registers<P::Store>
    where
        P::Store: Clone,
    {
        let Self { scalars, leaves, armed, .. } = *self;
        Registers { scalars, store: self.store.clone(), leaves, armed }
    }

    /// Takes over registers that a machine of the same tables had.
    pub(crate) fn go_to(&mut self, registers: &Registers<P::Store>)
    where
        P::Store: Clone,
    {
        self.scalars = registers.scalars;
        self.store.clone_from(&registers.store);
        self.leaves = registers.leaves;
        self.armed = registers.armed;
    }

    /// Sets how many turns the run has taken.
    pub(crate) fn set_turns(&mut self, turns: u32) {
        self.scalars.turns = turns;
    }

    /// Sets the counters of a state's limits.
    pub(crate) fn set_counted(&mut self, state: StateId, calls: Option<u32>, turns: Option<u32>) {
        let row = &mut self.store.cells_mut().states[state.index()];
        row.calls = calls.unwrap_or(row.calls);
        row.turns_in = turns.unwrap_or(row.turns_in);
    }
}
