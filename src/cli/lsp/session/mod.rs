//! The state of the server, and its reaction to each message.
//!
//! A check may take seconds, typing must not wait for it, and answers must fit the text as it is now. So each change counts up, and
//! whatever belongs to an earlier count is dropped. For two changes while a check runs:
//!
//! ```text
//! state                          message or result     reaction
//! change 1, checking 1           didChange             change 2; the checker is told, so that it ends the check of 1
//! change 2, checking 1           hover                 waits, because the text is not checked as it is
//! change 2, checking 1           result of 1           dropped; nothing is checked now, so a check of 2 begins
//! change 2, checking 2           result of 2           findings are published, and hover is answered
//! ```

mod check;
mod notes;
mod requests;

use super::capabilities::Client;
use super::checker::{Checker, Depth};
use super::places::Places;
use super::texts::Texts;
use crate::Compilation;
use crate::cli::Exit;
use crate::cli::config::Config;
use crate::cli::settings::Settings;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, after, never, select};
use gen_lsp_types as lsp;
use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The state of an open text.
#[derive(Default)]
struct TextState {
    /// The compilation of the text as it is now. One of an earlier text cannot answer requests and would only take memory.
    compilation: Option<Arc<Compilation>>,
    /// The names of the files that the last check read.
    reads: Option<BTreeSet<String>>,
    /// The depth of the last check of the text as it is now; `None` if it has not been checked.
    checked: Option<Depth>,
    /// The time that the last full check took.
    took: Option<Duration>,
    /// Whether a full check is wanted however long it takes, because the text was saved or has just been opened.
    wants_all: bool,
    /// The files that show findings because of this text.
    shown: BTreeSet<lsp::Uri>,
}

impl TextState {
    /// Stores the compilation of the text as it is now, and returns the previous one.
    fn keep(&mut self, compilation: Arc<Compilation>) -> Option<Arc<Compilation>> {
        let names = compilation.sources.iter().map(|(_, source)| source.name.clone());
        self.reads = Some(names.collect());
        self.compilation.replace(compilation)
    }
}

/// A request that waits until its text is checked.
struct Waiting {
    id: RequestId,
    method: String,
    params: Value,
    uri: lsp::Uri,
    /// The version of the text when the request came.
    version: i32,
}

/// The state of the server between two messages.
pub(super) struct Session {
    sender: Sender<Message>,
    client: Client,
    places: Places,
    texts: Texts,
    settings: Arc<Settings>,
    known: BTreeMap<lsp::Uri, TextState>,
    waiting: Vec<Waiting>,
    checker: Checker,
    is_checking: bool,
    /// The number of changes of texts and files so far.
    change: u64,
    /// The time of the last change.
    changed: Instant,
    /// The problem that was shown last.
    complaint: Option<String>,
    /// The number of requests to the client so far.
    asked: i32,
    /// The id of the open request for the client's settings.
    asked_settings: Option<RequestId>,
    shuts_down: bool,
}

#[allow(clippy::disallowed_methods, reason = "a long check waits until nobody types")]
fn now() -> Instant {
    Instant::now()
}

/// Creates settings that read `chartc.toml` files anew.
fn settings() -> miette::Result<Arc<Settings>> {
    Settings::new(Config::default()).map(Arc::new)
}

impl Session {
    /// Creates a session without open texts.
    ///
    /// # Errors
    /// The working directory does not exist or cannot be read.
    pub(super) fn new(
        sender: Sender<Message>,
        client: Client,
        places: Places,
    ) -> miette::Result<Self> {
        Ok(Self {
            sender,
            client,
            places,
            texts: Texts::default(),
            settings: settings()?,
            known: BTreeMap::new(),
            waiting: Vec::new(),
            checker: Checker::start(),
            is_checking: false,
            change: 0,
            changed: now(),
            complaint: None,
            asked: 0,
            asked_settings: None,
            shuts_down: false,
        })
    }

    /// Serves until the client sends `exit` or closes the connection.
    ///
    /// # Errors
    /// The working directory does not exist any more.
    pub(super) fn serve(&mut self, messages: &Receiver<Message>) -> miette::Result<Exit> {
        self.ask_to_watch();
        loop {
            let pause = self.begin_check();
            let timer = pause.map_or_else(never, after);
            select! {
                recv(messages) -> message => {
                    let Ok(message) = message else { return Ok(Exit::Findings) };
                    let mut next = Some(message);
                    // Take all messages that have come before starting a check: fast typing then causes one check, not many.
                    while let Some(message) = next {
                        if let Some(exit) = self.take(message)? {
                            return Ok(exit);
                        }
                        next = match messages.recv_timeout(Duration::ZERO) {
                            Ok(message) => Some(message),
                            Err(RecvTimeoutError::Timeout) => None,
                            Err(RecvTimeoutError::Disconnected) => return Ok(Exit::Findings),
                        };
                    }
                }
                recv(self.checker.done) -> done => {
                    let Ok(done) = done else { return Ok(Exit::Internal) };
                    self.take_in(done);
                }
                recv(timer) -> _ => {}
            }
        }
    }

    fn send(&self, message: impl Into<Message>) {
        // If the client is gone, receiving from it fails next.
        drop(self.sender.send(message.into()));
    }

    fn tell(&self, method: &str, params: &impl serde::Serialize) {
        self.send(Notification::new(method.to_owned(), params));
    }

    fn ask(&mut self, method: &str, params: Value) -> RequestId {
        self.asked += 1;
        let id = RequestId::from(self.asked);
        self.send(Request { id: id.clone(), method: method.to_owned(), params });
        id
    }

    /// Asks the client to report changes of files that are not open.
    fn ask_to_watch(&mut self) {
        if !self.client.watches {
            return;
        }
        let globs = ["**/*.chart", "**/*.yaml", "**/*.scxml", "**/chartc.toml"];
        let watchers: Vec<Value> =
            globs.iter().map(|glob| json!({ "globPattern": glob })).collect();
        let registration = json!({
            "id": "files",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": { "watchers": watchers },
        });
        self.ask("client/registerCapability", json!({ "registrations": [registration] }));
    }

    /// Handles a message. Returns the exit code if it ends the server.
    fn take(&mut self, message: Message) -> miette::Result<Option<Exit>> {
        match message {
            Message::Request(request) => {
                self.request(request);
                Ok(None)
            }
            Message::Notification(note) => self.notification(note),
            Message::Response(response) => {
                self.response(response);
                Ok(None)
            }
        }
    }
}
