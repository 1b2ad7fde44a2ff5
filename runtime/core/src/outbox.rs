//! Where an action block puts events: the internal queue, and the events that are sent to be delivered later.

use crate::arena::{EventId, SendId};
use crate::machine::{Instant, Receiver, Record, Sink};
use crate::store::{Occurrence, Places, Sent};

/// The queues of a machine while one of its blocks runs.
pub struct Outbox<'o> {
    pub(crate) queue: Places<'o>,
    pub(crate) queue_head: &'o mut u32,
    pub(crate) queue_len: &'o mut u32,
    pub(crate) sends: &'o mut [Sent],
    pub(crate) waiting: &'o mut u32,
    pub(crate) now: Instant,
    pub(crate) sink: &'o mut dyn Sink,
}

impl Outbox<'_> {
    /// Raises an event: it is handled in this macrostep. Whether there was room.
    pub fn raise(&mut self, event: EventId) -> bool {
        self.queue.push(self.queue_head, self.queue_len, Occurrence::Event(event))
    }

    /// Sends an event that is due in `delay` milliseconds; without delay as soon as this macrostep has ended. Where to keep its
    /// payload; `None` if there is no room. Linear in the events that wait.
    pub fn send(&mut self, event: EventId, delay: u64, id: Option<SendId>) -> Option<usize> {
        self.send_to(event, Receiver::Own, delay, id)
    }

    /// As [`Outbox::send`], for whom it is meant.
    pub fn send_to(
        &mut self,
        event: EventId,
        to: Receiver,
        delay: u64,
        id: Option<SendId>,
    ) -> Option<usize> {
        let len = *self.waiting as usize;
        let slot = self.sends.get(len)?.slot;
        let due = self.now.saturating_add(delay).min(Instant::MAX - 1);
        let at = self.sends[..len].partition_point(|other| other.due <= due);
        self.sends[at..=len].rotate_right(1);
        self.sends[at] = Sent { event, due, id, slot, to };
        *self.waiting += 1;
        self.sink.record(Record::Sent(event, due));
        Some(slot as usize)
    }

    /// An event leaves for another chart at once. The program keeps its payload until it is taken.
    pub fn post(&mut self, event: EventId, to: Receiver) {
        self.sink.record(Record::Posted(event, to));
    }

    /// Takes back every event that was sent under this id and waits. Linear in the events that wait.
    pub fn cancel(&mut self, id: SendId) {
        let mut kept = 0;
        for at in 0..*self.waiting as usize {
            if self.sends[at].id == Some(id) {
                self.sink.record(Record::SendCanceled(self.sends[at].event));
            } else {
                self.sends.swap(kept, at);
                kept += 1;
            }
        }
        *self.waiting = kept as u32;
    }
}
