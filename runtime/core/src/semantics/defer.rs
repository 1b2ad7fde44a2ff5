//! Deferred events.
//!
//! **The problem.** An event that no transition takes may be deferred by an active state. It must be kept with its data, and handled as soon
//! as the configuration permits, in the order of arrival.
//!
//! **The idea.** A deferred event waits among the sent events, as one that is never due: `Instant::MAX` sorts it behind all others, and it
//! is copied, saved and restored like them. [`Stepper::defer`] adds it. [`Stepper::next_recalled`] tries all that are kept, but only if a
//! state was entered, or a question or a step on an event ended, since they were last tried. The delivery of sent events handles what it finds, before any sent
//! event that is due.
//!
//! **Example.** Two events while `busy` is active:
//!
//! ```text
//! state idle { on order -> busy }   state busy { defer order  on ready -> idle }
//! Event(order)   no transition of `busy` is triggered, so it is kept: Deferred(order)
//! Event(ready)   Taken, Exited(busy), Entered(idle); then Recalled(order), Taken, Exited(idle), Entered(busy)
//! ```

use super::Stepper;
use super::select::Picked;
use crate::arena::{EventId, StateId};
use crate::machine::{DEFERRED, Effect, ErrorKind, Instant, Receipt, Receiver, Record, Sink};
use crate::program::{Bound, Program};
use crate::store::{Sent, Store};
use crate::tables::Reacts;

/// The origin of an event that is being handled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Host,
    /// The chart has sent it, or it is handled again after it was deferred.
    Sent,
    /// The chart has raised it, so no step waits for it.
    Raised,
}

/// Discards everything, and wants no notes.
struct Nobody;

impl Sink for Nobody {
    fn effect(&mut self, _: Effect) {}

    fn record(&mut self, _: Record) {}

    fn takes_notes(&self) -> bool {
        false
    }
}

impl<P: Program> Stepper<P> {
    /// Whether the state itself defers the event.
    #[inline]
    pub(super) fn defers(&self, state: StateId, event: EventId) -> bool {
        self.reacts(state, Reacts::DEFER)
            && self.tables.states[state.index()].defers.of(&self.tables.event_pool).contains(&event)
    }

    /// Keeps the current event, which no transition takes, if an active state defers it; otherwise returns `None`. Too many deferred events
    /// refuse it.
    #[inline]
    pub(super) fn defer(
        &mut self,
        event: EventId,
        origin: Origin,
        sink: &mut dyn Sink,
    ) -> Option<Receipt> {
        if !self.some_leaf_reacts(Reacts::DEFER) || !self.would_defer(event, origin) {
            return None;
        }
        Some(self.keep(event, origin, sink))
    }

    fn keep(&mut self, event: EventId, origin: Origin, sink: &mut dyn Sink) -> Receipt {
        let (waiting, kept) = (self.scalars.sends, self.deferred().len());
        let slot = self.store.cells_mut().sends.free(waiting, self.tables.sends);
        let Some(slot) = slot.filter(|_| kept < DEFERRED as usize) else {
            sink.record(Record::Refused(event));
            if origin != Origin::Host {
                self.raise_error(ErrorKind::Execution, sink);
            }
            return Receipt::Refused;
        };
        let sent = Sent { event, due: Instant::MAX, id: None, slot, to: Receiver::Own };
        self.store.cells_mut().sends.all()[waiting as usize] = sent;
        self.scalars.sends += 1;
        self.moved &= kept > 0;
        self.program.put_back(slot as usize);
        sink.record(Record::Deferred(event));
        Receipt::Handled
    }

    /// Whether an active state defers the event, and no step waits for it.
    fn would_defer(&mut self, event: EventId, origin: Origin) -> bool {
        let mut deferred = false;
        for nth in 0..self.leaves as usize {
            let leaf = self.store.cells().leaves[nth];
            if origin != Origin::Raised
                && self.reacts_on_path(leaf, Reacts::START)
                && self.would_start(leaf, event)
            {
                return false;
            }
            let mut path = Some(leaf).filter(|leaf| self.reacts_on_path(*leaf, Reacts::DEFER));
            while let Some(state) = path {
                deferred = deferred || self.defers(state, event);
                path = self.parent(state);
            }
        }
        deferred
    }

    /// The events that are kept, oldest first.
    pub(super) fn deferred(&self) -> &[Sent] {
        let sends = self.sends();
        &sends[sends.partition_point(|sent| !sent.is_deferred())..]
    }

    /// The maximum number of sent events that may wait beside those that are kept, together with them.
    pub(super) fn most_sends(&self) -> u32 {
        let most = self.tables.sends;
        if !self.tables.summary.reacts.meets(Reacts::DEFER) {
            return most;
        }
        most - DEFERRED + self.deferred().len() as u32
    }

    /// Whether deferred events have to be tried again.
    pub(super) fn may_recall(&self) -> bool {
        self.moved && !self.deferred().is_empty()
    }

    /// The place among the sent events of the oldest deferred one that is now handled, or that no active state defers any more. Its
    /// payload is bound.
    pub(super) fn next_recalled(&mut self, sink: &mut dyn Sink) -> Option<usize> {
        if !self.may_recall() {
            return None;
        }
        self.program.heed(&Nobody);
        let end = self.scalars.sends as usize;
        let found = (end - self.deferred().len()..end).find(|place| self.would_recall(*place));
        self.program.heed(sink);
        self.moved = found.is_some();
        found
    }

    fn would_recall(&mut self, place: usize) -> bool {
        let Sent { event, slot, .. } = self.sends()[place];
        self.program.deliver(event, slot as usize);
        self.scalars.event = Some(event);
        let taken = (0..self.leaves as usize).any(|nth| {
            let leaf = self.store.cells().leaves[nth];
            matches!(self.pick(leaf, event, &[], &mut 0, &mut Nobody), Picked::Line(_))
        });
        self.scalars.event = None;
        let recalled = taken || !self.would_defer(event, Origin::Sent);
        if !recalled {
            self.program.put_back(slot as usize);
            self.program.bind(Bound::Nothing);
        }
        recalled
    }

    /// Drops what is kept, because the run ends.
    pub(super) fn drop_deferred(&self, sink: &mut dyn Sink) {
        for sent in self.deferred() {
            sink.record(Record::Refused(sent.event));
        }
    }
}
