//! One run in the memory of the engine.

use crate::clock::Moment;
use crate::error::StoreError;
use crate::options::Journal;
use crate::planner::{Planned, Planner};
use crate::row::Stage;
use crate::rows::{Head, move_call, put_call, put_line, put_run};
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use chartc_runtime::Session;
use chartc_runtime::agents::AgentState;
use chartc_runtime::trace::Line;
use rusqlite::Transaction;
use std::sync::Arc;

/// A run that goes on in this process.
pub(crate) struct Running<M> {
    pub(crate) session: Session<M, Journal>,
    pub(crate) planner: Arc<Planner>,
    pub(crate) moment: Arc<Moment>,
    pub(crate) journal: Journal,
    /// What its host gave it at its beginning.
    pub(crate) given: String,
    /// When it was begun, in milliseconds since 1970.
    pub(crate) made_ms: i64,
    /// When it is to be stepped again.
    pub(crate) wake: Option<Instant>,
    /// `wake` as the worker has noted it.
    pub(crate) noted: Option<Instant>,
    /// Why it cannot go on.
    pub(crate) stopped: Option<String>,
    /// Calls that a person will answer some time, by the names of their steps.
    pub(crate) people: Vec<(String, String)>,
}

/// What a commit leaves to do for a run.
pub(crate) struct Left {
    /// To be shown.
    pub(crate) lines: Vec<Line>,
    /// To be made.
    pub(crate) planned: Vec<Planned>,
    /// Not to be waited for any more.
    pub(crate) dropped: Vec<String>,
}

impl<M: Machine> Running<M> {
    /// Goes on as far as possible at this moment.
    pub(crate) fn step(&mut self, now: Instant) {
        self.moment.step(now);
        if self.stopped.is_some() {
            return;
        }
        if let Err(why) = self.session.go_as_far_as_possible() {
            self.stopped = Some(why.to_string());
        }
        let due = if self.session.status().is_some() { None } else { self.moment.wake() };
        self.wake = due.filter(|_| self.stopped.is_none());
    }

    /// Whether nothing is under way that will end by itself.
    pub(crate) fn is_quiet(&self) -> bool {
        self.stopped.is_some() || self.session.open_calls() <= self.people.len()
    }

    pub(crate) fn state(&self) -> AgentState {
        AgentState {
            configuration: self.session.configuration(),
            variables: self.session.machine().variables().into_iter().collect(),
            status: self.session.status(),
            turns: self.session.turns(),
            calls: self.session.calls(),
            open: self.session.open_calls(),
        }
    }

    /// Writes what has happened since the last commit.
    pub(crate) fn commit(&mut self, tx: &Transaction<'_>, run: &str) -> Result<Left, Unwritten> {
        let lines = self.journal.take();
        for line in &lines {
            put_line(tx, run, line.seq, &serde_json::to_string(line)?)?;
        }
        let plan = self.planner.take();
        for Planned { id, call } in &plan.planned {
            put_call(tx, run, &id.to_string(), &serde_json::to_string(call)?)?;
        }
        for id in &plan.doubted {
            move_call(tx, (run, id), &[Stage::Planned, Stage::Started], Stage::Doubt, None)?;
        }
        for id in &plan.dropped {
            move_call(tx, (run, id), &[Stage::Planned, Stage::Started], Stage::Cancelled, None)?;
            self.people.retain(|(_, open)| open != id);
        }
        let saved = match self.session.save_all() {
            Some(saved) => serde_json::to_string(&saved)?,
            None => String::new(),
        };
        let status = match (&self.stopped, self.session.status()) {
            (Some(_), _) => "stopped",
            (None, Some(status)) => status.word(),
            (None, None) => "running",
        };
        let head = Head {
            chart: self.session.machine().tables().name,
            given: &self.given,
            status,
            stopped: self.stopped.as_deref(),
            state: &self.session.configuration().join(", "),
            turns: self.session.turns(),
            calls: self.session.calls(),
            cost: self.session.spent().cost.unwrap_or(0),
            waits_for: &self.session.waits_for().join(", "),
            wake: self.wake,
            now: chartc_runtime::clock::Clock::now(self.moment.as_ref()),
            made_ms: self.made_ms,
            saved: &saved,
        };
        put_run(tx, run, &head)?;
        Ok(Left { lines, planned: plan.planned, dropped: plan.dropped })
    }
}

/// Why a run could not be written.
pub(crate) enum Unwritten {
    Sqlite(rusqlite::Error),
    Data(serde_json::Error),
}

impl From<rusqlite::Error> for Unwritten {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<serde_json::Error> for Unwritten {
    fn from(error: serde_json::Error) -> Self {
        Self::Data(error)
    }
}

impl Unwritten {
    pub(crate) fn of(self, path: &std::path::Path, run: &str) -> StoreError {
        match self {
            Self::Sqlite(error) => StoreError::of(path, error),
            Self::Data(why) => StoreError::Run { run: run.to_owned(), why: why.to_string() },
        }
    }
}
