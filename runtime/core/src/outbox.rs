//! The queues into which an action block puts events: the internal queue for raised events, and the waiting events that were sent.

use crate::arena::{EventId, SendId};
use crate::machine::{Instant, Receiver, Record, Sink};
use crate::store::{Occurrence, Places, Sends, Sent};

/// Access to a machine's queues while one of its action blocks runs.
pub struct Outbox<'o> {
    pub(crate) queue: Places<'o>,
    pub(crate) queue_head: &'o mut u32,
    pub(crate) queue_len: &'o mut u32,
    pub(crate) sends: Sends<'o>,
    /// The maximum number of sent events that may wait.
    pub(crate) most: u32,
    pub(crate) waiting: &'o mut u32,
    pub(crate) now: Instant,
    pub(crate) sink: &'o mut dyn Sink,
}

impl Outbox<'_> {
    /// Raises an event, which is handled in this macrostep. Returns false if the internal queue is full.
    pub fn raise(&mut self, event: EventId) -> bool {
        self.queue.push(self.queue_head, self.queue_len, Occurrence::Event(event))
    }

    /// Sends an event to the chart itself, due in `delay` milliseconds; without a delay, it is handled as soon as this macrostep has ended.
    /// Returns the slot in which the program stores the payload; `None` if too many sent events wait. Linear in the number of waiting
    /// events.
    pub fn send(&mut self, event: EventId, delay: u64, id: Option<SendId>) -> Option<usize> {
        self.send_to(event, Receiver::Own, delay, id)
    }

    /// Like [`Outbox::send`], for any receiver.
    pub fn send_to(
        &mut self,
        event: EventId,
        to: Receiver,
        delay: u64,
        id: Option<SendId>,
    ) -> Option<usize> {
        let len = *self.waiting as usize;
        let slot = self.sends.free(*self.waiting, self.most)?;
        let sends = self.sends.all();
        // `Instant::MAX` stands for "never".
        let due = self.now.saturating_add(delay).min(Instant::MAX - 1);
        // Events that are due at the same time are delivered in the order in which they were sent.
        let at = sends[..len].partition_point(|other| other.due <= due);
        // The free entry behind the waiting ones moves to `at`; its slot is the one returned.
        sends[at..=len].rotate_right(1);
        sends[at] = Sent { event, due, id, slot, to };
        *self.waiting += 1;
        self.sink.record(Record::Sent(event, due));
        Some(slot as usize)
    }

    /// Records that an event was sent to another chart. The program keeps the payload until the host takes it.
    pub fn post(&mut self, event: EventId, to: Receiver) {
        self.sink.record(Record::Posted(event, to));
    }

    /// Cancels every waiting event that was sent with this id. Linear in the number of waiting events.
    pub fn cancel(&mut self, id: SendId) {
        let mut kept = 0;
        let sends = self.sends.all();
        for at in 0..*self.waiting as usize {
            if sends[at].id == Some(id) {
                self.sink.record(Record::SendCanceled(sends[at].event));
            } else {
                // Swapped, not overwritten: the entries of canceled events keep their slots, which become free again.
                sends.swap(kept, at);
                kept += 1;
            }
        }
        *self.waiting = kept as u32;
    }
}
