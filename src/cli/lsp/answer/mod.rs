//! Answers requests of the editor, one file for each group of them.
//!
//! A request is answered from a [`View`]: the open texts and the compilation of the text that the request is about. For
//! `textDocument/hover` at line 3, column 8 of `door.chart`:
//!
//! 1. [`ANSWERS`] has the row of the method, and [`give`] parses the parameters.
//! 2. `reading::hover` takes the compilation and turns the position into an offset, in the encoding agreed with the client.
//! 3. `crate::editor::hover` finds the state `closed` there, and returns Markdown with its span.
//! 4. The span becomes a range, and [`give`] serializes the result.
//!
//! To add one: a function of a [`View`] and the request's parameters, and its row in [`ANSWERS`].

use super::super::settings::Settings;
use super::capabilities::Client;
use super::findings::LspMapper;
use super::places::Places;
use super::texts::Texts;
use crate::Compilation;
use chartc_text::span::FileId;
use gen_lsp_types as lsp;
use lsp_server::ErrorCode;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

mod completion;
mod doing;
mod extension;
mod formatting;
mod navigation;
mod reading;
mod symbols;
mod workspace;

pub(super) use doing::COMMANDS;
pub(super) use reading::legend;

/// The input of every answer.
pub(super) struct View<'v> {
    /// The capabilities and settings of the client.
    pub(super) client: &'v Client,
    /// The addresses of files.
    pub(super) places: &'v Places,
    /// The open texts.
    pub(super) texts: &'v Texts,
    /// The settings in `chartc.toml` files.
    pub(super) settings: &'v Arc<Settings>,
    /// The address of the text that the request is about, if it is about one.
    pub(super) uri: Option<&'v lsp::Uri>,
    /// The compilation of that text.
    pub(super) compilation: Option<Arc<Compilation>>,
    /// Messages to show to the user in addition to the answer.
    pub(super) told: RefCell<Vec<String>>,
}

/// The reason why a request is refused.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The parameters are wrong.
    Params(String),
    /// The text is not open, or is not a chart.
    NotOpen,
    /// The text has changed since the request was sent.
    Changed,
    /// The client has withdrawn the request.
    Canceled,
    /// The request cannot be fulfilled, for the reason that the user is shown.
    Impossible(String),
    /// The answer panicked, which is an error in chartc.
    Panic,
}

impl Refusal {
    /// The error code of the protocol.
    pub(super) fn code(&self) -> i32 {
        match self {
            Self::Params(_) => ErrorCode::InvalidParams as i32,
            Self::NotOpen => ErrorCode::InvalidRequest as i32,
            Self::Changed => ErrorCode::ContentModified as i32,
            Self::Canceled => ErrorCode::RequestCanceled as i32,
            Self::Impossible(_) => ErrorCode::RequestFailed as i32,
            Self::Panic => ErrorCode::InternalError as i32,
        }
    }

    pub(super) fn message(&self) -> String {
        match self {
            Self::Params(why) => format!("wrong parameters: {why}"),
            Self::NotOpen => "the text is not open, or not one of chartc's".to_owned(),
            Self::Changed => "the text has changed".to_owned(),
            Self::Canceled => "canceled".to_owned(),
            Self::Impossible(why) => chartc_core::visible::text(why).into_owned(),
            Self::Panic => "this is an error in chartc".to_owned(),
        }
    }
}

impl View<'_> {
    /// The compilation of the text, and the id of its file in it.
    ///
    /// # Errors
    /// The text could not be compiled. The reason was shown before.
    pub(super) fn compiled(&self) -> Result<(&Compilation, FileId), Refusal> {
        let missing = || Refusal::Impossible("the text could not be checked".to_owned());
        let done = self.compilation.as_deref().ok_or_else(missing)?;
        let name = self.uri.and_then(|uri| self.texts.get(uri)).map(|open| open.name.as_str());
        let own = done.sources.iter().find(|(_, source)| Some(source.name.as_str()) == name);
        own.map(|(file, _)| (done, file)).ok_or_else(missing)
    }

    /// Shows the user a message.
    fn tell(&self, message: String) {
        self.told.borrow_mut().push(message);
    }

    /// A mapper from spans of a compilation to ranges of the protocol.
    pub(super) fn mapper<'p>(&'p self, done: &'p Compilation) -> LspMapper<'p> {
        let (encoding, sources) = (self.client.encoding, &done.sources);
        LspMapper { sources, encoding, places: self.places, texts: self.texts }
    }
}

/// A method and the function that answers it.
struct Answer {
    method: &'static str,
    answer: fn(&View<'_>, Value) -> Result<Value, Refusal>,
}

/// All methods, ordered by name.
const ANSWERS: &[Answer] = &[
    Answer { method: "chartc/explain", answer: |v, p| give(v, p, doing::page) },
    Answer { method: "chartc/picture", answer: |v, p| give(v, p, extension::picture) },
    Answer { method: "chartc/runTests", answer: |v, p| give(v, p, extension::run_tests) },
    Answer { method: "chartc/tests", answer: |v, p| give(v, p, extension::tests) },
    Answer { method: "textDocument/codeAction", answer: |v, p| give(v, p, doing::code_action) },
    Answer { method: "textDocument/codeLens", answer: |v, p| give(v, p, doing::code_lens) },
    Answer { method: "textDocument/completion", answer: |v, p| give(v, p, completion::items) },
    Answer { method: "textDocument/definition", answer: |v, p| give(v, p, navigation::definition) },
    Answer {
        method: "textDocument/documentHighlight",
        answer: |v, p| give(v, p, navigation::highlight),
    },
    Answer { method: "textDocument/documentSymbol", answer: |v, p| give(v, p, symbols::document) },
    Answer { method: "textDocument/foldingRange", answer: |v, p| give(v, p, reading::folding) },
    Answer { method: "textDocument/formatting", answer: |v, p| give(v, p, formatting::whole) },
    Answer { method: "textDocument/hover", answer: |v, p| give(v, p, reading::hover) },
    Answer { method: "textDocument/inlayHint", answer: |v, p| give(v, p, reading::inlay) },
    Answer { method: "textDocument/prepareRename", answer: |v, p| give(v, p, navigation::prepare) },
    Answer { method: "textDocument/references", answer: |v, p| give(v, p, navigation::references) },
    Answer { method: "textDocument/rename", answer: |v, p| give(v, p, navigation::rename) },
    Answer {
        method: "textDocument/semanticTokens/full",
        answer: |v, p| give(v, p, reading::all_tokens),
    },
    Answer {
        method: "textDocument/semanticTokens/range",
        answer: |v, p| give(v, p, reading::some_tokens),
    },
    Answer { method: "workspace/executeCommand", answer: |v, p| give(v, p, doing::execute) },
    Answer { method: "workspace/symbol", answer: |v, p| give(v, p, symbols::workspace) },
];

/// Parses the parameters, calls `answer`, and serializes the result.
fn give<P: DeserializeOwned, R: Serialize>(
    view: &View<'_>,
    params: Value,
    answer: fn(&View<'_>, P) -> Result<R, Refusal>,
) -> Result<Value, Refusal> {
    let params = serde_json::from_value(params).map_err(|why| Refusal::Params(why.to_string()))?;
    let result = answer(view, params)?;
    serde_json::to_value(result).map_err(|why| Refusal::Impossible(why.to_string()))
}

/// Whether the server answers the method.
pub(super) fn knows(method: &str) -> bool {
    ANSWERS.iter().any(|row| row.method == method)
}

/// Answers a request. A panic becomes [`Refusal::Panic`], so that the session continues.
pub(super) fn answer(view: &View<'_>, method: &str, params: Value) -> Result<Value, Refusal> {
    let Some(row) = ANSWERS.iter().find(|row| row.method == method) else {
        return Err(Refusal::Params(format!("no method {method}")));
    };
    catch_unwind(AssertUnwindSafe(|| (row.answer)(view, params))).unwrap_or(Err(Refusal::Panic))
}
