//! The boundary between charts and what keeps them. A chart decides: an input in, effects and records out, no clock and no I/O
//! (`chartc_core::host::Machine::handle`). A [`Driver`](crate::driver::Driver) makes the calls. An [`Engine`] is between the two: it has each
//! agent to itself while it handles an event, forgets no event and takes none twice, keeps state and deadlines, and lets effects go on
//! beside the events. [`Memory`] is the one without a store; another one is a type with the same three methods, and the tests that
//! hold for one hold for all.

mod memory;

pub use memory::{Memory, SEEN};

use crate::error::RunError;
use chartc_core::expr::Map;
use chartc_core::machine::{Instant, Receipt, Status};
use std::future::Future;

/// Something that happens to an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Unique for the agent: the same one again is the same event, sent twice.
    pub id: String,
    /// A declared host event, or `turn`.
    pub name: String,
    /// Its fields by name; for `turn` the inputs that it sets.
    pub data: Map,
}

impl Event {
    /// A host event, without data.
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), data: Map::new() }
    }

    /// A turn.
    pub fn turn(id: impl Into<String>) -> Self {
        Self::new(id, TURN)
    }

    /// With data.
    #[must_use]
    pub fn with(self, data: Map) -> Self {
        Self { data, ..self }
    }
}

/// The name of the built-in event.
pub const TURN: &str = "turn";

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// What the chart made of it.
    pub receipt: Receipt,
    /// When it was taken in, on the engine's clock.
    pub at: Instant,
    /// It had been taken in before: nothing has happened now.
    pub is_repeated: bool,
}

/// An agent as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentState {
    /// The basic states that are active, as dotted paths; after the end, the last ones.
    pub configuration: Vec<String>,
    /// Params, inputs and vars.
    pub variables: Map,
    /// How its run ended, once it has.
    pub status: Option<Status>,
    /// Turns begun.
    pub turns: u32,
    /// Model calls made.
    pub calls: u32,
    /// Calls under way.
    pub open: usize,
}

/// An event could not be taken in, or an agent cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The event does not fit the chart: nothing has happened.
    #[error("agent `{agent}`: {why}")]
    Event {
        /// Whose.
        agent: String,
        /// What does not fit.
        why: RunError,
    },
    /// The agent's run has broken off, now or before.
    #[error("agent `{agent}` has stopped: {why}")]
    Stopped {
        /// Which.
        agent: String,
        /// Why.
        why: String,
    },
}

/// Keeps agents, and takes in what happens to them.
pub trait Engine {
    /// Takes an event in: the agent is made on its first one. The calls that it causes go on when this returns, so a slow model holds no
    /// other event up. An event whose id was taken in before gets the reply that it had; one for which the agent is `Busy` was not taken in.
    ///
    /// # Errors
    /// See [`EngineError`].
    fn fire(&self, agent: &str, event: Event) -> impl Future<Output = Result<Reply, EngineError>>;

    /// An agent as it stands; `None` for one that nothing has happened to.
    ///
    /// # Errors
    /// See [`EngineError`].
    fn read(&self, agent: &str) -> impl Future<Output = Result<Option<AgentState>, EngineError>>;

    /// Resolves when no agent has a call under way. An agent that breaks off meanwhile holds the others not up: the next event that is sent
    /// to it says why.
    fn quiet(&self) -> impl Future<Output = ()>;
}
