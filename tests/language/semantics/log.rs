//! What a machine tells.

use chartc_core::arena::TransitionId;
use chartc_core::machine::{Effect, Record, Sink};

/// Effects and records, as they come.
#[derive(Default)]
pub(super) struct Log {
    pub(super) effects: Vec<Effect>,
    pub(super) records: Vec<Record>,
    pub(super) held: Vec<(TransitionId, u64)>,
    pub(super) asks_why: bool,
}

impl Sink for Log {
    fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    fn record(&mut self, record: Record) {
        self.records.push(record);
    }

    fn asks_why(&self) -> bool {
        self.asks_why
    }

    fn held(&mut self, line: TransitionId, alternatives: u64) {
        self.held.push((line, alternatives));
    }
}
