//! What would go on without end is stopped.

use super::Family;
use crate::machine::{ErrorKind, Record, Sink};

/// How many children are started and events sent from member to member in one input of the host. What is more counts as going round
/// without end: `error.livelock` is recorded, the first `run` step to be refused fails, later ones are not begun, and events are lost.
pub const ROUNDS: u32 = 10_000;

impl<M> Family<M> {
    /// Whether this is one start or event too many.
    pub(super) fn goes_round(&mut self, sink: &mut dyn Sink) -> bool {
        self.rounds = self.rounds.saturating_add(1);
        if self.rounds == ROUNDS + 1 {
            sink.record(Record::Error(ErrorKind::Livelock));
        }
        self.rounds > ROUNDS
    }
}
