//! `chartc lsp`: the Language Server Protocol on standard input and output.
//!
//! Typing must never wait for a check, and an answer must fit the text that the user sees. So one thread reads messages and answers,
//! another checks ([`checker`]), and a request waits until its text has been checked as it is. For example:
//!
//! ```text
//! didOpen door.chart         the session gives the checker a job
//! hover                      waits
//! (the check is done)        publishDiagnostics, then the answer to hover
//! didChange door.chart       change 2; a job for the new text
//! didChange door.chart       change 3; the job of change 2 ends early, its result is dropped
//! completion                 waits for the check of change 3
//! ```
//!
//! [`session`] has this logic, [`answer`] has the answers, [`client`] what the editor can do, and [`super::super::ide`] computes the answers.

mod answer;
mod checker;
mod client;
mod session;
mod texts;

use super::output::{self, Exit};
use crate::disk;
use client::Client;
use crossbeam_channel::{Receiver, Sender, unbounded};
use lsp_server::{Connection, Message};
use session::Session;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::thread::{Builder, JoinHandle};
use texts::Places;

/// Serve an editor: the Language Server Protocol on standard input and output.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc lsp             what an editor starts; docs/editors.md has the settings of many
  chartc lsp --stdio     the same: some editors add this option

The server reads *.chart, agent.yaml, *.agent.yaml and *.scxml, also texts that were never saved. It checks while
you type, and plays tests and explores on save where that takes long. It has the settings of the nearest
chartc.toml, starts no program and opens no connection.

Exit codes: 0 the editor ended it in the agreed way, 1 the editor went away, 2 wrong usage, 3 internal error")]
pub(super) struct Args {
    /// Speak on standard input and output, as it does without
    #[arg(long)]
    stdio: bool,
}

#[allow(clippy::disallowed_methods, reason = "an editor speaks on standard input")]
pub(super) fn run(args: &Args) -> miette::Result<Exit> {
    let Args { stdio: _ } = args;
    converse(std::io::stdin(), output::protocol())
}

/// Serves an editor that writes its messages to `from` and reads those of the server from `to`, until it ends the session or `from` ends.
///
/// # Errors
/// What comes from `from` is no message, or the first one cannot be understood, or `to` cannot be written.
pub fn converse(
    from: impl Read + Send + 'static,
    to: impl Write + Send + 'static,
) -> miette::Result<Exit> {
    let cannot = |fault| miette::miette!("cannot start a thread: {fault}");
    let (connection, threads) = connect(from, to).map_err(cannot)?;
    let exit = serve(&connection);
    // Each thread ends when the other end of its channel is dropped.
    drop(connection);
    let ended = threads.join();
    match (exit, ended) {
        (Ok(exit), Ok(())) => Ok(exit),
        (Ok(_), Err(fault)) => Err(miette::miette!("the editor cannot be heard: {fault}")),
        (Err(fault), _) => Err(fault),
    }
}

/// Serves until the client ends the session or closes the connection.
fn serve(connection: &Connection) -> miette::Result<Exit> {
    let Ok((id, params)) = connection.initialize_start() else { return Ok(Exit::Findings) };
    let client = match serde_json::from_value(params) {
        Ok(params) => Client::from_params(params),
        Err(fault) => {
            let why = format!("`initialize` cannot be understood: {fault}");
            let code = lsp_server::ErrorCode::InvalidParams as i32;
            let refusal = lsp_server::Response::new_err(id, code, why.clone());
            drop(connection.sender.send(refusal.into()));
            return Err(miette::miette!("{why}"));
        }
    };
    // Settings, imports and links are relative to the working directory.
    if let Some(folder) = &client.folder {
        drop(std::env::set_current_dir(folder));
    }
    let places = Places::new(super::files::here()?);
    let hello = answer::hello(&client);
    if connection.initialize_finish(id, hello).is_err() {
        return Ok(Exit::Findings);
    }
    Session::new(connection.sender.clone(), client, places)?.serve(&connection.receiver)
}

// Reads and writes messages, each behind a header with its length.
//
// Each direction has a thread of its own: a client that writes all its requests before it reads an answer must not block the server.

/// The maximum size of a message in bytes: a text of the maximum size of a file, with every byte escaped.
const LONGEST: u64 = 6 * disk::LARGEST + (1 << 20);
/// The maximum length of a line of a header, in bytes.
const LINE: u64 = 1 << 10;

/// The threads that read and write.
struct Threads {
    reader: JoinHandle<Result<()>>,
    writer: JoinHandle<Result<()>>,
}

/// Starts the threads, and returns their channels.
fn connect(
    from: impl Read + Send + 'static,
    to: impl Write + Send + 'static,
) -> Result<(Connection, Threads)> {
    let (send, receiver) = unbounded();
    let (sender, messages) = unbounded();
    let reader = Builder::new().spawn(move || listen(&mut BufReader::new(from), &send))?;
    let writer = Builder::new().spawn(move || speak(messages, to))?;
    Ok((Connection { sender, receiver }, Threads { reader, writer }))
}

impl Threads {
    /// Waits until all messages are written.
    ///
    /// # Errors
    /// The input is not a message, or standard output cannot be written.
    fn join(self) -> Result<()> {
        let gone = |_| Err(Error::other("a thread has failed"));
        let heard = self.reader.join().unwrap_or_else(gone);
        self.writer.join().unwrap_or_else(gone).and(heard)
    }
}

fn listen(from: &mut impl BufRead, to: &Sender<Message>) -> Result<()> {
    while let Some(message) = read(from)? {
        // After `exit` the client may keep its end open: do not wait for more.
        let is_last = matches!(&message, Message::Notification(note) if note.method == "exit");
        if to.send(message).is_err() || is_last {
            break;
        }
    }
    Ok(())
}

fn speak(messages: Receiver<Message>, mut to: impl Write) -> Result<()> {
    messages.into_iter().try_for_each(|message| message.write(&mut to))
}

fn invalid(why: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidData, why.into())
}

/// Reads the next message; `None` at the end of the input. Memory is allocated for the bytes that come, not for the length in the header.
fn read(from: &mut impl BufRead) -> Result<Option<Message>> {
    let Some(length) = header(from)? else { return Ok(None) };
    let mut bytes = Vec::new();
    from.take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    let message = serde_json::from_slice(&bytes);
    message.map(Some).map_err(|why| invalid(format!("a message is no JSON-RPC: {why}")))
}

/// Reads a header, and returns the length in it; `None` at the end of the input.
fn header(from: &mut impl BufRead) -> Result<Option<u64>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        let read = from.by_ref().take(LINE).read_line(&mut line)?;
        if read == 0 && length.is_none() {
            return Ok(None);
        }
        let Some(line) = line.strip_suffix('\n') else {
            return Err(invalid("a header is cut short, or longer than 1,024 bytes"));
        };
        let line = line.trim_end_matches('\r');
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        if name.eq_ignore_ascii_case("content-length") {
            let value = value.trim().parse::<u64>();
            length = Some(value.map_err(|_| invalid("`Content-Length` is no number"))?);
        }
    }
    match length {
        Some(length) if length > LONGEST => Err(invalid(format!(
            "a message of {length} bytes is longer than any: {LONGEST} is the most"
        ))),
        None => Err(invalid("a header without `Content-Length`")),
        Some(length) => Ok(Some(length)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> (Vec<String>, Option<String>) {
        let (send, messages) = unbounded();
        let fault = listen(&mut &bytes[..], &send).err().map(|fault| fault.to_string());
        drop(send);
        let method = |message| match message {
            Message::Notification(note) => note.method,
            Message::Request(request) => request.method,
            Message::Response(_) => "response".to_owned(),
        };
        (messages.into_iter().map(method).collect(), fault)
    }

    #[test]
    fn messages_end_where_they_say() {
        let one = "Content-Length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}";
        let other = "content-type: x\r\ncontent-length:14\n\n{\"method\":\"a\"}";
        let told = all(format!("{other}{other}{one}{other}").as_bytes());
        // Nothing behind `exit` is read.
        assert_eq!(told, (["a", "a", "exit"].map(str::to_owned).to_vec(), None));
        assert_eq!(all(b""), (Vec::new(), None));
    }

    #[test]
    fn what_a_header_promises_takes_no_memory() {
        for (bytes, says) in [
            ("Content-Length: 1000000000000\r\n\r\n{}", "longer than any"),
            ("Content-Length: 100000000\r\n\r\n{}", "unexpected end"),
            ("Content-Length: -1\r\n\r\n{}", "no number"),
            ("Content-Length: 99999999999999999999999\r\n\r\n{}", "no number"),
            ("Content-Type: x\r\n\r\n{}", "without `Content-Length`"),
            ("Content-Length: 2\r\n\r\n{}", "no JSON-RPC"),
            ("Content-Length: 2\r\n", "cut short"),
        ] {
            let (told, fault) = all(bytes.as_bytes());
            assert!(told.is_empty(), "{bytes}");
            assert!(fault.as_ref().is_some_and(|why| why.contains(says)), "{bytes}: {fault:?}");
        }
        let endless = "x".repeat(5000);
        assert!(all(endless.as_bytes()).1.is_some_and(|why| why.contains("cut short")));
    }
}
