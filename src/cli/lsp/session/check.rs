//! Decides which text is checked when, and publishes the findings.

use super::{Session, TextState, now};
use crate::Compilation;
use crate::cli::lsp::checker::{Depth, Done, Fault, Job};
use crate::cli::lsp::findings::LspMapper;
use crate::cli::lsp::texts::Overlay;
use gen_lsp_types as lsp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

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
    pub(super) fn begin_check(&mut self) -> Option<Duration> {
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

    pub(super) fn give(&mut self, uri: &lsp::Uri, depth: Depth) {
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
    pub(super) fn take_in(&mut self, done: Done) {
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
    pub(super) fn forget(&self, compilation: Option<Arc<Compilation>>) {
        if let Some(compilation) = compilation {
            self.checker.forget(compilation);
        }
    }

    /// Shows a problem that concerns several texts, once until it changes or is gone.
    pub(super) fn complain(&mut self, why: Option<String>) {
        if let Some(why) = &why
            && self.complaint.as_ref() != Some(why)
        {
            let message = chartc_core::visible::text(why).into_owned();
            self.tell("window/showMessage", &json!({ "type": 1, "message": message }));
        }
        self.complaint = why;
    }

    /// Publishes the findings of a text, and those of files that were read for it and are not open.
    pub(super) fn publish(&mut self, uri: &lsp::Uri) {
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
    pub(super) fn clear(&self, uri: lsp::Uri) {
        let params = lsp::PublishDiagnosticsParams { uri, version: None, diagnostics: Vec::new() };
        self.tell("textDocument/publishDiagnostics", &params);
    }

    pub(super) fn mapper<'p>(&'p self, done: &'p Compilation) -> LspMapper<'p> {
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
