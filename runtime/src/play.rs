//! Plays a file of events on a running session.

use crate::data::{Entry, Sent};
use crate::drive::Session;
use crate::error::RunError;
use crate::trace;
use chartc_core::drive::Machine;

/// An entry of a file of events cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// An entry does not fit the chart.
    #[error("entry {nth}: {why}")]
    Entry {
        /// From 1.
        nth: usize,
        /// What is wrong.
        why: String,
    },
    /// The run cannot go on.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl RunError {
    /// At the fault of what was sent, not of the run.
    pub(crate) fn is_about_input(&self) -> bool {
        match self {
            Self::UnknownEvent { .. } | Self::Event { .. } | Self::Input { .. } => true,
            Self::Start(_)
            | Self::Oracle { .. }
            | Self::TooManyCalls(_)
            | Self::NoProgress(_)
            | Self::Trace(_) => false,
        }
    }

    pub(crate) fn in_entry(self, index: usize) -> PlayError {
        if self.is_about_input() {
            PlayError::Entry { nth: index + 1, why: self.to_string() }
        } else {
            PlayError::Run(self)
        }
    }
}

/// Sends each entry in turn; after the end of the run they are recorded as not taken. Without `after_ms` the calls under way are waited for before the next entry; with
/// it exactly that time passes. A turn always waits for the turn before it.
///
/// # Errors
/// The first entry that does not fit, or why the run cannot go on.
pub async fn play<M: Machine, T: trace::Sink>(
    session: &mut Session<M, T>,
    entries: &[Entry],
) -> Result<(), PlayError> {
    for (index, entry) in entries.iter().enumerate() {
        one(session, entry).await.map_err(|stop| match stop {
            Stop::Answer => PlayError::Entry {
                nth: index + 1,
                why: "answers come from the model here, not from the events".into(),
            },
            Stop::Run(error) => error.in_entry(index),
        })?;
    }
    Ok(session.settle().await?)
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

async fn one<M: Machine, T: trace::Sink>(
    session: &mut Session<M, T>,
    entry: &Entry,
) -> Result<(), Stop> {
    match entry.after_ms {
        Some(milliseconds) => session.advance(milliseconds).await?,
        None => session.settle().await?,
    }
    for (name, value) in entry.inputs.iter() {
        session.input(name, value.clone())?;
    }
    match &entry.what {
        Sent::Nothing => {}
        Sent::Event(name, data) => {
            session.post(name, data.clone()).await?;
        }
        Sent::Turn => {
            if session.machine().is_walking() {
                session.settle().await?;
            }
            session.begin_turn().await?;
        }
        Sent::Answer { .. } | Sent::Fail { .. } | Sent::Unusable { .. } | Sent::Doubt { .. } => {
            return Err(Stop::Answer);
        }
    }
    Ok(())
}
