//! What the handlers say to each other and to hosts, as JSON.

use chartc_core::expr::Map;
use chartc_runtime::RunError;
use chartc_runtime::agents::{EngineError, Event, Reply};
use chartc_runtime::driver::{CallId, CallName};
use chartc_runtime::stepped::{Call, Outcome};
use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// The object, with its handlers.
pub(crate) const AGENT: &str = "Agent";
/// The service that makes calls.
pub(crate) const STEP: &str = "Step";

/// Milliseconds since 1970 on the computer's clock.
#[allow(clippy::disallowed_methods, reason = "the machines of an agent share no other clock")]
pub(crate) fn wall() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(passed.as_millis()).unwrap_or(i64::MAX)
}

/// An event with the time at which it was taken in; without one, the agent's first step with it sets it.
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

/// What is said of an event.
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
                RunError::Start(_)
                | RunError::Oracle { .. }
                | RunError::NoModel { .. }
                | RunError::TooManyCalls(_)
                | RunError::NoProgress(_)
                | RunError::Memory(_)
                | RunError::Trace(_) => Self::Stopped { why: why.to_string() },
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
    /// Which of the agent's plans it is: a call that is planned again, after a doubt, is another one.
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

    /// The call's permanent name.
    pub(crate) fn id(&self) -> CallId {
        let Self { agent, path, name, nth, is_tool, .. } = self.clone();
        CallId { run: agent.into(), path, name, nth, is_tool }
    }

    /// What tells it from all other jobs.
    pub(crate) fn key(&self) -> String {
        key(&self.id().to_string(), self.plan)
    }
}

/// What tells the job of a plan from all others.
pub(crate) fn key(id: &str, plan: u64) -> String {
    format!("{id}#{plan}")
}

/// What came of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Done {
    pub(crate) id: String,
    pub(crate) plan: u64,
    pub(crate) at: i64,
    /// `None` if nobody knows whether the call was made.
    pub(crate) outcome: Option<Outcome>,
}
