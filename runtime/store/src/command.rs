//! What handles ask of the worker.

use crate::error::StoreError;
use crate::file::Store;
use chartc_core::machine::Instant;
use chartc_runtime::agents::{AgentState, EngineError, Event, Reply};
use tokio::sync::oneshot;

/// Something to do, and where the answer goes.
pub(crate) enum Command {
    Fire(String, Event, oneshot::Sender<Result<Reply, EngineError>>),
    /// With what a new run is given.
    Begin(String, String, Event, oneshot::Sender<Result<Reply, EngineError>>),
    /// The answer of a person: the run, the id of the question, and the text.
    Reply(String, String, String, oneshot::Sender<Result<(), StoreError>>),
    Read(String, oneshot::Sender<Result<Option<AgentState>, EngineError>>),
    Has(String, String, oneshot::Sender<bool>),
    Now(oneshot::Sender<Instant>),
    Quiet(oneshot::Sender<()>),
    Settled(String, oneshot::Sender<()>),
    /// Something to do with the store, after the commit.
    Look(Box<dyn FnOnce(&Store) + Send>),
    Advance(u64, oneshot::Sender<()>),
    /// Answered with how many events were forgotten, and where the next piece begins; `None` at the end.
    Forget(Old, oneshot::Sender<(usize, Option<(String, String)>)>),
}

/// Events to forget.
pub(crate) struct Old {
    /// How their ids begin.
    pub(crate) prefix: String,
    /// How long ago they were taken, at least.
    pub(crate) age_ms: u64,
    /// The run and the id after which they come.
    pub(crate) after: (String, String),
}
