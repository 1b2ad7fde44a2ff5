//! Calls under way: waiting for them, answering them from outside, cancelling them.

use super::lazy_box::Exclusive;
use super::ledger::Bill;
use super::{At, Session};
use crate::error::RunError;
use crate::oracle::{Answer, Asking, OracleError, Question};
use crate::tools::Calling;
use crate::trace::{self, What};
use chartc_core::expr::Value;
use chartc_core::host::{Machine, Mismatch, ToolCall};
use chartc_core::machine::{Input, Instant, Outcome, Receipt};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

/// A call under way.
pub(super) struct Call {
    pub(super) at: At,
    pub(super) work: Work,
}

/// The state of a call: what it waits for.
pub(super) enum Work {
    /// The host, which answers it by `answer`.
    Outside,
    /// The time of the next attempt after a failure. In a replay, the answer is requested already.
    Waiting(Arc<Question>, Instant, Option<Exclusive<Asking>>),
    /// Room under the limits on tokens or cost, which other calls of the run will release.
    AwaitingBudget(Arc<Question>),
    /// The answer to a question that was asked at this time.
    Question(Arc<Question>, Exclusive<Asking>, Instant),
    /// The result of a tool.
    Tool(ToolCall, Exclusive<Calling>),
}

impl Call {
    /// The time at which the call will be made, if it waits for one.
    pub(super) fn waits_until(&self) -> Option<Instant> {
        match self.work {
            Work::Waiting(_, until, _) => Some(until),
            _ => None,
        }
    }
}

/// The event that ends a wait.
enum Woken {
    /// The question at this index has an answer.
    Answer(usize, Result<Answer, OracleError>),
    /// The tool call at this index has a result.
    Result(usize, Result<Value, OracleError>),
    /// The time has come.
    Time,
}

/// The maximum number of ticks at one moment before the run fails.
pub(super) const IDLE_TICKS: u32 = 1000;

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Waits until no call is under way. Deadlines that come due meanwhile fire.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn settle(&mut self) -> Result<(), RunError> {
        self.work(None).await
    }

    /// Works until a time, or until no call is under way. The session keeps its calls, so dropping the future loses nothing.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn work(&mut self, until: Option<Instant>) -> Result<(), RunError> {
        let mut idle = 0;
        loop {
            if !self.extra.busy.ready.is_empty()
                && let Some(((member, _), input)) = self.extra.busy.ready.pop_front()
            {
                // Only answers that were read from a text can be a mismatch, and this queue has none of them.
                drop(self.apply_to(member, input)?);
                continue;
            }
            if self.admit_next()? {
                continue;
            }
            if until.is_none() && (self.common.manual || self.extra.busy.calls.is_empty()) {
                self.release_idle_parts();
                return Ok(());
            }
            let now = self.common.clock.now();
            let due = self.next_due();
            if self.submit_due_retry(now, due)? {
                continue;
            }
            if due.is_some_and(|at| at <= now) {
                idle += 1;
                if idle > IDLE_TICKS {
                    return Err(RunError::NoProgress(now));
                }
                self.apply_own(Input::Tick)?;
                continue;
            }
            idle = 0;
            if until.is_some_and(|at| at <= now) {
                self.release_idle_parts();
                return Ok(());
            }
            let earliest = self.next_change().into_iter().chain(until).min();
            match self.wait(earliest).await {
                Woken::Time => {}
                Woken::Answer(index, answer) => {
                    let Call { at, work } = self.extra.busy.calls.remove(index);
                    // Attempts that were due before this answer are made first, in the order of time.
                    let now = self.submit_earlier_retries()?;
                    if let Work::Question(question, ..) = work {
                        self.ended(now, at, &question, answer)?;
                    }
                }
                Woken::Result(index, result) => {
                    let Call { at, work } = self.extra.busy.calls.remove(index);
                    let now = self.submit_earlier_retries()?;
                    if let Work::Tool(call, _) = work {
                        self.returned(now, at, &call.tool, result)?;
                    }
                }
            }
        }
    }

    /// The next time at which something happens without a call: a deadline passes, or an attempt is made.
    pub fn next_change(&self) -> Option<Instant> {
        let waits = self.first_waiting().map(|(at, _)| at);
        waits.into_iter().chain(self.next_due()).min()
    }

    /// The next deadline; `None` after the end of the run.
    fn next_due(&self) -> Option<Instant> {
        if self.status.is_some() { None } else { self.family.next_deadline() }
    }

    /// Waits for the first call to end, or for a time. Of calls that are ready together, the one that started first ends first.
    async fn wait(&mut self, until: Option<Instant>) -> Woken {
        let clock = &self.common.clock;
        let calls = &mut self.extra.busy.calls;
        let mut sleep = until.map(|at| clock.sleep_until(at));
        poll_fn(|cx| {
            loop {
                for (index, call) in calls.iter_mut().enumerate() {
                    match &mut call.work {
                        Work::Outside | Work::AwaitingBudget(..) | Work::Waiting(..) => {}
                        Work::Question(_, asking, _) => {
                            if let Poll::Ready(answer) = asking.get_mut().as_mut().poll(cx) {
                                return Poll::Ready(Woken::Answer(index, answer));
                            }
                        }
                        Work::Tool(_, calling) => {
                            if let Poll::Ready(result) = calling.get_mut().as_mut().poll(cx) {
                                return Poll::Ready(Woken::Result(index, result));
                            }
                        }
                    }
                }
                if let Some(sleep) = &mut sleep
                    && sleep.as_mut().poll(cx).is_ready()
                {
                    return Poll::Ready(Woken::Time);
                }
                // No call is ready and the sleep is pending: a virtual clock may advance now.
                if !clock.jump() {
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    /// The calls under way, in the order in which they started.
    pub(crate) fn open(&self) -> Vec<At> {
        self.extra.busy.calls.iter().map(|c| c.at.clone()).collect()
    }

    /// Answers a call on behalf of the host.
    pub(crate) fn answer(
        &mut self,
        at: &At,
        outcome: Outcome<Vec<Value>>,
    ) -> Result<Result<Receipt, Mismatch>, RunError> {
        // Removed before the input, because the answer may start another call under the same key. Put back if the answer is refused.
        let index = self.extra.busy.calls.iter().position(|c| c.at == *at);
        let open = index.map(|index| self.extra.busy.calls.remove(index));
        let receipt = self.apply_to(at.0.clone(), Input::Answer(at.1, outcome))?;
        let misfit = self.extra.busy.misfit.take();
        if (misfit.is_some() || receipt.is_err())
            && let (Some(index), Some(open)) = (index, open)
        {
            let calls = &mut self.extra.busy.calls;
            calls.insert(index.min(calls.len()), open);
        }
        match misfit {
            Some(why) => Ok(Err(Mismatch(why))),
            None => Ok(receipt),
        }
    }

    /// Cancels a call by dropping its future.
    pub(super) fn cancel(&mut self, now: Instant, at: &At) -> Result<(), RunError> {
        // Charges and warnings are about calls that were made, so they stay.
        self.extra.busy.ready.retain(|(other, input)| {
            other != at || matches!(input, Input::Warn(_) | Input::Charge(..))
        });
        let Some(index) = self.extra.busy.calls.iter().position(|c| c.at == *at) else {
            return Ok(());
        };
        match self.extra.busy.calls.remove(index).work {
            // The request was sent, so the provider may charge for it although the answer is dropped.
            Work::Question(question, ..) => {
                self.settle_unknown(now, at, question.model.prices)?;
            }
            Work::Waiting(question, ..) => {
                self.settle_call(now, at, question.model.prices, Bill::nothing(false))?;
                self.extra.busy.ready.push_back((at.clone(), Input::Unmade(at.1)));
            }
            Work::AwaitingBudget(..) => {
                self.extra.busy.ready.push_back((at.clone(), Input::Unmade(at.1)));
            }
            Work::Outside | Work::Tool(..) => {}
        }
        let (member, key) = at;
        let (child, step) = (self.path(member), self.step_name(member, *key));
        self.tracer.put(
            now,
            &child,
            What::Cancelled { step, attempt: key.attempt, which: self.which(at) },
        )
    }
}
