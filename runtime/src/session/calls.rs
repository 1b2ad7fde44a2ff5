//! Calls under way: waiting for them, answering them from outside, cancelling them.
//!
//! **The problem.** A run has several calls at once. One awaits a model, one the time of its next attempt, one room under a limit; and
//! deadlines fire meanwhile. The trace must depend on the times of these things, and not on how often somebody polls.
//!
//! **The idea.** All calls are in one list, in the order of their start, and [`Work`] says what each waits for. The loop [`Session::work`]
//! does one thing at a time, in a fixed order: an input that is ready, a call for which there is room now, an attempt whose time has come,
//! a deadline. Only if there is none of these does it wait for the first call or time (`wait`). An answer is charged before the machine
//! gets it, so that guards see its cost.
//!
//! A failed call leaves a `Failure` for the next attempt: how often it failed, how long to wait ([`Backoff`]), and which client comes next.
//! The machine starts that attempt; the session refuses it if waiting cannot help. A call is cancelled by dropping its future; what it may
//! have cost stays charged.
//!
//! **Example.** `retry 2` with the default backoff:
//!
//! ```text
//! 0.0 s   the question of `triage` is asked: Work::Question
//! 0.2 s   the server refuses for now; `keep_failure` counts 1, the machine gets Failed and starts attempt 2
//! 0.2 s   attempt 2 is Work::Waiting for 250 to 500 ms, half of it by chance
//! 0.6 s   it is asked; the text is read, charged, and becomes Input::Answer
//! ```

use super::ledger::Bill;
use super::{At, QuestionFailure, Session, place_of};
use crate::clock::Clock;
use crate::driver::{CallId, Driver};
use crate::error::RunError;
use crate::executor::{self, Understood};
use crate::oracle::{Answer, Asking, FailureKind, Kind, OracleError, Question};
use crate::tools::Calling;
use crate::trace::{self, What};
use chartc_core::arena::StepId;
use chartc_core::expr::{Map, Value};
use chartc_core::host::{Machine, Mismatch, ToolCall};
use chartc_core::machine::{DOUBT, Input, Instant, Outcome, Receipt};
use chartc_core::tables::{ClientRow, StepRow, StepRowKind, Tables, TriggerRow};
use serde::{Deserialize, Serialize};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// A call under way.
pub(super) struct Call {
    pub(super) at: At,
    pub(super) work: Work,
}

/// The state of a call: what it waits for.
pub(super) enum Work {
    /// The host, which answers it by `answer`.
    Outside,
    /// The time of the next attempt after a failure.
    Waiting(NextAttempt, Instant),
    /// Room under the limits on tokens or cost, which other calls of the run will release.
    AwaitingBudget(Arc<Question>),
    /// The answer to a question that was asked at this time.
    Question(Arc<Question>, Exclusive<Asking>, Instant),
    /// The result of a tool.
    Tool(ToolCall, Exclusive<Calling>),
}

/// The call that follows a failed one. In a replay it is requested already.
pub(super) enum NextAttempt {
    Question(Arc<Question>, Option<Exclusive<Asking>>),
    Tool(ToolCall, Option<Exclusive<Calling>>),
}

impl Call {
    /// The time at which the call will be made, if it waits for one.
    pub(super) fn waits_until(&self) -> Option<Instant> {
        match self.work {
            Work::Waiting(_, until) => Some(until),
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
            if !self.extra.ready.is_empty()
                && let Some(((member, _), input)) = self.extra.ready.pop_front()
            {
                // Only answers that were read from a text can be a mismatch, and this queue has none of them.
                drop(self.apply_to(member, input)?);
                continue;
            }
            if self.admit_next()? {
                continue;
            }
            if until.is_none() && (self.common.manual || self.extra.calls.is_empty()) {
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
                    let Call { at, work } = self.extra.calls.remove(index);
                    // Attempts that were due before this answer are made first, in the order of time.
                    let now = self.submit_earlier_retries()?;
                    if let Work::Question(question, ..) = work {
                        self.ended(now, at, &question, answer)?;
                    }
                }
                Woken::Result(index, result) => {
                    let Call { at, work } = self.extra.calls.remove(index);
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
        let calls = &mut self.extra.calls;
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
        self.extra.calls.iter().map(|c| c.at.clone()).collect()
    }

    /// Answers a call on behalf of the host.
    pub(crate) fn answer(
        &mut self,
        at: &At,
        outcome: Outcome<Vec<Value>>,
    ) -> Result<Result<Receipt, Mismatch>, RunError> {
        // Removed before the input, because the answer may start another call under the same key. Put back if the answer is refused.
        let index = self.extra.calls.iter().position(|c| c.at == *at);
        let open = index.map(|index| self.extra.calls.remove(index));
        let receipt = self.apply_to(at.0.clone(), Input::Answer(at.1, outcome))?;
        let misfit = self.extra.misfit.take();
        if (misfit.is_some() || receipt.is_err())
            && let (Some(index), Some(open)) = (index, open)
        {
            let calls = &mut self.extra.calls;
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
        self.extra.ready.retain(|(other, input)| {
            other != at || matches!(input, Input::Warn(_) | Input::Charge(..))
        });
        let Some(index) = self.extra.calls.iter().position(|c| c.at == *at) else {
            return Ok(());
        };
        match self.extra.calls.remove(index).work {
            // The request was sent, so the provider may charge for it although the answer is dropped.
            Work::Question(question, ..) => {
                self.settle_unknown(now, at, question.model.prices)?;
            }
            Work::Waiting(NextAttempt::Question(question, _), _) => {
                self.settle_call(now, at, question.model.prices, Bill::nothing(false))?;
                self.extra.ready.push_back((at.clone(), Input::Unmade(at.1)));
            }
            Work::AwaitingBudget(..) => {
                self.extra.ready.push_back((at.clone(), Input::Unmade(at.1)));
            }
            Work::Outside | Work::Tool(..) | Work::Waiting(NextAttempt::Tool(..), _) => {}
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

// Processes ended calls: reads answers and passes them to the machine, and keeps failures for the next attempt.

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Reads the answer of an ended call and passes it to the machine.
    pub(super) fn ended(
        &mut self,
        now: Instant,
        at: At,
        question: &Arc<Question>,
        answer: Result<Answer, OracleError>,
    ) -> Result<(), RunError> {
        let key = at.1;
        let bill = Bill::of(&answer, question.model.max_tokens);
        let cut = bill.cut;
        let charge = self.settle_call(now, &at, question.model.prices, bill)?;
        // The charge comes before the answer, so that guards which read amounts already see it.
        if let Some(charge) = charge {
            drop(self.apply_to(at.0.clone(), Input::Charge(key, charge))?);
        }
        let text = match answer {
            Ok(answer) => {
                self.answered |= question.kind != Kind::Human;
                if !self.extra.failures.is_empty() {
                    self.extra.failures.remove(&place_of(&at.0, key));
                }
                answer.text
            }
            Err(error) => return self.ended_in_error(now, at, question, error),
        };
        let read = if cut {
            executor::cut(question, &text, self.accepts_cut(&at))
        } else {
            executor::outcome(question, &text)
        };
        let understood = match read {
            Ok(understood) => understood,
            Err(why) => {
                return self.unusable(now, at, question, text, (why.ambiguous, why.why));
            }
        };
        self.trace_answer(now, &at, question, &text, &understood)?;
        let action = action(question, &understood.outcome);
        self.extra.last_answer = Some((text, question.clone()));
        let receipt = self.apply_to(at.0.clone(), Input::Answer(key, understood.outcome))?;
        // `misfit` takes the text away if the machine finds that the answer does not fit.
        let Some((text, _)) = self.extra.last_answer.take() else { return Ok(()) };
        match receipt {
            Ok(_) => {
                self.record_answer(&at, &question.step, action);
                Ok(())
            }
            Err(Mismatch(why)) => {
                let now = self.common.clock.now();
                self.unusable(now, at, question, text, (false, why))
            }
        }
    }

    /// Traces the error of an ended call. Passes it to the machine, unless it ends the run.
    fn ended_in_error(
        &mut self,
        now: Instant,
        at: At,
        question: &Arc<Question>,
        error: OracleError,
    ) -> Result<(), RunError> {
        let key = at.1;
        let nobody = self.keep_failure(&at, question, &error);
        let doubt = question.kind != Kind::Human && self.is_in_doubt(&at, None, &error);
        let (kind, why) = (error.kind().word(), error.to_string());
        let step = question.step.to_string();
        self.failed_call(now, &at, step, (kind, why), (error.retry_after(), doubt))?;
        if let Some(why) = nobody {
            return Err(RunError::NoModel { step: question.step.to_string(), why });
        }
        if error.is_fatal() {
            return Err(RunError::Oracle { step: question.step.to_string(), error });
        }
        let failed = self.failure(&at, error.kind(), error.to_string(), doubt);
        let failed = Input::Answer(key, failed);
        self.extra.ready.push_back((at, failed));
        Ok(())
    }

    fn trace_answer(
        &mut self,
        now: Instant,
        at: &At,
        question: &Question,
        text: &str,
        understood: &Understood,
    ) -> Result<(), RunError> {
        let child = self.path(&at.0);
        self.trace(now, &child, |run| {
            let (option, value) = match executor::chosen(question, &understood.outcome) {
                Some((name, list)) if list.is_empty() => (Some(name), Value::None),
                Some((name, list)) => (Some(name), Value::List(list)),
                None => match &understood.outcome {
                    Outcome::Done(values) => (None, values.first().cloned().unwrap_or_default()),
                    _ => (None, Value::None),
                },
            };
            What::Answer {
                id: question.id.clone(),
                step: question.step.to_string(),
                attempt: at.1.attempt,
                text: text.to_owned(),
                rung: understood.rung.word().into(),
                repairs: understood.repairs.clone(),
                option,
                value,
                which: run.which(at),
            }
        })
    }

    /// Whether the step accepts an answer that was cut off (`cut ok`).
    fn accepts_cut(&self, at: &At) -> bool {
        self.step_row(at).is_some_and(|step| step.accepts_cut)
    }

    /// Records an answer that the machine has found unfit. The machine itself has already gone on.
    pub(super) fn misfit(&mut self, at: &At, why: &str) -> Result<(), RunError> {
        if matches!(self.kind(&at.0, at.1), Some(StepRowKind::Run { .. })) {
            // The result of a child chart is nobody's answer; a note of the machine says what is wrong with it.
            return Ok(());
        }
        let Some((text, question)) = self.extra.last_answer.take() else {
            self.extra.misfit = Some(why.to_owned());
            return Ok(());
        };
        self.complain(at, why);
        self.record_question_failure(at, &question.step, QuestionFailure::Answer, why);
        self.write_unusable(self.common.clock.now(), at, &question, text, (false, why.to_owned()))
    }

    /// Keeps the reason why an answer was unusable, for the prompt of the next attempt.
    pub(super) fn complain(&mut self, (member, key): &At, why: &str) {
        let place = place_of(member, *key);
        self.extra.complaints.insert(place, (key.event, why.to_owned()));
    }

    fn unusable(
        &mut self,
        now: Instant,
        at: At,
        question: &Question,
        text: String,
        (ambiguous, why): (bool, String),
    ) -> Result<(), RunError> {
        self.complain(&at, &why);
        self.record_question_failure(&at, &question.step, QuestionFailure::Answer, &why);
        self.write_unusable(now, &at, question, text, (ambiguous, why))?;
        let key = at.1;
        self.extra.ready.push_back((at, Input::Answer(key, Outcome::Unusable)));
        Ok(())
    }

    fn write_unusable(
        &mut self,
        now: Instant,
        at: &At,
        question: &Question,
        text: String,
        (ambiguous, why): (bool, String),
    ) -> Result<(), RunError> {
        let (child, step, attempt) = (self.path(&at.0), question.step.to_string(), at.1.attempt);
        let (id, which) = (question.id.clone(), self.which(at));
        let what = What::Unusable { id, step, attempt, text, ambiguous, why, which };
        self.tracer.put(now, &child, what)
    }

    pub(super) fn failed_call(
        &mut self,
        now: Instant,
        at: &At,
        step: String,
        (error, why): (&str, String),
        (retry_after_ms, doubt): (Option<u64>, bool),
    ) -> Result<(), RunError> {
        self.record_question_failure(at, &step, QuestionFailure::Call, &why);
        let (error, attempt, which) = (error.to_owned(), at.1.attempt, self.which(at));
        let child = self.path(&at.0);
        let what = What::CallFailed { step, attempt, error, why, retry_after_ms, doubt, which };
        self.tracer.put(now, &child, what)
    }
}

/// The action with which an `llm` step without a declared type has answered. An answer that is no object gives an action without a name.
fn action(question: &Question, outcome: &Outcome<Vec<Value>>) -> Option<Map> {
    let Outcome::Done(values) = outcome else { return None };
    if question.kind != Kind::Llm || !question.schema.is_empty() {
        return None;
    }
    let Some(Value::Map(answer)) = values.first() else { return Some(Map::new()) };
    Some(answer.clone())
}

// Retries: the waiting time after a failed call, the client of the next attempt, and the timeout of a call.

/// The waiting times between the attempts at a call. Each is twice as long as the previous one, up to a maximum, and partly random, so
/// that many agents do not try again at the same moment. A longer time that the provider asks for takes precedence. After an unusable
/// answer, the question is asked again at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The waiting time after the first failure, in milliseconds.
    pub first: u64,
    /// The maximum waiting time, in milliseconds.
    pub most: u64,
    /// The seed of the random part. Equal seeds give equal waiting times.
    pub seed: u64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: 500, most: 30_000, seed: 0 }
    }
}

impl Backoff {
    /// No waiting time.
    pub const NONE: Self = Self { first: 0, most: 0, seed: 0 };

    /// The waiting time after failure `nth` (from 1) of a call, in milliseconds. `mark` distinguishes calls, so that they wait
    /// differently.
    pub fn wait(self, nth: u32, retry_after: Option<u64>, mark: u64) -> u64 {
        // The exponent is bounded, because a shift by 64 or more would overflow; `most` bounds the result.
        let doubled = self.first.saturating_mul(1 << nth.saturating_sub(1).min(32));
        let whole = doubled.min(self.most);
        // Half of the time is fixed, the other half is random.
        let half = whole / 2;
        let chance = scrambled(self.seed ^ scrambled(mark)) % (whole - half + 1);
        let wait = half + chance;
        retry_after.map_or(wait, |said| said.max(wait))
    }
}

/// One step of SplitMix64.
fn scrambled(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The maximum time that a provider may ask to wait, in milliseconds. If it asks for more, there is no further attempt, and the step
/// fails.
pub const MOST_RETRY_AFTER: u64 = 5 * 60 * 1000;

/// The last failure of a call, for its next attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failure {
    /// The number of the event in which the step was started.
    pub(super) event: u32,
    /// The number of failures in a row.
    pub(super) count: u32,
    pub(super) retry_after: Option<u64>,
    /// Whether waiting would not help: the next attempt asks another client, or no model may be asked at all.
    pub(super) is_final: bool,
    /// The client of the next attempt.
    pub(super) client: String,
    /// Whether no further attempt can succeed: the server refuses such calls for good, and there is no other client.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_hopeless: bool,
    /// The errors of unavailable models, one per failure in a row; fewer than `count` if some failures had another reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) nobody: Vec<String>,
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Keeps the failure of a tool for the next attempt of the `call` step that called it.
    pub(super) fn keep_tool_failure(&mut self, (member, key): &At, error: &OracleError) {
        // The chart, not the session, waits between the calls of a model's tools.
        if !matches!(self.kind(member, *key), Some(StepRowKind::Call)) {
            return;
        }
        let (place, event) = (place_of(member, *key), key.event);
        let last = self.extra.failures.remove(&place).filter(|last| last.event == event);
        let failure = Failure {
            event,
            count: last.map_or(1, |last| last.count + 1),
            retry_after: error.retry_after(),
            is_final: error.is_unwaited(),
            client: String::new(),
            is_hopeless: false,
            nobody: Vec::new(),
        };
        self.extra.failures.insert(place, failure);
    }

    /// Keeps a failure for the next attempt of the call. Returns a reason if the run must end: no model has answered yet, and no client
    /// of the fallback chain is available.
    pub(super) fn keep_failure(
        &mut self,
        at: &At,
        question: &Question,
        error: &OracleError,
    ) -> Option<String> {
        let (member, key) = at;
        let tables = self.family.member(member)?.tables();
        let client = next_client(tables, &question.client);
        let place = place_of(member, *key);
        let last = self.extra.failures.remove(&place).filter(|last| last.event == key.event);
        let (count, mut nobody) =
            last.map_or((1, Vec::new()), |last| (last.count + 1, last.nobody));
        // Collected over the chain of fallbacks: the run ends only if every client was unavailable.
        if error.is_unavailable() {
            nobody.push(error.to_string());
        }
        let other = client != question.client;
        // A chain of fallbacks may be a cycle, so it ends after as many failures as there are clients.
        let is_last = !other || count as usize >= tables.clients.len();
        let begins = !self.answered && !self.common.driver.has_answered();
        if begins && is_last && nobody.len() == count as usize {
            nobody.dedup();
            return Some(nobody.join("; "));
        }
        // The time that the failed provider asks for does not concern another client.
        let retry_after = error.retry_after().filter(|_| !other);
        let is_final = other || error.kind() == FailureKind::Denied;
        let is_hopeless = is_last && error.kind() == FailureKind::Rejected;
        let event = key.event;
        let failure = Failure { event, count, retry_after, is_final, client, is_hopeless, nobody };
        self.extra.failures.insert(place, failure);
        None
    }

    /// Forgets which clients of the fallback chain were unavailable, if no model has answered yet: a resumed run starts with the first
    /// client again. Returns whether there were any.
    pub(super) fn forget_chain(&mut self, (member, key): &At) -> bool {
        let place = place_of(member, *key);
        let failures = &mut self.extra.failures;
        let is_any = failures.get(&place).is_some_and(|last| !last.nobody.is_empty());
        let forgets = is_any && !self.answered;
        if forgets {
            self.extra.failures.remove(&place);
        }
        forgets
    }
}

/// The client to which a failed one falls back; the failed one itself if it has no fallback.
pub(super) fn next_client(tables: &Tables, failed: &str) -> String {
    let row = |name: &str| tables.clients.iter().find(|row| row.name == name);
    let next = row(failed).and_then(|row| tables.clients.get(row.fallback?.index()));
    next.map_or(failed, |row: &ClientRow| &*row.name).to_owned()
}

/// Asks a question, with the timeout of its client counted from `since`.
pub(super) fn ask_with_timeout(
    driver: &Arc<dyn Driver>,
    clock: &Arc<dyn Clock>,
    id: &CallId,
    question: Arc<Question>,
    since: Instant,
) -> Asking {
    let timeout = question.model.timeout.filter(|_| !driver.keeps_time());
    let mut asking = driver.ask(id, question);
    let Some(timeout) = timeout else { return asking };
    // The timeout of a resumed call includes the time before it was saved.
    let mut sleep = clock.sleep_until(since.saturating_add(timeout));
    Box::pin(poll_fn(move |cx| match asking.as_mut().poll(cx) {
        Poll::Ready(answer) => Poll::Ready(answer),
        Poll::Pending => sleep.as_mut().poll(cx).map(|()| Err(OracleError::Timeout(timeout))),
    }))
}

/// What moves a run next, besides answers and events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outlook {
    /// Whether a turn would start a step, or try an `on turn` or `on **` transition.
    pub has_turn_work: bool,
    /// Whether a transition of an active state may be taken after some turns: an `after N turns`, or a `when`.
    pub counts_turns: bool,
    /// The time of the next deadline, in milliseconds on the clock of the run.
    pub deadline: Option<Instant>,
}

// Calls that wait for a time, such as the next attempt after a failure; and queries about what a session waits for.

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
        self.extra.failed.as_deref()
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

    /// What a turn and time would do to the run. Guards are not evaluated: a step or a transition with one counts.
    pub fn outlook(&self) -> Outlook {
        let mut outlook = Outlook { deadline: self.next_due(), ..Outlook::default() };
        // A walk that waits takes no other turn.
        let is_walking = self.family.root().is_walking();
        for member in self.family.members() {
            let Some(machine) = self.family.member(&member) else { continue };
            let (tables, children) = (machine.tables(), machine.children());
            let open = self.open();
            let is_open = |step: StepId| {
                open.iter().any(|(of, key)| *of == member && key.step == step)
                    || children.iter().any(|key| key.step == step)
            };
            let starts = |(nth, row): (usize, &StepRow)| {
                row.is_walked() && machine.is_active(row.state) && !is_open(StepId::at(nth))
            };
            outlook.has_turn_work |= !is_walking && tables.steps.iter().enumerate().any(starts);
            for row in tables.transitions.iter().filter(|row| machine.is_active(row.source)) {
                match row.trigger {
                    TriggerRow::Turn | TriggerRow::AnyOccurrence => {
                        outlook.has_turn_work |= !is_walking;
                    }
                    TriggerRow::AfterTurns(_) | TriggerRow::When => outlook.counts_turns = true,
                    _ => {}
                }
            }
        }
        outlook
    }

    /// The number of the last line of the trace.
    pub fn seq(&self) -> u64 {
        self.tracer.seq
    }

    /// Whether no call is under way and no input is queued: only an event, a turn or time can change the session.
    pub(crate) fn is_idle(&self) -> bool {
        self.extra.is_idle()
    }

    /// The number of calls under way, including those that wait for a time.
    pub fn open_calls(&self) -> usize {
        self.extra.calls.len()
    }

    /// The waiting call that will be made first: its time and its index.
    pub(super) fn first_waiting(&self) -> Option<(Instant, usize)> {
        let calls = self.extra.calls.iter().enumerate();
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

// Doubt: calls of which it is unknown whether they were made.

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Whether the chart wants a call in doubt to be made again: the step says `doubt retry`, or the tool is `idempotent`.
    pub(super) fn retries_doubt(&self, (member, key): &At, tool: Option<&str>) -> bool {
        let Some(machine) = self.family.member(member) else { return false };
        let tables = machine.tables();
        let of_step = tables.steps.get(key.step.index()).is_some_and(|step| step.retries_doubt);
        let mut tools = tables.tools.iter();
        of_step || tools.any(|row| tool.is_some_and(|tool| row.name == tool) && row.idempotent)
    }

    /// The outcome of a call that brought no answer.
    pub(crate) fn failure(
        &self,
        at: &At,
        kind: FailureKind,
        why: String,
        doubt: bool,
    ) -> Outcome<Vec<Value>> {
        let why = vec![Value::Text(why)];
        if doubt {
            Outcome::Doubt(why)
        } else if self.step_row(at).is_none_or(|step| step.retries_on.contains(kind)) {
            Outcome::Failed(why)
        } else {
            Outcome::Final(why)
        }
    }

    pub(super) fn step_row(&self, (member, key): &At) -> Option<&StepRow> {
        self.family.member(member)?.tables().steps.get(key.step.index())
    }

    /// Whether a failed call may have taken effect and must not be made again. `tool` is the tool that was called; `None` means a model,
    /// whose question is asked again as long as its step has attempts left.
    pub(super) fn is_in_doubt(&self, at: &At, tool: Option<&str>, error: &OracleError) -> bool {
        if let OracleError::Recorded { trace: Some(traced), .. } = error {
            return traced.doubt;
        }
        let has_attempts = || {
            self.step_row(at).is_some_and(|step| {
                at.1.attempt <= step.retries && step.retries_on.contains(error.kind())
            })
        };
        error.leaves_doubt() && !self.retries_doubt(at, tool) && (tool.is_some() || !has_attempts())
    }

    /// Gives the step of a call the outcome doubt.
    pub(super) fn doubts(&mut self, at: At) -> Result<(), RunError> {
        let about = self.step_path(&at);
        let text = DOUBT.to_owned();
        self.tracer.put(self.common.clock.now(), "", What::HostNote { about, text })?;
        let key = at.1;
        let why = vec![Value::Text(DOUBT.to_owned())];
        self.extra.ready.push_back((at, Input::Answer(key, Outcome::Doubt(why))));
        Ok(())
    }
}

/// A value that is accessed only through `&mut`, which makes it `Sync` without locking.
pub(super) struct Exclusive<T>(Mutex<T>);

impl<T> Exclusive<T> {
    pub(super) const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(super) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_bound_and_differ_between_agents() {
        let one = Backoff { first: 1000, most: 5000, seed: 1 };
        for (nth, whole) in [(1, 1000), (2, 2000), (3, 4000), (4, 5000), (40, 5000)] {
            let waits: Vec<u64> = (0..200).map(|mark| one.wait(nth, None, mark)).collect();
            assert!(waits.iter().all(|w| (whole / 2..=whole).contains(w)), "{nth}: {waits:?}");
            assert!(waits.iter().any(|w| *w != waits[0]), "{nth}");
        }
        assert_eq!(one.wait(2, None, 7), one.wait(2, None, 7));
        let other = Backoff { seed: 2, ..one };
        assert!((0..20).any(|mark| one.wait(1, None, mark) != other.wait(1, None, mark)));
    }

    #[test]
    fn what_the_provider_says_goes_first_unless_it_is_too_short() {
        let one = Backoff { first: 1000, most: 5000, seed: 1 };
        assert_eq!(one.wait(1, Some(20_000), 3), 20_000);
        assert!(one.wait(1, Some(1), 3) >= 500);
        assert_eq!(Backoff::NONE.wait(9, None, 3), 0);
    }
}
