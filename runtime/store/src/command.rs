//! What handles ask of the worker.

use crate::file::Store;
use chartc_core::machine::Instant;
use chartc_runtime::agents::{AgentState, EngineError, Event, Reply};
use tokio::sync::oneshot;

/// Something to do, and where the answer goes.
pub(crate) enum Command {
    Fire(String, Event, oneshot::Sender<Result<Reply, EngineError>>),
    /// With what a new run is given.
    Begin(String, String, Event, oneshot::Sender<Result<Reply, EngineError>>),
    Read(String, oneshot::Sender<Option<AgentState>>),
    Has(String, String, oneshot::Sender<bool>),
    Now(oneshot::Sender<Instant>),
    Quiet(oneshot::Sender<()>),
    Settled(String, oneshot::Sender<()>),
    /// Something to do with the store, after the commit.
    Look(Box<dyn FnOnce(&Store) + Send>),
    Advance(u64, oneshot::Sender<()>),
}
