//! What the server knows at a moment, and what it does with each message.

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

/// What is known of an open text.
#[derive(Default)]
struct TextState {
    /// The compilation of the text as it is. One of an earlier text answers nothing, and would take memory beside the next one.
    compilation: Option<Arc<Compilation>>,
    /// The names of the files that the last check has read.
    reads: Option<BTreeSet<String>>,
    /// The depth of the last check of the text as it is, if it was checked.
    checked: Option<Depth>,
    /// How long the last full check took.
    took: Option<Duration>,
    /// Whether all shall be checked, whatever it takes: it was saved or just opened.
    wants_all: bool,
    /// Files for which findings are shown because of this text.
    shown: BTreeSet<lsp::Uri>,
}

impl TextState {
    /// Keeps the compilation of the text as it is; gives the one before.
    fn keep(&mut self, compilation: Arc<Compilation>) -> Option<Arc<Compilation>> {
        let names = compilation.sources.iter().map(|(_, source)| source.name.clone());
        self.reads = Some(names.collect());
        self.compilation.replace(compilation)
    }
}

/// A request that waits for a check.
struct Waiting {
    id: RequestId,
    method: String,
    params: Value,
    uri: lsp::Uri,
    /// The version of the text when it was asked.
    version: i32,
}

/// The server between two messages.
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
    /// Counts changes of texts and files.
    change: u64,
    /// When the last one came.
    changed: Instant,
    /// The settings that are wrong, as was said last.
    complaint: Option<String>,
    /// Counts requests to the client.
    asked: i32,
    /// The request for the client's settings.
    asked_settings: Option<RequestId>,
    shuts_down: bool,
}

#[allow(clippy::disallowed_methods, reason = "a long check waits until nobody types")]
fn now() -> Instant {
    Instant::now()
}

/// The settings of the projects, as the files say them now.
fn settings() -> miette::Result<Arc<Settings>> {
    Settings::new(Config::default()).map(Arc::new)
}

impl Session {
    /// With nothing open.
    ///
    /// # Errors
    /// There is no working directory.
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

    /// Serves until the client says `exit`, or is gone.
    ///
    /// # Errors
    /// There is no working directory any more.
    pub(super) fn serve(&mut self, messages: &Receiver<Message>) -> miette::Result<Exit> {
        self.ask_to_watch();
        loop {
            let pause = self.begin_check();
            let timer = pause.map_or_else(never, after);
            select! {
                recv(messages) -> message => {
                    let Ok(message) = message else { return Ok(Exit::Findings) };
                    let mut next = Some(message);
                    // All that has come before anything is checked: who types fast is checked once.
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
        // A client that is gone is noticed where messages are received.
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

    /// Files that nobody has open change, too.
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

    /// Takes a message; the result is how the server ends, if so.
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
