//! What a machine tells.

use chartc_core::arena::TransitionId;
use chartc_core::machine::{Effect, Record, Sink};

/// What a machine told while it handled one input.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) effects: Vec<Effect>,
    pub(crate) records: Vec<Record>,
    pub(crate) held: Vec<(TransitionId, u64)>,
}

impl Sink for Log {
    fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    fn record(&mut self, record: Record) {
        self.records.push(record);
    }

    fn asks_why(&self) -> bool {
        true
    }

    fn held(&mut self, line: TransitionId, alternatives: u64) {
        self.held.push((line, alternatives));
    }
}
