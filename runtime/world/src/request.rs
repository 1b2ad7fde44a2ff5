//! What an action asks of other agents, and what happened in the world.

use crate::workshop::{Family, Form};
use chartc_core::expr::{Map, Value};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub use chartc_runtime::trace::Cause;

/// What an action asks of other agents. Requests are carried out in the order in which they were made.
#[derive(Debug, Clone)]
pub enum Request {
    /// An agent was invoked: its chart gets the method as an event.
    Deliver {
        /// Who gets it.
        to: String,
        /// The event.
        event: String,
        /// By position, as the event declares its fields.
        arguments: Vec<Value>,
        /// Who has invoked it.
        from: String,
    },
    /// There is a new agent. Its account and its artifacts are there already.
    Spawn(Spawn),
    /// An agent takes no turns until it is resumed.
    Pause {
        /// Which.
        agent: String,
        /// Its owner, who wants it.
        by: String,
    },
    /// A paused agent takes turns again.
    Resume {
        /// Which.
        agent: String,
    },
    /// An agent is stopped for good.
    Stop {
        /// Which.
        agent: String,
    },
}

/// An agent that another one has made.
#[derive(Debug, Clone)]
pub struct Spawn {
    /// Its name, which is also the id of its artifact.
    pub agent: String,
    /// The artifact that it was made of.
    pub artifact: String,
    /// What the artifact is.
    pub form: Form,
    /// The artifact's text, for a checkpoint.
    pub text: String,
    /// The compiled charts.
    pub family: Arc<Family>,
    /// Values for the params of its chart.
    pub params: Map,
    /// Who has made it.
    pub parent: String,
    /// 1 for one that a configured agent has made, 2 for one that such an agent has made.
    pub depth: u32,
}

/// Something that happened in the world: for the log, and for the artifact `genesis_event_log`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// What: `transferred`, `minted`, `written`, `invoked`, `spawned`, and so on.
    pub event: String,
    /// The particulars by name.
    pub data: Map,
}
