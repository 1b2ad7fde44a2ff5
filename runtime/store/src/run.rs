//! A run in memory.

use crate::error::StoreError;
use crate::look::became;
use crate::row::Stage;
use crate::rows::{Head, move_call, put_call, put_line, put_run};
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use chartc_runtime::oracle::{Answer, NotOpen};
use chartc_runtime::stepped::{Left, Outcome, Planned, Stepped};
use rusqlite::Transaction;

/// A run that this process continues.
pub(crate) struct Running<M> {
    pub(crate) run: Stepped<M>,
    /// The parameters with which the host created the run, as text.
    pub(crate) given: String,
    /// The time of its start, in milliseconds since 1970.
    pub(crate) made_ms: i64,
    /// The time of its next step, as it stands in the worker's queue.
    pub(crate) noted: Option<Instant>,
    /// The ids of the calls that wait for a person.
    pub(crate) people: Vec<String>,
}

impl<M: Machine> Running<M> {
    /// Moves the run's clock to `now` and executes everything that can be done at this moment.
    pub(crate) fn step(&mut self, now: Instant) {
        self.run.begin(now);
        self.run.step();
    }

    /// Whether nothing is under way that ends by itself: all open calls wait for people.
    pub(crate) fn is_quiet(&self) -> bool {
        self.run.stopped().is_some() || self.run.session().open_calls() <= self.people.len()
    }

    /// Delivers a person's answer to the question with this id, and stores it as the result of the call.
    pub(crate) fn reply(
        &mut self,
        tx: &Transaction<'_>,
        (run, question): (&str, &str),
        text: String,
    ) -> rusqlite::Result<Result<(), NotOpen>> {
        let outcome = Outcome::Answer(Ok(Answer::from(text.clone())));
        let outcome = serde_json::to_string(&outcome).unwrap_or_default();
        match self.run.reply(question, text) {
            Ok(call) => {
                let from = [Stage::Planned, Stage::Started];
                move_call(tx, (run, &call), &from, Stage::Done, Some(&outcome))?;
                Ok(Ok(()))
            }
            Err(why) => Ok(Err(NotOpen { became: became(tx, run, question)?, ..why })),
        }
    }

    /// Writes everything that has happened since the last commit.
    pub(crate) fn commit(&mut self, tx: &Transaction<'_>, run: &str) -> Result<Left, Unwritten> {
        let left = self.run.take();
        for line in &left.lines {
            put_line(tx, run, line.seq, &serde_json::to_string(line)?)?;
        }
        for id in &left.doubted {
            move_call(tx, (run, id), &[Stage::Planned, Stage::Started], Stage::Doubt, None)?;
        }
        // Doubts come first, because a call in doubt may be planned again under the same id.
        for Planned { id, call } in &left.planned {
            let id = id.to_string();
            // A call that was planned and dropped in the same step is never made, so it gets no row.
            if !left.dropped.contains(&id) {
                put_call(tx, run, &id, &serde_json::to_string(call)?)?;
            }
        }
        for id in &left.dropped {
            move_call(tx, (run, id), &[Stage::Planned, Stage::Started], Stage::Cancelled, None)?;
            self.people.retain(|open| open != id);
        }
        let saved = match &left.saved {
            Some(saved) => serde_json::to_string(saved)?,
            None => String::new(),
        };
        let session = self.run.session();
        let status = match (self.run.stopped(), session.status()) {
            (Some(_), _) => "stopped",
            (None, Some(status)) => status.word(),
            (None, None) => "running",
        };
        let head = Head {
            chart: session.machine().tables().name,
            given: &self.given,
            status,
            stopped: self.run.stopped(),
            state: &session.configuration().join(", "),
            turns: session.turns(),
            calls: session.calls(),
            cost: session.spent().cost.unwrap_or(0),
            waits_for: &session.waits_for().join(", "),
            wake: self.run.wake(),
            now: self.run.now(),
            made_ms: self.made_ms,
            saved: &saved,
        };
        put_run(tx, run, &head)?;
        Ok(left)
    }
}

/// The reason why a run could not be written.
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
