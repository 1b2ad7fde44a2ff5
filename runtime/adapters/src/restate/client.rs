//! The client through which a host sends events to agents on a Restate server.

use chartc_core::expr::Map;
use chartc_runtime::RunError;
use chartc_runtime::agents::{AgentState, Engine, EngineError, Event, Reply};
use chartc_runtime::driver::{CallId, CallName};
use chartc_runtime::journal::{Call, Outcome};
use chartc_runtime::trace::Line;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// The time for which requests to a server that cannot be reached are repeated, and the time limit of each request.
const PATIENCE: Duration = Duration::from_mins(1);
/// The pause before a request is repeated.
const PAUSE: Duration = Duration::from_millis(100);

/// The engine on a Restate server. Clones are cheap and share connections.
///
/// If the server cannot be reached, a request is repeated for a minute. That is safe: an event that the server had already applied gets the
/// same reply again.
#[derive(Clone)]
pub struct Restate {
    ingress: String,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl Restate {
    /// Creates a client for the address of the server's ingress, for example `http://127.0.0.1:8080`. It does not connect yet.
    pub fn new(ingress: &str) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Self { ingress: ingress.trim_end_matches('/').to_owned(), client }
    }

    /// Tells a server at which address `service` a [`Service`](super::Service) listens. `admin` is the address of the server's admin
    /// interface, for example `http://127.0.0.1:9070`. A later registration of the same address replaces the earlier one.
    ///
    /// # Errors
    /// The server cannot be reached, or does not reach the service.
    pub async fn register(&self, admin: &str, service: &str) -> Result<(), RestateError> {
        let address = format!("{}/deployments", admin.trim_end_matches('/'));
        let body = serde_json::json!({"uri": service, "force": true});
        let _: serde_json::Value = self.ask(&address, Some(&body)).await?;
        Ok(())
    }

    /// Returns all lines of an agent's trace so far.
    ///
    /// # Errors
    /// See [`RestateError`].
    pub async fn trace(&self, agent: &str) -> Result<Vec<Line>, RestateError> {
        self.handler::<(), _>(agent, "trace", None).await
    }

    async fn handler<B: Serialize, R: DeserializeOwned>(
        &self,
        agent: &str,
        handler: &str,
        body: Option<&B>,
    ) -> Result<R, RestateError> {
        let address = format!("{}/{AGENT}/{}/{handler}", self.ingress, plain(agent));
        self.ask(&address, body).await
    }

    /// Sends a request, and repeats it while the server is overloaded or cannot be reached, for [`PATIENCE`] at most.
    async fn ask<B: Serialize, R: DeserializeOwned>(
        &self,
        address: &str,
        body: Option<&B>,
    ) -> Result<R, RestateError> {
        let body = match body {
            Some(body) => Bytes::from(serde_json::to_vec(body)?),
            None => Bytes::new(),
        };
        let until = Instant::now() + PATIENCE;
        loop {
            let fault = match self.ask_once(address, body.clone()).await {
                Ok((status, text)) if status < 300 => return Ok(serde_json::from_slice(&text)?),
                Ok((status, text)) => {
                    let text = String::from_utf8_lossy(&text).into_owned();
                    let fault = RestateError::Refused { status, text };
                    // The server or its proxy is overloaded or is still starting. All other statuses would be the same next time.
                    if !matches!(status, 408 | 429 | 502..=504) {
                        return Err(fault);
                    }
                    fault
                }
                Err(why) => RestateError::Unreachable { address: address.to_owned(), why },
            };
            if Instant::now() >= until {
                return Err(fault);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn ask_once(&self, address: &str, body: Bytes) -> Result<(u16, Bytes), String> {
        let mut request = Request::post(address);
        if !body.is_empty() {
            request = request.header("content-type", "application/json");
        }
        let request = request.body(Full::new(body)).map_err(|why| why.to_string())?;
        let asked = async {
            let response = self.client.request(request).await.map_err(|why| causes(&why))?;
            let status = response.status().as_u16();
            let text = response.into_body().collect().await.map_err(|why| causes(&why))?;
            Ok((status, text.to_bytes()))
        };
        let asked = tokio::time::timeout(PATIENCE, asked).await;
        asked.unwrap_or_else(|_| Err("it does not answer".into()))
    }
}

impl Engine for Restate {
    async fn fire(&self, agent: &str, event: Event) -> Result<Reply, EngineError> {
        let fired = Fired { at: Some(wall()), id: event.id, name: event.name, data: event.data };
        let said: Result<EventReply, _> = self.handler(agent, "fire", Some(&fired)).await;
        said.map_err(|why| away(agent, &why))?.of(agent)
    }

    async fn read(&self, agent: &str) -> Result<Option<AgentState>, EngineError> {
        let read = self.handler::<(), _>(agent, "read", None).await;
        read.map_err(|why| away(agent, &why))
    }
}

fn away(agent: &str, why: &RestateError) -> EngineError {
    EngineError::Away { agent: agent.to_owned(), why: why.to_string() }
}

/// An error with its chain of causes, separated by colons.
fn causes(error: &dyn std::error::Error) -> String {
    let below = std::iter::successors(error.source(), |error| error.source());
    below.fold(error.to_string(), |all, one| format!("{all}: {one}"))
}

/// Percent-encodes a name as one segment of a path.
fn plain(name: &str) -> String {
    let part = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    name.bytes().map(part).collect()
}

// Errors of the client.

/// The reason why the server did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum RestateError {
    /// The server cannot be reached, or does not answer in time.
    #[error("the Restate server at {address} cannot be reached: {why}")]
    Unreachable {
        /// The address of the request.
        address: String,
        /// The error of the connection.
        why: String,
    },
    /// The server or a handler answered with an error.
    #[error("the Restate server says {status}: {text}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The body of the answer.
        text: String,
    },
    /// The answer is not the JSON of this version: the service that the server calls is probably another version of chartc.
    #[error("the service says something else than this version of chartc does: {0}")]
    Foreign(#[from] serde_json::Error),
}

// The JSON messages between hosts, the server and the handlers.

/// The name of the virtual object that keeps an agent.
pub(super) const AGENT: &str = "Agent";
/// The name of the service that makes calls.
pub(super) const STEP: &str = "Step";

/// The wall-clock time in milliseconds since 1970.
#[allow(clippy::disallowed_methods, reason = "the machines of an agent share no other clock")]
pub(super) fn wall() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(passed.as_millis()).unwrap_or(i64::MAX)
}

/// An event for an agent. `at` is when the host sent it, in milliseconds since 1970; without it, the time of the first step applies.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Fired {
    #[serde(default)]
    pub(super) at: Option<i64>,
    pub(super) id: String,
    pub(super) name: String,
    #[serde(default)]
    pub(super) data: Map,
}

impl Fired {
    pub(super) fn event(self) -> Event {
        Event { id: self.id, name: self.name, data: self.data }
    }
}

/// The reply to an event: what [`Engine::fire`](chartc_runtime::agents::Engine::fire) returns, as data.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EventReply {
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
    pub(super) fn of(self, agent: &str) -> Result<Reply, EngineError> {
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
pub(super) struct Job {
    pub(super) agent: String,
    /// The number of the agent's plan for this call. A call that is planned again after a doubt has the same id and a new plan.
    pub(super) plan: u64,
    path: Vec<CallName>,
    name: CallName,
    nth: u32,
    is_tool: bool,
    pub(super) call: Call,
}

impl Job {
    pub(super) fn new(agent: &str, plan: u64, id: CallId, call: Call) -> Self {
        let CallId { path, name, nth, is_tool, .. } = id;
        Self { agent: agent.to_owned(), plan, path, name, nth, is_tool, call }
    }

    /// The stable id of the call, which stays the same when the call is planned again.
    pub(super) fn id(&self) -> CallId {
        let Self { agent, path, name, nth, is_tool, .. } = self.clone();
        CallId { run: agent.into(), path, name, nth, is_tool }
    }

    /// The idempotency key of the job: see [`key`].
    pub(super) fn key(&self) -> String {
        key(&self.id().to_string(), self.plan)
    }
}

/// The key of the job for a call `id` and its `plan`, which is unique among all jobs.
pub(super) fn key(id: &str, plan: u64) -> String {
    format!("{id}#{plan}")
}

/// The result of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) id: String,
    pub(super) plan: u64,
    pub(super) at: i64,
    /// The outcome, or `None` if it is unknown whether the call was made.
    pub(super) outcome: Option<Outcome>,
}
