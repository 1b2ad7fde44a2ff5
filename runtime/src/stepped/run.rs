//! One run in the hands of an engine.

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

/// The lines of a run's trace that are not committed yet.
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

/// What the session of a run is made of.
pub struct Making<'m> {
    /// The name of the run.
    pub run: &'m str,
    /// What its host gave it at its beginning.
    pub given: &'m str,
    /// The session's clock.
    pub clock: Arc<dyn Clock>,
    /// The session's driver: see [`Session::with_driver`].
    pub driver: Arc<dyn Driver>,
    /// The session's trace.
    pub journal: Journal,
    /// The run so far, whose machine is to be restored; `None` for a new one.
    pub saved: Option<&'m Saved>,
}

/// A run that goes on in this process.
pub struct Stepped<M> {
    session: Session<M, Journal>,
    planner: Arc<Planner>,
    moment: Arc<StepClock>,
    journal: Journal,
    wake: Option<Instant>,
    stopped: Option<String>,
    has_no_model: bool,
}

/// What a run has left since the last commit.
pub struct Left {
    /// The lines of its trace.
    pub lines: Vec<Line>,
    /// Calls to make.
    pub planned: Vec<Planned>,
    /// Calls whose results it does not wait for any more.
    pub dropped: Vec<String>,
    /// Calls of which nobody knows whether they were made.
    pub doubted: Vec<String>,
    /// The run as it stands; `None` before its start.
    pub saved: Option<Saved>,
}

impl<M: Machine> Stepped<M> {
    /// A new run, by its name and what its host gave it, or one that goes on where it was saved, with what is `known` of the calls that it waited for. The `driver` makes no call
    /// here: it tells what became of those that were begun.
    ///
    /// # Errors
    /// The session cannot be made, or does not go on.
    pub fn new(
        (run, given): (&str, &str),
        saved: Option<&Saved>,
        now: Instant,
        (driver, known): (Arc<dyn Driver>, BTreeMap<String, Known>),
        make: impl FnOnce(Making<'_>) -> Result<Session<M, Journal>, String>,
    ) -> Result<Self, String> {
        let planner = Arc::new(Planner::new(driver, known));
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

    /// Begins a step at this moment.
    pub fn begin(&self, now: Instant) {
        self.moment.step(now);
    }

    /// Hands the result of a call to whoever waits for it.
    pub fn end(&self, id: &str, outcome: Outcome) {
        self.planner.end(id, outcome);
    }

    /// Answers an open question as a person, by the [id](crate::oracle::Question::id) of the question. Returns the permanent name of the
    /// call that is over; [`Stepped::take`] has it among the calls to drop. An answer that names another question changes nothing.
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

    /// Starts the run if it was not started. Returns the number of the last line of its trace: an event that comes now has those after it.
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

    /// Writes into the trace something that the engine has to say about the run.
    pub fn note(&mut self, about: &str, text: &str) {
        let what = What::HostNote { about: about.to_owned(), text: text.to_owned() };
        if let Err(why) = self.session.say(what) {
            self.stop(&why);
        }
    }

    /// Hands an event over, as [`hand_over`].
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

    /// Goes on as far as possible at this moment.
    pub fn step(&mut self) {
        if self.stopped.is_some() {
            return;
        }
        if let Err(why) = self.session.go_as_far_as_possible() {
            self.stop(&why);
        }
        let due = if self.session.status().is_some() { None } else { self.moment.wake() };
        self.wake = due.filter(|_| self.stopped.is_none());
    }

    /// Takes what the run has left since the last time.
    pub fn take(&mut self) -> Left {
        let Plan { planned, dropped, doubted } = self.planner.take();
        let lines = self.journal.take();
        Left { lines, planned, dropped, doubted, saved: self.session.save_all() }
    }

    /// The session.
    pub fn session(&self) -> &Session<M, Journal> {
        &self.session
    }

    /// The time of the last step.
    pub fn now(&self) -> Instant {
        self.moment.now()
    }

    /// When the run is to be stepped again, if nothing else happens.
    pub fn wake(&self) -> Option<Instant> {
        self.wake
    }

    /// Why it cannot go on.
    pub fn stopped(&self) -> Option<&str> {
        self.stopped.as_deref()
    }

    /// Whether it cannot go on because no model has answered it yet and none can be asked: see [`RunError::NoModel`]. An engine that does
    /// not commit the last step can continue the run later, with the failed call made again.
    pub fn has_no_model(&self) -> bool {
        self.has_no_model
    }

    /// The agent as it stands.
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
