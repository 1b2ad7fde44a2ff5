//! Requests of actions to the engine, and notices of events in the world.

use crate::workshop::{Family, Form};
use chartc_core::expr::{Map, Value};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub use chartc_runtime::trace::Cause;

/// A request to the engine that affects other agents. Requests are executed in the order in which actions made them.
#[derive(Debug, Clone)]
pub enum Request {
    /// An agent was invoked: its chart gets the method as an event.
    Deliver {
        /// The agent that gets the event.
        to: String,
        /// The name of the event.
        event: String,
        /// The values of the event's fields, by position.
        arguments: Vec<Value>,
        /// The agent that made the invocation.
        from: String,
    },
    /// A new agent starts. Its account and artifacts exist already.
    Spawn(Spawn),
    /// An agent takes no more turns until it is resumed.
    Pause {
        /// The agent.
        agent: String,
        /// Its owner, who requested it.
        by: String,
    },
    /// A paused agent takes turns again.
    Resume {
        /// The agent.
        agent: String,
    },
    /// An agent stops for good.
    Stop {
        /// The agent.
        agent: String,
    },
}

/// An agent that another agent has made.
#[derive(Debug, Clone)]
pub struct Spawn {
    /// The name of the agent, which is also the id of its artifact.
    pub agent: String,
    /// The id of the artifact from which it was made.
    pub artifact: String,
    /// The language of the artifact.
    pub form: Form,
    /// The text of the artifact, which a checkpoint needs to compile it again.
    pub text: String,
    /// The compiled charts.
    pub family: Arc<Family>,
    /// Values for the params of its chart.
    pub params: Map,
    /// The name of the agent that made it.
    pub parent: String,
    /// The generation: 1 if a configured agent made it, 2 if such an agent made it, and so on.
    pub depth: u32,
}

/// An event in the world, for the log and for the artifact `genesis_event_log`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// The kind: `transferred`, `minted`, `written`, `invoked`, `spawned`, and so on.
    pub event: String,
    /// The details, by name.
    pub data: Map,
}
