//! A run that an engine steps.

use super::call::Outcome;
use super::moment::StepClock;
use super::planner::{Known, Plan, Planned, Planner};
use crate::agents::{AgentState, EngineError, Event, hand_over};
use crate::clock::Clock;
use crate::driver::Driver;
use crate::error::RunError;
use crate::oracle::NotOpen;
use crate::session::{Saved, Session};
use crate::trace::{self, Line, What};
use chartc_core::host::Machine;
use chartc_core::machine::{Instant, Receipt};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The lines of a run's trace that the engine has not committed yet. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Journal(Arc<Mutex<Vec<Line>>>);

impl Journal {
    fn take(&self) -> Vec<Line> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl trace::Sink for Journal {
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
    pub journal: Journal,
    /// The saved run whose machine is to be created; `None` for a new run.
    pub saved: Option<&'m Saved>,
}

/// A run that an engine steps.
pub struct Stepped<M> {
    session: Session<M, Journal>,
    planner: Arc<Planner>,
    moment: Arc<StepClock>,
    journal: Journal,
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
    /// Creates a new run from its name and parameters, or continues a saved one. `known` is the stored state of its calls. The `driver`
    /// makes no calls here; it is only asked what became of calls that may have been made.
    ///
    /// # Errors
    /// The session cannot be created or restored.
    pub fn new(
        (run, given): (&str, &str),
        saved: Option<&Saved>,
        now: Instant,
        (driver, known): (Arc<dyn Driver>, BTreeMap<String, Known>),
        make: impl FnOnce(Making<'_>) -> Result<Session<M, Journal>, String>,
    ) -> Result<Self, String> {
        let planner = Arc::new(Planner::new(driver, known));
        // The clock of a run never goes back, even if the computer's clock was set back.
        let now = saved.map_or(0, Saved::now).max(now);
        let (moment, journal) = (Arc::new(StepClock::at(now)), Journal::default());
        let making = Making {
            run,
            given,
            clock: moment.clone(),
            driver: planner.clone(),
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

    /// Passes an event to the session, as [`hand_over`] does.
    ///
    /// # Errors
    /// See [`EngineError`].
    pub fn fire(&mut self, agent: &str, event: &Event) -> Result<Receipt, EngineError> {
        if let Some(why) = &self.stopped {
            return Err(EngineError::Stopped { agent: agent.to_owned(), why: why.clone() });
        }
        hand_over(&mut self.session, event).map_err(|why| {
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
    pub fn session(&self) -> &Session<M, Journal> {
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
        AgentState {
            configuration: self.session.configuration(),
            variables: self.session.machine().variables().into_iter().collect(),
            status: self.session.status(),
            turns: self.session.turns(),
            calls: self.session.calls(),
            open: self.session.open_calls(),
        }
    }
}
