//! A server on this machine that answers every request in one way, good or bad.

use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// What it does with a request.
#[derive(Clone)]
pub(crate) struct Reply {
    bytes: Vec<u8>,
    then: Then,
    /// To a request without a body, such as one for the list of models.
    to_get: Option<Vec<u8>>,
    /// Milliseconds before it.
    after: u64,
}

#[derive(Clone, Copy)]
enum Then {
    /// Says good-bye.
    Close,
    /// Resets the connection.
    Reset,
    /// Goes on without an end: nothing, or a byte now and then.
    Hang,
    Drip,
    /// Sends 500 MB.
    Flood,
}

impl Reply {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::text(status, "application/json", &body.to_string())
    }

    /// Status 0 is no HTTP at all.
    pub(crate) fn text(status: u16, kind: &str, body: &str) -> Self {
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        let text = if status == 0 { body.to_owned() } else { head + body };
        Self::of(text.into_bytes(), Then::Close)
    }

    /// With another answer to requests without a body.
    pub(crate) fn with_get(self, status: u16, body: &Value) -> Self {
        Self { to_get: Some(Self::json(status, body).bytes), ..self }
    }

    /// Only after so many milliseconds.
    pub(crate) fn after(self, milliseconds: u64) -> Self {
        Self { after: milliseconds, ..self }
    }

    fn of(bytes: Vec<u8>, then: Then) -> Self {
        Self { bytes, then, to_get: None, after: 0 }
    }

    /// With further headers.
    pub(crate) fn with(mut self, headers: &[(&str, &str)]) -> Self {
        let text = String::from_utf8(self.bytes).expect("text");
        let lines: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        self.bytes = text
            .replacen("connection: close\r\n", &format!("connection: close\r\n{lines}"), 1)
            .into_bytes();
        self
    }

    /// Half of a body.
    pub(crate) fn cut(body: &str) -> Self {
        let mut reply = Self::text(200, "application/json", body);
        reply.bytes.truncate(reply.bytes.len() - body.len() / 2);
        reply
    }

    pub(crate) fn close() -> Self {
        Self::of(Vec::new(), Then::Close)
    }

    pub(crate) fn reset() -> Self {
        Self::of(Vec::new(), Then::Reset)
    }

    pub(crate) fn hang() -> Self {
        Self::of(Vec::new(), Then::Hang)
    }

    /// 500 MB, with headers of its own.
    pub(crate) fn flood(status: u16, headers: &str) -> Self {
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-length: {FLOOD}\r\n{headers}connection: close\r\n\r\n"
        );
        Self::of(head.into_bytes(), Then::Flood)
    }

    pub(crate) fn drip() -> Self {
        let head =
            "HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n";
        Self::of(head.as_bytes().to_vec(), Then::Drip)
    }
}

/// Bytes of a body that is too long.
const FLOOD: usize = 500_000_000;

/// A request as it came.
pub(crate) struct Request {
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Default)]
struct Traffic {
    requests: Mutex<Vec<Request>>,
    asked: Notify,
    hung_up: Notify,
    /// Bytes of a flood that were taken.
    flooded: AtomicUsize,
}

pub(crate) struct Loopback {
    port: u16,
    seen: Arc<Traffic>,
}

impl Loopback {
    pub(crate) async fn start(reply: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen = Arc::new(Traffic::default());
        let shared = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, reply.clone(), shared.clone()));
            }
        });
        Self { port, seen }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub(crate) fn was_asked(&self) -> bool {
        !self.seen.requests.lock().expect("whole").is_empty()
    }

    /// The first request, as soon as it is there.
    pub(crate) async fn request(&self) -> Request {
        loop {
            if let Some(request) = self.seen.requests.lock().expect("whole").pop() {
                return request;
            }
            self.seen.asked.notified().await;
        }
    }

    /// Bytes of the flood that the client, the system and the cable took before the client hung up.
    pub(crate) async fn flooded(&self) -> usize {
        self.hung_up().await;
        self.seen.flooded.load(Ordering::SeqCst)
    }

    /// The client has closed the connection.
    pub(crate) async fn hung_up(&self) {
        self.seen.hung_up.notified().await;
    }
}

async fn serve(mut stream: TcpStream, reply: Reply, seen: Arc<Traffic>) {
    let Some(request) = read(&mut stream).await else { return };
    let is_get = request.body.is_null();
    seen.requests.lock().expect("whole").push(request);
    seen.asked.notify_one();
    tokio::time::sleep(std::time::Duration::from_millis(reply.after)).await;
    let bytes = reply.to_get.filter(|_| is_get).unwrap_or(reply.bytes);
    let _ = stream.write_all(&bytes).await;
    match reply.then {
        Then::Close => drop(stream.shutdown().await),
        Then::Reset => drop(stream.set_zero_linger()),
        Then::Hang => {
            let mut rest = [0; 16];
            while stream.read(&mut rest).await.is_ok_and(|n| n > 0) {}
            seen.hung_up.notify_one();
        }
        Then::Flood => {
            let piece = vec![b' '; 1 << 16];
            while seen.flooded.load(Ordering::SeqCst) < FLOOD
                && stream.write_all(&piece).await.is_ok()
            {
                seen.flooded.fetch_add(piece.len(), Ordering::SeqCst);
            }
            seen.hung_up.notify_one();
        }
        Then::Drip => {
            let mut tick = tokio::time::interval(std::time::Duration::from_millis(20));
            while stream.write_all(b" ").await.is_ok() {
                tick.tick().await;
            }
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let mut lines = head.split("\r\n");
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    while bytes.len() < end + 4 + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = match length {
        0 => Value::Null,
        _ => serde_json::from_slice(&bytes[end + 4..]).ok()?,
    };
    Some(Request { path, headers, body })
}
