//! A session with the language server, from the first message to its end.

use lsp_server::{Message, Notification, RequestId, Response};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Result, Write};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// The bytes of messages, each with its header.
pub(super) fn written(messages: &[Message]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        message.write(&mut bytes).expect("memory");
    }
    bytes
}

/// What the server has written.
#[derive(Default)]
pub(super) struct Heard {
    bytes: Vec<u8>,
    /// The end of the last complete message.
    read: usize,
    /// The number of answers that are still to come, by request; `None` if they are not counted.
    pub(super) asked: Option<BTreeMap<RequestId, i32>>,
}

impl Heard {
    /// Reads the complete messages.
    fn read(&mut self) {
        while let Some((head, body)) = frame(&self.bytes[self.read..]) {
            let message: Value = serde_json::from_slice(body).expect("a message is JSON");
            assert_eq!(message["jsonrpc"], "2.0");
            assert!(!message.to_string().contains("this is an error in chartc"), "{message}");
            let message: Message = serde_json::from_slice(body).expect("a message");
            if let (Message::Response(Response { id, .. }), Some(asked)) =
                (message, &mut self.asked)
            {
                *asked.entry(id).or_default() -= 1;
            }
            self.read += head + body.len();
        }
    }

    pub(super) fn whole(&self) {
        assert_eq!(self.read, self.bytes.len(), "a message without its end");
    }
}

/// The first message and the length of its header; `None` if it is not complete.
fn frame(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).expect("a header is text");
    let length = head.strip_prefix("Content-Length: ").expect("one header").parse();
    let length: usize = length.expect("a number");
    Some((end + 4, bytes.get(end + 4..end + 4 + length)?))
}

type Shared = Arc<(Mutex<Heard>, Condvar)>;

struct Ear(Shared);

impl Write for Ear {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut heard = self.0.0.lock().expect("whole");
        heard.bytes.extend_from_slice(bytes);
        heard.read();
        self.0.1.notify_all();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// What the editor sends: these bytes, and `exit` after the last answer.
struct Mouth {
    bytes: std::io::Cursor<Vec<u8>>,
    heard: Shared,
    has_ended: bool,
}

impl Read for Mouth {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let read = self.bytes.read(into)?;
        if read > 0 || self.has_ended {
            return Ok(read);
        }
        self.has_ended = true;
        let is_open = |heard: &mut Heard| heard.asked.iter().flatten().any(|(_, count)| *count > 0);
        let heard = self.heard.0.lock().expect("whole");
        let (heard, waited) = self
            .heard
            .1
            .wait_timeout_while(heard, Duration::from_secs(30), is_open)
            .expect("whole");
        assert!(!waited.timed_out(), "no answer to {:?}", heard.asked);
        if heard.asked.is_some() {
            let exit = Notification { method: "exit".into(), params: Value::Null };
            self.bytes = std::io::Cursor::new(written(&[exit.into()]));
        }
        self.bytes.read(into)
    }
}

/// Plays a session. Returns what the server has written, and how it ended.
pub(super) fn converse(
    bytes: Vec<u8>,
    asked: Option<BTreeMap<RequestId, i32>>,
) -> (Heard, std::result::Result<(), String>) {
    let heard: Shared = Arc::default();
    heard.0.lock().expect("whole").asked = asked;
    let mouth =
        Mouth { bytes: std::io::Cursor::new(bytes), heard: heard.clone(), has_ended: false };
    let ended = chartc::cli::lsp::converse(mouth, Ear(heard.clone()));
    let ended = ended.map(drop).map_err(|why| why.to_string());
    let said = std::mem::take(&mut *heard.0.lock().expect("whole"));
    (said, ended)
}
