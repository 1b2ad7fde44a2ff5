//! Serves runs over HTTP: routes requests to operations on runs. `docs/serve.md` describes the addresses to clients.
//!
//! **The problem.** Clients may be slow, broken or hostile. A client that sends an endless body or never reads its answer must not hold
//! memory or a place forever. A browser that follows a trace must neither miss a line nor connect again and again.
//!
//! **The idea.** Everything has a bound: [connections](super::connections), open streams, the size and time of bodies, and the number of
//! values in them. A request passes the gate (`let_in`), then the `router` finds its handler, and [`Runs`] does the work; this file only
//! translates. A trace is sent in pieces through a channel of length `AHEAD`, so a slow client
//! slows down the reader of the store. The id of an event on a stream is the number of its line, and a client continues behind the one it
//! names.
//!
//! **Example.**
//!
//! ```text
//! POST /runs/t1/events {"event": "reply"}       200 {"receipt":"handled",…}; 409 if the run has ended, 422 if the data do not fit
//! GET  /runs/t1/stream, Last-Event-ID: 7        id: 8, id: 9, …, then each new line; the body ends after the line of the run's end
//! GET  /runs/t1/stream after that               204: an `EventSource` does not connect again
//! POST /runs/t1/answers, with a model's token   403
//! ```

use super::connections::{Connection, Connections};
use super::guard::{AccessRules, Outside, Visitor};
use super::mcp::{self, Endpoint};
use super::runs::{LINES, Offer, Order, Refusal, Runs};
use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::rejection::PathRejection;
use axum::extract::{Extension, FromRequest, Path, Query, Request, State};
use axum::http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, LINK, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use chartc_core::expr::{Level, Map};
use chartc_core::machine::Receipt;
use chartc_runtime::trace::{Line, What};
use chartc_store::Outage;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Frame};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

/// The maximum number of traces that are followed as server-sent events at the same time.
const STREAMS: usize = 64;
/// The maximum number of traces that are downloaded at the same time.
const TRACES: usize = 64;
/// The maximum number of runs in one list.
const LISTED: u32 = 1000;

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
    let shared = Arc::new(Shared { runs, gate, mcp, streams, traces, end: end.clone() });
    let mut connections = Connections::new(router(shared), end);
    let accepted = connections.accept(listener, pin!(stop)).await;
    stopped.send_replace(true);
    connections.finish().await;
    accepted
}

/// The addresses. `docs/serve.md` lists them.
fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/charts", get(charts))
        .route("/runs", get(list).post(begin))
        .route("/runs/{run}", get(read_run))
        .route("/runs/{run}/events", post(fire))
        .route("/runs/{run}/answers", post(answer))
        .route("/runs/{run}/trace", get(trace))
        .route("/runs/{run}/stream", get(stream))
        .route("/mcp", any(speak))
        .fallback(async || Refused::nowhere())
        .method_not_allowed_fallback(async || Refused::method())
        .layer(middleware::from_fn_with_state(shared.clone(), let_in))
        .with_state(shared)
}

/// Checks host, origin and token of a request before anything else. A refused request ends its connection.
async fn let_in(
    State(shared): State<Arc<Shared>>,
    Extension(connection): Extension<Arc<Connection>>,
    mut request: Request,
    next: Next,
) -> Response {
    let visitor = match shared.gate.pass(request.headers(), request.uri()) {
        Ok(visitor) => visitor,
        Err(outside) => return Refused::from(outside).and_close(),
    };
    if connection.admit().await.is_err() {
        return Refused::too_many("connections").and_close();
    }
    request.extensions_mut().insert(visitor);
    next.run(request).await
}

/// Passes a message of the Model Context Protocol on to its endpoint.
async fn speak(State(shared): State<Arc<Shared>>, request: Request) -> Result<Response, Refused> {
    let (head, body) = request.into_parts();
    let body = match head.method {
        axum::http::Method::POST => read(&head.headers, body).await?,
        // Messages come only by POST; the endpoint refuses the other methods.
        _ => Bytes::new(),
    };
    let reply = shared.mcp.handle(Request::from_parts(head, Full::new(body))).await;
    Ok(reply.map(Body::new))
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

/// The part of the list of runs that is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    #[serde(default)]
    after: String,
}

type Handled = Result<Response, Refused>;
type Run = Result<Path<String>, PathRejection>;

/// The name of a run, from the path of a request. A path that is no UTF-8 once decoded leads nowhere.
fn name(run: Run) -> Result<String, Refused> {
    run.map(|Path(run)| run).map_err(|_| Refused::nowhere())
}

async fn charts(State(shared): State<Arc<Shared>>) -> Response {
    let offers: Vec<_> = shared.runs.offers().iter().map(Offer::json).collect();
    json_reply(StatusCode::OK, &json!(offers))
}

async fn list(
    State(shared): State<Arc<Shared>>,
    wanted: Result<Query<Wanted>, axum::extract::rejection::QueryRejection>,
) -> Handled {
    let Query(Wanted { after }) = wanted.map_err(|why| Refusal::Misfit(why.body_text()))?;
    let (rows, last) = shared.runs.list(&after, LISTED).await?;
    let mut reply = json_reply(StatusCode::OK, &rows);
    // Names of runs need no escapes in addresses.
    let next = last.and_then(|last| format!("</runs?after={last}>; rel=\"next\"").parse().ok());
    if let Some(next) = next {
        reply.headers_mut().insert(LINK, next);
    }
    Ok(reply)
}

async fn begin(
    State(shared): State<Arc<Shared>>,
    Extension(visitor): Extension<Visitor>,
    JsonBody(order): JsonBody<Order>,
) -> Handled {
    let (run, is_new) = shared.runs.begin(order, visitor.client()).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(json_reply(status, &shared.runs.read(&run).await?))
}

async fn read_run(State(shared): State<Arc<Shared>>, run: Run) -> Handled {
    Ok(json_reply(StatusCode::OK, &shared.runs.read(&name(run)?).await?))
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    Extension(visitor): Extension<Visitor>,
    run: Run,
    request: Request,
) -> Handled {
    // Clients may be models, and no model may answer for a person.
    if visitor != Visitor::Person {
        return Err(Refused::person());
    }
    let JsonBody(Answered { id, answer }) = JsonBody::from_request(request, &()).await?;
    shared.runs.answer(&name(run)?, &id, answer).await?;
    Ok(json_reply(StatusCode::OK, &json!({"taken": true})))
}

async fn fire(
    State(shared): State<Arc<Shared>>,
    Extension(visitor): Extension<Visitor>,
    run: Run,
    JsonBody(Sent { event, data, id }): JsonBody<Sent>,
) -> Handled {
    let reply = shared.runs.fire(&name(run)?, id, event, data, &visitor.client()).await?;
    let status = match reply.receipt {
        Receipt::Handled => StatusCode::OK,
        Receipt::Unhandled | Receipt::Refused => StatusCode::ACCEPTED,
        // The event was not taken in, so the client may send it again.
        Receipt::Busy | Receipt::Closed => StatusCode::CONFLICT,
    };
    Ok(json_reply(status, &json!({"receipt": reply.receipt, "repeated": reply.is_repeated})))
}

async fn trace(State(shared): State<Arc<Shared>>, run: Run) -> Handled {
    let run = name(run)?;
    shared.runs.find(&run).await?;
    let Ok(place) = shared.traces.clone().try_acquire_owned() else {
        return Err(Refused::too_many("traces"));
    };
    lines(shared.runs.clone(), &run, place).await
}

/// Streams the events of a run, from the line behind the last one that the client has.
async fn stream(State(shared): State<Arc<Shared>>, run: Run, headers: HeaderMap) -> Handled {
    let (run, runs) = (name(run)?, &shared.runs);
    let found = runs.find(&run).await?;
    let Ok(place) = shared.streams.clone().try_acquire_owned() else {
        return Err(Refused::too_many("traces"));
    };
    let after = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let after = match after.map(str::parse) {
        None => 0,
        Some(Ok(after)) => after,
        Some(Err(_)) => {
            let why = "the header `Last-Event-ID` is no number of a line".to_owned();
            return Err(Refusal::Misfit(why).into());
        }
    };
    let is_over = found.status != "running";
    if is_over {
        // The trace of a run that cannot continue has no last line.
        let is_read = match runs.ending(&run).await? {
            Some(end) => end.seq <= after,
            None => runs.lines(&run, after, 1).await?.is_empty(),
        };
        if is_read {
            // 204 tells a browser's `EventSource` not to reconnect, which it does after the end of any other stream.
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
    }
    // If the first lines are damaged, the status is an error: after a stream that merely ends, a browser would reconnect for ever.
    runs.lines(&run, after, LINES).await?;
    Ok(events(runs.clone(), &run, after, is_over, (place, shared.end.clone())))
}

// Builds the responses of the HTTP server.

/// An error response: the HTTP status, an error code and a message.
#[derive(Debug)]
pub(super) struct Refused {
    status: StatusCode,
    kind: &'static str,
    why: String,
}

impl Refused {
    pub(super) fn new(status: StatusCode, kind: &'static str, why: impl Into<String>) -> Self {
        Self { status, kind, why: why.into() }
    }

    fn nowhere() -> Self {
        let why = "there is nothing at this address: docs/serve.md lists the addresses";
        Self::new(StatusCode::NOT_FOUND, "nowhere", why)
    }

    fn person() -> Self {
        let why = "this token may not answer for people: use the people's token, or `chartc store … reply`";
        Self::new(StatusCode::FORBIDDEN, "person", why)
    }

    /// More of `what` than the server takes at the same time.
    fn too_many(what: &str) -> Self {
        let why = format!("too many {what} are open: try again later");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "too_many", why)
    }

    fn method() -> Self {
        let why = "this address takes other methods: the header `Allow` lists them";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method", why)
    }

    fn json_error(why: &serde_json::Error) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "json", why.to_string())
    }

    /// The response, after which the connection ends.
    fn and_close(self) -> Response {
        let mut reply = self.into_response();
        reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        reply
    }

    fn json(&self) -> Value {
        json!({"error": {"kind": self.kind, "message": self.why}})
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut reply = json_reply(self.status, &self.json());
        if self.status == StatusCode::UNAUTHORIZED {
            reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        reply
    }
}

impl From<Outside> for Refused {
    fn from(outside: Outside) -> Self {
        Self::new(outside.status, outside.kind, outside.why)
    }
}

impl From<Refusal> for Refused {
    fn from(why: Refusal) -> Self {
        let status = match why {
            Refusal::NoChart { .. } | Refusal::NoRun(_) => StatusCode::NOT_FOUND,
            Refusal::Taken(_) | Refusal::OtherEvent | Refusal::NotNow(_) | Refusal::NotOpen(_) => {
                StatusCode::CONFLICT
            }
            Refusal::Misfit(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Refusal::TooMany(_) | Refusal::TooFast { .. } => StatusCode::TOO_MANY_REQUESTS,
            Refusal::Store(_) | Refusal::Outage(Outage::Failing | Outage::Damaged) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            Refusal::Outage(Outage::Busy) => StatusCode::SERVICE_UNAVAILABLE,
            Refusal::StoreFull(_) | Refusal::Outage(Outage::Full) => {
                StatusCode::INSUFFICIENT_STORAGE
            }
        };
        Self::new(status, why.kind(), why.to_string())
    }
}

fn json_reply(status: StatusCode, value: &Value) -> Response {
    (status, reply("application/json", Body::from(format!("{value}\n")))).into_response()
}

fn reply(kind: &'static str, body: Body) -> Response {
    let kind = (CONTENT_TYPE, HeaderValue::from_static(kind));
    let no_store = (CACHE_CONTROL, HeaderValue::from_static("no-store"));
    ([kind, no_store], body).into_response()
}

// Reads the bodies of requests: JSON up to a maximum size and a time limit.

/// The maximum size of a body, in bytes.
pub(super) const LONGEST: usize = 1024 * 1024;
/// The maximum number of values in a body. A parsed value takes far more memory than its text, such as the `0,` of a list.
const VALUES: usize = 50_000;
/// The time within which a body must arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// The JSON body of a request.
struct JsonBody<T>(T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refused> {
        let (head, body) = request.into_parts();
        let bytes = read(&head.headers, body).await?;
        serde_json::from_slice(&bytes).map(Self).map_err(|why| Refused::json_error(&why))
    }
}

/// A JSON value in which no object has a key twice. With two, readers disagree about which one counts.
struct Unambiguous;

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if let Level::Map(entries) = Level::<String, Self>::deserialize(from)? {
            let mut keys = BTreeSet::new();
            if let Some((twice, _)) = entries.iter().find(|(key, _)| !keys.insert(key)) {
                return Err(D::Error::custom(format!("the key `{twice}` occurs twice")));
            }
        }
        Ok(Self)
    }
}

/// Reads the body of a request with the content type `application/json`.
async fn read(headers: &HeaderMap, body: Body) -> Result<Bytes, Refused> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.map(|kind| kind.split(';').next().unwrap_or_default().trim());
    if !kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json")) {
        let why = "send the header `Content-Type: application/json`";
        return Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", why));
    }
    let long = || {
        let why = format!("the body is longer than {LONGEST} bytes");
        Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "too_long", why)
    };
    // The announced length is checked first, so that a long body is refused before it arrives.
    if body.size_hint().lower() > LONGEST as u64 {
        return Err(long());
    }
    match tokio::time::timeout(PATIENCE, Limited::new(body, LONGEST).collect()).await {
        Ok(Ok(body)) => {
            let bytes = body.to_bytes();
            if values(&bytes) > VALUES {
                let why = format!("the body has more than {VALUES} values");
                return Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "too_many_values", why));
            }
            let checked = serde_json::from_slice::<Unambiguous>(&bytes);
            checked.map(|_| bytes).map_err(|why| Refused::json_error(&why))
        }
        Ok(Err(why)) if why.is::<LengthLimitError>() => Err(long()),
        Ok(Err(why)) => Err(Refused::new(StatusCode::BAD_REQUEST, "body", why.to_string())),
        Err(_) => {
            let why = format!("the body took longer than {} s", PATIENCE.as_secs());
            Err(Refused::new(StatusCode::REQUEST_TIMEOUT, "too_slow", why))
        }
    }
}

/// An estimate of the number of values and keys in a JSON text, without parsing it: nearly each is preceded by one of `,`, `:`, `[` and
/// `{`.
fn values(text: &[u8]) -> usize {
    let (mut values, mut is_string, mut is_escaped) = (0, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_string,
            b'"' => is_string = !is_string,
            b',' | b':' | b'[' | b'{' if !is_string => values += 1,
            _ => {}
        }
    }
    values
}

// Response bodies with the trace of a run: the lines so far, or a stream of server-sent events as the trace grows.

/// The number of pieces that are read from the store before the client has taken the previous ones. It bounds the memory of each stream.
const AHEAD: usize = 1;
/// The interval of empty comments on a stream without news. They keep proxies from closing the connection as idle.
const ALIVE: Duration = Duration::from_secs(15);

/// A response body whose pieces come from a channel that a task fills. After an error, the connection is cut before the end of the body, so
/// the client knows that the body is incomplete.
struct Pieces(mpsc::Receiver<io::Result<String>>);

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let framed = |piece: io::Result<String>| piece.map(|text| Frame::data(Bytes::from(text)));
        self.0.poll_recv(cx).map(|piece| piece.map(framed))
    }
}

fn pieces() -> (mpsc::Sender<io::Result<String>>, Body) {
    let (to, from) = mpsc::channel(AHEAD);
    (to, Body::new(Pieces(from)))
}

/// A position in the trace of a run, from which the lines are read in batches.
struct Lines {
    runs: Arc<Runs>,
    run: String,
    seq: u64,
}

impl Lines {
    fn new(runs: Arc<Runs>, run: &str, seq: u64) -> Self {
        Self { runs, run: run.to_owned(), seq }
    }

    /// Reads the next batch; empty if there are no further lines yet.
    async fn next(&mut self) -> Result<Vec<Line>, Refusal> {
        let lines = self.runs.lines(&self.run, self.seq, LINES).await?;
        self.seq = lines.last().map_or(self.seq, |last| last.seq);
        Ok(lines)
    }

    /// Whether no further lines will come: the run has ended, or cannot continue.
    async fn is_over(&self) -> bool {
        self.runs.find(&self.run).await.is_ok_and(|found| found.status != "running")
    }
}

/// Responds with the trace as it is now, one JSON object per line. If a line cannot be read, the last object is the error.
async fn lines(runs: Arc<Runs>, run: &str, place: OwnedSemaphorePermit) -> Handled {
    let (to, body) = pieces();
    let mut lines = Lines::new(runs, run, 0);
    let mut next = lines.next().await?;
    tokio::spawn(async move {
        let _place = place;
        while !next.is_empty() {
            let piece = next.iter().map(|line| written(line) + "\n").collect();
            if to.send(Ok(piece)).await.is_err() {
                return;
            }
            next = match lines.next().await {
                Ok(next) => next,
                Err(why) => {
                    let why = Refused::from(why);
                    // Sending fails if the client has left, which is fine.
                    drop(to.send(Ok(format!("{}\n", why.json()))).await);
                    drop(to.send(Err(io::Error::other(why.why))).await);
                    return;
                }
            };
        }
    });
    Ok(reply("application/jsonl", body))
}

/// Responds with the lines after line `after` as server-sent events, and then with each new line as soon as it is committed, until the
/// run ends or the server stops.
fn events(
    runs: Arc<Runs>,
    run: &str,
    after: u64,
    mut is_over: bool,
    (place, mut end_of_server): (OwnedSemaphorePermit, watch::Receiver<bool>),
) -> Response {
    let (to, body) = pieces();
    // Subscribe before the first read, so that no line between the two is missed.
    let mut follower = runs.follow(run);
    let mut lines = Lines::new(runs, run, after);
    tokio::spawn(async move {
        let _place = place;
        loop {
            let mut next = match lines.next().await {
                Ok(next) => next,
                Err(why) => {
                    let why = Refused::from(why).json();
                    drop(to.send(Ok(format!("event: error\ndata: {why}\n\n"))).await);
                    return;
                }
            };
            let end = next.iter().position(ends);
            // Lines after the end come from calls that finished late; they are not part of the run.
            next.truncate(end.map_or(next.len(), |end| end + 1));
            let piece = if next.is_empty() {
                if is_over {
                    return;
                }
                tokio::select! {
                    more = follower.more() => if more { continue } else { return },
                    () = to.closed() => return,
                    _ = end_of_server.changed() => return,
                    () = tokio::time::sleep(ALIVE) => {
                        // Lines that were committed since the last look are still sent.
                        is_over = lines.is_over().await;
                        if is_over {
                            continue;
                        }
                        // A comment of the protocol, which clients ignore.
                        ": \n\n".to_owned()
                    }
                }
            } else {
                next.iter().map(event).collect()
            };
            if to.send(Ok(piece)).await.is_err() || end.is_some() {
                return;
            }
        }
    });
    reply("text/event-stream", body)
}

/// Whether a line is the last one of a run: its end, not that of a child chart.
fn ends(line: &Line) -> bool {
    line.child.is_empty() && matches!(line.what, What::Ended { .. })
}

fn event(line: &Line) -> String {
    format!("id: {}\ndata: {}\n\n", line.seq, written(line))
}

fn written(line: &Line) -> String {
    serde_json::to_string(line).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Unambiguous, values};

    #[test]
    fn values_are_counted_and_texts_are_not_looked_into() {
        let table = [
            ("", 0),
            ("1", 0),
            ("[]", 1),
            ("[1, 2, 3]", 3),
            (r#"{"a": [1, {"b": 2}], "c": null}"#, 8),
            (r#"["a, b: [c] {d}", "e"]"#, 2),
            (r#"["a\", b", "c\\", "d"]"#, 3),
            (r"\,\,", 2),
        ];
        for (text, expected) in table {
            assert_eq!(values(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_key_that_occurs_twice_is_refused_at_any_depth() {
        let read = |text| serde_json::from_str::<Unambiguous>(text).is_ok();
        for text in [r#"{"a": 1, "b": {"a": 2}}"#, r#"[{"a": 1}, {"a": 1}]"#, "1", "null"] {
            assert!(read(text), "{text}");
        }
        for text in [
            r#"{"a": 1, "a": 1}"#,
            r#"{"data": {"n": 1, "m": 0, "n": 2}}"#,
            r#"[[{"a": 1, "\u0061": 2}]]"#,
        ] {
            assert!(!read(text), "{text}");
        }
    }
}
