//! The bound on child starts and events between members, which stops an exchange without end.

use super::Handling;
use crate::machine::{ErrorKind, Record, Sink};

/// The maximum number of child starts and of events between members in one input of the host. Beyond it, `error.livelock` is recorded, the
/// first `run` step fails that is refused, later ones do not start, and events are lost.
pub const ROUNDS: u32 = 10_000;

impl<M> Handling<'_, M> {
    /// Counts a child start or an event. Returns whether the bound is exceeded.
    pub(super) fn goes_round(&mut self, sink: &mut dyn Sink) -> bool {
        self.tasks.rounds = self.tasks.rounds.saturating_add(1);
        if self.tasks.rounds == ROUNDS + 1 {
            sink.record(Record::Error(ErrorKind::Livelock));
        }
        self.tasks.rounds > ROUNDS
    }
}
