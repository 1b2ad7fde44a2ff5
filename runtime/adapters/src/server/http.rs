//! Serves runs over HTTP: accepts connections and routes requests. `docs/serve.md` describes the addresses to clients.
//!
//! **The problem.** Clients may be slow, broken or hostile. A client that sends no head, an endless body or never reads its answer must not
//! hold memory, a connection or a place forever. A browser that follows a trace must neither miss a line nor connect again and again.
//!
//! **The idea.** Everything has a bound: connections, open streams, the size and time of heads and bodies, the number of values in a body,
//! and the time without progress of a write (`Patient`). A request passes the gate (`AccessRules`), then `done` matches method and path,
//! and [`Runs`] does the work; this file only translates. A trace is sent in pieces through a channel of length `AHEAD`, so a slow client
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

use super::guard::{AccessRules, Outside, Visitor};
use super::mcp::{self, Endpoint};
use super::runs::{LINES, Offer, Order, Refusal, Runs};
use chartc_core::expr::Map;
use chartc_core::machine::Receipt;
use chartc_runtime::trace::{Line, What};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Frame, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep};

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

/// Whether an error of `accept` passes, so that the listener can go on.
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

/// Answers a request: checks host, origin and token, and then passes it to MCP or routes it.
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
        Method::POST => read(&head, body).await?,
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

/// Routes a request by its method and path. A known path with another method gets a 405, which names the methods that it takes.
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
            Ok(json_reply(StatusCode::OK, &json!(offers)))
        }
        (&Method::GET, ["runs"]) => Ok(json_reply(StatusCode::OK, &runs.list().await?)),
        (&Method::POST, ["runs"]) => {
            let order: Order = json_body(head, body).await?;
            let (run, is_new) = runs.begin(order).await?;
            let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
            Ok(json_reply(status, &runs.read(&run).await?))
        }
        (&Method::GET, ["runs", run]) => Ok(json_reply(StatusCode::OK, &runs.read(run).await?)),
        (&Method::POST, ["runs", run, "events"]) => {
            fire(runs, run, json_body(head, body).await?).await
        }
        (&Method::POST, ["runs", run, "answers"]) => {
            // Clients may be models, and no model may answer for a person.
            if visitor != Visitor::Person {
                return Err(Refused::person());
            }
            let Answered { id, answer } = json_body(head, body).await?;
            runs.answer(run, &id, answer).await?;
            Ok(json_reply(StatusCode::OK, &json!({"taken": true})))
        }
        (&Method::GET, ["runs", run, "trace"]) => {
            runs.find(run).await?;
            let Ok(place) = shared.traces.clone().try_acquire_owned() else {
                return Err(Refused::streams());
            };
            Ok(lines(runs.clone(), run, place))
        }
        (&Method::GET, ["runs", run, "stream"]) => stream(shared, run, head).await,
        (_, ["charts"] | ["runs", _] | ["runs", _, "trace" | "stream"]) => {
            Err(Refused::method("GET"))
        }
        (_, ["runs"]) => Err(Refused::method("GET, POST")),
        (_, ["runs", _, "events" | "answers"]) => Err(Refused::method("POST")),
        _ => Err(Refused::nowhere()),
    }
}

async fn fire(runs: &Runs, run: &str, sent: Sent) -> Result<Reply, Refused> {
    let Sent { event, data, id } = sent;
    let reply = runs.fire(run, id, event, data).await?;
    let status = match reply.receipt {
        Receipt::Handled => StatusCode::OK,
        Receipt::Unhandled | Receipt::Refused => StatusCode::ACCEPTED,
        // The event was not taken in, so the client may send it again.
        Receipt::Busy | Receipt::Closed => StatusCode::CONFLICT,
    };
    Ok(json_reply(status, &json!({"receipt": reply.receipt, "repeated": reply.is_repeated})))
}

/// Streams the events of a run, from the line behind the last one that the client has.
async fn stream(shared: &Shared, run: &str, head: &Parts) -> Result<Reply, Refused> {
    let runs = &shared.runs;
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
    if is_over {
        // The trace of a run that cannot continue has no last line.
        let is_read = match runs.ending(run).await? {
            Some(end) => end.seq <= after,
            None => runs.lines(run, after, 1).await?.is_empty(),
        };
        if is_read {
            // 204 tells a browser's `EventSource` not to reconnect, which it does after the end of any other stream.
            return Ok(nothing());
        }
    }
    Ok(self::events(runs.clone(), run, after, is_over, (place, shared.end.clone())))
}

// TCP connections that time out if the client does not read.

/// The time for which a client may accept no data while some is waiting.
const UNREAD: Duration = Duration::from_secs(30);

/// A connection whose writes fail after [`UNREAD`] without progress. Otherwise a client that never reads would hold its connection and
/// its permit forever.
pub(super) struct Patient {
    stream: TokioIo<TcpStream>,
    /// The timeout; set while a write is pending.
    unread: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { stream: TokioIo::new(stream), unread: None }
    }

    fn written(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.unread = None;
            return written;
        }
        let unread = self.unread.get_or_insert_with(|| Box::pin(sleep(UNREAD)));
        unread.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl Read for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl Write for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.written(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.written(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

// Builds the responses of the HTTP server.

pub(super) type Body = UnsyncBoxBody<Bytes, Infallible>;
pub(super) type Reply = Response<Body>;

/// An error response: the HTTP status, an error code, a message and the `Allow` header.
pub(super) struct Refused {
    status: StatusCode,
    kind: &'static str,
    why: String,
    allow: Option<&'static str>,
}

const fn refused(status: StatusCode, kind: &'static str, why: String) -> Refused {
    Refused { status, kind, why, allow: None }
}

impl Refused {
    pub(super) fn new(status: StatusCode, kind: &'static str, why: impl Into<String>) -> Self {
        refused(status, kind, why.into())
    }

    pub(super) fn nowhere() -> Self {
        let why = "there is nothing at this address: docs/serve.md lists the addresses";
        Self::new(StatusCode::NOT_FOUND, "nowhere", why)
    }

    pub(super) fn person() -> Self {
        let why = "this token may not answer for people: use the people's token, or `chartc store … reply`";
        Self::new(StatusCode::FORBIDDEN, "person", why)
    }

    pub(super) fn streams() -> Self {
        let why = "as many traces are followed or read as this server takes: try again later";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "too_many", why)
    }

    pub(super) fn method(allow: &'static str) -> Self {
        let why = format!("this address takes {allow}");
        Self { allow: Some(allow), ..Self::new(StatusCode::METHOD_NOT_ALLOWED, "method", why) }
    }

    pub(super) fn reply(self) -> Reply {
        let Self { status, kind, why, allow } = self;
        let mut reply = json_reply(status, &json!({"error": {"kind": kind, "message": why}}));
        if status == StatusCode::UNAUTHORIZED {
            reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(allow) = allow {
            reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
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
            Refusal::Taken(_) | Refusal::NotNow(_) | Refusal::NotOpen(_) => StatusCode::CONFLICT,
            Refusal::Misfit(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Refusal::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Refusal::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, why.kind(), why.to_string())
    }
}

pub(super) fn json_reply(status: StatusCode, value: &Value) -> Reply {
    let text = format!("{value}\n");
    with(status, "application/json", Full::new(Bytes::from(text)).boxed_unsync())
}

/// A 204 response without a body. It tells clients that follow a trace not to connect again.
pub(super) fn nothing() -> Reply {
    let mut reply = Response::new(Full::default().boxed_unsync());
    *reply.status_mut() = StatusCode::NO_CONTENT;
    reply
}

pub(super) fn with(status: StatusCode, kind: &'static str, body: Body) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

// Reads the bodies of requests: JSON up to a maximum size and a time limit.

/// The maximum size of a body, in bytes.
pub(super) const LONGEST: usize = 1024 * 1024;
/// The maximum number of values in a body. A parsed value takes far more memory than its text, such as the `0,` of a list.
const VALUES: usize = 50_000;
/// The time within which a body must arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads and parses the JSON body of a request.
pub(super) async fn json_body<T: DeserializeOwned>(
    head: &Parts,
    body: Incoming,
) -> Result<T, Refused> {
    let bytes = read(head, body).await?;
    serde_json::from_slice(&bytes)
        .map_err(|why| Refused::new(StatusCode::BAD_REQUEST, "json", why.to_string()))
}

/// Reads the body of a request with the content type `application/json`, unparsed.
pub(super) async fn read(head: &Parts, body: Incoming) -> Result<Bytes, Refused> {
    let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
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
            Ok(bytes)
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

/// A response body whose pieces come from a channel that a task fills.
struct Pieces(mpsc::Receiver<String>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| Ok(Frame::data(Bytes::from(piece)))))
    }
}

fn pieces() -> (mpsc::Sender<String>, Body) {
    let (to, from) = mpsc::channel(AHEAD);
    (to, Pieces(from).boxed_unsync())
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

/// Responds with the trace as it is now, one JSON object per line.
pub(super) fn lines(runs: Arc<Runs>, run: &str, place: OwnedSemaphorePermit) -> Reply {
    let (to, body) = pieces();
    let mut lines = Lines::new(runs, run, 0);
    tokio::spawn(async move {
        let _place = place;
        while let Ok(next) = lines.next().await
            && !next.is_empty()
        {
            let piece = next.iter().map(|line| written(line) + "\n").collect();
            if to.send(piece).await.is_err() {
                return;
            }
        }
    });
    with(StatusCode::OK, "application/jsonl", body)
}

/// Responds with the lines after line `after` as server-sent events, and then with each new line as soon as it is committed, until the
/// run ends or the server stops.
pub(super) fn events(
    runs: Arc<Runs>,
    run: &str,
    after: u64,
    mut is_over: bool,
    (place, mut end_of_server): (OwnedSemaphorePermit, watch::Receiver<bool>),
) -> Reply {
    let (to, body) = pieces();
    // Subscribe before the first read, so that no line between the two is missed.
    let mut follower = runs.follow(run);
    let mut lines = Lines::new(runs, run, after);
    tokio::spawn(async move {
        let _place = place;
        loop {
            let Ok(mut next) = lines.next().await else { return };
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
            if to.send(piece).await.is_err() || end.is_some() {
                return;
            }
        }
    });
    with(StatusCode::OK, "text/event-stream", body)
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
    use super::values;

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
}
