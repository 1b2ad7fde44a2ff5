//! Questions that wait for their time: another attempt after a failed call.

use super::Session;
use crate::error::RunError;
use crate::trace::{self, What};
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Goes on as far as possible without waiting: answers that are there are taken, and deadlines that are due fire.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn go_as_far_as_possible(&mut self) -> Result<(), RunError> {
        // What is under way is kept by the session: dropping a future of it loses nothing.
        let work = pin!(self.work(Some(Instant::MAX)));
        match work.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => done,
            Poll::Pending => Ok(()),
        }
    }

    /// The step that made the walk of the last turn fail.
    pub fn failed_step(&self) -> Option<&str> {
        self.extra.rare.failed.as_deref()
    }

    /// The steps whose calls are under way, with the way to each: `dig[1]/search`.
    pub fn waits_for(&self) -> Vec<String> {
        let names = self.open();
        let names = names.iter().map(|at| match at.1.element {
            Some(element) => format!("{}[{}]", self.step_path(at), element.index()),
            None => self.step_path(at),
        });
        names.collect()
    }

    /// The number of the last line of its trace.
    pub fn seq(&self) -> u64 {
        self.tracer.seq
    }

    /// Whether no call is under way and no input waits: only an event, a turn or time can change the session.
    pub(crate) fn is_idle(&self) -> bool {
        self.extra.busy.is_nothing()
    }

    /// The number of calls under way, those included that wait for their time.
    pub fn open_calls(&self) -> usize {
        self.extra.busy.calls.len()
    }

    /// The call that is to be made first of those that wait, and when.
    pub(super) fn first_waiting(&self) -> Option<(Instant, usize)> {
        let calls = self.extra.busy.calls.iter().enumerate();
        calls.filter_map(|(index, call)| Some((call.waits_until()?, index))).min()
    }

    /// Puts the first question whose wait is over, unless a deadline was due before. Each comes at its own time, however late anybody looks at the
    /// clock.
    pub(super) fn puts_waiting(
        &mut self,
        now: Instant,
        due: Option<Instant>,
    ) -> Result<bool, RunError> {
        let is_first = |(at, _): &(Instant, usize)| *at <= now && due.is_none_or(|due| *at < due);
        let Some((_, index)) = self.first_waiting().filter(is_first) else { return Ok(false) };
        self.put_waiting(index)?;
        Ok(true)
    }

    /// Puts the questions whose wait was over before now, and returns the time: an answer does not overtake them, however late anybody looks
    /// at the clock.
    pub(super) fn put_before(&mut self) -> Result<Instant, RunError> {
        let now = self.common.clock.now();
        while let Some((_, index)) = self.first_waiting().filter(|(until, _)| *until < now) {
            self.put_waiting(index)?;
        }
        Ok(now)
    }
}

/// Whether a line says what a call took that nobody told of.
pub(super) fn is_usage_of(what: &What, step: &str, attempt: u32, which: &trace::Which) -> bool {
    matches!(what, What::Usage { step: of, attempt: nth, which: one, assumed: true, .. }
        if (of.as_str(), *nth, one) == (step, attempt, which))
}
