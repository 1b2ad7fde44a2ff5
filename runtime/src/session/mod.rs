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
use crate::driver::{self, Driver};
use crate::error::RunError;
use crate::executor::Used;
use crate::form::ActionForm;
use crate::host::HostLog;
use crate::oracle::{Deny, Oracle, Question};
use crate::settings::Overrides;
use crate::tools::Tools;
use crate::trace::{self, Line, Origin, What};
use begin::ElementPlace;
use calls::{Call, Failure};
use chartc_core::arena::{EventId, StateId, StepId};
use chartc_core::expr::{IntoValue, Map, Value};
use chartc_core::family::{Family, MemberPath, Tasks};
use chartc_core::host::{Machine, Mismatch, Typed};
use chartc_core::machine::{Element, Input, Instant, LimitKind, Receipt, Status, StepKey};
use history::History;
use ledger::Ledger;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Weak};

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

// The fields of a session that it can share with other sessions, and the fields that are usually absent.

/// The fields that sessions can share: oracle, tools, clock and bounds.
#[derive(Clone)]
struct Common {
    driver: Arc<dyn Driver>,
    /// The parts of the driver, unless the host has set a driver of its own.
    parts: driver::Parts,
    clock: Arc<dyn Clock>,
    /// The waiting times after failed calls.
    backoff: Backoff,
    /// The budget of tokens and money, which several runs can share.
    budget: Option<Budget>,
    /// The maximum number of calls per event or turn.
    max_calls: u32,
    /// The maximum number of transitions in the history, even if the chart asks for more.
    history: Option<u32>,
    /// Whether calls stay open until the host answers them. Then no prompt is rendered, and no oracle or tool is called.
    manual: bool,
    /// The form of actions if a client sets none.
    actions: ActionForm,
}

thread_local! {
    /// The shared fields of the last session that was created on this thread.
    static LAST: RefCell<Weak<Common>> = const { RefCell::new(Weak::new()) };
}

impl Common {
    /// The shared fields of a new session. Consecutive sessions of a thread with the same oracle and clock share one value.
    fn of(oracle: Arc<dyn Oracle>, clock: Arc<dyn Clock>) -> Arc<Self> {
        let last = LAST.try_with(|last| last.borrow().upgrade()).ok().flatten();
        let is_same = |last: &Arc<Self>| {
            Arc::ptr_eq(&last.parts.oracle, &oracle) && Arc::ptr_eq(&last.clock, &clock)
        };
        if let Some(last) = last.filter(is_same) {
            return last;
        }
        let parts = driver::Parts::of(oracle);
        let made = Arc::new(Self {
            driver: Arc::new(parts.clone()),
            parts,
            clock,
            backoff: Backoff::default(),
            budget: None,
            max_calls: MAX_CALLS,
            history: None,
            manual: false,
            actions: ActionForm::Any,
        });
        let _ = LAST.try_with(|last| *last.borrow_mut() = Arc::downgrade(&made));
        made
    }
}

/// The fields of a session other than its machine and its counters.
#[derive(Default)]
struct Extra {
    /// The name of the run, which is part of the ids of its calls.
    run: Option<Arc<str>>,
    /// The calls of host functions that are not in the trace yet.
    host_log: Option<HostLog>,
    /// The last transitions.
    history: History,
    rare: LazyBox<RareParts>,
    busy: LazyBox<CallsUnderWay>,
}

/// Fields that a waiting session may need; most sessions need none of them.
#[derive(Default)]
struct RareParts {
    /// The settings with which the run was started, until they are written to the trace.
    origin: Origin,
    /// The names of calls that were started in another version of the chart, in which their steps had other names.
    old_names: BTreeMap<At, saved::CallSite>,
    /// The last failures of calls that will be attempted again.
    failures: BTreeMap<CallPlace, Failure>,
    /// The tokens and the money of the run.
    ledger: Ledger,
    /// The reasons why the last answers were unusable, for the next attempts, each with the event in which the step was started.
    complaints: BTreeMap<CallPlace, (u32, String)>,
    /// The actions that steps have chosen, and their failures, since the last turn began.
    heard: TurnOutcome,
    /// The host's text at the end of prompts.
    section: String,
    /// What the host replaces of the settings of clients.
    overrides: Option<Overrides>,
    /// The tools that the models of open `llm` steps have called, each with the event in which the step was started.
    used: BTreeMap<CallPlace, (u32, Vec<Used>)>,
    /// The last hard limit that was reached.
    limit: Option<LimitKind>,
    /// The reason why a limit has ended the run.
    summary: Option<String>,
    /// The step whose failure ended the walk of this turn.
    failed: Option<String>,
    /// The number of calls for each element since the last event or turn.
    recent_calls: BTreeMap<ElementPlace, u32>,
}

/// Fields that a session needs only while it handles an input or has calls under way.
#[derive(Default)]
struct CallsUnderWay {
    /// The calls under way, in the order in which they were started.
    calls: Vec<Call>,
    /// The inputs that the machine has not handled yet, each with the call that it concerns.
    ready: VecDeque<(At, Input<Vec<Value>>)>,
    /// The answer that is being passed to the machine, and its question.
    last_answer: Option<(String, Arc<Question>)>,
    /// The reason why an answer of the host does not fit, as the machine has found.
    misfit: Option<String>,
    /// The data of the event that is being handled, for its line in the trace.
    sending: Option<Value>,
    /// The inputs that the machines still have to handle. They are left over if the run has failed at an input.
    tasks: Tasks,
}

static NO_EXTRA: Extra = Extra {
    run: None,
    host_log: None,
    history: History::new(),
    rare: LazyBox::new(),
    busy: LazyBox::new(),
};

static NO_RARE: RareParts = RareParts {
    origin: Origin::NONE,
    old_names: BTreeMap::new(),
    failures: BTreeMap::new(),
    ledger: Ledger::new(),
    complaints: BTreeMap::new(),
    heard: TurnOutcome::new(),
    section: String::new(),
    overrides: None,
    used: BTreeMap::new(),
    limit: None,
    summary: None,
    failed: None,
    recent_calls: BTreeMap::new(),
};

static NO_BUSY: CallsUnderWay = CallsUnderWay {
    calls: Vec::new(),
    ready: VecDeque::new(),
    last_answer: None,
    misfit: None,
    sending: None,
    tasks: Tasks::new(),
};

thread_local! {
    static EXTRAS: Pool<Extra> = const { RefCell::new(Vec::new()) };
    static RARES: Pool<RareParts> = const { RefCell::new(Vec::new()) };
    static BUSIES: Pool<CallsUnderWay> = const { RefCell::new(Vec::new()) };
}

impl Parts for Extra {
    fn nothing() -> &'static Self {
        &NO_EXTRA
    }

    fn is_nothing(&self) -> bool {
        let Self { run, host_log, history, rare, busy } = self;
        run.is_none()
            && host_log.is_none()
            && history.is_empty()
            && rare.is_nothing()
            && busy.is_nothing()
    }

    fn with_pool<R>(act: impl FnOnce(&Pool<Self>) -> R) -> Option<R> {
        EXTRAS.try_with(act).ok()
    }
}

impl Parts for RareParts {
    fn nothing() -> &'static Self {
        &NO_RARE
    }

    fn is_nothing(&self) -> bool {
        let Self {
            origin,
            old_names,
            failures,
            ledger,
            complaints,
            heard,
            section,
            overrides,
            used,
            limit,
            summary,
            failed,
            recent_calls,
        } = self;
        *origin == Origin::NONE
            && old_names.is_empty()
            && failures.is_empty()
            && ledger.is_empty()
            && complaints.is_empty()
            && heard.is_empty()
            && section.is_empty()
            && overrides.is_none()
            && used.is_empty()
            && limit.is_none()
            && summary.is_none()
            && failed.is_none()
            && recent_calls.is_empty()
    }

    fn with_pool<R>(act: impl FnOnce(&Pool<Self>) -> R) -> Option<R> {
        RARES.try_with(act).ok()
    }
}

impl Parts for CallsUnderWay {
    fn nothing() -> &'static Self {
        &NO_BUSY
    }

    fn is_nothing(&self) -> bool {
        let Self { calls, ready, last_answer, misfit, sending, tasks } = self;
        calls.is_empty()
            && ready.is_empty()
            && last_answer.is_none()
            && misfit.is_none()
            && sending.is_none()
            && tasks.is_empty()
    }

    fn with_pool<R>(act: impl FnOnce(&Pool<Self>) -> R) -> Option<R> {
        BUSIES.try_with(act).ok()
    }
}

// Boxes for parts of a session that are absent most of the time.
//
// With many idle sessions, memory per session matters: an absent part takes one pointer. As parts come and go with every event, a thread
// keeps a few empty boxes for reuse, which saves allocations.

/// The maximum number of boxes of each type that a thread keeps for reuse.
const KEPT: usize = 4;

/// The boxes of a thread for reuse.
type Pool<P> = RefCell<Vec<Box<P>>>;

/// A group of fields that are absent most of the time.
trait Parts: Default + 'static {
    /// The value that absent parts have.
    fn nothing() -> &'static Self;

    /// Whether the parts equal [`Parts::nothing`], so that they can be dropped.
    fn is_nothing(&self) -> bool;

    /// Calls `act` with the boxes of the present thread; `None` if the thread is ending.
    fn with_pool<R>(act: impl FnOnce(&Pool<Self>) -> R) -> Option<R>;
}

/// Parts that take one pointer while they are absent. The first write creates them, and [`LazyBox::release_if_empty`] removes them.
struct LazyBox<P: Parts>(Option<Box<P>>);

impl<P: Parts> LazyBox<P> {
    /// Creates absent parts.
    const fn new() -> Self {
        Self(None)
    }

    /// Whether the parts are absent or empty.
    fn is_nothing(&self) -> bool {
        self.0.as_ref().is_none_or(|parts| parts.is_nothing())
    }

    /// Gives the box back if the parts are empty.
    fn release_if_empty(&mut self) {
        if let Some(parts) = self.0.take_if(|parts| parts.is_nothing()) {
            P::with_pool(|pool| {
                let mut pool = pool.borrow_mut();
                if pool.len() < KEPT {
                    pool.push(parts);
                }
            });
        }
    }

    /// The parts, if they are present.
    fn get_mut(&mut self) -> Option<&mut P> {
        self.0.as_deref_mut()
    }
}

impl<P: Parts> Default for LazyBox<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Parts> Deref for LazyBox<P> {
    type Target = P;

    fn deref(&self) -> &P {
        match &self.0 {
            Some(parts) => parts,
            None => P::nothing(),
        }
    }
}

impl<P: Parts> DerefMut for LazyBox<P> {
    fn deref_mut(&mut self) -> &mut P {
        self.0.get_or_insert_with(|| {
            P::with_pool(|pool| pool.borrow_mut().pop()).flatten().unwrap_or_default()
        })
    }
}
