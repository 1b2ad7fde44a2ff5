//! Calls that wait for a time, such as the next attempt after a failure; and queries about what a session waits for.

use super::Session;
use crate::error::RunError;
use crate::trace::{self, What};
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Continues as far as possible without waiting: handles answers that are available, and fires deadlines that are due.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn go_as_far_as_possible(&mut self) -> Result<(), RunError> {
        // The session keeps its calls, so dropping the future loses nothing.
        let work = pin!(self.work(Some(Instant::MAX)));
        match work.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => done,
            Poll::Pending => Ok(()),
        }
    }

    /// The step whose failure ended the walk of the last turn.
    pub fn failed_step(&self) -> Option<&str> {
        self.extra.rare.failed.as_deref()
    }

    /// The steps with calls under way, each with its path, such as `dig[1]/search`.
    pub fn waits_for(&self) -> Vec<String> {
        let names = self.open();
        let names = names.iter().map(|at| match at.1.element {
            Some(element) => format!("{}[{}]", self.step_path(at), element.index()),
            None => self.step_path(at),
        });
        names.collect()
    }

    /// The number of the last line of the trace.
    pub fn seq(&self) -> u64 {
        self.tracer.seq
    }

    /// Whether no call is under way and no input is queued: only an event, a turn or time can change the session.
    pub(crate) fn is_idle(&self) -> bool {
        self.extra.busy.is_nothing()
    }

    /// The number of calls under way, including those that wait for a time.
    pub fn open_calls(&self) -> usize {
        self.extra.busy.calls.len()
    }

    /// The waiting call that will be made first: its time and its index.
    pub(super) fn first_waiting(&self) -> Option<(Instant, usize)> {
        let calls = self.extra.busy.calls.iter().enumerate();
        calls.filter_map(|(index, call)| Some((call.waits_until()?, index))).min()
    }

    /// Makes the first waiting call that is due, unless a deadline was due before it. Each call is made at its own time in this order, no
    /// matter how late the clock is read.
    pub(super) fn submit_due_retry(
        &mut self,
        now: Instant,
        due: Option<Instant>,
    ) -> Result<bool, RunError> {
        let is_first = |(at, _): &(Instant, usize)| *at <= now && due.is_none_or(|due| *at < due);
        let Some((_, index)) = self.first_waiting().filter(is_first) else { return Ok(false) };
        self.submit_waiting(index)?;
        Ok(true)
    }

    /// Makes the waiting calls that were due before now, and returns the present time. So an answer that arrives now does not overtake
    /// them, no matter how late the clock is read.
    pub(super) fn submit_earlier_retries(&mut self) -> Result<Instant, RunError> {
        let now = self.common.clock.now();
        while let Some((_, index)) = self.first_waiting().filter(|(until, _)| *until < now) {
            self.submit_waiting(index)?;
        }
        Ok(now)
    }
}

/// Whether a line is the `usage` line of this call with an assumed use.
pub(super) fn is_usage_of(what: &What, step: &str, attempt: u32, which: &trace::Which) -> bool {
    matches!(what, What::Usage { step: of, attempt: nth, which: one, assumed: true, .. }
        if (of.as_str(), *nth, one) == (step, attempt, which))
}
