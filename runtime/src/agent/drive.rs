//! Non-blocking operations on an agent, for an engine that runs many agents on one thread.

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
    /// Enters the initial configuration and leaves the resulting calls under way. Does nothing if the session has been started.
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

    /// Begins a turn and leaves its calls under way. Returns `Receipt::Busy` if the previous turn is not concluded.
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

    /// Sends an event and leaves the resulting calls under way.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn post_event(&mut self, event: &str, data: Map) -> Result<Receipt, RunError> {
        self.enter()?;
        at_once(self.session.post(event, data))
    }

    /// Handles the answers that have arrived and the deadlines that are due at `now`, the present time of the session's clock. Calls
    /// under way wake the context. Only the owner of the clock moves it.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn work(&mut self, now: Instant, cx: &mut Context<'_>) -> Result<(), RunError> {
        // The bound is exclusive, so `now + 1` includes what is due at `now`. Dropping the future loses nothing: the session keeps its
        // calls.
        match pin!(self.session.work(Some(now.saturating_add(1)))).poll(cx) {
            Poll::Ready(done) => done,
            Poll::Pending => Ok(()),
        }
    }

    /// Whether a turn has begun and is not concluded.
    pub fn is_in_turn(&self) -> bool {
        self.is_open
    }

    /// Whether the walk of a turn has ended, so that its action can be performed.
    pub fn has_thought(&self) -> bool {
        self.is_open && !self.session.machine().is_walking()
    }

    /// Performs the action that the turn has chosen if its walk has ended; else does nothing.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn act_on_turn(&mut self) -> Result<(), RunError> {
        self.conclude().await
    }

    /// The complete state of the agent, also after its end; `None` before its start.
    pub fn save_all(&self) -> Option<Saved> {
        let saved = self.session.save_all()?;
        Some(match self.kept() {
            Some(kept) => saved.with_agent(kept),
            None => saved,
        })
    }

    /// Restores a saved agent as if it had never been interrupted. No line is written to the trace.
    ///
    /// # Errors
    /// The saved state is of another agent or chart, or is damaged.
    pub fn restore(&mut self, saved: &Saved) -> Result<(), String> {
        self.take_back(saved)?;
        self.session.restore(saved).map_err(|why| why.to_string())
    }
}

/// Polls an operation once. It is ready at once if the session has been entered; otherwise the result is `Receipt::Busy`.
fn at_once(done: impl Future<Output = Result<Receipt, RunError>>) -> Result<Receipt, RunError> {
    match pin!(done).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(receipt) => receipt,
        Poll::Pending => Ok(Receipt::Busy),
    }
}
