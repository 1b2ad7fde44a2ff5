//! Processes: started with few variables, in a group of their own, which ends with them.

use crate::config::Program;
use crate::fault::short;
use std::collections::VecDeque;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Bytes of a line of standard error; the rest of a longer line is a line of its own.
const LINE: usize = 8 * 1024;
/// Lines of standard error that errors show.
const TAIL: usize = 8;
/// Bytes of them.
const TAIL_BYTES: usize = 2000;
/// How long a process may go on after its standard input was closed, and after it was asked to end.
const GRACE: Duration = Duration::from_secs(2);
/// How long to wait for what a process that has ended wrote last.
const DRAIN: Duration = Duration::from_millis(500);

/// Hears what processes write to standard error, line by line, each with the name of the server or tool.
pub(crate) type StderrListener = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// The last lines of standard error.
#[derive(Clone, Default)]
pub(crate) struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    pub(crate) fn put(&self, line: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == TAIL {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }

    /// `; it wrote: …`, or nothing.
    pub(crate) fn told(&self) -> String {
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

/// A group of processes, which is killed when this is dropped.
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

    /// Asks its processes to end.
    fn ask(&self) {
        #[cfg(unix)]
        if let Some(id) = self.id {
            // The group may be gone already.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::TERM);
        }
    }

    /// Kills its processes, once: the number may be somebody else's afterwards.
    fn end(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.id.take() {
            // The group may be gone already.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

/// A process that runs.
pub(crate) struct Running {
    // Killed before the child is dropped, so that the number of the group is still its own.
    group: Group,
    child: Child,
    /// Reads standard error; `None` when that has ended.
    stderr: Option<JoinHandle<()>>,
    pub(crate) tail: Tail,
}

/// The ends of a process's pipes.
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
}

/// Starts a program with `base` and its own variables only. What it writes to standard error is always read.
pub(crate) fn start(
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

/// Reads lines to the end, whatever bytes they have.
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
        let room = LINE.saturating_sub(line.len()).max(1);
        let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        let take = end.min(room);
        line.extend_from_slice(&bytes[..take]);
        let is_whole = line.ends_with(b"\n") || line.len() >= LINE;
        reader.consume(take);
        if is_whole {
            tell(&mut line);
            // A flood must not keep others from their turn.
            tokio::task::yield_now().await;
        }
    }
    if !line.is_empty() {
        tell(&mut line);
    }
}

impl Running {
    /// How it ended, with what it wrote last; waits for it a moment.
    pub(crate) async fn ending(&mut self) -> String {
        let ended = timeout(DRAIN, self.child.wait()).await;
        self.drained().await;
        let how = match ended {
            Ok(Ok(status)) => told(status),
            Ok(Err(why)) => why.to_string(),
            Err(_) => "it still runs".to_owned(),
        };
        format!("{how}{}", self.tail.told())
    }

    /// Waits for its end. Dropping the future changes nothing.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Waits for the rest of standard error, unless somebody else holds it open.
    pub(crate) async fn drained(&mut self) {
        if let Some(stderr) = &mut self.stderr
            && timeout(DRAIN, stderr).await.is_ok()
        {
            self.stderr = None;
        }
    }

    /// Ends it and all that it has started. Its standard input is closed already.
    pub(crate) async fn close(mut self) {
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

/// How a process ended, in words.
pub(crate) fn told(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("it was ended by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("it ended with exit status {code}"),
        None => "it ended".to_owned(),
    }
}
