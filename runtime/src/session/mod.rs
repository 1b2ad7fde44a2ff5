//! Sessions: a session drives one machine. It performs the machine's effects, returns answers to it, and fires its deadlines.
//!
//! The problem: a machine is synchronous and pure, while calls take time, fail, cost money and may have to survive a restart. The idea:
//! the machine takes inputs (`Input`) and returns effects (`Effect`); the session keeps the calls that effects start in a list, and one
//! loop ([`Session::work`]) waits for whichever comes first: the end of a call, a deadline, or the time of the next attempt. One event:
//!
//! ```text
//! send("reply")        Input::Event → records Taken, Entered, … become trace lines; Effect::Start(triage)
//! begin, ledger        the question of `triage` is built, its maximum cost is held, its call is added to the list
//! work, wait           the call is polled; meanwhile deadlines fire as Input::Tick
//! answers              the answer is read; the use is charged; Input::Answer(Choice close) → Taken, Exited, Entered
//! settle returns       no call is under way, nothing is due: the configuration is stable
//! ```

mod apply;
mod begin;
mod calls;
mod history;
mod ledger;
mod parts;
mod population;
mod saved;
#[cfg(test)]
mod tests;
mod turn_outcome;

pub(crate) use apply::basic_states;
pub use calls::{Backoff, MOST_RETRY_AFTER};
pub use population::{AgentId, Population};
pub use saved::{Saved, SavedAgent};
pub(crate) use turn_outcome::{QuestionFailure, TurnOutcome};

use crate::budget::Budget;
use crate::clock::Clock;
use crate::data;
use crate::driver::Driver;
use crate::error::RunError;
use crate::form::ActionForm;
use crate::host::HostLog;
use crate::oracle::{Deny, Oracle};
use crate::tools::Tools;
use crate::trace::{self, Line, Origin, What};
use chartc_core::arena::{EventId, StateId, StepId};
use chartc_core::expr::{IntoValue, Map, Value};
use chartc_core::family::{Family, MemberPath};
use chartc_core::host::{Machine, Mismatch, Typed};
use chartc_core::machine::{Element, Input, Instant, Receipt, Status, StepKey};
use parts::{Common, Extra, LazyBox};
use std::borrow::Cow;
use std::sync::Arc;

/// The default bound on the model calls that one event or turn may cause; with more, the run fails. Each element of a step with an
/// `each`, including the chart that it runs, has a bound of its own of the same size.
pub const MAX_CALLS: u32 = 1000;

/// A run of a machine, interpreted or generated: makes the calls that the machine wants, returns the answers, and fires the deadlines.
///
/// ```
/// use chartc_core::interpreter::Interpreter;
/// use chartc_core::model::Chart;
/// use chartc_core::plan::Plan;
/// use chartc_runtime::Session;
/// use chartc_runtime::clock::VirtualClock;
/// use chartc_runtime::oracle::Deny;
/// use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let chart = Chart::empty("Idle");
/// let plan = Plan::new(&chart);
/// let machine = Interpreter::new(&plan, (), []).expect("it has no params");
/// let clock = Arc::new(VirtualClock::new());
/// let mut session = Session::new(machine, Arc::new(Deny), clock, Vec::new());
/// let report = session.turn().await.expect("nothing can fail");
/// assert_eq!((report.turn, report.calls), (1, 0));
/// let (_machine, trace) = session.into_parts();
/// assert!(!trace.is_empty());
/// # }
/// ```
///
/// The session starts with the first [`Session::turn`] or [`Session::send`] (or [`Session::start`]). It has ended when
/// [`Session::status`] returns a status. `T` receives the trace.
pub struct Session<M, T> {
    pub(crate) family: Family<M>,
    tracer: Tracer<T>,
    common: Arc<Common>,
    extra: LazyBox<Extra>,
    turns: u32,
    total_calls: u32,
    /// The number of calls since the last event or turn, without those for elements.
    recent_calls: u32,
    started: bool,
    /// Whether a model has answered a question in this run.
    answered: bool,
    status: Option<Status>,
    /// The membership in a population, if any.
    place: Option<Box<population::Membership>>,
}

/// A started step of a member of the family (the chart and its child charts).
pub(crate) type At = (MemberPath, StepKey);

/// The identity that all attempts at one call share: member, step, leaf, element.
type CallPlace = (MemberPath, StepId, StateId, Option<Element>);

fn place_of(member: &[StepKey], key: StepKey) -> CallPlace {
    (member.to_vec(), key.step, key.leaf, key.element)
}

/// The sink of the trace, and the number of its last line.
struct Tracer<T> {
    sink: T,
    seq: u64,
}

impl<T: trace::Sink> Tracer<T> {
    /// Writes a line.
    fn put(&mut self, at_ms: Instant, child: &str, what: What) -> Result<(), RunError> {
        self.seq += 1;
        let (seq, child) = (self.seq, child.to_owned());
        Ok(self.sink.line(&Line { v: trace::VERSION, seq, at_ms, child, what })?)
    }
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Writes a line of the trace. `what` is not called if the sink ignores all lines; the line is still counted.
    fn trace(
        &mut self,
        at_ms: Instant,
        child: &str,
        what: impl FnOnce(&Self) -> What,
    ) -> Result<(), RunError> {
        if self.tracer.sink.is_deaf() {
            self.tracer.seq += 1;
            return Ok(());
        }
        let what = what(self);
        self.tracer.put(at_ms, child, what)
    }

    /// Frees the memory that a waiting session does not need.
    fn release_idle_parts(&mut self) {
        if let Some(extra) = self.extra.get_mut() {
            extra.rare.release_if_empty();
            extra.busy.release_if_empty();
            self.extra.release_if_empty();
        }
    }

    /// Resets the count of calls, at a new event or turn.
    fn reset_call_count(&mut self) {
        self.recent_calls = 0;
        if !self.extra.rare.recent_calls.is_empty() {
            self.extra.rare.recent_calls.clear();
        }
    }

    /// Creates a session that has not been started.
    pub fn new(machine: M, oracle: Arc<dyn Oracle>, clock: Arc<dyn Clock>, sink: T) -> Self {
        Self::of(Common::of(oracle, clock), machine, sink)
    }

    /// Creates a session for another machine. It shares the oracle, tools, clock and bounds of this one, which saves memory if there are
    /// many sessions.
    pub fn another<N: Machine, S: trace::Sink>(&self, machine: N, sink: S) -> Session<N, S> {
        Session::of(self.common.clone(), machine, sink)
    }

    fn of(common: Arc<Common>, machine: M, sink: T) -> Self {
        Self {
            family: Family::new(machine),
            tracer: Tracer { sink, seq: 0 },
            common,
            extra: LazyBox::new(),
            turns: 0,
            total_calls: 0,
            recent_calls: 0,
            started: false,
            answered: false,
            status: None,
            place: None,
        }
    }

    /// Creates a session whose steps and questions stay open until the host answers them.
    pub(crate) fn manual(machine: M, clock: Arc<dyn Clock>, sink: T) -> Self {
        let mut made = Self::new(machine, Arc::new(Deny), clock, sink);
        Arc::make_mut(&mut made.common).manual = true;
        made
    }

    /// The machine of the run's own chart.
    pub fn machine(&self) -> &M {
        self.family.root()
    }

    /// The machine, mutable, for queries that need it. Inputs must be sent through the session, which writes them to the trace.
    pub fn machine_mut(&mut self) -> &mut M {
        self.family.root_mut()
    }

    /// The status with which the run has ended; `None` if it has not.
    pub fn status(&self) -> Option<Status> {
        self.status
    }

    /// The number of turns so far.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// The number of model calls so far, including further attempts.
    pub fn calls(&self) -> u32 {
        self.total_calls
    }

    /// The active leaves, as dotted paths in document order. After the end, those at the end.
    pub fn configuration(&self) -> Vec<String> {
        basic_states(self.family.root()).into_iter().map(|(path, _)| path).collect()
    }

    /// Ends the session, and returns the machine and the sink.
    pub fn into_parts(self) -> (M, T) {
        (self.family.into_root(), self.tracer.sink)
    }

    /// Sets an input, before the start or between events.
    ///
    /// # Errors
    /// There is no such input, or the value does not fit its type.
    pub fn input(&mut self, name: &str, value: impl IntoValue) -> Result<(), RunError> {
        let value = value.into_value();
        self.family
            .root_mut()
            .set_input(name, value.clone())
            .map_err(|Mismatch(why)| RunError::input(name, &why))?;
        if self.started {
            let now = self.common.clock.now();
            self.trace(now, "", |_| What::Input { name: name.into(), value })?;
        }
        Ok(())
    }

    /// Enters the initial configuration, and waits for the resulting calls. Does nothing if the session has been started.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn start(&mut self) -> Result<(), RunError> {
        if self.started {
            return Ok(());
        }
        self.enter()?;
        self.settle().await
    }

    /// Enters the initial configuration, and leaves the resulting calls under way.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn enter(&mut self) -> Result<(), RunError> {
        if self.started {
            return Ok(());
        }
        self.started = true;
        let now = self.common.clock.now();
        let extra = self.extra.get_mut();
        let rare = extra.and_then(|extra| extra.rare.get_mut());
        let origin = rare.map(|rare| std::mem::take(&mut rare.origin)).unwrap_or_default();
        self.trace(now, "", |run| run.run_begins(run.family.root(), &origin))?;
        self.apply(Input::Start)?.map_err(|Mismatch(why)| RunError::Start(why))?;
        self.release_idle_parts();
        Ok(())
    }

    /// Begins a turn and returns without waiting for its calls. Returns `Receipt::Busy` while the walk of the previous turn goes on.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn begin_turn(&mut self) -> Result<Receipt, RunError> {
        self.start().await?;
        self.take_turn()
    }

    /// Like [`Session::begin_turn`], for a session that has been started.
    pub(crate) fn take_turn(&mut self) -> Result<Receipt, RunError> {
        self.reset_call_count();
        if !self.extra.rare.is_nothing() {
            self.extra.rare.failed = None;
            // While a walk goes on, this turn is refused, and the outcome is still that of the previous one.
            if !self.family.root().is_walking() {
                self.extra.rare.heard = TurnOutcome::new();
            }
        }
        let receipt = self.apply_of_the_host(Input::Turn)?.unwrap_or(Receipt::Refused);
        self.not_taken("turn", receipt, Value::None)?;
        self.release_idle_parts();
        Ok(receipt)
    }

    /// Makes one turn: the walk over the steps with all its calls. Waits first for a turn that is still going on.
    ///
    /// # Errors
    /// See [`RunError`]. A failed step is not an error: [`TurnReport::failed`] names it.
    pub async fn turn(&mut self) -> Result<TurnReport, RunError> {
        self.settle().await?;
        let calls = self.total_calls;
        let receipt = self.begin_turn().await?;
        self.settle().await?;
        let failed = self.extra.rare.failed.clone();
        if failed.is_some() {
            self.extra.rare.failed = None;
            self.release_idle_parts();
        }
        Ok(TurnReport {
            turn: self.turns,
            receipt,
            failed,
            calls: self.total_calls - calls,
            ended: self.status,
        })
    }

    /// Makes turns until the run has ended, at most `count`. Returns the status if it has ended.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn run_turns(&mut self, count: u32) -> Result<Option<Status>, RunError> {
        self.start().await?;
        for _ in 0..count {
            if self.status.is_some() {
                break;
            }
            self.turn().await?;
        }
        Ok(self.status)
    }

    /// Lets time pass: deadlines fire and answers arrive, each at its time.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn advance(&mut self, milliseconds: u64) -> Result<(), RunError> {
        self.start().await?;
        let until = self.common.clock.now().saturating_add(milliseconds);
        self.work(Some(until)).await
    }
}

// The settings of a session, made before it starts.

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Sets the maximum number of model calls per event or turn. The default is [`MAX_CALLS`](MAX_CALLS).
    #[must_use]
    pub fn with_max_calls(mut self, calls: u32) -> Self {
        Arc::make_mut(&mut self.common).max_calls = calls;
        self
    }

    /// Sets the maximum number of transitions in the history of each chart, if its `trace` line allows more; 0 for none. A transition
    /// takes about four bytes.
    #[must_use]
    pub fn with_history(mut self, most: u32) -> Self {
        Arc::make_mut(&mut self.common).history = Some(most);
        self
    }

    /// Sets the waiting times after failed calls. The default is [`Backoff::default`].
    #[must_use]
    pub fn with_backoff(mut self, backoff: Backoff) -> Self {
        Arc::make_mut(&mut self.common).backoff = backoff;
        self
    }

    /// Sets a budget of tokens and money that this run shares with others. The limits of the chart apply in addition.
    #[must_use]
    pub fn with_budget(mut self, budget: Budget) -> Self {
        Arc::make_mut(&mut self.common).budget = Some(budget);
        self
    }

    /// Sets the tools. Without tools, every tool call fails.
    #[must_use]
    pub fn with_tools(mut self, tools: Arc<dyn Tools>) -> Self {
        let common = Arc::make_mut(&mut self.common);
        common.parts.tools = tools;
        common.driver = Arc::new(common.parts.clone());
        self
    }

    /// Sets the oracle for `human` steps. Without it, the usual oracle answers them.
    #[must_use]
    pub fn with_people(mut self, people: Arc<dyn Oracle>) -> Self {
        let common = Arc::make_mut(&mut self.common);
        common.parts.people = Some(people);
        common.driver = Arc::new(common.parts.clone());
        self
    }

    /// Sets the driver of all calls, in place of the oracles and the tools.
    #[must_use]
    pub fn with_driver(mut self, driver: Arc<dyn Driver>) -> Self {
        Arc::make_mut(&mut self.common).driver = driver;
        self
    }

    /// Sets the name of the run, which is part of the ids of its calls.
    #[must_use]
    pub fn with_run(mut self, run: &str) -> Self {
        self.extra.run = Some(run.into());
        self
    }

    /// Sets the form in which models write actions if their client sets none. [`Agent`](crate::agent::Agent) sets it in a world.
    #[must_use]
    pub fn with_actions(mut self, form: ActionForm) -> Self {
        // `make_mut` would copy the shared settings, so it is called only for a change.
        if self.common.actions != form {
            Arc::make_mut(&mut self.common).actions = form;
        }
        self
    }

    /// Sets the log of a [`Watched`](crate::host::Watched) host, which contains the calls of host functions with their values. Without
    /// it, the trace contains them only as text.
    #[must_use]
    pub fn with_host_log(mut self, log: HostLog) -> Self {
        self.extra.host_log = Some(log);
        self
    }

    /// Sets how the run was started, for the first line of the trace.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.extra.rare.origin = origin;
        self
    }
}

// The result of a turn.

/// The result of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnReport {
    /// The number of the turn, from 1.
    pub turn: u32,
    /// The receipt of the turn's event.
    pub receipt: Receipt,
    /// The step whose failure ended the walk.
    pub failed: Option<String>,
    /// The number of model calls.
    pub calls: u32,
    /// The status with which the run has ended; `None` if it has not.
    pub ended: Option<Status>,
}

// Receives the events that the host sends to a session.

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Sends an event with its data by field name, and waits for the resulting calls.
    ///
    /// # Errors
    /// See [`RunError`]. An event that no transition handles is not an error: the receipt reports it.
    pub async fn send(&mut self, event: &str, data: Map) -> Result<Receipt, RunError> {
        let receipt = self.post(event, data).await?;
        self.settle().await?;
        Ok(receipt)
    }

    /// Like [`Session::send`], for a generated machine: the event is a value of the generated enum.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn tell(&mut self, event: M::Event) -> Result<Receipt, RunError>
    where
        M: Typed,
    {
        let (event, data) = M::data_of(event);
        self.send(event, data).await
    }

    /// Sends an event, and returns without waiting for the resulting calls.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn post(&mut self, event: &str, data: Map) -> Result<Receipt, RunError> {
        if !self.started {
            self.start().await?;
        }
        self.hand_over(event, Cow::Owned(data))
    }

    /// Like [`Session::post`], for a session that has been started.
    pub(crate) fn hand_over(
        &mut self,
        event: &str,
        data: Cow<'_, Map>,
    ) -> Result<Receipt, RunError> {
        // Without a trace, the data need not be copied.
        if self.tracer.sink.is_deaf() {
            let tables = self.family.root().tables();
            if data.is_empty()
                && let Some(id) = tables.event_named(event)
                && tables.events[id.index()].fields.len == 0
            {
                return self.take_event(event, id, Vec::new(), Value::None);
            }
            let (id, payload) = data::payload_of(self.family.root().tables(), event, data)?;
            return self.take_event(event, id, payload, Value::None);
        }
        // The event's line in the trace contains its data.
        let sending = data.clone().into_owned();
        let (id, payload) = data::payload_of(self.family.root().tables(), event, data)?;
        let kept = if sending.is_empty() { Value::None } else { Value::Map(sending.clone()) };
        self.extra.busy.sending = Some(Value::Map(sending));
        self.take_event(event, id, payload, kept)
    }

    #[inline]
    fn take_event(
        &mut self,
        event: &str,
        id: EventId,
        payload: Vec<Value>,
        kept: Value,
    ) -> Result<Receipt, RunError> {
        self.reset_call_count();
        let receipt = self
            .apply_of_the_host(Input::Event(id, payload))?
            .map_err(|Mismatch(why)| RunError::event(event, &why))?;
        if self.extra.busy.sending.is_some() {
            self.extra.busy.sending = None;
        }
        self.not_taken(event, receipt, kept)?;
        self.release_idle_parts();
        Ok(receipt)
    }

    fn not_taken(&mut self, input: &str, receipt: Receipt, data: Value) -> Result<(), RunError> {
        let why = match receipt {
            Receipt::Closed => "closed",
            Receipt::Busy => "busy",
            Receipt::Handled | Receipt::Unhandled | Receipt::Refused => return Ok(()),
        };
        let now = self.common.clock.now();
        self.trace(now, "", |_| What::NotTaken { input: input.into(), why: why.into(), data })
    }
}
