//! The effects and records of a machine that concern its family.

use crate::arena::TransitionId;
use crate::machine::{Effect, ErrorKind, Record, Sink, Status, StepKey};
use alloc::vec::Vec;

/// An effect or record that concerns the family.
pub(super) enum Notice {
    /// A step of any kind was started.
    Start(StepKey),
    /// A step was canceled.
    Cancel(StepKey),
    /// A turn has ended.
    TurnEnded,
    /// The run has ended.
    Ended(Status),
    /// The machine is in a dead end.
    Dead,
}

/// A sink that passes everything on to another sink, and collects the notices for the family.
pub(super) struct Watch<'s, S> {
    sink: &'s mut S,
    pub(super) seen: Vec<Notice>,
}

impl<'s, S: Sink> Watch<'s, S> {
    /// A watch on `sink`. `seen` is an empty buffer for the notices.
    pub(super) fn new(sink: &'s mut S, seen: Vec<Notice>) -> Self {
        Self { sink, seen }
    }
}

impl<S: Sink> Sink for Watch<'_, S> {
    fn effect(&mut self, effect: Effect) {
        match effect {
            Effect::Start(key) => self.seen.push(Notice::Start(key)),
            Effect::Cancel(key) => self.seen.push(Notice::Cancel(key)),
            // A run that ends in its dead end is reported as ended only.
            Effect::Ended(status) => {
                self.seen.retain(|one| !matches!(one, Notice::Dead));
                self.seen.push(Notice::Ended(status));
            }
            Effect::Ask(_) | Effect::Call(..) => {}
        }
        self.sink.effect(effect);
    }

    #[inline]
    fn record(&mut self, record: Record) {
        match record {
            Record::TurnEnded(_) => self.seen.push(Notice::TurnEnded),
            Record::Error(ErrorKind::StuckDead) => self.seen.push(Notice::Dead),
            // The machine has left its dead end. The new configuration may not be one.
            Record::Entered(_) if !self.seen.is_empty() => {
                self.seen.retain(|one| !matches!(one, Notice::Dead));
            }
            _ => {}
        }
        self.sink.record(record);
    }

    fn asks_why(&self) -> bool {
        self.sink.asks_why()
    }

    fn takes_notes(&self) -> bool {
        self.sink.takes_notes()
    }

    fn held(&mut self, line: TransitionId, alternatives: u64) {
        self.sink.held(line, alternatives);
    }
}
