//! Engines, which keep many agents. An [`Engine`] has exclusive access to an agent while the agent handles an event. It loses no event,
//! takes no event twice, keeps state and deadlines, and lets calls run while other events are handled. [`Memory`] is the engine without a
//! database. Other engines implement the same trait, and pass the same tests.
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
//! let plan = Plan::new(&Arc::new(chart));
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

mod agenda;
mod memory;

pub use crate::session::{INPUTS, Outlook, TURN};
pub use agenda::Agenda;
pub use memory::{Memory, SEEN, SnapshotError};

use crate::error::RunError;
use crate::session::Session;
use crate::trace;
use chartc_core::expr::{Map, Value};
use chartc_core::host::Machine;
use chartc_core::machine::{Instant, Receipt, Status};
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;
use std::future::Future;
use std::hash::Hasher;

/// An event for an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The id, unique for the agent. An event with the same id is the same event, sent again.
    pub id: String,
    /// The name of a declared host event, [`TURN`], or [`INPUTS`].
    pub name: String,
    /// The fields by name; for [`TURN`] and [`INPUTS`], the inputs to set.
    pub data: Map,
}

impl Event {
    /// Creates a host event without data.
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), data: Map::new() }
    }

    /// Creates a turn.
    pub fn turn(id: impl Into<String>) -> Self {
        Self::new(id, TURN)
    }

    /// A digest of the name and the data. It is the same on every machine and for any order of the fields.
    pub fn content(&self) -> u64 {
        digest(9, &[self.name.as_bytes(), &map_digest(&self.data).to_le_bytes()])
    }

    /// The same event with data.
    #[must_use]
    pub fn with(self, data: Map) -> Self {
        Self { data, ..self }
    }
}

/// The reply to an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The result of handling the event.
    pub receipt: Receipt,
    /// The time at which it was taken in, on the engine's clock.
    pub at: Instant,
    /// Whether an event with this id was taken in before. This one has had no effect then.
    pub is_repeated: bool,
    /// The [content](Event::content) of the event that was taken in; `None` if an earlier version has kept the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<u64>,
}

impl Reply {
    /// The reply to an event with this [content](Event::content) that is taken in now.
    pub const fn new(content: u64, receipt: Receipt, at: Instant) -> Self {
        Self { receipt, at, is_repeated: false, content: Some(content) }
    }

    /// Whether the event that was taken in under this id had another content. An engine does not refuse the second event: only its sender
    /// knows whether both are the same.
    pub fn is_of_other(&self, content: u64) -> bool {
        self.is_repeated && self.content.is_some_and(|taken| taken != content)
    }
}

/// A digest of the fields, in any order.
fn map_digest(map: &Map) -> u64 {
    map.iter().fold(0, |sum: u64, (name, value)| {
        sum.wrapping_add(digest(7, &[name.as_bytes(), &value_digest(value).to_le_bytes()]))
    })
}

fn value_digest(value: &Value) -> u64 {
    match value {
        Value::None => digest(0, &[]),
        Value::Bool(bool) => digest(1, &[&[u8::from(*bool)]]),
        Value::Int(int) => digest(2, &[&int.to_le_bytes()]),
        Value::Float(float) => digest(3, &[&float.to_le_bytes()]),
        Value::Text(text) => digest(4, &[text.as_bytes()]),
        Value::Duration(ms) => digest(5, &[&ms.to_le_bytes()]),
        Value::List(items) => {
            let items: Vec<_> =
                items.iter().flat_map(|item| value_digest(item).to_le_bytes()).collect();
            digest(6, &[&items])
        }
        Value::Map(map) => digest(8, &[&map_digest(map).to_le_bytes()]),
    }
}

/// A digest of byte strings. `kind` separates values of different types with the same bytes.
fn digest(kind: u8, parts: &[&[u8]]) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(&[kind]);
    for part in parts {
        hasher.write(&(part.len() as u64).to_le_bytes());
        hasher.write(part);
    }
    hasher.finish()
}

/// The present state of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentState {
    /// The active leaves, as dotted paths. After the end, those at the end.
    pub configuration: Vec<String>,
    /// The values of params, inputs and vars.
    pub variables: Map,
    /// The status with which its run has ended; `None` if it has not.
    pub status: Option<Status>,
    /// The number of turns so far.
    pub turns: u32,
    /// The number of model calls so far.
    pub calls: u32,
    /// The number of calls under way.
    pub open: usize,
    /// What a turn and time would do.
    #[serde(default)]
    pub outlook: Outlook,
}

/// What a host that only plays turns does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextAct {
    /// It makes a turn.
    Turn,
    /// It lets time pass until this deadline, because turns alone change nothing.
    Until(Instant),
    /// It stops: the run has ended, or only an answer can move it.
    Stop,
}

impl AgentState {
    /// The present state of a session.
    pub fn of<M: Machine, T: trace::Sink>(session: &Session<M, T>) -> Self {
        Self {
            configuration: session.configuration(),
            variables: session.machine().variables().into_iter().collect(),
            status: session.status(),
            turns: session.turns(),
            calls: session.calls(),
            open: session.open_calls(),
            outlook: session.outlook(),
        }
    }

    /// What a host does next that plays turns and waits for every call that ends by itself, so that an open call waits for a person.
    /// `before` is the state before the last turn, if there was one.
    pub fn next_act(&self, before: Option<&Self>) -> NextAct {
        let Outlook { has_turn_work, counts_turns, deadline } = self.outlook;
        if self.status.is_some() {
            return NextAct::Stop;
        }
        let was_idle =
            before.is_some_and(|before| Self { turns: self.turns, ..before.clone() } == *self);
        match deadline {
            _ if has_turn_work && !was_idle => NextAct::Turn,
            _ if self.open > 0 => NextAct::Stop,
            Some(at) if !counts_turns => NextAct::Until(at),
            Some(_) | None => NextAct::Turn,
        }
    }
}

/// The reason why an event was not taken in.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The event does not fit the chart, and has had no effect.
    #[error("agent `{agent}`: {why}")]
    Event {
        /// The name of the agent.
        agent: String,
        /// The reason.
        why: RunError,
    },
    /// The run of the agent has failed, by this event or before.
    #[error("agent `{agent}` has stopped: {why}")]
    Stopped {
        /// The name of the agent.
        agent: String,
        /// The error of the run.
        why: String,
    },
    /// The engine has stopped or cannot be reached. It is unknown whether it has taken in the event. It is safe to send the event again
    /// with the same id.
    #[error("agent `{agent}`: the engine is away: {why}")]
    Away {
        /// The name of the agent.
        agent: String,
        /// The reason.
        why: String,
    },
}

/// Keeps agents and handles their events.
pub trait Engine {
    /// Sends an event to an agent. The first event creates the agent. The resulting calls are still under way when this returns, so a
    /// slow model delays no other event. If an event with this id was taken in before, the new one has no effect and gets the earlier
    /// reply. An event with the reply `Busy` was not taken in.
    ///
    /// # Errors
    /// See [`EngineError`].
    fn fire(
        &self,
        agent: &str,
        event: Event,
    ) -> impl Future<Output = Result<Reply, EngineError>> + Send;

    /// Reads the present state of an agent; `None` if it has not taken in any event.
    ///
    /// # Errors
    /// See [`EngineError`].
    fn read(
        &self,
        agent: &str,
    ) -> impl Future<Output = Result<Option<AgentState>, EngineError>> + Send;

    /// Forgets the ids with this prefix whose events were taken in more than `age_ms` milliseconds ago. If such an event comes again, it
    /// is treated as new. Returns the number of forgotten ids. An engine that bounds its memory of ids by itself has nothing to do.
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

/// An engine that observes all of its agents, so that it can tell when all of them wait.
pub trait Quiet: Engine {
    /// Resolves when no agent has a call under way. Failed agents do not block others; the next event for a failed agent returns its error.
    fn quiet(&self) -> impl Future<Output = ()> + Send;
}
