//! Non-blocking operations on an agent, for an engine that runs many of them.

use super::Agent;
use crate::error::RunError;
use crate::session::Saved;
use crate::trace;
use chartc_core::expr::Map;
use chartc_core::host::Machine;
use chartc_core::machine::{Instant, Receipt};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

impl<M: Machine, T: trace::Sink> Agent<M, T> {
    /// Enters the initial configuration, and leaves the calls that it causes under way. Does nothing if that was done.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn enter(&mut self) -> Result<(), RunError> {
        if self.session.is_started() {
            return Ok(());
        }
        self.set_context()?;
        self.session.enter()
    }

    /// Begins a turn and leaves its calls under way. `Receipt::Busy` while the last turn is still walked, or what it has chosen is not done.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn begin_turn(&mut self) -> Result<Receipt, RunError> {
        self.enter()?;
        if self.is_open {
            return Ok(Receipt::Busy);
        }
        self.before_turn()?;
        at_once(self.session.begin_turn())
    }

    /// Sends an event, and leaves the calls that it causes under way.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn post_event(&mut self, event: &str, data: Map) -> Result<Receipt, RunError> {
        self.enter()?;
        at_once(self.session.post(event, data))
    }

    /// Takes the answers that are there and fires the deadlines that are due at `now`, the time of the session's clock. Calls that are under way
    /// wake the context. Time passes only by the owner of the clock.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn work(&mut self, now: Instant, cx: &mut Context<'_>) -> Result<(), RunError> {
        // What comes at the time itself belongs to it. What is under way is kept by the session.
        match pin!(self.session.work(Some(now.saturating_add(1)))).poll(cx) {
            Poll::Ready(done) => done,
            Poll::Pending => Ok(()),
        }
    }

    /// Whether a turn has begun, and what it has chosen is still to be done.
    pub fn is_in_turn(&self) -> bool {
        self.is_open
    }

    /// Whether the walk of a turn is over, so that what it has chosen can be done.
    pub fn has_thought(&self) -> bool {
        self.is_open && !self.session.machine().is_walking()
    }

    /// Does what the turn has chosen, once its walk is over; does nothing before.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn act_on_turn(&mut self) -> Result<(), RunError> {
        self.conclude().await
    }

    /// The agent as it stands, also after its end; `None` before its start.
    pub fn save_all(&self) -> Option<Saved> {
        let saved = self.session.save_all()?;
        Some(match self.kept() {
            Some(kept) => saved.with_agent(kept),
            None => saved,
        })
    }

    /// Goes on where it was saved, as if it had never been interrupted: without a line in the trace.
    ///
    /// # Errors
    /// Why it is not this agent, or cannot go on.
    pub fn restore(&mut self, saved: &Saved) -> Result<(), String> {
        self.take_back(saved)?;
        self.session.restore(saved).map_err(|why| why.to_string())
    }
}

/// The result of an operation that never waits once the session has been entered.
fn at_once(done: impl Future<Output = Result<Receipt, RunError>>) -> Result<Receipt, RunError> {
    match pin!(done).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(receipt) => receipt,
        Poll::Pending => Ok(Receipt::Busy),
    }
}
