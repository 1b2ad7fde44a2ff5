//! The clock of a replay.

use super::tape::Tape;
use crate::clock::{Clock, Sleep, VirtualClock};
use chartc_core::machine::Instant;
use std::task::Poll;

/// A clock that jumps from deadline to deadline like a virtual clock, but never past the time of the next line.
///
/// If the recorded run used real time, even the immediate consequences of an event took some. So the present time is then that of the
/// next line, unless that line is something for which the run waits.
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

    /// Whether the recorded run used real time.
    pub(super) const fn is_real(&self) -> bool {
        self.is_real
    }

    /// The time that has certainly been reached.
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
