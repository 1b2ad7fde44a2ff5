//! JSON-RPC over the pipes of a process, one message a line.
//!
//! What a server must not send ends the connection with a reason, instead of a call that nobody answers: a line that is too long, or a
//! message that is no JSON. Lines that are no messages at all are kept like standard error.

use crate::fault::short;
use rmcp::model::{CustomResult, ErrorData, RequestId, ServerJsonRpcMessage, ServerResult};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Map, Value};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};

/// Bytes of a message.
pub(crate) const MESSAGE: usize = 16 * 1024 * 1024;

/// Why a connection was given up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reason(Arc<Mutex<Option<String>>>);

impl Reason {
    fn put(&self, why: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    pub(crate) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Hears lines that are no messages.
pub(crate) type Stray = Box<dyn Fn(&str) + Send>;

/// The transport.
pub(crate) struct Lines<R, W> {
    read: R,
    line: Vec<u8>,
    write: Arc<tokio::sync::Mutex<Option<W>>>,
    reason: Reason,
    stray: Stray,
}

impl<R, W> Lines<R, W> {
    pub(crate) fn new(read: R, write: W, reason: Reason, stray: Stray) -> Self {
        let write = Arc::new(tokio::sync::Mutex::new(Some(write)));
        Self { read, line: Vec::new(), write, reason, stray }
    }
}

/// What a line is.
enum Line {
    Message(Box<RxJsonRpcMessage<RoleClient>>),
    /// Not for us, or nothing.
    Other,
    Broken(String),
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncBufRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let write = self.write.clone();
        async move {
            let mut line = serde_json::to_vec(&item).map_err(io::Error::other)?;
            line.push(b'\n');
            let mut write = write.lock().await;
            let pipe = write.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            pipe.write_all(&line).await?;
            pipe.flush().await
        }
    }

    // Others are polled beside it, so that it may be dropped at any `await`: what was read is in `line`.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let bytes = match self.read.fill_buf().await {
                Ok([]) => return None,
                Ok(bytes) => bytes,
                Err(why) => {
                    self.reason.put(why.to_string());
                    return None;
                }
            };
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let take = end.map_or(bytes.len(), |at| at + 1);
            if self.line.len() + take > MESSAGE {
                self.reason.put(format!("it sent a message of more than {MESSAGE} bytes"));
                return None;
            }
            self.line.extend_from_slice(&bytes[..take]);
            self.read.consume(take);
            if end.is_none() {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            match read(&line) {
                Line::Message(message) => return Some(*message),
                Line::Other => {
                    let text = String::from_utf8_lossy(&line);
                    if !text.trim().is_empty() {
                        (self.stray)(short(text.trim(), 8192).as_str());
                    }
                }
                Line::Broken(why) => {
                    self.reason.put(why);
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        // Closing the pipe asks the server to end.
        drop(self.write.lock().await.take());
        Ok(())
    }
}

fn read(line: &[u8]) -> Line {
    match serde_json::from_slice(line) {
        Ok(Value::Object(message)) if message.contains_key("jsonrpc") => message_of(message),
        Ok(_) => Line::Other,
        Err(why) => {
            // A log line may begin with a brace; only a message names the protocol.
            let is_message = line.trim_ascii_start().starts_with(b"{")
                && line.windows(9).any(|part| part == b"\"jsonrpc\"");
            if is_message {
                let start = short(&String::from_utf8_lossy(line), 200);
                Line::Broken(format!("it sent a message that is not JSON ({why}): {start}"))
            } else {
                Line::Other
            }
        }
    }
}

/// A message. Results stay as they are, so that one malformed part costs no others.
fn message_of(mut message: Map<String, Value>) -> Line {
    let of = |message: ServerJsonRpcMessage| Line::Message(Box::new(message));
    let id = |message: &Map<String, Value>| {
        message.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok())
    };
    if message.contains_key("method") {
        let read = serde_json::from_value(Value::Object(message));
        return read.map_or(Line::Other, of);
    }
    if let Some(error) = message.remove("error") {
        let error: ErrorData = serde_json::from_value(error.clone())
            .unwrap_or_else(|_| ErrorData::internal_error(short(&error.to_string(), 2000), None));
        return of(ServerJsonRpcMessage::error(error, id(&message)));
    }
    let (Some(result), Some(id)) = (message.remove("result"), id(&message)) else {
        return Line::Other;
    };
    // Only the answer to `initialize` names a version.
    let is_first = result.get("protocolVersion").is_some();
    let result = match is_first.then(|| serde_json::from_value(result.clone())) {
        Some(Ok(result)) => ServerResult::InitializeResult(result),
        Some(Err(_)) | None => ServerResult::CustomResult(CustomResult::new(result)),
    };
    of(ServerJsonRpcMessage::response(result, id))
}

/// A result as it was sent.
pub(crate) fn raw(result: ServerResult) -> Value {
    if let ServerResult::CustomResult(CustomResult(value)) = result {
        return value;
    }
    serde_json::to_value(result).unwrap_or_default()
}
