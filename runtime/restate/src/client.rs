//! The client through which a host sends events to agents on a Restate server.

use crate::error::RestateError;
use crate::wire::{AGENT, EventReply, Fired, wall};
use chartc_runtime::agents::{AgentState, Engine, EngineError, Event, Reply};
use chartc_runtime::trace::Line;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
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

    /// Tells a server at which address `service` a [`Service`](crate::Service) listens. `admin` is the address of the server's admin
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
