//! JSON-RPC over the pipes of a process, one message per line.
//!
//! A line that is too long, or a message that is not JSON, ends the connection with a reason: otherwise a call would wait for an answer
//! that was lost. Lines that are no messages at all are treated like output to standard error: they are
//! probably log output.

use crate::fault::short;
use rmcp::model::{CustomResult, ErrorData, RequestId, ServerJsonRpcMessage, ServerResult};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Map, Value};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};

/// The maximum size of a message, in bytes.
pub(crate) const MESSAGE: usize = 16 * 1024 * 1024;

/// The reason why the connection was given up; the first one counts.
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

/// A function that gets lines that are no messages.
pub(crate) type Stray = Box<dyn Fn(&str) + Send>;

/// The transport, for a reader `R` and a writer `W`.
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

/// The classification of a line.
enum Line {
    Message(Box<RxJsonRpcMessage<RoleClient>>),
    /// A line that is no message, or a message that the client does not use.
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

    // The library polls this future beside others and may drop it at any `await`. So bytes that were read are kept in `self.line`.
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
        // A closed pipe is the signal for the server to end.
        drop(self.write.lock().await.take());
        Ok(())
    }
}

fn read(line: &[u8]) -> Line {
    match serde_json::from_slice(line) {
        Ok(Value::Object(message)) if message.contains_key("jsonrpc") => message_of(message),
        Ok(_) => Line::Other,
        Err(why) => {
            // A log line may begin with a brace as well. Only a message contains the key `jsonrpc`.
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

/// Parses a message. Results are kept as raw JSON, so that one malformed part does not invalidate the rest.
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
    // Only the answer to `initialize` has this key. The library needs it in its own type.
    let is_first = result.get("protocolVersion").is_some();
    let result = match is_first.then(|| serde_json::from_value(result.clone())) {
        Some(Ok(result)) => ServerResult::InitializeResult(result),
        Some(Err(_)) | None => ServerResult::CustomResult(CustomResult::new(result)),
    };
    of(ServerJsonRpcMessage::response(result, id))
}

/// The result as it was sent.
pub(crate) fn raw(result: ServerResult) -> Value {
    if let ServerResult::CustomResult(CustomResult(value)) = result {
        return value;
    }
    serde_json::to_value(result).unwrap_or_default()
}
