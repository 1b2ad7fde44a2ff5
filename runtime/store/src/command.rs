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
    Forget(Old, oneshot::Sender<Piece>),
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

/// The number of events that were forgotten, and the key after which the next batch begins.
pub(crate) type Piece = (usize, Option<(String, String)>);

/// What the next transaction handles: commands by kind, and runs that are due.
#[derive(Default)]
pub(crate) struct PendingCommands {
    pub(crate) asked: Vec<Asked>,
    /// The events among `asked` whose runs are in memory.
    pub(crate) fired: Vec<Fired>,
    pub(crate) answers: Vec<PersonAnswer>,
    pub(crate) forgets: Vec<(Old, oneshot::Sender<Piece>)>,
    pub(crate) due: Vec<String>,
    /// During an outage: the time since which anything waits here.
    pub(crate) since: Option<tokio::time::Instant>,
}

impl PendingCommands {
    /// Drops the commands: their senders get an error.
    pub(crate) fn refuse(&mut self) {
        *self = Self { due: std::mem::take(&mut self.due), since: self.since, ..Self::default() };
    }
}

/// An event for a run that may not exist yet.
pub(crate) struct Asked {
    pub(crate) run: String,
    /// What the host gave for a new run.
    pub(crate) given: String,
    pub(crate) event: Event,
    pub(crate) reply: oneshot::Sender<Result<Reply, EngineError>>,
}

/// An event for a run that exists.
pub(crate) struct Fired {
    pub(crate) run: String,
    pub(crate) event: Event,
    pub(crate) to: oneshot::Sender<Result<Reply, EngineError>>,
}

/// The answer of a person to a question of a run.
pub(crate) struct PersonAnswer {
    pub(crate) run: String,
    pub(crate) question: String,
    pub(crate) text: String,
    pub(crate) to: oneshot::Sender<Result<(), StoreError>>,
}
