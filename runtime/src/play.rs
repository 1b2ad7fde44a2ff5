//! Sends the entries of a file of events to a session.

use crate::data::{Entry, Sent};
use crate::error::RunError;
use crate::session::Session;
use crate::trace;
use chartc_core::expr::{Map, Value};
use chartc_core::host::Machine;

/// The reason why a file of events cannot be played to its end.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// An entry does not fit the chart.
    #[error("entry {nth}: {why}")]
    Entry {
        /// The number of the entry, from 1.
        nth: usize,
        /// The reason.
        why: String,
    },
    /// The run cannot continue.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl RunError {
    pub(crate) fn in_entry(self, index: usize) -> PlayError {
        if self.is_about_input() {
            PlayError::Entry { nth: index + 1, why: self.to_string() }
        } else {
            PlayError::Run(self)
        }
    }
}

/// Sends the entries one after the other. Events after the end of the run are recorded as refused. An entry without `after_ms` waits for
/// the calls under way; before one with it, exactly that time passes. A turn always waits for the previous turn to end.
///
/// # Errors
/// The first entry that does not fit, or the reason why the run cannot continue.
pub async fn play<M: Machine, T: trace::Sink>(
    session: &mut Session<M, T>,
    entries: &[Entry],
) -> Result<(), PlayError> {
    played(session, entries).await
}

/// A receiver of entries: a session, or an agent around one.
pub(crate) trait Plays {
    /// Lets time pass.
    async fn pass(&mut self, milliseconds: u64) -> Result<(), RunError>;
    /// Waits for the calls under way.
    async fn rest(&mut self) -> Result<(), RunError>;
    /// Sets an input.
    fn give(&mut self, name: &str, value: Value) -> Result<(), RunError>;
    /// Sends an event.
    async fn post(&mut self, event: &str, data: Map) -> Result<(), RunError>;
    /// Begins a turn, after the end of the previous one.
    async fn begin(&mut self) -> Result<(), RunError>;
}

impl<M: Machine, T: trace::Sink> Plays for Session<M, T> {
    async fn pass(&mut self, milliseconds: u64) -> Result<(), RunError> {
        self.advance(milliseconds).await
    }

    async fn rest(&mut self) -> Result<(), RunError> {
        self.settle().await
    }

    fn give(&mut self, name: &str, value: Value) -> Result<(), RunError> {
        self.input(name, value)
    }

    async fn post(&mut self, event: &str, data: Map) -> Result<(), RunError> {
        Self::post(self, event, data).await.map(drop)
    }

    async fn begin(&mut self) -> Result<(), RunError> {
        // A machine refuses a turn while it walks; a file of events waits instead.
        if self.machine().is_walking() {
            self.settle().await?;
        }
        self.begin_turn().await.map(drop)
    }
}

/// Like [`play`], for any receiver.
pub(crate) async fn played<P: Plays>(to: &mut P, entries: &[Entry]) -> Result<(), PlayError> {
    for (index, entry) in entries.iter().enumerate() {
        one(to, entry).await.map_err(|stop| match stop {
            Stop::Answer => PlayError::Entry {
                nth: index + 1,
                why: "answers come from the model here, not from the events".into(),
            },
            Stop::Run(error) => error.in_entry(index),
        })?;
    }
    Ok(to.rest().await?)
}

enum Stop {
    Answer,
    Run(RunError),
}

impl From<RunError> for Stop {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

async fn one<P: Plays>(to: &mut P, entry: &Entry) -> Result<(), Stop> {
    match entry.after_ms {
        Some(milliseconds) => to.pass(milliseconds).await?,
        None => to.rest().await?,
    }
    for (name, value) in entry.inputs.iter() {
        to.give(name, value.clone())?;
    }
    match &entry.what {
        Sent::Nothing => {}
        Sent::Event(name, data) => to.post(name, data.clone()).await?,
        Sent::Turn => to.begin().await?,
        _ => {
            return Err(Stop::Answer);
        }
    }
    Ok(())
}
