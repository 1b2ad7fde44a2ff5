//! The time of a run that is run again.

use super::tape::Tape;
use crate::clock::{Clock, Sleep, VirtualClock};
use chartc_core::machine::Instant;
use std::task::Poll;

/// Jumps from moment to moment as a virtual clock does, but never past the next line of the trace.
///
/// Where the computer's time passed, even what follows at once from one thing took some: there it is as late as the next line says,
/// unless that line is what the run waits for.
#[derive(Debug, Clone)]
pub(super) struct ReplayClock {
    tape: Tape,
    time: VirtualClock,
    is_real: bool,
}

impl ReplayClock {
    pub(super) fn new(tape: Tape, is_real: bool) -> Self {
        Self { tape, time: VirtualClock::new(), is_real }
    }

    /// Whether the computer's time passed.
    pub(super) const fn is_real(&self) -> bool {
        self.is_real
    }

    /// How far time has passed for certain.
    pub(super) fn reached(&self) -> Instant {
        self.time.now()
    }
}

impl Clock for ReplayClock {
    fn now(&self) -> Instant {
        if self.is_real
            && let Some((index, line)) = self.tape.next()
            && !self.tape.wakes(index)
        {
            self.time.move_to(line.at_ms);
        }
        self.time.now()
    }

    fn sleep_until(&self, at: Instant) -> Sleep {
        let clock = self.clone();
        let mut sleep = self.time.sleep_until(at);
        Box::pin(std::future::poll_fn(move |cx| {
            if clock.now() >= at { Poll::Ready(()) } else { sleep.as_mut().poll(cx) }
        }))
    }

    fn jump(&self) -> bool {
        let Some((_, line)) = self.tape.next() else { return false };
        if self.is_real {
            self.time.move_to(line.at_ms)
        } else {
            self.time.jump_at_most(line.at_ms)
        }
    }
}
