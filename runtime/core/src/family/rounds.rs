//! The bound that stops endless exchange between members.

use super::Handling;
use crate::machine::{ErrorKind, Record, Sink};

/// The maximum number of child starts and of events between members in one input of the host. Beyond it, `error.livelock` is recorded, the
/// first refused `run` step fails, later ones are not begun, and events are lost.
pub const ROUNDS: u32 = 10_000;

impl<M> Handling<'_, M> {
    /// Counts a start or event. Returns whether it exceeds the bound.
    pub(super) fn goes_round(&mut self, sink: &mut dyn Sink) -> bool {
        self.tasks.rounds = self.tasks.rounds.saturating_add(1);
        if self.tasks.rounds == ROUNDS + 1 {
            sink.record(Record::Error(ErrorKind::Livelock));
        }
        self.tasks.rounds > ROUNDS
    }
}
