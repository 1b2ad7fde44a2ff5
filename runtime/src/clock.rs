//! Clocks: real time, and virtual time for tests and simulations.

use chartc_core::machine::Instant;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A future that resolves when its time is reached.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A source of time, in milliseconds since an arbitrary origin.
pub trait Clock: Send + Sync {
    /// The present time. It never goes back.
    fn now(&self) -> Instant;

    /// Resolves at `at`, or at once if that has passed.
    fn sleep_until(&self, at: Instant) -> Sleep;

    /// Moves the time forward, if this clock can be moved, and returns whether it did. Called when nothing can happen until time passes.
    fn jump(&self) -> bool {
        false
    }
}

/// A clock of real time, counted from its creation. It needs a tokio runtime with a timer.
#[derive(Debug, Clone, Copy)]
pub struct RealClock {
    origin: tokio::time::Instant,
    first: Instant,
}

impl RealClock {
    /// Creates a clock that starts at 0.
    pub fn new() -> Self {
        Self::starting_at(0)
    }

    /// Creates a clock that starts at `first`, such as the time at which a resumed run was saved.
    pub fn starting_at(first: Instant) -> Self {
        Self { origin: tokio::time::Instant::now(), first }
    }
}

impl Default for RealClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for RealClock {
    fn now(&self) -> Instant {
        let passed = u64::try_from(self.origin.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.first.saturating_add(passed)
    }

    fn sleep_until(&self, at: Instant) -> Sleep {
        let wait = std::time::Duration::from_millis(at.saturating_sub(self.now()));
        Box::pin(tokio::time::sleep(wait))
    }
}

/// A view of another clock that never moves it: `jump` does nothing. The owner of the other clock moves it.
#[derive(Clone)]
pub struct Shared<C>(pub C);

impl<C: Clock> Clock for Shared<C> {
    fn now(&self) -> Instant {
        self.0.now()
    }

    fn sleep_until(&self, at: Instant) -> Sleep {
        self.0.sleep_until(at)
    }
}

impl Clock for Arc<dyn Clock> {
    fn now(&self) -> Instant {
        (**self).now()
    }

    fn sleep_until(&self, at: Instant) -> Sleep {
        (**self).sleep_until(at)
    }

    fn jump(&self) -> bool {
        (**self).jump()
    }
}

/// A clock that stands still until everybody waits for it, and then jumps to the earliest awaited time. Reading the time takes no lock.
#[derive(Debug, Clone, Default)]
pub struct VirtualClock {
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The present time. Written only while `waiting` is locked.
    now: AtomicU64,
    /// The number of the next sleep. Of sleeps until the same time, the first one created wakes first.
    next: AtomicU64,
    waiting: Mutex<Sleepers>,
}

type Sleepers = BTreeMap<(Instant, u64), Waker>;

impl VirtualClock {
    /// Creates a clock that starts at 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a clock that starts at `first`, such as the time at which a resumed run was saved.
    pub fn starting_at(first: Instant) -> Self {
        let clock = Self::default();
        clock.state.now.store(first, Release);
        clock
    }

    /// Like [`Clock::jump`], but at most to `limit`. Returns whether time has passed.
    pub(crate) fn jump_at_most(&self, limit: Instant) -> bool {
        self.move_to(self.next_wake().unwrap_or(limit).min(limit))
    }

    /// The earliest time for which somebody waits.
    pub fn next_wake(&self) -> Option<Instant> {
        self.waiting().first_key_value().map(|((at, _), _)| *at)
    }

    /// Advances to `at`, unless that has passed, and wakes all sleeps up to then. Returns whether time has passed.
    pub fn move_to(&self, at: Instant) -> bool {
        let waiting = self.waiting();
        if at <= self.now() {
            return false;
        }
        self.pass(waiting, at);
        true
    }

    /// Sets the time and wakes the sleeps up to it.
    fn pass(&self, mut waiting: MutexGuard<'_, Sleepers>, now: Instant) {
        self.state.now.store(now, Release);
        // Keys are ordered by time, so everything before `now + 1` is due.
        let later = waiting.split_off(&(now.saturating_add(1), 0));
        let woken = std::mem::replace(&mut *waiting, later);
        // Wakers may run code that locks again, so they are called without the lock.
        drop(waiting);
        woken.into_values().for_each(Waker::wake);
    }

    fn waiting(&self) -> MutexGuard<'_, Sleepers> {
        self.state.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Instant {
        self.state.now.load(Acquire)
    }

    fn sleep_until(&self, at: Instant) -> Sleep {
        let nth = self.state.next.fetch_add(1, Relaxed);
        Box::pin(Waiting { clock: self.clone(), key: (at, nth), is_waited_for: false })
    }

    fn jump(&self) -> bool {
        let waiting = self.waiting();
        let Some(((at, _), _)) = waiting.first_key_value() else { return false };
        // A sleep may be for a time that has passed already; the clock must not go back.
        let now = self.now().max(*at);
        self.pass(waiting, now);
        true
    }
}

struct Waiting {
    clock: VirtualClock,
    key: (Instant, u64),
    is_waited_for: bool,
}

impl Future for Waiting {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.clock.now() >= self.key.0 {
            return Poll::Ready(());
        }
        self.is_waited_for = true;
        let mut waiting = self.clock.waiting();
        // Checked again under the lock: the time may have advanced in between, and this sleep would not be woken.
        if self.clock.now() >= self.key.0 {
            return Poll::Ready(());
        }
        waiting.insert(self.key, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.is_waited_for {
            // The lock is released first: dropping a waker may drop a future that locks again.
            let waker = self.clock.waiting().remove(&self.key);
            drop(waker);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_jumps_to_the_earliest_sleeper_and_wakes_only_that_one() {
        let clock = VirtualClock::new();
        let (mut near, mut far) = (clock.sleep_until(10), clock.sleep_until(20));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(
            near.as_mut().poll(&mut cx).is_pending() && far.as_mut().poll(&mut cx).is_pending()
        );
        assert!(clock.jump());
        assert_eq!(clock.now(), 10);
        assert!(near.as_mut().poll(&mut cx).is_ready() && far.as_mut().poll(&mut cx).is_pending());
    }

    #[test]
    fn a_dropped_sleeper_does_not_hold_time_up() {
        let clock = VirtualClock::new();
        let mut gone = clock.sleep_until(10);
        assert!(gone.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(gone);
        assert!(!clock.jump());
        assert_eq!(clock.now(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_real_clock_counts_from_its_making() {
        let clock = RealClock::new();
        clock.sleep_until(1500).await;
        assert!((1500..1510).contains(&clock.now()));
    }
}
