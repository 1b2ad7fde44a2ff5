//! The slot of an agent in its shard.

use super::ids::Ids;
use super::names::Name;
use super::wake::Wake;
use crate::session::Session;
use crate::trace;
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// An agent with its bookkeeping.
pub(super) struct Slot<M, T> {
    pub(super) name: Name,
    pub(super) session: Session<M, T>,
    pub(super) ids: Ids,
    /// Why the agent cannot continue, if it has stopped.
    pub(super) stopped: Option<Box<str>>,
    /// The waker of its calls.
    pub(super) wake: Option<Arc<Wake>>,
    /// The earliest deadline of this agent in the heaps of its shard; [`Instant::MAX`] if there is none.
    pub(super) entered: Instant,
    /// Whether the agent is on the list of agents to visit.
    pub(super) is_listed: bool,
    /// Whether the shard counts the agent among those with calls under way.
    pub(super) is_busy: bool,
}

impl<M: Machine, T: trace::Sink> Slot<M, T> {
    pub(super) fn new(name: &str, session: Session<M, T>) -> Self {
        Self {
            name: Name::new(name),
            session,
            ids: Ids::default(),
            stopped: None,
            wake: None,
            entered: Instant::MAX,
            is_listed: false,
            is_busy: false,
        }
    }

    /// The next deadline, unless the agent has stopped.
    pub(super) fn due(&self) -> Option<Instant> {
        self.session.next_change().filter(|_| self.stopped.is_none())
    }

    /// Whether the agent has calls under way and has not stopped.
    pub(super) fn has_calls(&self) -> bool {
        self.stopped.is_none() && self.session.open_calls() > 0
    }

    /// Works until the agent waits for a call or a later time. If its run fails, the agent stops. The deadlines of an agent without calls
    /// fire only if `until` gives a time up to which time passes.
    pub(super) fn work(
        &mut self,
        now: Instant,
        until: Option<Instant>,
        wake: impl FnOnce() -> Wake,
    ) {
        if self.stopped.is_some() {
            return;
        }
        if until.is_some() && !self.has_calls() {
            // Works only up to now, so that there is nothing to wait for.
            self.poll(Some(now), Waker::noop());
        }
        // Deadlines at exactly this time are included.
        let past = until.map(|at| at.saturating_add(1));
        if until.is_none() || self.has_calls() {
            self.poll(past, Waker::noop());
        }
        if self.has_calls() {
            // The answer is not there at once, so the call needs a waker.
            let wake = self.wake.get_or_insert_with(|| Arc::new(wake()));
            let waker = Waker::from(wake.clone());
            self.poll(past, &waker);
        }
        if !self.has_calls() {
            self.wake = None;
        }
    }

    fn poll(&mut self, until: Option<Instant>, waker: &Waker) {
        // The session keeps its calls under way, so dropping the future loses nothing.
        let polled = pin!(self.session.work(until)).poll(&mut Context::from_waker(waker));
        if let Poll::Ready(Err(why)) = polled {
            self.stopped = Some(why.to_string().into());
        }
    }
}
