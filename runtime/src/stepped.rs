//! A session under the control of an engine, which must commit everything before any call is made.
//!
//! The problem: a normal session makes its calls at once, so a crash could lose a call, or the state that made it. The idea: nothing here
//! runs by itself. The session's clock stands still during a step, and its driver only writes a plan. One step of an engine:
//!
//! ```text
//! begin(now)              sets the clock of the step
//! end(id, outcome)        hands over the result of a call, or fire(event)
//! step()                  the session continues as far as possible; its calls go into the plan
//! take() -> Left          new trace lines, planned and dropped calls, the saved state: the engine commits all of it in one transaction
//! made(driver, id, call)  only now the engine makes the planned calls
//! wake()                  the time at which the session must be stepped again
//! ```

use crate::agents::{AgentState, EngineError, Event};
use crate::clock::{Clock, Sleep};
use crate::driver::{CallId, Driver};
use crate::error::RunError;
use crate::journal::{Begun, Call, CallJournal, Journaled, Known, Outcome};
use crate::oracle::{NotOpen, OracleError};
use crate::session::{Saved, Session};
use crate::trace::{self, Line, What};
use chartc_core::host::Machine;
use chartc_core::machine::{Instant, Receipt};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

// The clock of a session that an engine steps. It stands still during a step, and records for which time the session waits.

/// A clock that only the engine moves.
struct StepClock {
    now: Arc<AtomicU64>,
    /// The earliest time for which the session has waited since the step began; `u64::MAX` for none.
    wake: Arc<AtomicU64>,
}

impl StepClock {
    fn at(now: Instant) -> Self {
        Self { now: Arc::new(AtomicU64::new(now)), wake: Arc::new(AtomicU64::new(u64::MAX)) }
    }

    /// Begins a step at `now`. The clock never goes back.
    fn step(&self, now: Instant) {
        self.now.fetch_max(now, Ordering::Relaxed);
        self.wake.store(u64::MAX, Ordering::Relaxed);
    }

    /// The time at which the session must be stepped again if nothing else happens.
    fn wake(&self) -> Option<Instant> {
        Some(self.wake.load(Ordering::Relaxed)).filter(|at| *at != u64::MAX)
    }
}

impl Clock for StepClock {
    fn now(&self) -> Instant {
        self.now.load(Ordering::Relaxed)
    }

    fn sleep_until(&self, at: Instant) -> Sleep {
        let (now, wake) = (self.now.clone(), self.wake.clone());
        Box::pin(std::future::poll_fn(move |_| {
            if at <= now.load(Ordering::Relaxed) {
                return Poll::Ready(());
            }
            wake.fetch_min(at, Ordering::Relaxed);
            Poll::Pending
        }))
    }
}

// The calls of a session that an engine steps: each goes into a plan, and its result is what the engine hands over.

/// A call that the engine is to make.
pub struct Planned {
    /// The permanent id of the call.
    pub id: CallId,
    /// The call itself.
    pub call: Call,
}

/// The journal of a run that an engine steps: it plans calls, which the engine makes after its commit.
struct Planner {
    pending: Arc<Mutex<PendingCalls>>,
}

/// What an engine has stored of the calls of a run.
#[derive(Debug, Clone)]
pub struct StoredCalls {
    /// What became of each call, by its id.
    pub known: BTreeMap<String, Known>,
    /// What became of a call that is not stored. A plan is committed together with the session that waits for it, so this happens only
    /// where plans are not stored, or where a part of the store is lost.
    pub missing: Known,
}

/// The calls that the session and the engine exchange.
struct PendingCalls {
    stored: StoredCalls,
    planned: Vec<Planned>,
    dropped: Vec<String>,
    doubted: Vec<String>,
    results: BTreeMap<String, Outcome>,
}

fn lock(pending: &Mutex<PendingCalls>) -> MutexGuard<'_, PendingCalls> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The changes of the plan since it was last taken.
#[derive(Default)]
struct Plan {
    /// The calls to make.
    planned: Vec<Planned>,
    /// The calls for which the session does not wait any more.
    dropped: Vec<String>,
    /// The calls of which it is unknown whether they were made.
    doubted: Vec<String>,
}

impl Planner {
    fn new(stored: StoredCalls) -> Self {
        let (planned, dropped, doubted) = (Vec::new(), Vec::new(), Vec::new());
        let pending = PendingCalls { stored, planned, dropped, doubted, results: BTreeMap::new() };
        Self { pending: Arc::new(Mutex::new(pending)) }
    }

    /// Removes and returns the changes of the plan.
    fn take(&self) -> Plan {
        let mut pending = lock(&self.pending);
        Plan {
            planned: std::mem::take(&mut pending.planned),
            dropped: std::mem::take(&mut pending.dropped),
            doubted: std::mem::take(&mut pending.doubted),
        }
    }

    /// Hands over the result of a call. The session receives it in its next step.
    fn end(&self, id: &str, outcome: Outcome) {
        lock(&self.pending).results.insert(id.to_owned(), outcome);
    }
}

impl CallJournal for Planner {
    fn begin(&self, id: &CallId, call: Call) -> Result<Begun, OracleError> {
        lock(&self.pending).planned.push(Planned { id: id.clone(), call });
        let (pending, id) = (self.pending.clone(), id.to_string());
        Ok(Begun::Recorded(Box::pin(Waiter { pending, id, is_open: true })))
    }

    fn known(&self, id: &CallId) -> Known {
        let stored = &lock(&self.pending).stored;
        stored.known.get(&id.to_string()).unwrap_or(&stored.missing).clone()
    }

    fn doubt(&self, id: &CallId) {
        lock(&self.pending).doubted.push(id.to_string());
    }
}

/// The future of a planned call, which is ready once the engine has handed over the result.
struct Waiter {
    pending: Arc<Mutex<PendingCalls>>,
    id: String,
    is_open: bool,
}

impl Future for Waiter {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Outcome> {
        // The engine polls the session after each result, so no waker is needed.
        let found = lock(&self.pending).results.remove(&self.id);
        match found {
            Some(outcome) => {
                self.is_open = false;
                Poll::Ready(outcome)
            }
            None => Poll::Pending,
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        if self.is_open {
            lock(&self.pending).dropped.push(std::mem::take(&mut self.id));
        }
    }
}

// A run that an engine steps.

/// The lines of a run's trace that the engine has not committed yet. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct PendingLines(Arc<Mutex<Vec<Line>>>);

impl PendingLines {
    fn take(&self) -> Vec<Line> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl trace::Sink for PendingLines {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line.clone());
        Ok(())
    }
}

/// The parameters from which a host creates the session of a run.
pub struct Making<'m> {
    /// The name of the run.
    pub run: &'m str,
    /// The parameters that the host gave for this run, as text.
    pub given: &'m str,
    /// The clock that the session must use.
    pub clock: Arc<dyn Clock>,
    /// The driver that the session must use: see [`Session::with_driver`].
    pub driver: Arc<dyn Driver>,
    /// The sink that the session must use for its trace.
    pub journal: PendingLines,
    /// The saved run whose machine is to be created; `None` for a new run.
    pub saved: Option<&'m Saved>,
}

/// A run that an engine steps.
pub struct Stepped<M> {
    session: Session<M, PendingLines>,
    planner: Arc<Planner>,
    moment: Arc<StepClock>,
    journal: PendingLines,
    wake: Option<Instant>,
    stopped: Option<String>,
    has_no_model: bool,
}

/// Everything that a run has produced since the last commit.
pub struct Left {
    /// The new lines of its trace.
    pub lines: Vec<Line>,
    /// The calls to make.
    pub planned: Vec<Planned>,
    /// The calls for which the run does not wait any more.
    pub dropped: Vec<String>,
    /// The calls of which it is unknown whether they were made.
    pub doubted: Vec<String>,
    /// The state of the run; `None` before its start.
    pub saved: Option<Saved>,
}

impl<M: Machine> Stepped<M> {
    /// Creates a new run from its name and parameters, or continues a saved one. `stored` is what became of its calls. The `driver`
    /// makes no calls here; it is only asked what became of calls that may have been made.
    ///
    /// # Errors
    /// The session cannot be created or restored.
    pub fn new(
        (run, given): (&str, &str),
        saved: Option<&Saved>,
        now: Instant,
        (driver, stored): (Arc<dyn Driver>, StoredCalls),
        make: impl FnOnce(Making<'_>) -> Result<Session<M, PendingLines>, String>,
    ) -> Result<Self, String> {
        let planner = Arc::new(Planner::new(stored));
        // The clock of a run never goes back, even if the computer's clock was set back.
        let now = saved.map_or(0, Saved::now).max(now);
        let (moment, journal) = (Arc::new(StepClock::at(now)), PendingLines::default());
        let making = Making {
            run,
            given,
            clock: moment.clone(),
            driver: Arc::new(Journaled::new(planner.clone(), driver)),
            journal: journal.clone(),
            saved,
        };
        let mut session = make(making)?;
        if let Some(saved) = saved {
            session.restore(saved).map_err(|why| why.to_string())?;
        }
        Ok(Self {
            session,
            planner,
            moment,
            journal,
            wake: None,
            stopped: None,
            has_no_model: false,
        })
    }

    /// Begins a step at `now`.
    pub fn begin(&self, now: Instant) {
        self.moment.step(now);
    }

    /// Hands over the result of a call.
    pub fn end(&self, id: &str, outcome: Outcome) {
        self.planner.end(id, outcome);
    }

    /// Answers an open question on behalf of a person. `question` is its [id](crate::oracle::Question::id). Returns the permanent id of
    /// the call, which [`Stepped::take`] lists among the dropped ones. An answer to no open question changes nothing.
    ///
    /// # Errors
    /// No open question has this id.
    pub fn reply(&mut self, question: &str, text: String) -> Result<String, NotOpen> {
        match self.session.reply(question, text) {
            Ok(replied) => replied,
            Err(why) => {
                self.stopped = Some(why.to_string());
                Ok(String::new())
            }
        }
    }

    /// Starts the run if it has not been started. Returns the number of the last trace line, after which the lines of the next event
    /// come.
    pub fn start(&mut self) -> u64 {
        if self.stopped.is_none()
            && let Err(why) = self.session.enter()
        {
            self.stop(&why);
        }
        self.session.seq()
    }

    fn stop(&mut self, why: &RunError) {
        self.stopped = Some(why.to_string());
        self.has_no_model = matches!(why, RunError::NoModel { .. });
    }

    /// Writes a note of the engine about the run to its trace.
    pub fn note(&mut self, about: &str, text: &str) {
        let what = What::HostNote { about: about.to_owned(), text: text.to_owned() };
        if let Err(why) = self.session.say(what) {
            self.stop(&why);
        }
    }

    /// Passes an event to the session, as [`Session::hand_over`] does.
    ///
    /// # Errors
    /// See [`EngineError`].
    pub fn fire(&mut self, agent: &str, event: &Event) -> Result<Receipt, EngineError> {
        if let Some(why) = &self.stopped {
            return Err(EngineError::Stopped { agent: agent.to_owned(), why: why.clone() });
        }
        self.session.hand_over(&event.name, Cow::Borrowed(&event.data)).map_err(|why| {
            if why.is_about_input() {
                return EngineError::Event { agent: agent.to_owned(), why };
            }
            self.stop(&why);
            EngineError::Stopped { agent: agent.to_owned(), why: why.to_string() }
        })
    }

    /// Continues as far as possible at the present moment.
    pub fn step(&mut self) {
        if self.stopped.is_some() {
            return;
        }
        if let Err(why) = self.session.go_as_far_as_possible() {
            self.stop(&why);
        }
        // A run that has ended has no further deadlines.
        let due = if self.session.status().is_some() { None } else { self.moment.wake() };
        self.wake = due.filter(|_| self.stopped.is_none());
    }

    /// Removes and returns everything that the run has produced since the last time.
    pub fn take(&mut self) -> Left {
        let Plan { planned, dropped, doubted } = self.planner.take();
        let lines = self.journal.take();
        Left { lines, planned, dropped, doubted, saved: self.session.save_all() }
    }

    /// The session of the run.
    pub fn session(&self) -> &Session<M, PendingLines> {
        &self.session
    }

    /// The time of the last step.
    pub fn now(&self) -> Instant {
        self.moment.now()
    }

    /// The time at which the run must be stepped again if nothing else happens.
    pub fn wake(&self) -> Option<Instant> {
        self.wake
    }

    /// The reason why the run cannot continue; `None` if it can.
    pub fn stopped(&self) -> Option<&str> {
        self.stopped.as_deref()
    }

    /// Whether the run has stopped because no model is available and none has answered it before: see [`RunError::NoModel`]. An engine
    /// that does not commit the last step can continue the run later, with the failed call made again.
    pub fn has_no_model(&self) -> bool {
        self.has_no_model
    }

    /// The present state of the agent.
    pub fn state(&self) -> AgentState {
        AgentState::of(&self.session)
    }
}
