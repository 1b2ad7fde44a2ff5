//! Passes inputs to the machines of a family, and processes the results.
//!
//! **The problem.** One input makes a machine report many records and effects. Each may be a line of the trace, a call to start or to
//! cancel, or news for the session itself; and a child chart may get inputs from it. In a simulation of many agents nobody reads the trace,
//! and then an input must cost almost nothing.
//!
//! **The idea.** A [`Log`] collects what the machine does, as its [`Sink`]. Afterwards `follow` goes through it in order. Calls are started
//! last, so that they see the state after the whole input and their lines follow its lines. Inputs that this one causes to other members
//! are handled in turn, up to a bound. Before an input of the host, everything that is due is handled (`apply_of_the_host`), so that the
//! trace does not depend on when the host came. If nobody reads the trace, the first records go into [`First`], which allocates nothing,
//! and most inputs end in `follow_brief`.
//!
//! **Example.** A turn in which the step `triage` asks a model:
//!
//! ```text
//! handle      the log has Turn, Started(triage), Effect::Ask(triage)
//! follow      writes the lines `turn` and `started`, and puts `triage` on the list `begun`
//! begin_all   asks the question, whose line `question` comes last
//! ```

use super::calls::IDLE_TICKS;
use super::{At, Session};
use crate::error::RunError;
use crate::host::HostLog;
use crate::trace::{self, HostCall, Origin, What, Which, describe, taken};
use chartc_core::arena::{EventId, StateId, TransitionId};
use chartc_core::expr::Value;
use chartc_core::family::{HandledInput, MemberPath, Tasks};
use chartc_core::host::{About, Machine, Mismatch, Note};
use chartc_core::machine::{
    Effect, ErrorKind, Fallback, Input, Instant, LimitKind, Receipt, Record, Sink, Status, StepKey,
    WalkEnd,
};
use chartc_core::tables::{StateRowKind, StepRowKind};
use chartc_core::wording::counted;
use std::cell::RefCell;
use std::collections::VecDeque;
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

    /// Passes an input on, and then those that it causes, one after the other, until none is left or there were too many.
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
                    self.cancel_begun(now, &(member.clone(), key), &mut begun)?;
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
        self.begin_all(&member, begun)
    }

    /// Cancels a call, which the same input may have started. `begun` are the calls that it is to start.
    fn cancel_begun(
        &mut self,
        now: Instant,
        at: &At,
        begun: &mut Vec<(StepKey, bool)>,
    ) -> Result<(), RunError> {
        let key = at.1;
        // A step that the same input has started and cancelled made no call: it must not count against the limits.
        if begun.contains(&(key, false)) && !self.common.manual {
            self.extra.busy.ready.push_back((at.clone(), Input::Unmade(key)));
        }
        begun.retain(|(k, _)| *k != key);
        self.cancel(now, at)
    }

    /// Starts calls. Each comes with whether it is of a tool.
    fn begin_all(
        &mut self,
        member: &MemberPath,
        begun: Vec<(StepKey, bool)>,
    ) -> Result<(), RunError> {
        for (key, is_call) in begun {
            let at = (member.clone(), key);
            if is_call { self.begin_call(at)? } else { self.begin(at)? }
        }
        Ok(())
    }

    pub(super) fn kind(&self, member: &[StepKey], key: StepKey) -> Option<StepRowKind> {
        let steps = &self.family.member(member)?.tables().steps;
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
            chart: String::from(&tables.name),
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
        row.map_or_else(String::new, |row| String::from(&row.name))
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
        row.map_or_else(String::new, |row| String::from(&row.name))
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

// Writes the records of machines to the trace, and updates the session's own data.

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// The reason why a limit has ended the run: which limit, in which state, and after how many turns and calls. `None` if none has.
    pub fn summary(&self) -> Option<&str> {
        self.extra.rare.summary.as_deref()
    }

    /// The sentence about the limit that has ended the run; `None` if none has.
    fn forced(&self) -> Option<String> {
        let limit = match self.extra.rare.limit? {
            LimitKind::Calls => "model calls",
            LimitKind::Turns => "turns",
            LimitKind::Time => "time",
            LimitKind::Tokens => "tokens",
            LimitKind::Cost => "cost",
        };
        let states = self.configuration().join(", ");
        let place = if states.is_empty() { String::new() } else { format!(" in `{states}`") };
        Some(format!(
            "the limit of {limit} was reached{place}, after {} and {}",
            counted(self.turns, "turn"),
            counted(self.total_calls, "model call")
        ))
    }

    /// Handles a record of a member. `child` is the path of the member. `held` is a transition with the alternatives of its guard that
    /// hold.
    pub(super) fn record(
        &mut self,
        now: Instant,
        member: &MemberPath,
        child: &str,
        record: Record,
        held: Option<(TransitionId, u64)>,
    ) -> Result<(), RunError> {
        let mut reasons = 0;
        if let Record::Taken(line) = record {
            reasons = held.filter(|(of, _)| *of == line).map_or(0, |(_, held)| held);
            self.remember(now, member, 0, (line, reasons));
        }
        // A child chart that is started again begins with an empty history.
        if let (Record::Ended(_), false) = (record, member.is_empty()) {
            self.extra.history.forget(member);
        }
        // Without a listener, such a record needs no text; only its line is counted.
        if is_only_told(record) && self.tracer.sink.is_deaf() {
            self.tracer.seq += 1;
            return Ok(());
        }
        let Some(machine) = self.family.member(member) else { return Ok(()) };
        // The next prompt tells the model why its tool call was refused.
        if let Record::Forbidden(key, tool) = record {
            let tables = machine.tables();
            let state = &tables.states[key.leaf.index()].path;
            let tool = &tables.tools[tool.index()].name;
            let why = format!("the tool `{tool}` may not be called in `{state}`");
            self.complain(&(member.clone(), key), &why);
        }
        if let Record::CallFailed(key, _) = record {
            self.used_in_vain(&(member.clone(), key));
        }
        if member.is_empty() {
            self.note_own(record);
        }
        self.trace(now, child, |run| run.told(member, record, reasons))
    }

    /// A record as a line of the trace.
    fn told(&self, member: &MemberPath, record: Record, reasons: u64) -> What {
        let machine = self.family.member(member).unwrap_or(self.family.root());
        let mut what = if let Record::Taken(line) = record {
            taken(machine.tables(), line, reasons)
        } else {
            describe(machine.tables(), record)
        };
        if let What::Ended { result, summary, .. } = &mut what {
            *result = Value::Map(machine.result().into_iter().collect());
            if let (Record::Ended(Status::Limit), true) = (record, member.is_empty()) {
                summary.clone_from(&self.extra.rare.summary);
            }
        }
        if let (What::Event { data, .. }, Some(sent)) = (&mut what, &self.extra.busy.sending) {
            data.clone_from(sent);
        }
        what
    }

    /// Updates the session's own data after a record of the run's own chart.
    fn note_own(&mut self, record: Record) {
        if let Record::Turn(turn) = record {
            self.turns = turn;
        } else if let Record::Ended(Status::Limit) = record {
            self.extra.rare.summary = self.forced();
        } else if let Record::Error(ErrorKind::Limit(kind)) = record {
            self.extra.rare.limit = Some(kind);
        } else if let Record::WalkEnded(WalkEnd::Failed(step)) = record {
            let row = self.family.root().tables().steps.get(step.index());
            let step = row.map(|row| String::from(&row.name));
            self.extra.rare.failed.clone_from(&step);
            self.extra.rare.heard.failed = step;
        }
    }

    /// Removes and returns the calls of host functions since the last time.
    pub(super) fn host_calls(&self) -> Vec<HostCall> {
        self.extra.host_log.as_ref().map(HostLog::take).unwrap_or_default()
    }

    pub(super) fn notes(
        &mut self,
        now: Instant,
        member: &MemberPath,
        child: &str,
    ) -> Result<(), RunError> {
        let notes = self.family.with_member(member, |machine| machine.take_notes());
        let called = self.host_calls();
        self.put_notes(now, child, notes.unwrap_or_default(), called)
    }

    /// Writes notes of a machine. The note about a call of a host function also contains the call. A call without a note gets one.
    pub(super) fn put_notes(
        &mut self,
        now: Instant,
        child: &str,
        notes: Vec<Note>,
        called: Vec<HostCall>,
    ) -> Result<(), RunError> {
        // A machine creates most notes only for a listener. Without one, notes do not count as lines, so that the numbers do not depend
        // on them.
        let is_unheard = self.tracer.sink.is_deaf();
        if is_unheard || notes.is_empty() && called.is_empty() {
            return Ok(());
        }
        let mut called = VecDeque::from(called);
        for Note { about, text } in notes {
            let is_of = |call: &HostCall| about == About::Call(call.function.clone());
            let mut call = None;
            // Calls without a note are written before the next call with one, in the order in which they were made.
            if let Some(index) = called.iter().position(is_of) {
                for lost in called.drain(..index).collect::<Vec<_>>() {
                    self.tracer.put(now, child, noted(lost))?;
                }
                call = called.pop_front();
            }
            self.tracer.put(now, child, What::Note { text, call })?;
        }
        for lost in called {
            self.tracer.put(now, child, noted(lost))?;
        }
        Ok(())
    }
}

/// The note about a call for which the machine has written none.
fn noted(call: HostCall) -> What {
    let arguments: Vec<String> = call.arguments.iter().map(json).collect();
    let end = match &call.failed {
        Some(why) => format!(" failed: {why}"),
        None => format!(" = {}", json(&call.value)),
    };
    let text = format!("{}({}){end}", call.function, arguments.join(", "));
    What::Note { text, call: Some(call) }
}

fn json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Whether a record concerns only the trace, so that the session's own data does not change.
fn is_only_told(record: Record) -> bool {
    !matches!(
        record,
        Record::Turn(_)
            | Record::Forbidden(..)
            | Record::CallFailed(..)
            | Record::WalkEnded(_)
            | Record::Error(_)
            | Record::Ended(_)
    )
}

// The log of what a machine did with an input, and the active leaves of a machine.

/// An effect or a record of a machine.
pub(super) enum Output {
    Effect(Effect),
    Record(Record),
    /// The alternatives of a transition's guard that hold, as a bit mask. The record of the transition follows.
    Held(TransitionId, u64),
}

/// Everything that a machine did with one input, in order.
pub(super) struct Log {
    /// The first records, in a compact form.
    first: First,
    /// Everything after these records.
    outputs: Vec<Output>,
    /// Whether the next record may still be added to `first`.
    is_brief: bool,
    is_traced: bool,
}

/// The compact form of the first records, used if nobody reads the trace: the number of lines, the transitions that were taken, and the
/// states that were entered or exited. Most inputs fit into it, and then nothing is allocated.
pub(super) struct First {
    lines: u32,
    taken: [(u32, TransitionId); TAKEN],
    touched: [StateId; TOUCHED],
    /// The lengths of `taken` and `touched`.
    count: (u8, u8),
}

/// The maximum number of transitions and of states in a [`First`].
const TAKEN: usize = 4;
const TOUCHED: usize = 12;

thread_local! {
    /// An empty buffer that the logs of this thread reuse.
    static BUFFER: RefCell<Vec<Output>> = const { RefCell::new(Vec::new()) };
}

impl First {
    const NONE: Self = Self {
        lines: 0,
        taken: [(0, TransitionId(0)); TAKEN],
        touched: [StateId(0); TOUCHED],
        count: (0, 0),
    };

    /// The number of lines that these records have in a trace.
    pub(super) fn lines(&self) -> u64 {
        self.lines.into()
    }

    /// The transitions that were taken, each with the number of lines that precede its own.
    pub(super) fn taken(&self) -> &[(u32, TransitionId)] {
        &self.taken[..usize::from(self.count.0)]
    }

    fn touched(&self) -> &[StateId] {
        &self.touched[..usize::from(self.count.1)]
    }

    /// Adds a record. Returns false if the session needs the record in full, or if there is no room.
    #[inline]
    fn takes(&mut self, record: Record) -> bool {
        match record {
            Record::Taken(line) => {
                let Some(place) = self.taken.get_mut(usize::from(self.count.0)) else {
                    return false;
                };
                *place = (self.lines, line);
                self.count.0 += 1;
            }
            Record::Exited(state) | Record::Entered(state) => {
                let Some(place) = self.touched.get_mut(usize::from(self.count.1)) else {
                    return false;
                };
                *place = state;
                self.count.1 += 1;
            }
            Record::Event(_)
            | Record::Sent(..)
            | Record::Delivered(_)
            | Record::Posted(..)
            | Record::Undelivered(..)
            | Record::SendCanceled(_)
            | Record::Refused(_)
            | Record::Lost(..)
            | Record::Denied(_) => {}
            _ => return false,
        }
        self.lines += 1;
        true
    }
}

impl Log {
    /// Creates an empty log. With `is_deaf`, nobody reads the trace, the machine's notes, or the reasons of transitions.
    #[inline]
    pub(super) fn new(is_deaf: bool) -> Self {
        Self { first: First::NONE, outputs: Vec::new(), is_brief: is_deaf, is_traced: !is_deaf }
    }

    /// Whether everything that happened is in [`Log::first`].
    pub(super) fn is_brief(&self) -> bool {
        self.is_brief
    }

    /// The first records, in a compact form.
    pub(super) fn first(&self) -> &First {
        &self.first
    }

    /// Takes everything after [`Log::first`]. [`Log::give_back`] returns the buffer.
    pub(super) fn rest(&mut self) -> Vec<Output> {
        take(&mut self.outputs)
    }

    /// Keeps the buffer for the next log.
    pub(super) fn give_back(mut outputs: Vec<Output>) {
        if outputs.capacity() > 0 {
            outputs.clear();
            let _ = BUFFER.try_with(|buffer| *buffer.borrow_mut() = outputs);
        }
    }

    /// Whether the machine has accepted the answer to a step. A machine that finds an answer unfit continues as if there were none.
    pub(super) fn accepts(&self, key: StepKey) -> bool {
        self.outputs.iter().any(|happening| match happening {
            Output::Record(Record::Done(step) | Record::Fallback(step, Fallback::Stale)) => {
                *step == key.step
            }
            Output::Record(
                Record::Dropped(k)
                | Record::Called(k, ..)
                | Record::Returned(k, _)
                | Record::CallFailed(k, _)
                | Record::Forbidden(k, _)
                | Record::ElementDone(k),
            ) => *k == key,
            Output::Record(Record::Chosen(_)) => true,
            Output::Record(_) | Output::Effect(_) | Output::Held(..) => false,
        })
    }

    /// The states that were entered or exited, in order.
    pub(super) fn touched(&self) -> impl Iterator<Item = StateId> + '_ {
        let rest = self.outputs.iter().filter_map(|happening| match happening {
            Output::Record(Record::Entered(state) | Record::Exited(state)) => Some(*state),
            Output::Record(_) | Output::Effect(_) | Output::Held(..) => None,
        });
        self.first.touched().iter().copied().chain(rest)
    }

    fn push(&mut self, happening: Output) {
        self.is_brief = false;
        if self.outputs.capacity() == 0 {
            let buffer = BUFFER.try_with(|buffer| take(&mut *buffer.borrow_mut()));
            self.outputs = buffer.unwrap_or_default();
        }
        self.outputs.push(happening);
    }
}

impl Sink for Log {
    fn effect(&mut self, effect: Effect) {
        self.push(Output::Effect(effect));
    }

    #[inline]
    fn record(&mut self, record: Record) {
        if !self.is_brief || !self.first.takes(record) {
            self.push(Output::Record(record));
        }
    }

    fn asks_why(&self) -> bool {
        self.is_traced
    }

    fn takes_notes(&self) -> bool {
        self.is_traced
    }

    fn held(&mut self, line: TransitionId, alternatives: u64) {
        self.push(Output::Held(line, alternatives));
    }
}

/// The active leaves of a machine: the dotted path and the declared name of each.
pub(crate) fn basic_states(machine: &dyn Machine) -> Vec<(String, String)> {
    let tables = machine.tables();
    let active = |i: usize| machine.is_active(StateId::at(i));
    let rows = tables.states.iter().enumerate();
    rows.filter(|(i, row)| {
        matches!(row.kind, StateRowKind::Atomic | StateRowKind::Final(_)) && active(*i)
    })
    .map(|(i, row)| {
        let parent = &*tables.states[row.parent.index()].path;
        let name = match row.path.strip_prefix(parent) {
            _ if i == 0 => &*tables.name,
            Some(rest) if !parent.is_empty() => rest.strip_prefix('.').unwrap_or(rest),
            Some(_) | None => &*row.path,
        };
        (String::from(&row.path), name.to_owned())
    })
    .collect()
}
