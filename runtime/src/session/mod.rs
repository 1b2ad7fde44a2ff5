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

mod answers;
mod apply;
mod begin;
mod calls;
mod doubt;
mod events;
mod history;
mod lazy_box;
mod ledger;
mod log;
mod named;
mod parts;
mod people;
mod population;
mod record;
mod report;
mod resume;
mod retry;
mod saved;
mod saved_agent;
mod tool;
mod transition_ring;
mod turn_outcome;
mod waiting;
mod with;

use crate::clock::Clock;
use crate::error::RunError;
use crate::oracle::{Deny, Oracle};
use crate::trace::{self, Line, What};
use chartc_core::arena::{StateId, StepId};
use chartc_core::expr::{IntoValue, Value};
use chartc_core::family::{Family, MemberPath};
use chartc_core::host::{Machine, Mismatch};
use chartc_core::machine::{Element, Input, Instant, Receipt, Status, StepKey};
use lazy_box::LazyBox;
pub(crate) use log::basic_states;
use parts::{Common, Extra};
pub use population::{AgentId, Population};
pub use report::TurnReport;
pub use retry::{Backoff, MOST_RETRY_AFTER};
pub use saved::Saved;
pub use saved_agent::SavedAgent;
use std::sync::Arc;
pub(crate) use turn_outcome::{QuestionFailure, TurnOutcome};

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

#[cfg(test)]
mod tests;
