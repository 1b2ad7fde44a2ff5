//! The commands that handles send to the worker.

use crate::error::StoreError;
use crate::file::Store;
use chartc_core::machine::Instant;
use chartc_runtime::agents::{AgentState, EngineError, Event, Reply};
use tokio::sync::oneshot;

/// A command, with the channel for its reply.
pub(crate) enum Command {
    Fire(String, Event, oneshot::Sender<Result<Reply, EngineError>>),
    /// Fires at a run that may be new. The second field is what the host gave for it, which is stored with a new run.
    Begin(String, String, Event, oneshot::Sender<Result<Reply, EngineError>>),
    /// A person's answer: the run, the id of the question, and the text.
    Reply(String, String, String, oneshot::Sender<Result<(), StoreError>>),
    Read(String, oneshot::Sender<Result<Option<AgentState>, EngineError>>),
    Has(String, String, oneshot::Sender<bool>),
    Now(oneshot::Sender<Instant>),
    Quiet(oneshot::Sender<()>),
    Settled(String, oneshot::Sender<()>),
    /// A function that reads the store, called between two commits.
    Look(Box<dyn FnOnce(&Store) + Send>),
    Advance(u64, oneshot::Sender<()>),
    /// The reply holds the number of events that were forgotten, and the key after which the next batch begins; `None` at the end.
    Forget(Old, oneshot::Sender<(usize, Option<(String, String)>)>),
}

/// A batch of old events to forget.
pub(crate) struct Old {
    /// The prefix of their ids.
    pub(crate) prefix: String,
    /// Their minimum age, in milliseconds.
    pub(crate) age_ms: u64,
    /// The run and the id of the last event of the previous batch.
    pub(crate) after: (String, String),
}
