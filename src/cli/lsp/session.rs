//! What the server knows at a moment, and what it does with each message.

use super::super::Exit;
use super::super::config::{Config, NAME};
use super::super::settings::Settings;
use super::answer::{self, Refusal, View};
use super::capabilities::{Client, Wishes};
use super::checker::{Checker, Depth, Done, Fault, Job};
use super::findings::Paper;
use super::places::Places;
use super::texts::{Overlay, Texts};
use crate::Compilation;
use chartc_text::front::is_named_as_chart;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, after, never, select};
use gen_lsp_types as lsp;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A check that takes longer than this waits until nobody types.
const SHORT: Duration = Duration::from_millis(60);
/// How long nobody types.
const IDLE: Duration = Duration::from_millis(400);

/// What is known of an open text.
#[derive(Default)]
struct Known {
    /// Its last compilation, and the change that it is of.
    compilation: Option<(Arc<Compilation>, u64)>,
    /// The depth of the last check of the text as it is, if it was checked.
    checked: Option<Depth>,
    /// How long the last full check took.
    took: Option<Duration>,
    /// Whether all shall be checked, whatever it takes: it was saved or just opened.
    wants_all: bool,
    /// Files for which findings are shown because of this text.
    shown: BTreeSet<lsp::Uri>,
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
    known: BTreeMap<lsp::Uri, Known>,
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

    /// Begins a check if there is something to check and nothing is checked. Returns how long nobody may type before there is.
    fn begin_check(&mut self) -> Option<Duration> {
        if self.is_checking {
            return None;
        }
        let is_asked = |uri: &lsp::Uri| self.waiting.iter().any(|asked| asked.uri == *uri);
        let on_save_only = self.client.settings.check.on_save_only;
        let quiet = now().saturating_duration_since(self.changed);
        let mut pause: Option<Duration> = None;
        let mut next = None;
        for (uri, known) in &self.known {
            let is_short = known.took.is_none_or(|took| took < SHORT) && !on_save_only;
            let depth = if known.wants_all || is_short { Depth::Full } else { Depth::Quick };
            let has = known.checked;
            if has.is_none() && (is_asked(uri) || is_short || quiet >= self.pause(known)) {
                next = Some((uri.clone(), depth));
                break;
            }
            if has.is_none() {
                let left = self.pause(known).saturating_sub(quiet);
                pause = Some(pause.map_or(left, |other| other.min(left)));
            } else if has == Some(Depth::Quick) && known.wants_all {
                next = Some((uri.clone(), Depth::Full));
            }
        }
        let Some((uri, depth)) = next else { return pause };
        self.give(&uri, depth);
        None
    }

    /// How long to wait before a long check: as long as it takes, at most [`IDLE`].
    fn pause(&self, known: &Known) -> Duration {
        known.took.map_or(Duration::ZERO, |took| took.min(IDLE))
    }

    fn give(&mut self, uri: &lsp::Uri, depth: Depth) {
        let Some(open) = self.texts.get(uri) else { return };
        let mut names = vec![open.name.clone()];
        if depth == Depth::Full {
            names.extend(beside(&open.name));
        }
        let overlay = match Overlay::of(&self.texts, &self.places) {
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
        self.checker.give(job);
    }

    /// Shows what a check found, if the text is still as it was, and answers who waited for it.
    fn take_in(&mut self, done: Done) {
        self.is_checking = false;
        let Some(known) = self.known.get_mut(&done.uri) else { return };
        if done.depth == Depth::Full {
            known.took = Some(done.took);
        }
        if done.change != self.change {
            return;
        }
        known.checked = Some(done.depth);
        if done.depth == Depth::Full {
            known.wants_all = false;
        }
        match done.result {
            Ok(compilation) => {
                known.compilation = Some((Arc::new(compilation), done.change));
                self.complain(None);
                self.publish(&done.uri);
            }
            Err(Fault::Settings(why)) => self.complain(Some(why)),
            Err(Fault::Panic) => self.complain(Some(format!(
                "{} could not be checked: this is an error in chartc {}",
                done.uri,
                env!("CARGO_PKG_VERSION")
            ))),
        }
        self.answer_waiting();
    }

    /// Says once that something is wrong with more than one text.
    fn complain(&mut self, why: Option<String>) {
        if let Some(why) = &why
            && self.complaint.as_ref() != Some(why)
        {
            let message = chartc_core::visible::text(why).into_owned();
            self.tell("window/showMessage", &json!({ "type": 1, "message": message }));
        }
        self.complaint = why;
    }

    /// Shows the findings of a text, and those of files that are not open but were read for it.
    fn publish(&mut self, uri: &lsp::Uri) {
        let Some(Known { compilation: Some((done, _)), shown, .. }) = self.known.get(uri) else {
            return;
        };
        let (done, mut gone) = (Arc::clone(done), shown.clone());
        let paper = self.paper(&done);
        let mut files: BTreeMap<lsp::Uri, Vec<lsp::Diagnostic>> = BTreeMap::new();
        files.insert(uri.clone(), Vec::new());
        for found in &done.diagnostics {
            let Some(other) = paper.uri(found.span.file) else { continue };
            // An open text shows what its own check finds.
            if other == *uri || self.texts.get(&other).is_none() {
                files.entry(other).or_default().push(paper.finding(found));
            }
        }
        let now: BTreeSet<lsp::Uri> = files.keys().cloned().collect();
        for (file, diagnostics) in files {
            let version = self.texts.get(&file).map(|open| open.version);
            gone.remove(&file);
            let params = lsp::PublishDiagnosticsParams { uri: file, version, diagnostics };
            self.tell("textDocument/publishDiagnostics", &params);
        }
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

    /// Shows no findings for a file.
    fn clear(&self, uri: lsp::Uri) {
        let params = lsp::PublishDiagnosticsParams { uri, version: None, diagnostics: Vec::new() };
        self.tell("textDocument/publishDiagnostics", &params);
    }

    fn paper<'p>(&'p self, done: &'p Compilation) -> Paper<'p> {
        Paper {
            sources: &done.sources,
            encoding: self.client.encoding,
            places: &self.places,
            texts: &self.texts,
        }
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

    fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        if method == "shutdown" {
            self.shuts_down = true;
            self.send(Response::new_ok(id, Value::Null));
            return;
        }
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
        let uri = ["/textDocument/uri", "/uri", "/arguments/0"]
            .iter()
            .find_map(|path| params.pointer(path));
        let uri = uri.and_then(Value::as_str).and_then(|uri| uri.parse::<lsp::Uri>().ok());
        let Some(uri) = uri else {
            // A question about all texts.
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

    /// Answers the requests whose text is compiled as it is now.
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
        let done = known.and_then(|known| known.compilation.clone()).map(|(done, _)| done);
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
            self.client.settings = Wishes::of(first);
        }
    }

    fn notification(&mut self, note: Notification) -> miette::Result<Option<Exit>> {
        let Notification { method, params } = note;
        match method.as_str() {
            "exit" => {
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
                        Wishes::of(params.get("settings").cloned().unwrap_or_default());
                }
            }
            "$/cancelRequest" => self.cancel(params.get("id")),
            _ => {}
        }
        Ok(None)
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

    fn opened(&mut self, params: lsp::DidOpenTextDocumentParams) {
        let item = params.text_document;
        let language = serde_json::to_value(&item.language_id).unwrap_or_default();
        let name = self.places.name(&item.uri, language.as_str().unwrap_or_default());
        let file = name.rsplit('/').next().unwrap_or(&name);
        // Other YAML and XML is none of its business.
        if !is_named_as_chart(file) {
            return;
        }
        self.texts.open(item.uri.clone(), name, &item.text, item.version);
        self.known.insert(item.uri, Known { wants_all: true, ..Known::default() });
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
        }
        self.all_changed();
        self.answer_waiting();
    }

    /// A text has changed: it, and the texts that read it, are to be checked again.
    fn touched(&mut self, uri: &lsp::Uri) {
        let Some(name) = self.texts.get(uri).map(|open| open.name.clone()) else { return };
        self.change += 1;
        self.changed = now();
        for (other, known) in &mut self.known {
            let reads = known
                .compilation
                .as_ref()
                .is_none_or(|(done, _)| done.sources.iter().any(|(_, source)| source.name == name));
            if other == uri || reads {
                known.checked = None;
            } else if let Some((_, change)) = &mut known.compilation {
                *change = self.change;
            }
        }
    }

    /// Anything may have changed.
    fn all_changed(&mut self) {
        self.change += 1;
        self.changed = now();
        for known in self.known.values_mut() {
            known.checked = None;
        }
    }
}

#[cfg(feature = "run")]
fn beside(name: &str) -> Option<String> {
    super::super::files::tests_of(name)
}

/// Without the runtime no tests are played.
#[cfg(not(feature = "run"))]
fn beside(_: &str) -> Option<String> {
    None
}
