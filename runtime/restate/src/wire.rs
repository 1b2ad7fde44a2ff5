//! The JSON messages between hosts, the server and the handlers.

use chartc_core::expr::Map;
use chartc_runtime::RunError;
use chartc_runtime::agents::{EngineError, Event, Reply};
use chartc_runtime::driver::{CallId, CallName};
use chartc_runtime::stepped::{Call, Outcome};
use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// The name of the virtual object that keeps an agent.
pub(crate) const AGENT: &str = "Agent";
/// The name of the service that makes calls.
pub(crate) const STEP: &str = "Step";

/// The wall-clock time in milliseconds since 1970.
#[allow(clippy::disallowed_methods, reason = "the machines of an agent share no other clock")]
pub(crate) fn wall() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(passed.as_millis()).unwrap_or(i64::MAX)
}

/// An event for an agent. `at` is when the host sent it, in milliseconds since 1970; without it, the time of the first step applies.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Fired {
    #[serde(default)]
    pub(crate) at: Option<i64>,
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) data: Map,
}

impl Fired {
    pub(crate) fn event(self) -> Event {
        Event { id: self.id, name: self.name, data: self.data }
    }
}

/// The reply to an event: what [`Engine::fire`](chartc_runtime::agents::Engine::fire) returns, as data.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EventReply {
    Reply(Reply),
    UnknownEvent { name: String, known: Vec<String> },
    Event { name: String, why: String },
    Input { name: String, why: String },
    Stopped { why: String },
}

impl From<Result<Reply, EngineError>> for EventReply {
    fn from(result: Result<Reply, EngineError>) -> Self {
        match result {
            Ok(reply) => Self::Reply(reply),
            Err(EngineError::Stopped { why, .. } | EngineError::Away { why, .. }) => {
                Self::Stopped { why }
            }
            Err(EngineError::Event { why, .. }) => match why {
                RunError::UnknownEvent { name, known } => Self::UnknownEvent { name, known },
                RunError::Event { name, why } => Self::Event { name, why },
                RunError::Input { name, why } => Self::Input { name, why },
                _ => Self::Stopped { why: why.to_string() },
            },
        }
    }
}

impl EventReply {
    pub(crate) fn of(self, agent: &str) -> Result<Reply, EngineError> {
        let agent = agent.to_owned();
        let why = match self {
            Self::Reply(reply) => return Ok(reply),
            Self::Stopped { why } => return Err(EngineError::Stopped { agent, why }),
            Self::UnknownEvent { name, known } => RunError::UnknownEvent { name, known },
            Self::Event { name, why } => RunError::Event { name, why },
            Self::Input { name, why } => RunError::Input { name, why },
        };
        Err(EngineError::Event { agent, why })
    }
}

/// A call to make.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) agent: String,
    /// The number of the agent's plan for this call. A call that is planned again after a doubt has the same id and a new plan.
    pub(crate) plan: u64,
    path: Vec<CallName>,
    name: CallName,
    nth: u32,
    is_tool: bool,
    pub(crate) call: Call,
}

impl Job {
    pub(crate) fn new(agent: &str, plan: u64, id: CallId, call: Call) -> Self {
        let CallId { path, name, nth, is_tool, .. } = id;
        Self { agent: agent.to_owned(), plan, path, name, nth, is_tool, call }
    }

    /// The stable id of the call, which stays the same when the call is planned again.
    pub(crate) fn id(&self) -> CallId {
        let Self { agent, path, name, nth, is_tool, .. } = self.clone();
        CallId { run: agent.into(), path, name, nth, is_tool }
    }

    /// The idempotency key of the job: see [`key`].
    pub(crate) fn key(&self) -> String {
        key(&self.id().to_string(), self.plan)
    }
}

/// The key of the job for a call `id` and its `plan`, which is unique among all jobs.
pub(crate) fn key(id: &str, plan: u64) -> String {
    format!("{id}#{plan}")
}

/// The result of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Done {
    pub(crate) id: String,
    pub(crate) plan: u64,
    pub(crate) at: i64,
    /// The outcome, or `None` if it is unknown whether the call was made.
    pub(crate) outcome: Option<Outcome>,
}
