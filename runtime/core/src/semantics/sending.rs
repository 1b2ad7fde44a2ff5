//! Events that action blocks have sent. Each is handled like a host event when it is due.

use super::{MICROSTEPS, Stepper};
use crate::machine::{ErrorKind, Instant, Receiver, Record, Sink};
use crate::program::{Bound, Program};
use crate::store::{Occurrence, Sent, Store};

impl<P: Program> Stepper<'_, P> {
    /// The sent events that are not delivered yet, in the order of their delivery.
    pub fn sends(&self) -> &[Sent] {
        if self.scalars.sends == 0 {
            return &[];
        }
        &self.store.cells().sends[..self.scalars.sends as usize]
    }

    /// The time at which the next sent event is due; `None` if none waits.
    #[inline]
    pub(super) fn next_send(&self) -> Option<Instant> {
        if self.scalars.sends == 0 { None } else { self.sends().first().map(|sent| sent.due) }
    }

    /// Continues the walks, delivers events that were sent without delay, and reports dead ends, until the machine waits for the host.
    #[inline(always)]
    pub(super) fn settle(&mut self, sink: &mut dyn Sink) {
        // The usual case: nothing waits, and the configuration is not a new dead end.
        let rests = !self.scalars.walking
            && self.scalars.sends == 0
            && (self.scalars.dead || self.is_over() || self.may_go_on());
        if !rests {
            self.settle_all(sink);
        }
        self.calm();
        self.program.rest();
    }

    fn settle_all(&mut self, sink: &mut dyn Sink) {
        // If transitions for the dead end lead back into it and send each time, it is reported once more after its livelock.
        let mut last = false;
        loop {
            self.walk_on(sink);
            last = last || self.look_for_dead_end(sink) && self.is_in_livelock();
            if self.is_over() || self.next_send().is_none_or(|due| due > self.scalars.now) {
                return;
            }
        }
    }

    /// Delivers the first sent event if it is due. Returns whether it did. The event is handled like a host event: a question that waits
    /// for it is asked, and it is refused if nothing handles it.
    pub(super) fn deliver(&mut self, sink: &mut dyn Sink) -> bool {
        let now = self.scalars.now;
        if self.scalars.sends == 0 || self.is_over() {
            return false;
        }
        let mut sends = self.store.cells_mut().sends;
        let waiting = &mut sends.all()[..self.scalars.sends as usize];
        let first = waiting[0];
        if first.due > now {
            return false;
        }
        self.delivered += 1;
        if self.delivered > MICROSTEPS {
            self.stop_burst(sink);
            return false;
        }
        // The entry moves behind the waiting ones, so that its slot becomes free.
        waiting.rotate_left(1);
        self.scalars.sends -= 1;
        if first.to != Receiver::Own {
            sink.record(Record::Posted(first.event, first.to));
            self.program.post(first.event, first.slot as usize, first.to);
            return true;
        }
        self.scalars.events += 1;
        self.scalars.event = Some(first.event);
        sink.record(Record::Delivered(first.event));
        self.program.deliver(first.event, first.slot as usize);
        self.external(first.event, sink);
        true
    }

    /// Stops deliveries at this moment of the clock after a livelock, so that the events that were sent without delay are discarded.
    pub(super) fn end_burst(&mut self) {
        self.delivered = MICROSTEPS + 1;
    }

    /// Whether a macrostep, or a series of events sent without delay, was stopped at this moment of the clock.
    pub(super) fn is_in_livelock(&self) -> bool {
        self.delivered > MICROSTEPS
    }

    /// Handles too many events sent without delay. Those that are due are discarded, as a livelock discards the internal queue. The error
    /// is raised once; events that its own transitions send without delay are discarded, too.
    fn stop_burst(&mut self, sink: &mut dyn Sink) {
        let now = self.scalars.now;
        let mut sends = self.store.cells_mut().sends;
        let waiting = &mut sends.all()[..self.scalars.sends as usize];
        let due = waiting.iter().take_while(|sent| sent.due <= now).count();
        for sent in &waiting[..due] {
            sink.record(Record::SendCanceled(sent.event));
        }
        waiting.rotate_left(due);
        self.scalars.sends -= due as u32;
        if self.delivered == MICROSTEPS + 1 {
            sink.record(Record::Error(ErrorKind::Livelock));
            self.program.bind(Bound::Nothing);
            self.macrostep(Some(Occurrence::Error(ErrorKind::Livelock)), sink);
        }
    }
}
