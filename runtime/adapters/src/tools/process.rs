//! Processes, each in a process group of its own, with few variables of the environment.

use super::config::Program;
use super::short;
use rmcp::model::{CustomResult, ErrorData, RequestId, ServerJsonRpcMessage, ServerResult};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The maximum length of a line of standard error, in bytes. The rest of a longer line counts as the next line.
const LINE: usize = 8 * 1024;
/// The number of last lines of standard error that error messages show.
const TAIL: usize = 8;
/// The maximum total size of these lines, in bytes.
const TAIL_BYTES: usize = 2000;
/// The time that a process has to end after its standard input was closed, and again after it was asked to end.
const GRACE: Duration = Duration::from_secs(2);
/// The time to wait for the last output of a process that has ended.
const DRAIN: Duration = Duration::from_millis(500);

/// A function that gets what processes write to standard error: the name of the server or tool, and one line.
pub(super) type StderrListener = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// The last [`TAIL`] lines of standard error.
#[derive(Clone, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    pub(super) fn put(&self, line: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == TAIL {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }

    /// The lines as the end of a message, `; it wrote: …`; empty if there are none.
    pub(super) fn told(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.is_empty() {
            return String::new();
        }
        let mut text = lines.iter().map(String::as_str).collect::<Vec<_>>().join(" / ");
        if text.len() > TAIL_BYTES {
            let mut start = text.len() - TAIL_BYTES;
            while !text.is_char_boundary(start) {
                start += 1;
            }
            text = format!("…{}", &text[start..]);
        }
        format!("; it wrote: {text}")
    }
}

/// A process group. Dropping it kills its processes.
struct Group {
    #[cfg(unix)]
    id: Option<rustix::process::Pid>,
}

impl Group {
    #[cfg(unix)]
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self { id: id.and_then(rustix::process::Pid::from_raw) }
    }

    #[cfg(not(unix))]
    fn of(_: &Child) -> Self {
        Self {}
    }

    /// Asks the processes of the group to end.
    fn ask(&self) {
        #[cfg(unix)]
        if let Some(id) = self.id {
            // An error means that the group is already gone.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::TERM);
        }
    }

    /// Kills the processes of the group, only once: afterwards the system may give the group's number to others.
    fn end(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.id.take() {
            // An error means that the group is already gone.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

/// A running process with everything that it has started.
pub(super) struct Running {
    // Declared before `child`, so that it is dropped first: the number of the group stays reserved until the child is reaped.
    group: Group,
    child: Child,
    /// The task that reads standard error; `None` when it has ended.
    stderr: Option<JoinHandle<()>>,
    pub(super) tail: Tail,
}

/// The pipes to and from a process.
pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
}

/// Starts a program with only `base` and the variables that are configured for it. A task reads its standard error, so that a full pipe
/// never blocks it.
pub(super) fn start(
    name: &str,
    program: &Program,
    base: &[(String, String)],
    heard: &StderrListener,
) -> io::Result<(Running, Pipes)> {
    let (path, arguments) = program.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(path);
    command
        .args(arguments)
        .env_clear()
        .envs(base.iter().map(|(name, value)| (name, value)))
        .envs(program.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(folder) = &program.cwd {
        command.current_dir(folder);
    }
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn()?;
    let group = Group::of(&child);
    let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
    let stdin = child.stdin.take().ok_or_else(broken)?;
    let stdout = child.stdout.take().ok_or_else(broken)?;
    let pipe = child.stderr.take().ok_or_else(broken)?;
    let tail = Tail::default();
    let stderr = Some(tokio::spawn(drain(pipe, name.to_owned(), tail.clone(), heard.clone())));
    Ok((Running { group, child, stderr, tail }, Pipes { stdin, stdout }))
}

/// Reads lines until the end of the pipe, and accepts bytes that are not UTF-8.
async fn drain(pipe: impl AsyncRead + Unpin, name: String, tail: Tail, heard: StderrListener) {
    let mut reader = BufReader::new(pipe);
    let mut line: Vec<u8> = Vec::new();
    let tell = |line: &mut Vec<u8>| {
        let text = String::from_utf8_lossy(line).trim_end_matches(['\n', '\r']).to_owned();
        line.clear();
        if !text.is_empty() {
            tail.put(&short(&text, 400));
            heard(&name, &text);
        }
    };
    while let Ok(bytes) = reader.fill_buf().await
        && !bytes.is_empty()
    {
        // `max(1)` guarantees progress when the line is already full.
        let room = LINE.saturating_sub(line.len()).max(1);
        let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        let take = end.min(room);
        line.extend_from_slice(&bytes[..take]);
        let is_whole = line.ends_with(b"\n") || line.len() >= LINE;
        reader.consume(take);
        if is_whole {
            tell(&mut line);
            // A program that writes without pause must not block other tasks of this thread.
            tokio::task::yield_now().await;
        }
    }
    if !line.is_empty() {
        tell(&mut line);
    }
}

impl Running {
    /// Describes how the process ended and what it wrote last. Waits for its end for a moment only.
    pub(super) async fn ending(&mut self) -> String {
        let ended = timeout(DRAIN, self.child.wait()).await;
        self.drained().await;
        let how = match ended {
            Ok(Ok(status)) => told(status),
            Ok(Err(why)) => why.to_string(),
            Err(_) => "it still runs".to_owned(),
        };
        format!("{how}{}", self.tail.told())
    }

    /// Waits for the end of the process. Cancelling the wait loses nothing.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Waits for the rest of standard error, but not long: another process may have inherited the pipe and keep it open.
    pub(super) async fn drained(&mut self) {
        if let Some(stderr) = &mut self.stderr
            && timeout(DRAIN, stderr).await.is_ok()
        {
            self.stderr = None;
        }
    }

    /// Ends the process and everything that it has started: first by waiting, because its standard input is already closed, then with
    /// SIGTERM, then with SIGKILL.
    pub(super) async fn close(mut self) {
        if timeout(GRACE, self.child.wait()).await.is_err() {
            self.group.ask();
            drop(timeout(GRACE, self.child.wait()).await);
        }
        self.group.end();
        self.drained().await;
        if let Some(stderr) = &self.stderr {
            stderr.abort();
        }
    }
}

/// Describes an exit status.
pub(super) fn told(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("it was ended by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("it ended with exit status {code}"),
        None => "it ended".to_owned(),
    }
}

// JSON-RPC over the pipes of a process, one message per line.
//
// A line that is too long, or a message that is not JSON, ends the connection with a reason: otherwise a call would wait for an answer
// that was lost. Lines that are no messages at all are treated like output to standard error: they are
// probably log output.

/// The maximum size of a message, in bytes.
pub(super) const MESSAGE: usize = 16 * 1024 * 1024;

/// The reason why the connection was given up; the first one counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Reason(Arc<Mutex<Option<String>>>);

impl Reason {
    fn put(&self, why: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    pub(super) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A function that gets lines that are no messages.
pub(super) type Stray = Box<dyn Fn(&str) + Send>;

/// The transport, for a reader `R` and a writer `W`.
pub(super) struct Lines<R, W> {
    read: R,
    line: Vec<u8>,
    write: Arc<tokio::sync::Mutex<Option<W>>>,
    reason: Reason,
    stray: Stray,
}

impl<R, W> Lines<R, W> {
    pub(super) fn new(read: R, write: W, reason: Reason, stray: Stray) -> Self {
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
pub(super) fn raw(result: ServerResult) -> Value {
    if let ServerResult::CustomResult(CustomResult(value)) = result {
        return value;
    }
    serde_json::to_value(result).unwrap_or_default()
}
