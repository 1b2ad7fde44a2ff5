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

use super::answer::{self, Refusal, View};
use super::checker::{Checker, Depth, Done, Fault, Job, LspMapper};
use super::client::{Client, Wishes};
use super::texts::{Overlay, Places, Texts};
use crate::Compilation;
use crate::cli::config::{Config, NAME, Settings};
use crate::cli::output::Exit;
use chartc_compiler::front::is_named_as_chart;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, after, never, select};
use gen_lsp_types as lsp;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::cell::RefCell;
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
            checker: Checker::start()
                .map_err(|fault| miette::miette!("cannot start a thread: {fault}"))?,
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

// Decides which text is checked when, and publishes the findings.

/// A check that took longer than this waits until nobody has typed for this long. A running check ends when somebody types.
const SHORT: Duration = Duration::from_millis(60);
/// If a full check took longer than this, a quick check runs first.
const LONG: Duration = Duration::from_secs(2);

/// The time without typing that must pass before a check of the text.
fn pause(known: &TextState) -> Duration {
    known.took.map_or(Duration::ZERO, |took| took.min(SHORT))
}

impl Session {
    /// Starts a check if a text needs one and none is running. Otherwise returns the time without typing after which one may start, if any.
    fn begin_check(&mut self) -> Option<Duration> {
        if self.is_checking {
            return None;
        }
        let is_asked = |uri: &lsp::Uri| self.waiting.iter().any(|asked| asked.uri == *uri);
        let on_save_only = self.client.settings.check.on_save_only;
        let quiet = now().saturating_duration_since(self.changed);
        let mut wait: Option<Duration> = None;
        let (mut next, mut later) = (None, None);
        for (uri, known) in &self.known {
            let is_short = known.took.is_none_or(|took| took < SHORT) && !on_save_only;
            // For a text whose full check takes long, show the findings of a quick check first.
            let is_long = known.took.is_some_and(|took| took > LONG);
            let is_full = is_short || known.wants_all && !is_long;
            let depth = if is_full { Depth::Full } else { Depth::Quick };
            let has = known.checked;
            if has.is_none() && (is_asked(uri) || is_short || quiet >= pause(known)) {
                next = Some((uri.clone(), depth));
                break;
            }
            if has.is_none() {
                let left = pause(known).saturating_sub(quiet);
                wait = Some(wait.map_or(left, |other| other.min(left)));
            } else if has == Some(Depth::Quick) && known.wants_all {
                later = Some((uri.clone(), Depth::Full));
            }
        }
        // While another text waits for its quick check, no long check starts: it would delay that one.
        let next = next.or(later.filter(|_| wait.is_none()));
        let Some((uri, depth)) = next else { return wait };
        self.give(&uri, depth);
        None
    }

    fn give(&mut self, uri: &lsp::Uri, depth: Depth) {
        let Some(open) = self.texts.get(uri) else { return };
        let mut names = vec![open.name.clone()];
        if depth == Depth::Full {
            names.extend(beside(&open.name));
        }
        let overlay = match Overlay::new(&self.texts, &self.places) {
            Ok(overlay) => overlay,
            Err(why) => return self.complain(Some(why)),
        };
        let job = Job {
            uri: uri.clone(),
            names,
            overlay,
            settings: Arc::clone(&self.settings),
            depth,
            change: self.change,
        };
        self.is_checking = true;
        // The text has changed, so its compilation is of no use any more. Drop it before the next one takes memory.
        let outdated = self.known.get_mut(uri).filter(|known| known.checked.is_none());
        let outdated = outdated.and_then(|known| known.compilation.take());
        self.forget(outdated);
        self.checker.give(job);
    }

    /// Publishes the findings of a check if the text has not changed since, and answers the requests that waited for it.
    fn take_in(&mut self, done: Done) {
        self.is_checking = false;
        let result = done.result.map(Arc::new);
        let known = self.known.get_mut(&done.uri);
        let Some(known) = known else { return self.forget(result.ok()) };
        if done.depth == Depth::Full && !matches!(result, Err(Fault::Outdated)) {
            known.took = Some(done.took);
        }
        if done.change != self.change {
            return self.forget(result.ok());
        }
        known.checked = Some(done.depth);
        if done.depth == Depth::Full {
            known.wants_all = false;
        }
        match result {
            Ok(compilation) => {
                let before = known.keep(compilation);
                self.forget(before);
                self.complain(None);
                self.publish(&done.uri);
            }
            // The texts changed during the check: check again.
            Err(Fault::Outdated) => known.checked = None,
            Err(Fault::Settings(why, compilation)) => {
                let before = known.keep(Arc::from(compilation));
                self.forget(before);
                self.complain(Some(why));
            }
            Err(Fault::Panic) => self.complain(Some(format!(
                "{} could not be checked: this is an error in chartc {}",
                done.uri,
                env!("CARGO_PKG_VERSION")
            ))),
        }
        self.answer_waiting();
    }

    /// Drops a compilation on the thread of the checker, so that nobody waits for it.
    fn forget(&self, compilation: Option<Arc<Compilation>>) {
        if let Some(compilation) = compilation {
            self.checker.forget(compilation);
        }
    }

    /// Shows a problem that concerns several texts, once until it changes or is gone.
    fn complain(&mut self, why: Option<String>) {
        if let Some(why) = &why
            && self.complaint.as_ref() != Some(why)
        {
            let message = chartc_core::visible::text(why).into_owned();
            self.tell("window/showMessage", &json!({ "type": 1, "message": message }));
        }
        self.complaint = why;
    }

    /// Publishes the findings of a text, and those of files that were read for it and are not open.
    fn publish(&mut self, uri: &lsp::Uri) {
        let Some(TextState { compilation: Some(done), shown, .. }) = self.known.get(uri) else {
            return;
        };
        let (done, mut gone) = (Arc::clone(done), shown.clone());
        let mapper = self.mapper(&done);
        let mut files: BTreeMap<lsp::Uri, Vec<lsp::Diagnostic>> = BTreeMap::new();
        // Also without findings, so that the client removes the earlier ones.
        files.insert(uri.clone(), Vec::new());
        for found in &done.diagnostics {
            let Some(other) = mapper.uri(found.span.file) else { continue };
            // An open text shows only what its own check finds.
            if other == *uri || self.texts.get(&other).is_none() {
                files.entry(other).or_default().push(mapper.finding(found));
            }
        }
        let now: BTreeSet<lsp::Uri> = files.keys().cloned().collect();
        for (file, diagnostics) in files {
            let version = self.texts.get(&file).map(|open| open.version);
            gone.remove(&file);
            let params = lsp::PublishDiagnosticsParams { uri: file, version, diagnostics };
            self.tell("textDocument/publishDiagnostics", &params);
        }
        // A file that had findings because of this text, and has none now.
        for file in gone {
            if self.texts.get(&file).is_none() {
                self.clear(file);
            }
        }
        if let Some(known) = self.known.get_mut(uri) {
            known.shown = now;
        }
        if self.client.pictures {
            self.tell("chartc/pictureChanged", &json!({ "uri": uri }));
        }
        if self.client.refreshes {
            self.ask("workspace/inlayHint/refresh", Value::Null);
        }
    }

    /// Publishes that a file has no findings.
    fn clear(&self, uri: lsp::Uri) {
        let params = lsp::PublishDiagnosticsParams { uri, version: None, diagnostics: Vec::new() };
        self.tell("textDocument/publishDiagnostics", &params);
    }

    fn mapper<'p>(&'p self, done: &'p Compilation) -> LspMapper<'p> {
        LspMapper {
            sources: &done.sources,
            encoding: self.client.encoding,
            places: &self.places,
            texts: &self.texts,
        }
    }
}

#[cfg(feature = "run")]
fn beside(name: &str) -> Option<String> {
    crate::cli::files::tests_of(name)
}

/// Without the feature `run` no tests are played.
#[cfg(not(feature = "run"))]
fn beside(_: &str) -> Option<String> {
    None
}

// Handles notifications of the client: texts and files that change, and settings.

impl Session {
    fn notification(&mut self, note: Notification) -> miette::Result<Option<Exit>> {
        let Notification { method, params } = note;
        match method.as_str() {
            "exit" => {
                // The protocol asks for exit code 0 after `shutdown`, and 1 without it.
                return Ok(Some(if self.shuts_down { Exit::Clean } else { Exit::Findings }));
            }
            "textDocument/didOpen" => {
                if let Ok(params) = serde_json::from_value(params) {
                    self.opened(params);
                }
            }
            "textDocument/didChange" => {
                if let Ok(params) = serde_json::from_value(params) {
                    self.changed(params);
                }
            }
            "textDocument/didSave" => {
                if let Ok(params) = serde_json::from_value::<lsp::DidSaveTextDocumentParams>(params)
                {
                    self.saved(&params.text_document.uri)?;
                }
            }
            "textDocument/didClose" => {
                if let Ok(params) =
                    serde_json::from_value::<lsp::DidCloseTextDocumentParams>(params)
                {
                    self.closed(&params.text_document.uri);
                }
            }
            "workspace/didChangeWatchedFiles" => {
                self.settings = settings()?;
                self.all_changed();
            }
            "workspace/didChangeConfiguration" => {
                if self.client.configuration {
                    let items = json!({ "items": [{ "section": "chartc" }] });
                    self.asked_settings = Some(self.ask("workspace/configuration", items));
                } else {
                    self.client.settings =
                        Wishes::from_value(params.get("settings").cloned().unwrap_or_default());
                }
            }
            "$/cancelRequest" => self.cancel(params.get("id")),
            _ => {}
        }
        Ok(None)
    }

    fn opened(&mut self, params: lsp::DidOpenTextDocumentParams) {
        let item = params.text_document;
        let language = serde_json::to_value(&item.language_id).unwrap_or_default();
        let name = self.places.name(&item.uri, language.as_str().unwrap_or_default());
        let file = name.rsplit('/').next().unwrap_or(&name);
        // The client may send any YAML or XML; only charts and agents are checked.
        if !is_named_as_chart(file) {
            return;
        }
        self.texts.open(item.uri.clone(), name, &item.text, item.version);
        self.known.insert(item.uri, TextState { wants_all: true, ..TextState::default() });
        self.all_changed();
    }

    fn changed(&mut self, params: lsp::DidChangeTextDocumentParams) {
        let lsp::DidChangeTextDocumentParams { text_document, content_changes } = params;
        let uri = &text_document.text_document_identifier.uri;
        if self.texts.change(uri, text_document.version, content_changes, self.client.encoding) {
            self.touched(uri);
        }
    }

    fn saved(&mut self, uri: &lsp::Uri) -> miette::Result<()> {
        if uri.path().ends_with(NAME) {
            self.settings = settings()?;
            self.all_changed();
        }
        if let Some(known) = self.known.get_mut(uri) {
            known.wants_all = true;
        }
        Ok(())
    }

    fn closed(&mut self, uri: &lsp::Uri) {
        let Some(_) = self.texts.close(uri) else { return };
        if let Some(known) = self.known.remove(uri) {
            for file in known.shown.iter().chain([uri]).collect::<BTreeSet<_>>() {
                if file == uri || self.texts.get(file).is_none() {
                    self.clear(file.clone());
                }
            }
            self.forget(known.compilation);
        }
        self.all_changed();
        self.answer_waiting();
    }

    /// Marks a text, and all texts that read it, to be checked again.
    fn touched(&mut self, uri: &lsp::Uri) {
        let Some(name) = self.texts.get(uri).map(|open| open.name.clone()) else { return };
        self.count_change();
        for (other, known) in &mut self.known {
            let reads = known.reads.as_ref().is_none_or(|names| names.contains(&name));
            if other == uri || reads {
                known.checked = None;
            }
        }
    }

    /// Counts a change, so that the check of earlier texts ends.
    fn count_change(&mut self) {
        self.change += 1;
        self.changed = now();
        self.checker.changed(self.change);
    }

    /// Marks all texts to be checked again.
    fn all_changed(&mut self) {
        self.count_change();
        for known in self.known.values_mut() {
            known.checked = None;
        }
    }
}

// Handles requests of the client, and responses to requests of the server.

impl Session {
    fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        if method == "shutdown" {
            self.shuts_down = true;
            self.send(Response::new_ok(id, Value::Null));
            return;
        }
        // After `shutdown` the protocol allows no request.
        if self.shuts_down {
            let why = "the server was shut down".to_owned();
            self.send(Response::new_err(id, ErrorCode::InvalidRequest as i32, why));
            return;
        }
        if !answer::knows(&method) {
            let why = format!("there is no method {method}");
            self.send(Response::new_err(id, ErrorCode::MethodNotFound as i32, why));
            return;
        }
        // Where the requests of the protocol, of chartc's extension and of commands have the address of their text.
        let uri = ["/textDocument/uri", "/uri", "/arguments/0"]
            .iter()
            .find_map(|path| params.pointer(path));
        let uri = uri.and_then(Value::as_str).and_then(|uri| uri.parse::<lsp::Uri>().ok());
        let Some(uri) = uri else {
            // The request is about all texts, so it waits for none.
            let result = self.answer(&method, params, None);
            self.respond(id, result);
            return;
        };
        let Some(version) = self.texts.get(&uri).map(|open| open.version) else {
            let why = Refusal::NotOpen;
            self.respond(id, Err(why));
            return;
        };
        self.waiting.push(Waiting { id, method, params, uri, version });
        self.answer_waiting();
    }

    /// Answers the requests whose text has been checked as it is now.
    fn answer_waiting(&mut self) {
        let (ready, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(|asked| {
            let known = self.known.get(&asked.uri);
            known.is_none_or(|known| known.checked.is_some())
        });
        self.waiting = waiting;
        let ready: Vec<Waiting> = ready;
        for Waiting { id, method, params, uri, version } in ready {
            let open = self.texts.get(&uri).map(|open| open.version);
            let result = if open.is_none() {
                Err(Refusal::NotOpen)
            // Positions in the request refer to the text as it was then.
            } else if open != Some(version) {
                Err(Refusal::Changed)
            } else {
                self.answer(&method, params, Some(&uri))
            };
            self.respond(id, result);
        }
    }

    fn answer(
        &mut self,
        method: &str,
        params: Value,
        uri: Option<&lsp::Uri>,
    ) -> Result<Value, Refusal> {
        let known = uri.and_then(|uri| self.known.get(uri));
        let done = known.and_then(|known| known.compilation.clone());
        let view = View {
            client: &self.client,
            places: &self.places,
            texts: &self.texts,
            settings: &self.settings,
            uri,
            compilation: done,
            told: RefCell::default(),
        };
        let result = answer::answer(&view, method, params);
        for told in view.told.into_inner() {
            let message = chartc_core::visible::text(&told).into_owned();
            self.tell("window/showMessage", &json!({ "type": 3, "message": message }));
        }
        result
    }

    fn respond(&self, id: RequestId, result: Result<Value, Refusal>) {
        self.send(match result {
            Ok(value) => Response::new_ok(id, value),
            Err(refusal) => Response::new_err(id, refusal.code(), refusal.message()),
        });
    }

    fn response(&mut self, response: Response) {
        let Response { id, response_result } = response;
        let is_settings = self.asked_settings.as_ref() == Some(&id);
        if let (true, Ok(result)) = (is_settings, response_result) {
            let first = result.as_array().and_then(|all| all.first()).cloned().unwrap_or_default();
            self.client.settings = Wishes::from_value(first);
        }
    }

    fn cancel(&mut self, id: Option<&Value>) {
        let Some(id) = id.and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok())
        else {
            return;
        };
        let before = self.waiting.len();
        self.waiting.retain(|asked| asked.id != id);
        if self.waiting.len() < before {
            self.respond(id, Err(Refusal::Canceled));
        }
    }
}
