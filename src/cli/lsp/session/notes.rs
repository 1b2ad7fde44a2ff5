//! Handles notifications of the client: texts and files that change, and settings.

use super::{Session, TextState, now, settings};
use crate::cli::Exit;
use crate::cli::config::NAME;
use crate::cli::lsp::capabilities::Wishes;
use chartc_text::front::is_named_as_chart;
use gen_lsp_types as lsp;
use lsp_server::Notification;
use serde_json::json;
use std::collections::BTreeSet;

impl Session {
    pub(super) fn notification(&mut self, note: Notification) -> miette::Result<Option<Exit>> {
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

    pub(super) fn opened(&mut self, params: lsp::DidOpenTextDocumentParams) {
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

    pub(super) fn changed(&mut self, params: lsp::DidChangeTextDocumentParams) {
        let lsp::DidChangeTextDocumentParams { text_document, content_changes } = params;
        let uri = &text_document.text_document_identifier.uri;
        if self.texts.change(uri, text_document.version, content_changes, self.client.encoding) {
            self.touched(uri);
        }
    }

    pub(super) fn saved(&mut self, uri: &lsp::Uri) -> miette::Result<()> {
        if uri.path().ends_with(NAME) {
            self.settings = settings()?;
            self.all_changed();
        }
        if let Some(known) = self.known.get_mut(uri) {
            known.wants_all = true;
        }
        Ok(())
    }

    pub(super) fn closed(&mut self, uri: &lsp::Uri) {
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
    pub(super) fn touched(&mut self, uri: &lsp::Uri) {
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
    pub(super) fn all_changed(&mut self) {
        self.count_change();
        for known in self.known.values_mut() {
            known.checked = None;
        }
    }
}
