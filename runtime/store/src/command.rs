//! What handles ask of the worker.

use chartc_core::machine::Instant;
use chartc_runtime::agents::{AgentState, EngineError, Event, Reply};
use tokio::sync::oneshot;

/// Something to do, and where the answer goes.
pub(crate) enum Command {
    Fire(String, Event, oneshot::Sender<Result<Reply, EngineError>>),
    Read(String, oneshot::Sender<Result<Option<AgentState>, EngineError>>),
    Has(String, String, oneshot::Sender<bool>),
    Now(oneshot::Sender<Instant>),
    Quiet(oneshot::Sender<()>),
    Advance(u64, oneshot::Sender<()>),
}
