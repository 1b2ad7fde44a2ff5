//! Passes inputs to the machines of a family, and processes the results.

use super::calls::IDLE_TICKS;
use super::log::{Log, Output};
use super::{At, Session};
use crate::error::RunError;
use crate::trace::{self, Origin, What, Which};
use chartc_core::arena::EventId;
use chartc_core::expr::Value;
use chartc_core::family::{HandledInput, MemberPath, Tasks};
use chartc_core::host::{About, Machine, Mismatch};
use chartc_core::machine::{Effect, Input, Instant, Receipt, Record, StepKey};
use chartc_core::tables::StepRowKind;
use std::mem::take;

/// The maximum number of inputs that the members of a family may cause at one moment before the run fails.
const HANDLED: u32 = 10_000;

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Passes an input that cannot be a mismatch to the run's own chart.
    pub(super) fn apply_own(&mut self, input: Input<Vec<Value>>) -> Result<Receipt, RunError> {
        Ok(self.apply(input)?.unwrap_or(Receipt::Refused))
    }

    /// Passes an input to the run's own chart.
    pub(super) fn apply(
        &mut self,
        input: Input<Vec<Value>>,
    ) -> Result<Result<Receipt, Mismatch>, RunError> {
        self.apply_to(MemberPath::new(), input)
    }

    /// Passes an input to a member, and then the inputs that it causes to other members. Writes the trace, and starts and cancels calls.
    pub(super) fn apply_to(
        &mut self,
        member: MemberPath,
        input: Input<Vec<Value>>,
    ) -> Result<Result<Receipt, Mismatch>, RunError> {
        let now = self.common.clock.now();
        self.apply_at(now, member, input)
    }

    /// Passes an input of the host to the run's own chart. Everything that is due comes first, as separate inputs, so that the trace does
    /// not depend on when the host last read the clock.
    #[inline]
    pub(super) fn apply_of_the_host(
        &mut self,
        input: Input<Vec<Value>>,
    ) -> Result<Result<Receipt, Mismatch>, RunError> {
        let now = self.common.clock.now();
        // Bounded, as a deadline that is due again and again would never end.
        for _ in 0..IDLE_TICKS {
            let due = self.family.next_deadline().filter(|at| *at <= now);
            if self.submit_due_retry(now, due)? {
                continue;
            }
            if due.is_none() || self.status.is_some() {
                break;
            }
            drop(self.apply_at(now, MemberPath::new(), Input::Tick)?);
        }
        self.apply_at(now, MemberPath::new(), input)
    }

    #[inline]
    fn apply_at(
        &mut self,
        now: Instant,
        member: MemberPath,
        input: Input<Vec<Value>>,
    ) -> Result<Result<Receipt, Mismatch>, RunError> {
        // Tasks are left over only if the run has failed at an earlier input.
        let mut tasks = Tasks::new();
        if !self.extra.busy.tasks.is_empty() {
            tasks = take(&mut self.extra.busy.tasks);
        }
        let handled = self.handle(now, member, input, &mut tasks);
        if !tasks.is_empty() {
            self.extra.busy.tasks = tasks;
        }
        handled
    }

    fn handle(
        &mut self,
        now: Instant,
        member: MemberPath,
        input: Input<Vec<Value>>,
        tasks: &mut Tasks,
    ) -> Result<Result<Receipt, Mismatch>, RunError> {
        let is_deaf = self.tracer.sink.is_deaf();
        let mut log = Log::new(is_deaf);
        let mut told = self.family.handling(tasks).put(member, input, now, &mut log);
        let mut answer = Ok(Receipt::Refused);
        for _ in 1..HANDLED {
            let Some(one) = told else { return Ok(answer) };
            // The fast path: a single plain input with a short log, and nothing for other members.
            if tasks.is_empty() && log.is_brief() && is_plain(&one) {
                self.follow_brief(now, &log)?;
                return Ok(one.receipt);
            }
            if one.asked {
                answer.clone_from(&one.receipt);
            }
            self.follow(now, one, log)?;
            if tasks.is_empty() {
                return Ok(answer);
            }
            log = Log::new(is_deaf);
            told = self.family.handling(tasks).handle_next(now, &mut log);
        }
        let Some(one) = told else { return Ok(answer) };
        self.follow(now, one, log)?;
        Err(RunError::NoProgress(now))
    }

    /// The fast path of [`Session::follow`], for a plain input (see [`is_plain`]) with a short log.
    #[inline]
    fn follow_brief(&mut self, now: Instant, log: &Log) -> Result<(), RunError> {
        if let Some(place) = &self.place {
            place.tell(self.family.root(), log.touched());
        }
        self.keep_first(now, &MemberPath::new(), log);
        let notes = self.family.root_mut().take_notes();
        let called = self.host_calls();
        if notes.is_empty() && called.is_empty() {
            return Ok(());
        }
        self.put_notes(now, "", notes, called)
    }

    /// Adds the first transitions of a log to the history, and counts the trace lines of its first records.
    #[inline]
    fn keep_first(&mut self, now: Instant, member: &MemberPath, log: &Log) {
        for (before, line) in log.first().taken() {
            self.remember(now, member, u64::from(*before), (*line, 0));
        }
        self.tracer.seq += log.first().lines();
    }

    /// Processes the result of an input: writes trace lines, and starts and cancels calls.
    fn follow(&mut self, now: Instant, told: HandledInput, mut log: Log) -> Result<(), RunError> {
        let HandledInput { member, receipt, answered, asked, passed_on, data } = told;
        let sent = data.map(|data| self.extra.busy.sending.replace(Value::Map(data)));
        let notes = self.family.with_member(&member, |machine| machine.take_notes());
        let notes = notes.unwrap_or_default();
        let called = self.host_calls();
        let child = self.path(&member);
        // The machine has taken in the answer without accepting it: it does not fit.
        if let Some(key) = answered.filter(|key| receipt.is_ok() && !log.accepts(*key)) {
            let why = notes.iter().find(|note| note.about == About::Answer);
            let why = why.map_or("it does not fit the declared type", |note| &note.text);
            self.misfit(&(member.clone(), key), why)?;
        }
        if let (Some(place), true) = (&self.place, member.is_empty()) {
            place.tell(self.family.root(), log.touched());
        }
        if !asked && receipt == Ok(Receipt::Busy) {
            let (input, why) = ("turn".into(), "busy".into());
            let data = Value::None;
            self.tracer.put(now, &child, What::NotTaken { input, why, data })?;
        }
        self.keep_first(now, &member, &log);
        let mut outputs = log.rest();
        let mut begun: Vec<(StepKey, bool)> = Vec::new();
        let mut held = None;
        for happening in outputs.drain(..) {
            match happening {
                Output::Record(Record::Refused(event)) if passed_on => {
                    let event = self.event_name(&member, event);
                    self.tracer.put(now, &child, What::PassedOn { event })?;
                }
                Output::Held(line, alternatives) => held = Some((line, alternatives)),
                Output::Record(record) => {
                    self.record(now, &member, &child, record, held.take())?;
                }
                Output::Effect(Effect::Start(key)) => match self.kind(&member, key) {
                    Some(StepRowKind::Run { .. }) => self.child_begins(now, &member, key)?,
                    Some(StepRowKind::Call) => begun.push((key, true)),
                    Some(_) | None => begun.push((key, false)),
                },
                Output::Effect(Effect::Ask(key)) => begun.push((key, false)),
                Output::Effect(Effect::Call(key, _)) => begun.push((key, true)),
                Output::Effect(Effect::Cancel(key)) => {
                    // The step was started and cancelled by the same input, so no call was made: it must not count against the limits.
                    if begun.contains(&(key, false)) && !self.common.manual {
                        self.extra
                            .busy
                            .ready
                            .push_back(((member.clone(), key), Input::Unmade(key)));
                    }
                    begun.retain(|(k, _)| *k != key);
                    self.cancel(now, &(member.clone(), key))?;
                }
                Output::Effect(Effect::Ended(status)) => {
                    if member.is_empty() {
                        self.status = Some(status);
                    }
                }
            }
        }
        Log::give_back(outputs);
        self.put_notes(now, &child, notes, called)?;
        if let Some(of_the_host) = sent {
            self.extra.busy.sending = of_the_host;
        }
        // Only now, as a call starts from the state after the whole input, and its line follows the input's lines.
        for (key, is_call) in begun {
            let at = (member.clone(), key);
            if is_call { self.begin_call(at)? } else { self.begin(at)? }
        }
        Ok(())
    }

    pub(super) fn kind(&self, member: &[StepKey], key: StepKey) -> Option<StepRowKind> {
        let steps = self.family.member(member)?.tables().steps;
        Some(steps.get(key.step.index())?.kind)
    }

    /// Writes the first trace line of a child chart.
    fn child_begins(
        &mut self,
        now: Instant,
        member: &MemberPath,
        key: StepKey,
    ) -> Result<(), RunError> {
        let mut child = member.clone();
        child.push(key);
        let Some(machine) = self.family.member(&child) else { return Ok(()) };
        let what = self.run_begins(machine, &Origin::NONE);
        let path = self.path(&child);
        self.tracer.put(now, &path, what)
    }

    /// The first trace line of a run.
    pub(super) fn run_begins(&self, machine: &dyn Machine, origin: &Origin) -> What {
        let tables = machine.tables();
        What::Run {
            chart: tables.name.to_owned(),
            hash: format!("{:016x}", tables.hash),
            oracle: if self.common.manual { "nobody".into() } else { self.common.driver.name() },
            variables: Value::Map(machine.variables().into_iter().collect()),
            file: origin.file.clone(),
            calls_per_turn: origin.calls_per_turn,
            clock: if origin.real_clock { "real".into() } else { String::new() },
        }
    }

    fn event_name(&self, member: &[StepKey], event: EventId) -> String {
        let machine = self.family.member(member);
        let row = machine.and_then(|m| m.tables().events.get(event.index()));
        row.map_or_else(String::new, |row| row.name.to_owned())
    }

    /// The path of a member: the names of the `run` steps that lead to it, separated by slashes, each with the index of its element.
    /// Empty for the run's own chart.
    pub(crate) fn path(&self, member: &[StepKey]) -> String {
        if member.is_empty() {
            return String::new();
        }
        let names = (0..member.len()).map(|i| {
            let name = self.step_name(&member[..i], member[i]);
            match member[i].element {
                Some(element) => format!("{name}[{}]", element.index()),
                None => name,
            }
        });
        names.collect::<Vec<_>>().join("/")
    }

    /// The name of a step of a member.
    pub(crate) fn step_name(&self, member: &[StepKey], key: StepKey) -> String {
        let machine = self.family.member(member);
        let row = machine.and_then(|m| m.tables().steps.get(key.step.index()));
        row.map_or_else(String::new, |row| row.name.to_owned())
    }

    /// Distinguishes a call from the other open calls of its step, if the step can have several.
    pub(super) fn which(&self, (member, key): &At) -> Which {
        let machine = self.family.member(member);
        machine.map_or_else(Which::default, |machine| trace::which(machine.tables(), *key))
    }

    /// The name of a step with its path, such as `fetch/ask`.
    pub(crate) fn step_path(&self, at: &At) -> String {
        let path = self.path(&at.0);
        let name = self.step_name(&at.0, at.1);
        if path.is_empty() { name } else { format!("{path}/{name}") }
    }
}

/// Whether an input came from the host to the run's own chart, is no answer, and was not passed on by another member.
fn is_plain(told: &HandledInput) -> bool {
    let HandledInput { member, receipt: _, answered, asked, passed_on, data } = told;
    member.is_empty() && *asked && answered.is_none() && !passed_on && data.is_none()
}
