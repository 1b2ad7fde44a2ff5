//! Inputs from the host.

use super::defer::Origin;
use super::question::StartEffect;
use super::{Phase, Stepper};
use crate::arena::EventId;
use crate::machine::{Input, Instant, Receipt, Record, Sink, Status};
use crate::program::{Bound, Program};
use crate::tables::Reacts;

impl<P: Program> Stepper<P> {
    /// Handles one input. Effects and records go to `sink` in the order in which they happen.
    ///
    /// Deadlines that are due by `now`, in milliseconds, fire first. A `now` before that of an earlier input counts as that one.
    pub fn handle(
        &mut self,
        input: Input<P::Payload>,
        now: Instant,
        sink: &mut dyn Sink,
    ) -> Receipt {
        self.program.refuel();
        self.program.heed(sink);
        let receipt = match input {
            // The most frequent input has a path of its own.
            Input::Event(event, payload) => return self.event(event, payload, now, sink),
            Input::Start => return self.begin(now, sink),
            Input::Stop => return self.stop(now, sink),
            Input::Tick
            | Input::Turn
            | Input::Answer(..)
            | Input::Exhausted(..)
            | Input::Unmade(_)
            | Input::Warn(_)
            | Input::Charge(..)
                if !self.fire_due(now, sink) =>
            {
                Receipt::Closed
            }
            Input::Tick => {
                self.macrostep(None, sink);
                Receipt::Handled
            }
            Input::Turn => self.turn(sink),
            Input::Answer(key, outcome) => self.answer(key, outcome, sink),
            Input::Exhausted(key, kind) => self.exhausted(key, kind, sink),
            Input::Unmade(key) => self.unmade(key, sink),
            // Without limits there is nothing to warn about.
            Input::Warn(_) if !self.tables.summary.limits => Receipt::Refused,
            Input::Warn(kind) => {
                self.soft(kind, sink);
                Receipt::Handled
            }
            // Nothing in the chart reads the amounts.
            Input::Charge(..) if !self.tables.reads_amounts => Receipt::Refused,
            Input::Charge(key, charge) => {
                self.charge(key, charge, sink);
                Receipt::Handled
            }
        };
        self.settle(sink);
        receipt
    }

    /// Handles a host event, like [`Stepper::handle`] with `Input::Event`.
    pub fn event(
        &mut self,
        event: EventId,
        payload: P::Payload,
        now: Instant,
        sink: &mut dyn Sink,
    ) -> Receipt {
        self.program.refuel();
        self.program.heed(sink);
        if !self.fire_due(now, sink) {
            return Receipt::Closed;
        }
        let receipt = self.host_event(event, payload, sink);
        self.settle(sink);
        receipt
    }

    fn begin(&mut self, now: Instant, sink: &mut dyn Sink) -> Receipt {
        if self.scalars.phase != Phase::New {
            return Receipt::Closed;
        }
        self.scalars.now = now;
        self.scalars.started_at = now;
        self.start(sink);
        self.settle(sink);
        Receipt::Handled
    }

    fn stop(&mut self, now: Instant, sink: &mut dyn Sink) -> Receipt {
        if self.is_over() {
            return Receipt::Closed;
        }
        self.delivered = 0;
        self.scalars.now = now.max(self.scalars.now);
        // Deadlines that are due by now do not fire any more.
        self.finish(Status::Canceled, sink);
        self.calm();
        self.program.rest();
        Receipt::Handled
    }

    /// Fires everything that is due by `now`. Returns whether the machine was running and still is.
    #[inline(always)]
    fn fire_due(&mut self, now: Instant, sink: &mut dyn Sink) -> bool {
        if self.is_over() {
            return false;
        }
        self.delivered = 0;
        self.pass_time(now, sink);
        !self.is_over()
    }

    #[inline]
    fn host_event(&mut self, event: EventId, payload: P::Payload, sink: &mut dyn Sink) -> Receipt {
        // The id comes from the host, and may belong to another chart.
        if event.index() >= self.tables.events.len() {
            return Receipt::Unhandled;
        }
        self.scalars.events += 1;
        self.scalars.event = Some(event);
        sink.record(Record::Event(event));
        self.program.bind(Bound::Event(event, payload));
        self.external(event, Origin::Host, sink)
    }

    /// Handles an event from outside the macrostep, whose payload is already bound.
    #[inline(always)]
    pub(super) fn external(
        &mut self,
        event: EventId,
        origin: Origin,
        sink: &mut dyn Sink,
    ) -> Receipt {
        let may_start = !self.is_over() && self.some_leaf_reacts(Reacts::START);
        if may_start {
            self.note_leaves();
        }
        let answered =
            if self.is_over() { None } else { self.macrostep_of_event(event, origin, sink) };
        let receipt = if let Some(receipt) = answered {
            receipt
        } else if !may_start {
            sink.record(Record::Refused(event));
            Receipt::Unhandled
        } else {
            match self.start_on_event(event, sink) {
                StartEffect::Nobody => {
                    sink.record(Record::Refused(event));
                    Receipt::Unhandled
                }
                StartEffect::UnderWay => {
                    sink.record(Record::Refused(event));
                    Receipt::Refused
                }
                StartEffect::Started => Receipt::Handled,
            }
        };
        self.scalars.event = None;
        receipt
    }
}
