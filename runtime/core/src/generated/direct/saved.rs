//! Converts the registers of a machine with direct code to those of the step algorithm, and back.

use super::{Current, Direct, Machine, Phase, Registers};
use crate::arena::StateId;
use crate::semantics::{Plain, RestoreError, Snapshot};
use alloc::vec::Vec;

impl<P: Direct> Machine<P> {
    /// A snapshot of the registers.
    pub fn snapshot(&self) -> Snapshot {
        let Registers { phase, turns, walking, dead, event } = self.program.registers().clone();
        let ended = match phase {
            Phase::New => None,
            Phase::Running => Some(None),
            Phase::Ending(status) | Phase::Ended(status) => Some(Some(status)),
        };
        let leaves = if ended.is_some() { self.program.leaves() } else { &[] };
        let event = event.get();
        Snapshot::plain(P::TABLES, Plain { ended, turns, walking, dead, event, leaves })
    }

    /// Replaces the registers by those of a snapshot.
    ///
    /// # Errors
    /// The chart has no such configuration. The machine is unchanged then.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), RestoreError> {
        let leaves: Vec<StateId> = snapshot.leaves(P::TABLES);
        let Plain { ended, turns, walking, dead, event, .. } = snapshot.as_plain();
        if ended.is_some() && !self.program.go_to(&leaves) {
            return Err(RestoreError::IllegalConfiguration);
        }
        let phase = match ended {
            None => Phase::New,
            Some(None) => Phase::Running,
            Some(Some(status)) => Phase::Ended(status),
        };
        *self.program.registers_mut() =
            Registers { phase, turns, walking, dead, event: Current::of(event) };
        Ok(())
    }
}
