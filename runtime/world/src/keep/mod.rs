//! Where a world survives its process.
//!
//! Whoever runs the agents commits a [`Checkpoint`] when none of them can go on, and lets calls pass (see [`Gate`](crate::Gate)) after that: so
//! each call that was begun is one that a checkpoint knows. Calls that are paid for are kept by a [`Journaled`] driver around the one that
//! makes them; a [`Gated`](crate::Gated) driver belongs around that one, so that a call that still waits was not begun.

mod journal;
#[cfg(test)]
mod tests;

pub use journal::Journaled;

use std::error::Error;

/// Why something cannot be stored, or stored data cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct KeepError(pub Box<dyn Error + Send + Sync>);

/// A world and its agents at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checkpoint {
    /// The tick or the round; it never falls.
    pub number: u64,
    /// The time of the run.
    pub now_ms: u64,
    /// The world; `None` where it is as at the last checkpoint.
    pub world: Option<String>,
    /// Those that have changed, by name; `None` for one that is gone.
    pub agents: Vec<(String, Option<String>)>,
    /// What whoever runs the agents keeps of its own.
    pub meta: String,
    /// Lines that the log has had since.
    pub log: Vec<String>,
}

/// The last checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Loaded {
    /// The tick or the round.
    pub number: u64,
    /// The time of the run.
    pub now_ms: u64,
    /// The world.
    pub world: Option<String>,
    /// All agents, in the order in which they came.
    pub agents: Vec<(String, String)>,
    /// What whoever ran the agents kept of its own.
    pub meta: String,
    /// How many lines the log has.
    pub log_lines: u64,
}

/// A call that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptCall {
    /// What was asked.
    pub question: String,
    /// What came of it; `None` where nobody knows.
    pub answer: Option<String>,
}

/// Stores one world. A method that writes returns once its data would survive a crash.
pub trait Keep: Send + Sync {
    /// Begins a world.
    ///
    /// # Errors
    /// There is one already.
    fn begin(&self, given: &str) -> Result<(), KeepError>;

    /// How the world was begun; `None` if it was not.
    ///
    /// # Errors
    /// It cannot be read.
    fn given(&self) -> Result<Option<String>, KeepError>;

    /// Keeps a checkpoint whole, or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    fn commit(&self, checkpoint: &Checkpoint) -> Result<(), KeepError>;

    /// The last checkpoint; `None` before the first.
    ///
    /// # Errors
    /// It cannot be read, or is not as it was written.
    fn load(&self) -> Result<Option<Loaded>, KeepError>;

    /// The lines of the log behind the first `from`.
    ///
    /// # Errors
    /// They cannot be read, or are not as they were written.
    fn log(&self, from: u64) -> Result<Vec<String>, KeepError>;

    /// A call is about to be made. What was kept under this id is replaced.
    ///
    /// # Errors
    /// It cannot be written: the call must not be made.
    fn call_begun(&self, id: &str, question: &str) -> Result<(), KeepError>;

    /// A call has ended. The answer is kept until no checkpoint can need it.
    ///
    /// # Errors
    /// It cannot be written.
    fn call_settled(&self, id: &str, answer: &str) -> Result<(), KeepError>;

    /// Nobody waits for a call any longer: it stays in doubt until no checkpoint can need it.
    ///
    /// # Errors
    /// It cannot be written.
    fn call_dropped(&self, id: &str) -> Result<(), KeepError>;

    /// What is known of a call; `None` if it was not begun.
    ///
    /// # Errors
    /// It cannot be read, or is not as it was written.
    fn call(&self, id: &str) -> Result<Option<KeptCall>, KeepError>;
}
