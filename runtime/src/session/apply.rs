//! Passes inputs to the machines of a family, and processes the results.
//!
//! **The problem.** One input makes a machine report many records and effects. Each may be a line of the trace, a call to start or to
//! cancel, or news for the session itself; and a child chart may get inputs from it.
//!
//! **The idea.** A [`Log`] collects what the machine does, as its [`Sink`]. Afterwards `follow` goes through it in order. Calls are started
//! last, so that they see the state after the whole input and their lines follow its lines. Inputs that this one causes to other members
//! are handled in turn, up to a bound. Before an input of the host, everything that is due is handled (`catch_up`), so that the trace does
//! not depend on when the host came.
//!
//! **Example.** A turn in which the step `triage` asks a model:
//!
//! ```text
//! apply_at    the log has Turn, Started(triage), Effect::Ask(triage)
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
use chartc_core::family::{HandledInput, MemberPath};
use chartc_core::host::{About, Machine, Mismatch, Note};
use chartc_core::machine::{
    Effect, ErrorKind, Fallback, Input, Instant, LimitKind, Receipt, Record, Sink, Status, StepKey,
    WalkEnd,
};
use chartc_core::tables::{StateRowKind, StepRowKind};
use chartc_core::wording::counted;
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
        self.apply_at(self.common.clock.now(), member, input)
    }

    /// Handles everything that is due, before an input of the host, and returns the present time. So the trace does not depend on when the
    /// host last read the clock.
    pub(super) fn catch_up(&mut self) -> Result<Instant, RunError> {
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
        Ok(now)
    }

    /// Passes an input on, and then those that it causes, one after the other, until none is left or there were too many.
    pub(super) fn apply_at(
        &mut self,
        now: Instant,
        member: MemberPath,
        input: Input<Vec<Value>>,
    ) -> Result<Result<Receipt, Mismatch>, RunError> {
        let is_traced = !self.tracer.sink.is_deaf();
        let most = self.common.max_outputs;
        let mut log = Log::new(is_traced, most);
        // Tasks are left over only if the run has failed at an earlier input.
        let mut tasks =
            self.extra.0.as_mut().map(|extra| take(&mut extra.tasks)).unwrap_or_default();
        let mut handled = self.family.handling(&mut tasks).put(member, input, now, &mut log);
        let mut answer = Ok(Receipt::Refused);
        for _ in 0..HANDLED {
            let Some(one) = handled else { return Ok(answer) };
            if one.asked {
                answer.clone_from(&one.receipt);
            }
            if let Err(why) = self.follow(now, one, log) {
                self.extra.tasks = tasks;
                return Err(why);
            }
            if tasks.is_empty() {
                return Ok(answer);
            }
            log = Log::new(is_traced, most);
            handled = self.family.handling(&mut tasks).handle_next(now, &mut log);
        }
        self.extra.tasks = tasks;
        Err(RunError::NoProgress(now))
    }

    /// Processes the result of an input: writes trace lines, and starts and cancels calls.
    fn follow(&mut self, now: Instant, told: HandledInput, log: Log) -> Result<(), RunError> {
        let HandledInput { member, receipt, answered, asked, passed_on, data } = told;
        let sent = data.map(|data| self.extra.sending.replace(Value::Map(data)));
        let notes = self.family.with_member(&member, |machine| machine.take_notes());
        let notes = notes.unwrap_or_default();
        let called = self.host_calls();
        let child = self.path(&member);
        // The machine has taken in the answer without accepting it: it does not fit.
        let is_taken = |key: StepKey| log.accepts(key) || self.is_asked_about(&member, key, &log);
        if let Some(key) = answered.filter(|key| receipt.is_ok() && !is_taken(*key)) {
            let why = notes.iter().find(|note| note.about == About::Answer);
            let why = why.map_or("it does not fit the declared type", |note| &note.text);
            self.misfit(&(member.clone(), key), why)?;
        }
        if !asked && receipt == Ok(Receipt::Busy) {
            let (input, why) = ("turn".into(), "busy".into());
            let data = Value::None;
            self.tracer.put(now, &child, What::NotTaken { input, why, data })?;
        }
        let mut begun: Vec<(StepKey, bool)> = Vec::new();
        let mut held = None;
        for happening in log.outputs {
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
        self.put_notes(now, &child, notes, called)?;
        if let Some(of_the_host) = sent {
            self.extra.sending = of_the_host;
        }
        // Only now, as a call starts from the state after the whole input, and its line follows the input's lines.
        self.begin_all(&member, begun)
    }

    /// Whether a person is now asked about the tool call that the model of this step wants.
    fn is_asked_about(&self, member: &[StepKey], key: StepKey, log: &Log) -> bool {
        let Some(machine) = self.family.member(member) else { return false };
        let steps = &machine.tables().steps;
        log.outputs.iter().any(|output| match output {
            Output::Effect(Effect::Start(k)) => {
                steps.get(k.step.index()).is_some_and(|row| row.approves == Some(key.step))
            }
            Output::Effect(_) | Output::Record(_) | Output::Held(..) => false,
        })
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
            self.extra.ready.push_back((at.clone(), Input::Unmade(key)));
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
            children: if self.has_concurrent_children(tables) {
                "concurrent".into()
            } else {
                String::new()
            },
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

// Writes the records of machines to the trace, and updates the session's own data.

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// The reason why a limit has ended the run: which limit, in which state, and after how many turns and calls. `None` if none has.
    pub fn summary(&self) -> Option<&str> {
        self.extra.summary.as_deref()
    }

    /// The sentence about the limit that has ended the run; `None` if none has.
    fn forced(&self) -> Option<String> {
        let limit = match self.extra.limit? {
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
            self.remember(now, member, (line, reasons));
        }
        // A child chart that is started again begins with an empty history.
        if let (Record::Ended(_), false) = (record, member.is_empty()) {
            self.history.forget(member);
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
            self.call_failed(&(member.clone(), key));
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
                summary.clone_from(&self.extra.summary);
            }
        }
        if let (What::Event { data, .. }, Some(sent)) = (&mut what, &self.extra.sending) {
            data.clone_from(sent);
        }
        what
    }

    /// Updates the session's own data after a record of the run's own chart.
    fn note_own(&mut self, record: Record) {
        if let Record::Turn(turn) = record {
            self.turns = turn;
        } else if let Record::Ended(Status::Limit) = record {
            self.extra.summary = self.forced();
        } else if let Record::Error(ErrorKind::Limit(kind)) = record {
            self.extra.limit = Some(kind);
        } else if let Record::WalkEnded(WalkEnd::Failed(step)) = record {
            let row = self.family.root().tables().steps.get(step.index());
            let step = row.map(|row| String::from(&row.name));
            self.extra.failed.clone_from(&step);
            self.extra.heard.failed = step;
        }
    }

    /// Removes and returns the calls of host functions since the last time.
    pub(super) fn host_calls(&self) -> Vec<HostCall> {
        self.host_log.as_ref().map(HostLog::take).unwrap_or_default()
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
struct Log {
    outputs: Vec<Output>,
    /// The number of outputs after which the machine has to stop.
    most: usize,
    /// Whether somebody reads the trace, the machine's notes, and the reasons of transitions.
    is_traced: bool,
}

impl Log {
    const fn new(is_traced: bool, most: usize) -> Self {
        Self { outputs: Vec::new(), most, is_traced }
    }

    /// Whether the machine has accepted the answer to a step. A machine that finds an answer unfit continues as if there were none.
    fn accepts(&self, key: StepKey) -> bool {
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
}

impl Sink for Log {
    fn effect(&mut self, effect: Effect) {
        self.outputs.push(Output::Effect(effect));
    }

    fn record(&mut self, record: Record) {
        self.outputs.push(Output::Record(record));
    }

    fn asks_why(&self) -> bool {
        self.is_traced
    }

    fn takes_notes(&self) -> bool {
        self.is_traced
    }

    fn is_full(&self) -> bool {
        self.outputs.len() >= self.most
    }

    fn held(&mut self, line: TransitionId, alternatives: u64) {
        self.outputs.push(Output::Held(line, alternatives));
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
