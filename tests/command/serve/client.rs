//! An HTTP client that can also be rude.

use super::PATIENCE;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};

/// Sends requests with a token, each on a connection of its own.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) address: SocketAddr,
    pub(super) token: String,
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    pub(super) status: u16,
    /// In lower case.
    pub(super) head: String,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|why| panic!("{why}: {self:?}"))
    }

    /// What kind of error it is.
    pub(super) fn kind(&self) -> String {
        self.json()["error"]["kind"].as_str().unwrap_or_default().to_owned()
    }

    fn header(&self, name: &str) -> Option<&str> {
        let headers = self.head.lines().filter_map(|line| line.split_once(':'));
        headers.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value.trim())
    }
}

impl Client {
    pub(super) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, "", "")
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, "Content-Type: application/json\r\n", &body.to_string())
    }

    /// The reply to a request, unless the server ends before.
    pub(super) fn tried(&self, path: &str, body: &Value) -> Option<Reply> {
        self.requested("POST", path, body)
    }

    /// The same with any method; `Value::Null` stands for no body.
    pub(super) fn requested(&self, method: &str, path: &str, body: &Value) -> Option<Reply> {
        let mut stream = TcpStream::connect(self.address).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let kind = "Content-Type: application/json\r\n";
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = self.request(method, path, kind, &body);
        stream.write_all(request.as_bytes()).ok()?;
        read(&mut BufReader::new(stream))
    }

    /// A request with more headers, each ended by `\r\n`.
    pub(super) fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> Reply {
        let mut stream = connect(self.address);
        let request = self.request(method, path, headers, body);
        stream.write_all(request.as_bytes()).expect("it is taken");
        read(&mut BufReader::new(stream)).expect("a reply")
    }

    /// The status with which the server answers who wants to follow a run.
    pub(super) fn may_follow(&self, run: &str) -> Option<u16> {
        let mut stream = connect(self.address);
        let request = self.request("GET", &format!("/runs/{run}/stream"), "", "");
        stream.write_all(request.as_bytes()).ok()?;
        let head = head(&mut BufReader::new(stream))?;
        head.split(' ').nth(1)?.parse().ok()
    }

    /// The text of a request after which the connection ends.
    pub(super) fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let length = body.len();
        format!(
            "{}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}",
            self.head(method, path, headers)
        )
    }

    /// The beginning of a request.
    pub(super) fn head(&self, method: &str, path: &str, headers: &str) -> String {
        let Self { address, token } = self;
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n{headers}"
        )
    }

    /// Follows the trace of a run behind a line. Nothing comes where nothing more will.
    pub(super) fn follow(&self, run: &str, after: Option<u64>) -> Events {
        let mut stream = connect(self.address);
        let after = after.map_or(String::new(), |after| format!("Last-Event-ID: {after}\r\n"));
        let request = self.request("GET", &format!("/runs/{run}/stream"), &after, "");
        stream.write_all(request.as_bytes()).expect("it is taken");
        let mut from = BufReader::new(stream);
        let head = head(&mut from).expect("a head");
        if head.starts_with("http/1.1 204") {
            return Events { from: Chunks { from, left: 0, is_over: true } };
        }
        assert!(head.starts_with("http/1.1 200"), "{head}");
        assert!(head.contains("content-type: text/event-stream"), "{head}");
        Events { from: Chunks { from, left: 0, is_over: false } }
    }
}

/// Server-sent events, as they come.
pub(super) struct Events {
    from: Chunks,
}

impl Iterator for Events {
    /// The id and the data.
    type Item = (u64, Value);

    fn next(&mut self) -> Option<(u64, Value)> {
        let (mut id, mut data) = (None, None);
        let mut line = Vec::new();
        loop {
            line.clear();
            // A server that was killed leaves half a piece.
            self.from.line(&mut line)?;
            let text = std::str::from_utf8(&line).expect("UTF-8");
            if let Some(text) = text.strip_prefix("id: ") {
                id = Some(text.parse().expect("a number"));
            } else if let Some(text) = text.strip_prefix("data: ") {
                data = Some(serde_json::from_str(text).expect("JSON"));
            } else if text.is_empty()
                && let (Some(id), Some(data)) = (id.take(), data.take())
            {
                return Some((id, data));
            }
        }
    }
}

/// A body in chunks, line by line.
struct Chunks {
    from: BufReader<TcpStream>,
    left: usize,
    is_over: bool,
}

impl Chunks {
    fn line(&mut self, line: &mut Vec<u8>) -> Option<()> {
        loop {
            match self.byte()? {
                b'\n' => return Some(()),
                byte => line.push(byte),
            }
        }
    }

    fn byte(&mut self) -> Option<u8> {
        if self.is_over {
            return None;
        }
        if self.left == 0 {
            self.left = size(&mut self.from)?;
            if self.left == 0 {
                self.is_over = true;
                return None;
            }
        }
        let mut byte = [0];
        self.from.read_exact(&mut byte).ok()?;
        self.left -= 1;
        if self.left == 0 {
            drop(self.from.read_exact(&mut [0; 2]));
        }
        Some(byte[0])
    }
}

/// The size of the next chunk.
fn size(from: &mut impl BufRead) -> Option<usize> {
    let mut line = String::new();
    from.read_line(&mut line).ok()?;
    usize::from_str_radix(line.trim(), 16).ok()
}

pub(super) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
    stream.set_write_timeout(Some(PATIENCE)).expect("a socket");
    stream.set_nodelay(true).expect("a socket");
    stream
}

/// Sends bytes and reads all that comes back until the server hangs up.
pub(super) fn raw(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = connect(address);
    // A server that refuses does not read on.
    drop(stream.write_all(bytes));
    rest(&mut stream)
}

/// The same with nothing to come behind the bytes.
pub(super) fn cut(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = connect(address);
    drop(stream.write_all(bytes));
    drop(stream.shutdown(std::net::Shutdown::Write));
    rest(&mut stream)
}

/// What is left to read, up to the end.
pub(super) fn rest(stream: &mut impl Read) -> String {
    let mut back = Vec::new();
    let mut piece = [0; 4096];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => back.extend_from_slice(&piece[..read]),
            Err(why) if why.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(why) => panic!("the server neither answers nor hangs up: {why}"),
        }
    }
    String::from_utf8_lossy(&back).into_owned()
}

fn head(from: &mut impl BufRead) -> Option<String> {
    let mut head = String::new();
    loop {
        let before = head.len();
        from.read_line(&mut head).ok()?;
        match &head[before..] {
            "" => return None,
            "\r\n" => return Some(head.to_ascii_lowercase()),
            _ => {}
        }
    }
}

/// One reply.
pub(super) fn read(from: &mut impl BufRead) -> Option<Reply> {
    let head = head(from)?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let mut reply = Reply { status, head, body: String::new() };
    let mut body = Vec::new();
    if reply.header("transfer-encoding").is_some_and(|how| how == "chunked") {
        while let Some(size) = size(from) {
            let mut chunk = vec![0; size + 2];
            from.read_exact(&mut chunk).ok()?;
            if size == 0 {
                break;
            }
            body.extend_from_slice(&chunk[..size]);
        }
    } else {
        let length =
            reply.header("content-length").map_or(Some(0), |length| length.parse().ok())?;
        body.resize(length, 0);
        from.read_exact(&mut body).ok()?;
    }
    reply.body = String::from_utf8(body).ok()?;
    Some(reply)
}
