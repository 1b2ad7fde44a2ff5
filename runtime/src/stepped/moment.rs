//! The clock of a session that an engine steps. It stands still during a step, and records for which time the session waits.

use crate::clock::{Clock, Sleep};
use chartc_core::machine::Instant;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

/// A clock that only the engine moves.
pub(super) struct StepClock {
    now: Arc<AtomicU64>,
    /// The earliest time for which the session has waited since the step began; `u64::MAX` for none.
    wake: Arc<AtomicU64>,
}

impl StepClock {
    pub(super) fn at(now: Instant) -> Self {
        Self { now: Arc::new(AtomicU64::new(now)), wake: Arc::new(AtomicU64::new(u64::MAX)) }
    }

    /// Begins a step at `now`. The clock never goes back.
    pub(super) fn step(&self, now: Instant) {
        self.now.fetch_max(now, Ordering::Relaxed);
        self.wake.store(u64::MAX, Ordering::Relaxed);
    }

    /// The time at which the session must be stepped again if nothing else happens.
    pub(super) fn wake(&self) -> Option<Instant> {
        Some(self.wake.load(Ordering::Relaxed)).filter(|at| *at != u64::MAX)
    }
}

impl Clock for StepClock {
    fn now(&self) -> Instant {
        self.now.load(Ordering::Relaxed)
    }

    fn sleep_until(&self, at: Instant) -> Sleep {
        let (now, wake) = (self.now.clone(), self.wake.clone());
        Box::pin(std::future::poll_fn(move |_| {
            if at <= now.load(Ordering::Relaxed) {
                return Poll::Ready(());
            }
            wake.fetch_min(at, Ordering::Relaxed);
            Poll::Pending
        }))
    }
}
