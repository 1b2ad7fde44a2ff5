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
mod saved;
#[cfg(test)]
mod tests;
mod turn_outcome;

pub(crate) use apply::basic_states;
pub use calls::{Backoff, MOST_RETRY_AFTER, Outlook};
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
use chartc_core::arena::{StateId, StepId};
use chartc_core::expr::{IntoValue, Map, Value};
use chartc_core::family::{Family, MemberPath, Tasks};
use chartc_core::host::{Machine, Mismatch, Typed};
use chartc_core::machine::{Element, Input, Instant, LimitKind, Receipt, Status, StepKey};
use history::History;
use ledger::Ledger;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The name of the event that begins a turn.
pub const TURN: &str = "turn";

/// The name of an event that only sets inputs. No declared event can have it.
pub const INPUTS: &str = "";

/// The default bound on the model calls that one event or turn may cause; with more, the run fails. Each element of a step with an
/// `each`, including the chart that it runs, has a bound of its own of the same size.
pub const MAX_CALLS: u32 = 1000;

/// The default maximum number of records and effects of one input.
pub const MAX_OUTPUTS: usize = 100_000;

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
/// let plan = Plan::new(&Arc::new(chart));
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
    /// The name of the run, which is part of the ids of its calls.
    run: Option<Arc<str>>,
    /// The calls of host functions that are not in the trace yet.
    host_log: Option<HostLog>,
    /// The last transitions.
    history: History,
    extra: LazyExtra,
    turns: u32,
    total_calls: u32,
    /// The number of calls since the last event or turn, without those for elements.
    recent_calls: u32,
    started: bool,
    /// Whether a model has answered a question in this run.
    answered: bool,
    status: Option<Status>,
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
        self.extra.0.take_if(|extra| extra.is_nothing());
    }

    /// Resets the count of calls, at a new event or turn.
    fn reset_call_count(&mut self) {
        self.recent_calls = 0;
        if !self.extra.recent_calls.is_empty() {
            self.extra.recent_calls.clear();
        }
    }

    /// Creates a session that has not been started.
    pub fn new(machine: M, oracle: Arc<dyn Oracle>, clock: Arc<dyn Clock>, sink: T) -> Self {
        Self::of(Common::new(oracle, clock), machine, sink)
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
            run: None,
            host_log: None,
            history: History::default(),
            extra: LazyExtra(None),
            turns: 0,
            total_calls: 0,
            recent_calls: 0,
            started: false,
            answered: false,
            status: None,
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
        let extra = self.extra.0.as_mut();
        let origin = extra.map(|extra| std::mem::take(&mut extra.origin)).unwrap_or_default();
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
        if self.extra.0.is_some() {
            self.extra.failed = None;
            // While a walk goes on, this turn is refused, and the outcome is still that of the previous one.
            if !self.family.root().is_walking() {
                self.extra.heard = TurnOutcome::new();
            }
        }
        let now = self.catch_up()?;
        let turn = self.apply_at(now, MemberPath::new(), Input::Turn)?;
        let receipt = turn.unwrap_or(Receipt::Refused);
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
        let failed = self.extra.failed.clone();
        if failed.is_some() {
            self.extra.failed = None;
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

    /// Sets the maximum number of records and effects of one input. A machine that reaches it is stopped as in a livelock. The default is
    /// [`MAX_OUTPUTS`](MAX_OUTPUTS).
    #[must_use]
    pub fn with_max_outputs(mut self, outputs: usize) -> Self {
        // Agents that are made alike share this part.
        if self.common.max_outputs != outputs {
            Arc::make_mut(&mut self.common).max_outputs = outputs;
        }
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
        Arc::make_mut(&mut common.parts).tools = tools;
        common.driver = common.parts.clone();
        self
    }

    /// Sets the oracle for `human` steps. Without it, the usual oracle answers them.
    #[must_use]
    pub fn with_people(mut self, people: Arc<dyn Oracle>) -> Self {
        let common = Arc::make_mut(&mut self.common);
        Arc::make_mut(&mut common.parts).people = Some(people);
        common.driver = common.parts.clone();
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
        self.run = Some(run.into());
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
        self.host_log = Some(log);
        self
    }

    /// Sets how the run was started, for the first line of the trace.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.family.set_children_last(origin.children_last);
        self.extra.origin = origin;
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

    /// Takes in an event, a turn ([`TURN`]) or inputs ([`INPUTS`]), and starts the session if necessary. Starts the resulting calls without
    /// waiting for them.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn hand_over(&mut self, name: &str, data: Cow<'_, Map>) -> Result<Receipt, RunError> {
        self.enter()?;
        if name == TURN || name == INPUTS {
            for (input, value) in data.iter() {
                self.input(input, value.clone())?;
            }
            return if name == TURN { self.take_turn() } else { Ok(Receipt::Handled) };
        }
        // The event's line in the trace contains its data.
        let sending = (!self.tracer.sink.is_deaf()).then(|| data.clone().into_owned());
        let (id, payload) = data::payload_of(self.family.root().tables(), name, data)?;
        let kept = sending.as_ref().filter(|sending| !sending.is_empty());
        let kept = kept.map_or(Value::None, |sending| Value::Map(sending.clone()));
        if let Some(sending) = sending {
            self.extra.sending = Some(Value::Map(sending));
        }
        self.reset_call_count();
        let now = self.catch_up()?;
        let receipt = self
            .apply_at(now, MemberPath::new(), Input::Event(id, payload))?
            .map_err(|Mismatch(why)| RunError::event(name, &why))?;
        if self.extra.sending.is_some() {
            self.extra.sending = None;
        }
        self.not_taken(name, receipt, kept)?;
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
    parts: Arc<driver::Parts>,
    clock: Arc<dyn Clock>,
    /// The waiting times after failed calls.
    backoff: Backoff,
    /// The budget of tokens and money, which several runs can share.
    budget: Option<Budget>,
    /// The maximum number of calls per event or turn.
    max_calls: u32,
    /// The maximum number of records and effects of one input.
    max_outputs: usize,
    /// The maximum number of transitions in the history, even if the chart asks for more.
    history: Option<u32>,
    /// Whether calls stay open until the host answers them. Then no prompt is rendered, and no oracle or tool is called.
    manual: bool,
    /// The form of actions if a client sets none.
    actions: ActionForm,
}

impl Common {
    fn new(oracle: Arc<dyn Oracle>, clock: Arc<dyn Clock>) -> Arc<Self> {
        let parts = Arc::new(driver::Parts::of(oracle));
        Arc::new(Self {
            driver: parts.clone(),
            parts,
            clock,
            backoff: Backoff::default(),
            budget: None,
            max_calls: MAX_CALLS,
            max_outputs: MAX_OUTPUTS,
            history: None,
            manual: false,
            actions: ActionForm::Any,
        })
    }
}

/// Fields that most waiting sessions do not need.
#[derive(Default)]
struct Extra {
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
    calls: Vec::new(),
    ready: VecDeque::new(),
    last_answer: None,
    misfit: None,
    sending: None,
    tasks: Tasks::new(),
};

impl Extra {
    /// Whether calls, inputs or news of an input are there.
    fn is_idle(&self) -> bool {
        let Self { calls, ready, last_answer, misfit, sending, tasks, .. } = self;
        calls.is_empty()
            && ready.is_empty()
            && last_answer.is_none()
            && misfit.is_none()
            && sending.is_none()
            && tasks.is_empty()
    }

    fn is_nothing(&self) -> bool {
        self.is_idle()
            && self.origin == Origin::NONE
            && self.old_names.is_empty()
            && self.failures.is_empty()
            && self.ledger.is_empty()
            && self.complaints.is_empty()
            && self.heard.is_empty()
            && self.section.is_empty()
            && self.overrides.is_none()
            && self.used.is_empty()
            && self.limit.is_none()
            && self.summary.is_none()
            && self.failed.is_none()
            && self.recent_calls.is_empty()
    }
}

/// The extra fields, which take one pointer while they are absent. The first write makes them.
struct LazyExtra(Option<Box<Extra>>);

impl Deref for LazyExtra {
    type Target = Extra;

    fn deref(&self) -> &Extra {
        self.0.as_deref().unwrap_or(&NO_EXTRA)
    }
}

impl DerefMut for LazyExtra {
    fn deref_mut(&mut self) -> &mut Extra {
        self.0.get_or_insert_default()
    }
}
