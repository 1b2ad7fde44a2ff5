//! Storage in which a world survives its process.
//!
//! The engine commits a [`Checkpoint`] when no agent can continue, and only then admits waiting calls (see [`Gate`](crate::Gate)). So a
//! checkpoint contains every call that has begun. The drivers are nested in this order: [`Gated`](crate::Gated) outside, then
//! [`Journaled`], then the driver that makes the calls. So a call that still waits at the gate is not recorded as begun.

mod journal;
#[cfg(test)]
mod tests;

pub use journal::Journaled;

use std::error::Error;

/// The reason why something cannot be stored, or stored data cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct KeepError(pub Box<dyn Error + Send + Sync>);

/// The state of a world and its agents at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checkpoint {
    /// The number of the tick or round, which never decreases.
    pub number: u64,
    /// The time of the run, in milliseconds.
    pub now_ms: u64,
    /// The world as JSON; `None` if it is the same as at the last checkpoint.
    pub world: Option<String>,
    /// The agents that have changed, as their names and JSON; `None` for an agent that is gone.
    pub agents: Vec<(String, Option<String>)>,
    /// The engine's own state, as JSON.
    pub meta: String,
    /// The lines of the log since the last checkpoint.
    pub log: Vec<String>,
}

/// The last checkpoint, complete with all agents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Loaded {
    /// The number of the tick or round.
    pub number: u64,
    /// The time of the run, in milliseconds.
    pub now_ms: u64,
    /// The world, as JSON.
    pub world: Option<String>,
    /// All agents as names and JSON, in the order in which they were added.
    pub agents: Vec<(String, String)>,
    /// The engine's own state, as JSON.
    pub meta: String,
    /// The number of lines in the log.
    pub log_lines: u64,
}

/// A recorded call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptCall {
    /// The question or tool call, as JSON.
    pub question: String,
    /// The outcome, as JSON; `None` if it is unknown.
    pub answer: Option<String>,
}

/// The storage of one world. Each method that writes returns only when its data would survive a crash.
pub trait Keep: Send + Sync {
    /// Creates the record of a new world. `given` is what its host needs to continue it.
    ///
    /// # Errors
    /// The storage has a world already.
    fn begin(&self, given: &str) -> Result<(), KeepError>;

    /// The text given to [`Self::begin`]; `None` if there is no world yet.
    ///
    /// # Errors
    /// The storage cannot be read.
    fn given(&self) -> Result<Option<String>, KeepError>;

    /// Stores a checkpoint atomically.
    ///
    /// # Errors
    /// The storage cannot be written. The last checkpoint is unchanged.
    fn commit(&self, checkpoint: &Checkpoint) -> Result<(), KeepError>;

    /// The last checkpoint; `None` before the first.
    ///
    /// # Errors
    /// The storage cannot be read, or its content is damaged.
    fn load(&self) -> Result<Option<Loaded>, KeepError>;

    /// The lines of the log after the first `from`.
    ///
    /// # Errors
    /// The storage cannot be read, or its content is damaged.
    fn log(&self, from: u64) -> Result<Vec<String>, KeepError>;

    /// Records that a call is about to be made. It replaces an earlier record with the same id.
    ///
    /// # Errors
    /// The storage cannot be written. The call must not be made.
    fn call_begun(&self, id: &str, question: &str) -> Result<(), KeepError>;

    /// Records the outcome of a call. It is kept as long as a checkpoint may need it.
    ///
    /// # Errors
    /// The storage cannot be written.
    fn call_settled(&self, id: &str, answer: &str) -> Result<(), KeepError>;

    /// Records that no agent waits for a call any more. The call stays in doubt as long as a checkpoint may need it.
    ///
    /// # Errors
    /// The storage cannot be written.
    fn call_dropped(&self, id: &str) -> Result<(), KeepError>;

    /// The record of a call; `None` if the call was not begun.
    ///
    /// # Errors
    /// The storage cannot be read, or its content is damaged.
    fn call(&self, id: &str) -> Result<Option<KeptCall>, KeepError>;
}
