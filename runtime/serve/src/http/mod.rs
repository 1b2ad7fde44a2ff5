//! Serves runs over HTTP: accepts connections and routes requests. `docs/serve.md` describes the addresses to clients.

mod patient;
mod reply;
mod request;
mod stream;

use crate::guard::{AccessRules, Visitor};
use crate::mcp::{self, Endpoint};
use crate::offer::Offer;
use crate::refusal::Refusal;
use crate::runs::{Order, Runs};
use chartc_core::expr::Map;
use chartc_core::machine::Receipt;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioTimer;
use patient::Patient;
use reply::{Refused, Reply};
use serde::Deserialize;
use serde_json::json;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

/// The maximum number of connections. Further ones wait in the listener's queue.
const CONNECTIONS: usize = 256;
/// The maximum number of traces that are followed as server-sent events at the same time.
const STREAMS: usize = 64;
/// The maximum number of traces that are downloaded at the same time.
const TRACES: usize = 64;
/// The time within which the head of a request must arrive.
const HEAD: Duration = Duration::from_secs(10);
/// The maximum size of a request's head, in bytes.
const LONGEST_HEAD: usize = 64 * 1024;
/// The time that requests under way have to finish when the server is stopped.
const FAREWELL: Duration = Duration::from_secs(2);

/// The state that all requests share.
struct Shared {
    runs: Arc<Runs>,
    gate: AccessRules,
    mcp: Endpoint,
    streams: Arc<Semaphore>,
    traces: Arc<Semaphore>,
    /// Becomes `true` when the server is stopped.
    end: watch::Receiver<bool>,
}

/// Answers requests until `stop` resolves, and then gives those under way two seconds to finish.
///
/// # Errors
/// The listener fails for a reason that does not pass.
pub async fn serve(
    listener: TcpListener,
    runs: Arc<Runs>,
    gate: AccessRules,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let mcp = mcp::endpoint(runs.clone());
    let streams = Arc::new(Semaphore::new(STREAMS));
    let traces = Arc::new(Semaphore::new(TRACES));
    let (stopped, end) = watch::channel(false);
    let shared = Arc::new(Shared { runs, gate, mcp, streams, traces, end });
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let taken = async {
            // A permit first: a connection that is accepted without one would hold a descriptor.
            let place = places.clone().acquire_owned().await;
            (listener.accept().await, place)
        };
        let (stream, place) = tokio::select! {
            () = &mut stop => break,
            (taken, place) = taken => match taken {
                Ok((stream, _)) => (stream, place),
                // Only this connection has failed, or the process is out of file descriptors: try the next one after a pause.
                Err(why) if is_passing(&why) => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
                Err(why) => return Err(why),
            },
        };
        // Without Nagle's algorithm: responses are small, and each is written at once.
        drop(stream.set_nodelay(true));
        let shared = shared.clone();
        connections.spawn(async move {
            let mut end = shared.end.clone();
            let service = service_fn(move |request| {
                let shared = shared.clone();
                async move { Ok::<_, Infallible>(answered(&shared, request).await) }
            });
            let mut server = hyper::server::conn::http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(LONGEST_HEAD);
            let mut connection = pin!(server.serve_connection(Patient::new(stream), service));
            // A connection that the client closes is no error.
            tokio::select! {
                done = connection.as_mut() => drop(done),
                _ = end.changed() => {
                    connection.as_mut().graceful_shutdown();
                    drop(connection.await);
                }
            }
            drop(place);
        });
        // Without this, the set would keep the result of every finished connection.
        while connections.try_join_next().is_some() {}
    }
    stopped.send_replace(true);
    drop(
        tokio::time::timeout(FAREWELL, async { while connections.join_next().await.is_some() {} })
            .await,
    );
    Ok(())
}

fn is_passing(why: &io::Error) -> bool {
    // 23 is ENFILE and 24 is EMFILE: too many open files.
    matches!(
        why.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
            | io::ErrorKind::WouldBlock
    ) || why.raw_os_error().is_some_and(|code| code == 23 || code == 24)
}

async fn answered(shared: &Shared, request: Request<Incoming>) -> Reply {
    let (head, body) = request.into_parts();
    let visitor = match shared.gate.pass(&head) {
        Ok(visitor) => visitor,
        Err(outside) => return Refused::from(outside).reply(),
    };
    if head.uri.path() == "/mcp" {
        return spoken(&shared.mcp, head, body).await.unwrap_or_else(Refused::reply);
    }
    done(shared, visitor, &head, body).await.unwrap_or_else(Refused::reply)
}

/// Passes a message of the Model Context Protocol on to its endpoint.
async fn spoken(mcp: &Endpoint, head: Parts, body: Incoming) -> Result<Reply, Refused> {
    let body = match head.method {
        Method::POST => request::read(&head, body).await?,
        // Messages come only by POST; the endpoint refuses the other methods.
        _ => Bytes::new(),
    };
    let reply = mcp.handle(Request::from_parts(head, Full::new(body))).await;
    Ok(reply.map(BodyExt::boxed_unsync))
}

/// An event in the body of a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    event: String,
    #[serde(default)]
    data: Map,
    id: Option<String>,
}

/// A person's answer in the body of a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    /// The id of the question. Clients of earlier versions send the name of a step, which is refused because it is no id.
    #[serde(default, alias = "step")]
    id: String,
    answer: String,
}

async fn done(
    shared: &Shared,
    visitor: Visitor,
    head: &Parts,
    body: Incoming,
) -> Result<Reply, Refused> {
    let runs = &shared.runs;
    let path: Vec<&str> = head.uri.path().split('/').skip(1).collect();
    match (&head.method, path.as_slice()) {
        (&Method::GET, ["charts"]) => {
            let offers: Vec<_> = runs.offers().iter().map(Offer::json).collect();
            Ok(reply::json(StatusCode::OK, &json!(offers)))
        }
        (&Method::GET, ["runs"]) => Ok(reply::json(StatusCode::OK, &runs.list().await?)),
        (&Method::POST, ["runs"]) => {
            let order: Order = request::json(head, body).await?;
            let (run, is_new) = runs.begin(order).await?;
            let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
            Ok(reply::json(status, &runs.read(&run).await?))
        }
        (&Method::GET, ["runs", run]) => Ok(reply::json(StatusCode::OK, &runs.read(run).await?)),
        (&Method::POST, ["runs", run, "events"]) => {
            let Sent { event, data, id } = request::json(head, body).await?;
            let reply = runs.fire(run, id, event, data).await?;
            let status = match reply.receipt {
                Receipt::Handled => StatusCode::OK,
                Receipt::Unhandled | Receipt::Refused => StatusCode::ACCEPTED,
                // The event was not taken in, so the client may send it again.
                Receipt::Busy | Receipt::Closed => StatusCode::CONFLICT,
            };
            Ok(reply::json(
                status,
                &json!({"receipt": reply.receipt, "repeated": reply.is_repeated}),
            ))
        }
        (&Method::POST, ["runs", run, "answers"]) => {
            // Clients may be models, and no model may answer for a person.
            if visitor != Visitor::Person {
                return Err(Refused::person());
            }
            let Answered { id, answer } = request::json(head, body).await?;
            runs.answer(run, &id, answer).await?;
            Ok(reply::json(StatusCode::OK, &json!({"taken": true})))
        }
        (&Method::GET, ["runs", run, "trace"]) => {
            runs.find(run).await?;
            let Ok(place) = shared.traces.clone().try_acquire_owned() else {
                return Err(Refused::streams());
            };
            Ok(stream::lines(runs.clone(), run, place))
        }
        (&Method::GET, ["runs", run, "stream"]) => {
            let found = runs.find(run).await?;
            let Ok(place) = shared.streams.clone().try_acquire_owned() else {
                return Err(Refused::streams());
            };
            let after = head.headers.get("last-event-id").and_then(|id| id.to_str().ok());
            let after = match after.map(str::parse) {
                None => 0,
                Some(Ok(after)) => after,
                Some(Err(_)) => {
                    let why = "the header `Last-Event-ID` is no number of a line".to_owned();
                    return Err(Refusal::Misfit(why).into());
                }
            };
            let is_over = found.status != "running";
            if is_over && runs.ending(run).await?.is_none_or(|end| end.seq <= after) {
                // 204 tells a browser's `EventSource` not to reconnect, which it does after the end of any other stream.
                return Ok(reply::nothing());
            }
            Ok(stream::events(runs.clone(), run, after, (place, shared.end.clone())))
        }
        (_, ["charts"] | ["runs", _] | ["runs", _, "trace" | "stream"]) => {
            Err(Refused::method("GET"))
        }
        (_, ["runs"]) => Err(Refused::method("GET, POST")),
        (_, ["runs", _, "events" | "answers"]) => Err(Refused::method("POST")),
        _ => Err(Refused::nowhere()),
    }
}
