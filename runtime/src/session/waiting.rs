//! Questions that wait for their time: another attempt after a failed call.

use super::Session;
use crate::error::RunError;
use crate::trace;
use chartc_core::host::Machine;
use chartc_core::machine::Instant;

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// The call that is to be made first of those that wait, and when.
    pub(super) fn first_waiting(&self) -> Option<(Instant, usize)> {
        let calls = self.calls.iter().enumerate();
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
        let now = self.clock.now();
        while let Some((_, index)) = self.first_waiting().filter(|(until, _)| *until < now) {
            self.put_waiting(index)?;
        }
        Ok(now)
    }
}
