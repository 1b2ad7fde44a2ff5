//! Many agents under one roof. An [`Engine`] has each agent to itself while it handles an event, loses no event and takes none twice,
//! keeps state and deadlines, and lets calls go on beside events. [`Memory`] is the engine without a store; another one is a type with
//! the same two methods, and the tests that hold for one hold for all.
//!
//! ```
//! use chartc_core::interpreter::Interpreter;
//! use chartc_core::model::Chart;
//! use chartc_core::plan::Plan;
//! use chartc_runtime::Session;
//! use chartc_runtime::agents::{Engine, Event, Memory, Quiet};
//! use chartc_runtime::clock::VirtualClock;
//! use chartc_runtime::oracle::Deny;
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let chart = Chart::empty("Idle");
//! let plan = Plan::new(&chart);
//! let engine = Memory::new(Arc::new(VirtualClock::new()), |_agent, clock| {
//!     let machine = Interpreter::new(&plan, (), []).expect("it has no params");
//!     Ok(Session::new(machine, Arc::new(Deny), clock, ()))
//! });
//! engine.fire("ada", Event::turn("1")).await.expect("it is a turn");
//! engine.quiet().await;
//! let ada = engine.read("ada").await.expect("it runs").expect("it was fired at");
//! assert_eq!(ada.turns, 1);
//! # }
//! ```

mod memory;

pub use memory::{Memory, SEEN, SnapshotError};

use crate::error::RunError;
use crate::session::Session;
use crate::trace;
use chartc_core::expr::Map;
use chartc_core::host::Machine;
use chartc_core::machine::{Instant, Receipt, Status};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::future::Future;

/// Something that happens to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Unique for the agent: the same one again is the same event, sent twice.
    pub id: String,
    /// A declared host event, [`TURN`], or [`INPUTS`].
    pub name: String,
    /// Its fields by name; for [`TURN`] and [`INPUTS`] the inputs that it sets.
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

/// Hands an event over to a session, which is started if it was not; the calls that it causes are begun and not waited for.
///
/// # Errors
/// See [`RunError`].
pub fn hand_over<M: Machine, T: trace::Sink>(
    session: &mut Session<M, T>,
    event: &Event,
) -> Result<Receipt, RunError> {
    session.enter()?;
    if event.name != TURN && event.name != INPUTS {
        return session.hand_over(&event.name, Cow::Borrowed(&event.data));
    }
    for (name, value) in event.data.iter() {
        session.input(name, value.clone())?;
    }
    if event.name == INPUTS {
        return Ok(Receipt::Handled);
    }
    session.take_turn()
}

/// The name of the built-in event.
pub const TURN: &str = "turn";

/// The name of an event that only sets inputs.
pub const INPUTS: &str = "";

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// What the chart made of it.
    pub receipt: Receipt,
    /// When it was taken in, on the engine's clock.
    pub at: Instant,
    /// It had been taken in before: nothing has happened now.
    pub is_repeated: bool,
}

/// An agent as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// The agent's run has failed, now or before.
    #[error("agent `{agent}` has stopped: {why}")]
    Stopped {
        /// Which.
        agent: String,
        /// Why.
        why: String,
    },
    /// The engine has ended or cannot be reached. Whether it has taken the event is not known: the same one again, under its id, does no harm.
    #[error("agent `{agent}`: the engine is away: {why}")]
    Away {
        /// Whose event or state was asked for.
        agent: String,
        /// What is wrong with the engine.
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
    fn fire(
        &self,
        agent: &str,
        event: Event,
    ) -> impl Future<Output = Result<Reply, EngineError>> + Send;

    /// An agent as it stands; `None` for one that nothing has happened to.
    ///
    /// # Errors
    /// See [`EngineError`].
    fn read(
        &self,
        agent: &str,
    ) -> impl Future<Output = Result<Option<AgentState>, EngineError>> + Send;

    /// Forgets the ids of events that were taken more than so many milliseconds ago, of those that begin with a prefix; such an event that
    /// comes again is a new one. Returns how many. An engine that bounds its memory of ids by itself has nothing to do.
    ///
    /// # Errors
    /// [`EngineError::Away`].
    fn forget(
        &self,
        prefix: &str,
        age_ms: u64,
    ) -> impl Future<Output = Result<usize, EngineError>> + Send {
        let _ = (prefix, age_ms);
        std::future::ready(Ok(0))
    }
}

/// An engine that sees all of its agents, and so can tell when none is at work.
pub trait Quiet: Engine {
    /// Resolves when no agent has a call under way. Failed agents do not block others: the next event for a failed one says why.
    fn quiet(&self) -> impl Future<Output = ()> + Send;
}
