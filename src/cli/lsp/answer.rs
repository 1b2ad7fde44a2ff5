//! Answers requests of the editor, group by group.
//!
//! A request is answered from a [`View`]: the open texts and the compilation of the text that the request is about. For
//! `textDocument/hover` at line 3, column 8 of `door.chart`:
//!
//! 1. [`ANSWERS`] has the row of the method, and [`give`] parses the parameters.
//! 2. [`hover()`] takes the compilation and turns the position into an offset, in the encoding agreed with the client.
//! 3. `crate::ide::hover` finds the state `closed` there, and returns Markdown with its span.
//! 4. The span becomes a range, and [`give`] serializes the result.
//!
//! To add one: a function of a [`View`] and the request's parameters, and its row in [`ANSWERS`].

use super::super::config::Settings;
use super::super::files::{self, Skips};
use super::checker::LspMapper;
use super::client::Client;
use super::texts::{Overlay, Places, Texts};
use crate::Compilation;
use crate::cli::fix::{Formatted, formatted};
use crate::ide::actions::{Action, ActionKind, Lens, Task, actions, lenses};
use crate::ide::complete::{Completion, CompletionKind, Insert, complete, in_placeholder};
use crate::ide::folds::{FoldKind, folds};
use crate::ide::hints::{HintKind, hints};
use crate::ide::outline::{Symbol, SymbolKind, outline, search};
use crate::ide::tokens::{Modifiers, Token, TokenKind, tokens};
use crate::ide::yaml::{self, CompletionItem, Format};
use crate::ide::{hover, names};
use chartc_compiler::compile::Checked;
use chartc_compiler::emit::Options;
use chartc_compiler::emit::draw::dot;
use chartc_compiler::front::load::Loader;
use chartc_compiler::front::{self, chart};
use chartc_compiler::syntax::diagnostic::Rule;
use chartc_compiler::syntax::source::{FileId, Source, Span};
use chartc_core::arena::{StateId, TransitionId};
use gen_lsp_types as lsp;
use gen_lsp_types::{DocumentFormattingParams, Position, Range, TextEdit, Uri};
use lsp_server::ErrorCode;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

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
    Answer { method: "chartc/explain", answer: |v, p| give(v, p, page) },
    Answer { method: "chartc/picture", answer: |v, p| give(v, p, picture) },
    Answer { method: "chartc/runTests", answer: |v, p| give(v, p, run_tests) },
    Answer { method: "chartc/tests", answer: |v, p| give(v, p, tests) },
    Answer { method: "textDocument/codeAction", answer: |v, p| give(v, p, code_action) },
    Answer { method: "textDocument/codeLens", answer: |v, p| give(v, p, code_lens) },
    Answer { method: "textDocument/completion", answer: |v, p| give(v, p, items) },
    Answer { method: "textDocument/definition", answer: |v, p| give(v, p, definition) },
    Answer { method: "textDocument/documentHighlight", answer: |v, p| give(v, p, highlight) },
    Answer { method: "textDocument/documentSymbol", answer: |v, p| give(v, p, document) },
    Answer { method: "textDocument/foldingRange", answer: |v, p| give(v, p, folding) },
    Answer { method: "textDocument/formatting", answer: |v, p| give(v, p, whole) },
    Answer { method: "textDocument/hover", answer: |v, p| give(v, p, hover) },
    Answer { method: "textDocument/inlayHint", answer: |v, p| give(v, p, inlay) },
    Answer { method: "textDocument/prepareRename", answer: |v, p| give(v, p, prepare) },
    Answer { method: "textDocument/references", answer: |v, p| give(v, p, references) },
    Answer { method: "textDocument/rename", answer: |v, p| give(v, p, rename) },
    Answer { method: "textDocument/semanticTokens/full", answer: |v, p| give(v, p, all_tokens) },
    Answer { method: "textDocument/semanticTokens/range", answer: |v, p| give(v, p, some_tokens) },
    Answer { method: "workspace/executeCommand", answer: |v, p| give(v, p, execute) },
    Answer { method: "workspace/symbol", answer: |v, p| give(v, p, workspace) },
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

// Answers `textDocument/completion`.

/// The maximum number of items in one answer. Further ones are found by typing more.
const MOST_ITEMS: usize = 400;

/// The items that can be written at a position.
fn items(view: &View<'_>, params: lsp::CompletionParams) -> Result<lsp::CompletionList, Refusal> {
    let (done, file) = view.compiled()?;
    let position = params.text_document_position_params.position;
    let (source, offset) = place(view, done, file, position);
    let typed = params.context.and_then(|context| context.trigger_character);
    if typed.is_some_and(|typed| ends(source, offset, &typed)) {
        return Ok(lsp::CompletionList::default());
    }
    let overlay = view.overlay()?;
    let mut items: Vec<lsp::CompletionItem> = complete(done, file, offset as usize, Some(&overlay))
        .into_iter()
        .map(|found| item(view, source, found))
        .collect();
    if front::of(source).name == front::agent::FRONTEND.name
        && let Some(format) = Format::from_path(&source.name, &source.text)
    {
        let names = yaml::names_in_hole(done, file, offset as usize);
        let others = yaml::complete(format, &source.text, offset as usize);
        for found in names.into_iter().chain([others]) {
            let replaces = Span::new(file, found.replace.start, found.replace.end);
            for one in found.items {
                items.push(yaml_item(view, source, one, replaces, items.len()));
            }
        }
    }
    let is_incomplete = items.len() > MOST_ITEMS;
    items.truncate(MOST_ITEMS);
    Ok(lsp::CompletionList { is_incomplete, items, ..lsp::CompletionList::default() })
}

/// Whether the typed character ends a construct in this notation. Then a new line follows, and Enter must not accept the first item.
fn ends(source: &Source, offset: u32, typed: &str) -> bool {
    let front = front::of(source).name;
    if front == front::scxml::FRONTEND.name {
        return matches!(typed, ">" | ":" | "{");
    }
    let is_block = || !in_placeholder(&source.text, offset as usize);
    typed == "<" || front == front::chart::FRONTEND.name && typed == "{" && is_block()
}

fn item(view: &View<'_>, source: &Source, found: Completion) -> lsp::CompletionItem {
    let (text, is_snippet) = match found.insert {
        Insert::Plain(text) => (text, false),
        Insert::Snippet(text) => (text, true),
    };
    let kind = match found.kind {
        CompletionKind::Keyword => lsp::CompletionItemKind::Keyword,
        CompletionKind::Snippet => lsp::CompletionItemKind::Snippet,
        CompletionKind::State => lsp::CompletionItemKind::Class,
        CompletionKind::Event => lsp::CompletionItemKind::Event,
        CompletionKind::Variable | CompletionKind::Parameter => lsp::CompletionItemKind::Variable,
        CompletionKind::Field => lsp::CompletionItemKind::Field,
        CompletionKind::Type => lsp::CompletionItemKind::Struct,
        CompletionKind::Enum => lsp::CompletionItemKind::Enum,
        CompletionKind::EnumMember => lsp::CompletionItemKind::EnumMember,
        CompletionKind::Function | CompletionKind::Tool => lsp::CompletionItemKind::Function,
        CompletionKind::Step => lsp::CompletionItemKind::Method,
        CompletionKind::Option => lsp::CompletionItemKind::Property,
        CompletionKind::Client => lsp::CompletionItemKind::Interface,
        CompletionKind::Chart => lsp::CompletionItemKind::Module,
        CompletionKind::Rule => lsp::CompletionItemKind::Constant,
        CompletionKind::File => lsp::CompletionItemKind::File,
        CompletionKind::Format | CompletionKind::Value => lsp::CompletionItemKind::Value,
    };
    completion_item(
        view,
        source,
        CommonItem {
            label: found.label,
            kind,
            detail: found.detail,
            documentation: found.documentation,
            text,
            is_snippet,
            replaces: found.replaces,
            sort: found.sort as usize,
        },
    )
}

fn yaml_item(
    view: &View<'_>,
    source: &Source,
    found: CompletionItem,
    replaces: Span,
    sort: usize,
) -> lsp::CompletionItem {
    completion_item(
        view,
        source,
        CommonItem {
            label: found.label,
            kind: lsp::CompletionItemKind::Reference,
            detail: String::new(),
            documentation: found.doc,
            // `yaml::complete` always writes snippets.
            is_snippet: true,
            text: found.insert,
            replaces,
            sort,
        },
    )
}

/// The parts that items of all notations have.
struct CommonItem {
    label: String,
    kind: lsp::CompletionItemKind,
    detail: String,
    documentation: String,
    text: String,
    is_snippet: bool,
    replaces: Span,
    sort: usize,
}

fn completion_item(view: &View<'_>, source: &Source, item: CommonItem) -> lsp::CompletionItem {
    let given = |text: String| (!text.is_empty()).then_some(text);
    // An editor without snippets gets their text without placeholders.
    let can_fill = view.client.snippets;
    let text = if item.is_snippet && !can_fill { plain(&item.text) } else { item.text };
    let format = if item.is_snippet && can_fill {
        lsp::InsertTextFormat::Snippet
    } else {
        lsp::InsertTextFormat::PlainText
    };
    let range = view.client.encoding.range_in(source, item.replaces);
    lsp::CompletionItem {
        label: item.label,
        kind: Some(item.kind),
        detail: given(item.detail),
        documentation: given(item.documentation).map(|value| {
            let kind = lsp::MarkupKind::Markdown;
            lsp::Documentation::MarkupContent(lsp::MarkupContent { kind, value })
        }),
        // Editors sort by text, so the numbers have a fixed width.
        sort_text: Some(format!("{:05}", item.sort)),
        insert_text_format: Some(format),
        insert_text_mode: Some(lsp::InsertTextMode::AdjustIndentation),
        text_edit: Some(lsp::CompletionItemTextEdit::TextEdit(lsp::TextEdit {
            range,
            new_text: text,
        })),
        ..lsp::CompletionItem::default()
    }
}

/// The text of a snippet: its placeholders replaced with their contents, its escapes removed.
fn plain(snippet: &str) -> String {
    let mut out = String::new();
    let mut open = 0;
    let mut rest = snippet.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\\' => out.extend(rest.next()),
            '$' => {
                let is_open = rest.next_if_eq(&'{').is_some();
                while rest.next_if(char::is_ascii_digit).is_some() {}
                if is_open && rest.next_if_eq(&':').is_some() {
                    open += 1;
                } else if is_open {
                    rest.next_if_eq(&'}');
                }
            }
            '}' if open > 0 => open -= 1,
            other => out.push(other),
        }
    }
    out
}

// Answers requests for what can be done at a position: fixes, comments that allow findings, tests to run, pictures to show.
//
// An editor with chartc's extension carries out the extension's commands itself, such as `chartc.runTest`. For others the server
// carries out commands of its own and shows a message.

/// The commands that the server carries out for editors without chartc's extension: run tests, and explain a rule.
pub(super) const COMMANDS: [&str; 2] = ["chartc.server.runTests", "chartc.server.explain"];

fn code_lens(view: &View<'_>, params: lsp::CodeLensParams) -> Result<Vec<lsp::CodeLens>, Refusal> {
    let (done, file) = view.compiled()?;
    let source = done.sources.get(file);
    let uri = &params.text_document.uri;
    let shown = |lens: Lens| {
        let (own, server, argument) = match lens.task {
            Task::RunTest { name, .. } => ("chartc.runTest", Some(COMMANDS[0]), name),
            Task::RunTests { chart, .. } => ("chartc.runTests", None, chart),
            Task::ShowPicture { chart, .. } => ("chartc.showPicture", None, chart),
        };
        // Without the extension only commands that the server carries out can be offered.
        let command = if view.client.pictures { Some(own) } else { server }?;
        let command = lsp::Command {
            title: lens.title,
            tooltip: None,
            command: command.to_owned(),
            arguments: Some(vec![json!(uri), json!(argument)]),
        };
        let range = view.client.encoding.range_in(source, lens.span);
        Some(lsp::CodeLens { range, command: Some(command), data: None })
    };
    Ok(lenses(done, file).into_iter().filter_map(shown).collect())
}

fn code_action(
    view: &View<'_>,
    params: lsp::CodeActionParams,
) -> Result<Vec<lsp::CodeAction>, Refusal> {
    let (done, file) = view.compiled()?;
    if !view.client.literal_actions {
        // The editor accepts only commands as actions, and these are edits.
        return Ok(Vec::new());
    }
    let source = done.sources.get(file);
    let at = |place| view.client.encoding.offset(source, place) as usize;
    let (start, end) = (at(params.range.start), at(params.range.end));
    let span = Span::new(file, start.min(end), start.max(end));
    let mapper = view.mapper(done);
    let mut shown = Vec::new();
    for action in actions(done, span) {
        let kind = match action.kind {
            ActionKind::Fix { .. } | ActionKind::Allow | ActionKind::Explain(_) => {
                lsp::CodeActionKind::QuickFix
            }
            ActionKind::FixAll => lsp::CodeActionKind::SourceFixAll,
        };
        let is_wanted = |only: &Vec<lsp::CodeActionKind>| {
            only.iter().any(|only| {
                let (kind, only) = (kind.to_string(), only.to_string());
                kind == only || kind.starts_with(&format!("{only}."))
            })
        };
        if !params.context.only.as_ref().is_none_or(is_wanted) {
            continue;
        }
        let command = match action.kind {
            ActionKind::Explain(rule) => Some(explain(view, rule, &action)),
            ActionKind::Fix { .. } | ActionKind::Allow | ActionKind::FixAll => None,
        };
        let about = action.about.iter().filter_map(|nth| done.diagnostics.get(*nth));
        let diagnostics: Vec<lsp::Diagnostic> = about.map(|found| mapper.finding(found)).collect();
        let mut edits: BTreeMap<String, Vec<lsp::TextEdit>> = BTreeMap::new();
        for (place, text) in &action.edits {
            let name = done.sources.get(place.file).name.clone();
            let range = view.client.encoding.range(&done.sources, *place);
            let edit = lsp::TextEdit { range, new_text: text.clone() };
            edits.entry(name).or_default().push(edit);
        }
        let edit = if edits.is_empty() { None } else { Some(view.workspace_edit(edits)?) };
        shown.push(lsp::CodeAction {
            title: action.title,
            kind: Some(kind),
            diagnostics: (!diagnostics.is_empty()).then_some(diagnostics),
            is_preferred: matches!(action.kind, ActionKind::Fix { is_safe: true }).then_some(true),
            edit,
            command,
            ..lsp::CodeAction::default()
        });
    }
    Ok(shown)
}

fn explain(view: &View<'_>, rule: &Rule, action: &Action) -> lsp::Command {
    let command = if view.client.pictures { "chartc.explain" } else { COMMANDS[1] };
    lsp::Command {
        title: action.title.clone(),
        tooltip: None,
        command: command.to_owned(),
        arguments: Some(vec![json!(rule.code)]),
    }
}

/// Answers `chartc/explain`: the page of a rule, as Markdown.
fn page(_: &View<'_>, params: Value) -> Result<String, Refusal> {
    let code = params.get("code").and_then(Value::as_str).unwrap_or_default();
    let rule = chartc_compiler::rules::named(code);
    let rule = rule.map_err(|_| Refusal::Params(format!("there is no rule {code}")))?;
    Ok(format!("# {} {}\n\n{}", rule.code, rule.name, rule.page))
}

/// Answers `workspace/executeCommand`, which editors without chartc's extension send.
fn execute(view: &View<'_>, params: lsp::ExecuteCommandParams) -> Result<Option<Value>, Refusal> {
    let arguments = params.arguments.unwrap_or_default();
    let text = |nth: usize| arguments.get(nth).and_then(Value::as_str).unwrap_or_default();
    match params.command.as_str() {
        "chartc.server.explain" => {
            view.tell(page(view, json!({ "code": text(0) }))?);
            Ok(None)
        }
        "chartc.server.runTests" => {
            let asked = json!({ "uri": text(0), "names": [text(1)] });
            let asked: TestsParams =
                serde_json::from_value(asked).map_err(|why| Refusal::Params(why.to_string()))?;
            for played in run_tests(view, asked)? {
                view.tell(played.told());
            }
            Ok(None)
        }
        other => Err(Refusal::Params(format!("there is no command {other}"))),
    }
}

// Answers chartc's own requests: pictures, and the tests of a file. `docs/editors.md` describes them.

/// The parameters of `chartc/picture`.
#[derive(Deserialize)]
struct PictureParams {
    #[serde(rename = "uri")]
    _uri: Uri,
    /// The name of the chart. By default it is the chart at the position, else the first of the file.
    chart: Option<String>,
    /// The position of the cursor. The state there is highlighted.
    position: Option<Position>,
    /// The paths of further states to highlight.
    #[serde(default)]
    highlight: Vec<String>,
}

/// The result of `chartc/picture`: a picture in the DOT language.
#[derive(Serialize)]
struct Picture {
    chart: String,
    /// The names of all charts in the file.
    charts: Vec<String>,
    dot: String,
    states: Vec<Drawn>,
    edges: Vec<Arrow>,
    /// The id of the innermost state at the position.
    at: Option<String>,
    /// The id of the arrow whose transition is at the position.
    edge: Option<String>,
}

/// A state in the picture. Its node is called `s3`, or `cluster3` if it has children. The id of both is `s3`.
#[derive(Serialize)]
struct Drawn {
    id: String,
    path: String,
    range: Range,
}

/// A transition that an arrow shows. Transitions that look alike share an arrow, and one transition may have several arrows.
#[derive(Serialize)]
struct Arrow {
    id: String,
    range: Range,
}

/// Answers `chartc/picture`; `None` if the chart has errors.
fn picture(view: &View<'_>, params: PictureParams) -> Result<Option<Picture>, Refusal> {
    let (done, file) = view.compiled()?;
    let encoding = view.client.encoding;
    let source = done.sources.get(file);
    let at = params.position.map(|place| encoding.offset(source, place));
    let is_own = |one: &&Checked| one.lowered().map.file == file;
    let own: Vec<&Checked> = done.charts.iter().filter(is_own).collect();
    let is_at = |one: &&&Checked| at.is_some_and(|at| innermost(one, at).is_some());
    let chosen = match &params.chart {
        Some(name) => own.iter().find(|one| one.chart().name == *name),
        None => own.iter().find(is_at).or(own.first()),
    };
    let Some(chosen) = chosen else { return Ok(None) };
    let chart = chosen.chart();
    let here = at.and_then(|at| innermost(chosen, at)).filter(|id| id.0 > 0);
    let named = params
        .highlight
        .iter()
        .filter_map(|path| chart.state_ids().find(|id| chart.state(*id).path == *path));
    let options = Options { highlight: named.chain(here).collect(), ..Options::default() };
    let (dot, arrows) = dot::with_ids(chart, chosen.map(), &options);
    let span = |line: TransitionId| chosen.map().transition(line).whole;
    let edge = at.and_then(|at| {
        let around = |span: Span| span.file == file && span.start <= at && at <= span.end;
        let there = arrows.iter().filter(|(_, line)| around(span(*line)));
        // Lines can nest, such as the outcomes of a step in its line: the shortest is meant.
        there.min_by_key(|(_, line)| span(*line).end - span(*line).start)
    });
    let edge = edge.map(|(id, _)| id.clone());
    let arrow = |(id, line): (String, TransitionId)| Arrow {
        id,
        range: encoding.range(&done.sources, span(line)),
    };
    let drawn = |id: StateId| Drawn {
        id: format!("s{}", id.0),
        path: chart.state(id).path.clone(),
        range: encoding.range(&done.sources, chosen.map().state(id).name),
    };
    Ok(Some(Picture {
        chart: chart.name.clone(),
        charts: own.iter().map(|one| one.chart().name.clone()).collect(),
        dot,
        states: chart.state_ids().skip(1).map(drawn).collect(),
        edges: arrows.into_iter().map(arrow).collect(),
        at: here.map(|id| format!("s{}", id.0)),
        edge,
    }))
}

/// The innermost state that contains the position. State 0 is the chart itself.
fn innermost(checked: &Checked, at: u32) -> Option<StateId> {
    let map = checked.map();
    let around = |id: &StateId| {
        let span = map.state(*id).whole;
        span.start <= at && at <= span.end
    };
    checked.chart().state_ids().filter(around).last()
}

/// The parameters of `chartc/tests` and `chartc/runTests`.
#[derive(Deserialize)]
struct TestsParams {
    #[serde(rename = "uri")]
    _uri: Uri,
    /// The names of the tests to play; all if absent.
    names: Option<Vec<String>>,
}

/// A test of the file, in the result of `chartc/tests`.
#[derive(Serialize)]
struct Listed {
    name: String,
    chart: String,
    range: Range,
}

/// The result of a test, in the result of `chartc/runTests`.
#[derive(Serialize)]
struct Played {
    name: String,
    passed: bool,
    /// The reason why it failed.
    message: Option<String>,
    /// The range of what failed, if it is in this file.
    range: Option<Range>,
    milliseconds: u128,
}

/// Answers `chartc/tests` with all tests of the file, also those of charts with errors.
fn tests(view: &View<'_>, _: TestsParams) -> Result<Vec<Listed>, Refusal> {
    let (done, file) = view.compiled()?;
    let encoding = view.client.encoding;
    let scenarios = done.files[file.0 as usize].items.iter().filter_map(|item| {
        let chartc_compiler::syntax::Item::Scenario(test) = &item.node else { return None };
        let range = encoding.range(&done.sources, item.span);
        Some(Listed { name: test.name.node.clone(), chart: test.chart.node.clone(), range })
    });
    Ok(scenarios.collect())
}

impl Played {
    /// Formats the result as a message, for an editor that has no list of tests.
    fn told(&self) -> String {
        match &self.message {
            _ if self.passed => format!("passed: {}", self.name),
            Some(why) => format!("failed: {}\n{why}", self.name),
            None => format!("failed: {}", self.name),
        }
    }
}

/// Answers `chartc/runTests`: plays the tests that are asked for.
#[cfg(feature = "run")]
fn run_tests(view: &View<'_>, params: TestsParams) -> Result<Vec<Played>, Refusal> {
    use crate::scenario;
    let (done, file) = view.compiled()?;
    let encoding = view.client.encoding;
    let is_asked = |name: &String| params.names.as_ref().is_none_or(|names| names.contains(name));
    let mut results = Vec::new();
    for (checked, test) in scenario::tests(done) {
        if test.span.file != file || !is_asked(&test.name) {
            continue;
        }
        let (played, took) = timed(|| scenario::play(checked, test, scenario::OF_A_TEST));
        let finding = scenario::finding(test, &played, &done.sources);
        results.push(Played {
            name: test.name.clone(),
            passed: played.failure.is_none(),
            message: finding.as_ref().map(|found| {
                let help = found.help.iter().map(|help| format!("\n{help}"));
                let text = std::iter::once(found.message.clone()).chain(help).collect::<String>();
                chartc_core::visible::text(&text).into_owned()
            }),
            range: finding
                .filter(|found| found.span.file == file)
                .map(|found| encoding.range(&done.sources, found.span)),
            milliseconds: took.as_millis(),
        });
    }
    // A test of a chart with errors cannot be played. Report it as failed, or the editor would wait for it.
    for item in &done.files[file.0 as usize].items {
        let chartc_compiler::syntax::Item::Scenario(test) = &item.node else { continue };
        let name = &test.name.node;
        if is_asked(name) && !results.iter().any(|one| one.name == *name) {
            results.push(Played {
                name: name.clone(),
                passed: false,
                message: Some(format!("`{}` or the test has errors", test.chart.node)),
                range: Some(encoding.range(&done.sources, test.name.span)),
                milliseconds: 0,
            });
        }
    }
    Ok(results)
}

#[cfg(feature = "run")]
#[allow(clippy::disallowed_methods, reason = "a test explorer shows how long tests took")]
fn timed<T>(act: impl FnOnce() -> T) -> (T, std::time::Duration) {
    let began = std::time::Instant::now();
    let made = act();
    (made, began.elapsed())
}

/// Without the feature `run` no tests are played.
#[cfg(not(feature = "run"))]
fn run_tests(_: &View<'_>, _: TestsParams) -> Result<Vec<Played>, Refusal> {
    Err(Refusal::Impossible("this build of chartc plays no tests".to_owned()))
}

// Answers `textDocument/formatting`, as `chartc fmt` formats.

/// The edit that formats a text: it replaces the lines that differ. A text with syntax errors gets none.
fn whole(view: &View<'_>, _: DocumentFormattingParams) -> Result<Vec<TextEdit>, Refusal> {
    let open = view.uri.and_then(|uri| view.texts.get(uri)).ok_or(Refusal::NotOpen)?;
    if !(chart::FRONTEND.takes)(&open.name) {
        return Ok(Vec::new());
    }
    match formatted(&open.name, &open.source.text) {
        Formatted::Same => Ok(Vec::new()),
        Formatted::Changed(new) => {
            let (span, text) = changed(&open.source, &new);
            let range = view.client.encoding.range_in(&open.source, span);
            Ok(vec![TextEdit { range, new_text: text.to_owned() }])
        }
        // The errors are shown as diagnostics already.
        Formatted::Broken(..) => Ok(Vec::new()),
        Formatted::Failed => Err(Refusal::Panic),
    }
}

/// The lines from the first to the last one that differ, in the old text, and their replacement.
fn changed<'n>(old: &Source, new: &'n str) -> (Span, &'n str) {
    let lines = |text: &str| text.split_inclusive('\n').map(str::len).collect::<Vec<_>>();
    let (before, after) = (lines(&old.text), lines(new));
    let same = |pair: &(&str, &str)| pair.0 == pair.1;
    let zipped = old.text.split_inclusive('\n').zip(new.split_inclusive('\n'));
    let head = zipped.take_while(same).count();
    let backward = old.text.split_inclusive('\n').rev().zip(new.split_inclusive('\n').rev());
    // Lines that are equal at both ends, as in a text of equal lines, must not count twice.
    let most = before.len().min(after.len()) - head;
    let tail = backward.take_while(same).count().min(most);
    let bytes = |lines: &[usize]| lines.iter().sum::<usize>();
    let start = bytes(&before[..head]);
    let end = old.text.len() - bytes(&before[before.len() - tail..]);
    let text = &new[start..new.len() - bytes(&after[after.len() - tail..])];
    (Span::new(FileId::default(), start, end), text)
}

// Answers requests for declarations, uses and renaming. References and renames cover all files below the open folder, whether they
// are open in the editor or not.

/// The source of a file, and the offset of a position in it.
fn place<'d>(
    view: &View<'_>,
    done: &'d Compilation,
    file: FileId,
    position: lsp::Position,
) -> (&'d chartc_compiler::syntax::source::Source, u32) {
    let source = done.sources.get(file);
    (source, view.client.encoding.offset(source, position))
}

fn definition(
    view: &View<'_>,
    params: lsp::DefinitionParams,
) -> Result<Vec<lsp::Location>, Refusal> {
    let (done, file) = view.compiled()?;
    let position = params.text_document_position_params.position;
    let (_, offset) = place(view, done, file, position);
    let mapper = view.mapper(done);
    let found = names::definition(done, file, offset as usize);
    Ok(found.into_iter().filter_map(|span| mapper.location(span)).collect())
}

fn references(
    view: &View<'_>,
    params: lsp::ReferenceParams,
) -> Result<Vec<lsp::Location>, Refusal> {
    let (own, file) = view.compiled()?;
    let position = params.text_document_position_params.position;
    let (source, offset) = place(view, own, file, position);
    let with_declaration = params.context.include_declaration;
    let all = view.everything();
    // In the compilation of the whole folder the file has another id. If its text there differs, offsets would not fit.
    let same = all.as_ref().and_then(|all| {
        let mut sources = all.sources.iter();
        let (file, _) =
            sources.find(|(_, one)| one.name == source.name && one.text == source.text)?;
        Some((all, file))
    });
    let (done, file) = same.unwrap_or((own, file));
    let mapper = view.mapper(done);
    let found: Vec<Span> = names::references(done, file, offset as usize, with_declaration);
    Ok(found.into_iter().filter_map(|span| mapper.location(span)).collect())
}

fn highlight(
    view: &View<'_>,
    params: lsp::DocumentHighlightParams,
) -> Result<Vec<lsp::DocumentHighlight>, Refusal> {
    let (done, file) = view.compiled()?;
    let position = params.text_document_position_params.position;
    let (source, offset) = place(view, done, file, position);
    let found = names::highlights(done, file, offset as usize);
    let shown = |one: names::Highlight| lsp::DocumentHighlight {
        range: view.client.encoding.range_in(source, one.at),
        kind: Some(if one.is_write {
            lsp::DocumentHighlightKind::Write
        } else {
            lsp::DocumentHighlightKind::Read
        }),
    };
    Ok(found.into_iter().map(shown).collect())
}

fn prepare(
    view: &View<'_>,
    params: lsp::PrepareRenameParams,
) -> Result<lsp::PrepareRenamePlaceholder, Refusal> {
    let (done, file) = view.compiled()?;
    let position = params.text_document_position_params.position;
    let (source, offset) = place(view, done, file, position);
    let (at, name) = names::prepare_rename(done, file, offset as usize)
        .map_err(|why| Refusal::Impossible(why.to_string()))?;
    let range = view.client.encoding.range_in(source, at);
    Ok(lsp::PrepareRenamePlaceholder { range, placeholder: name })
}

fn rename(view: &View<'_>, params: lsp::RenameParams) -> Result<lsp::WorkspaceEdit, Refusal> {
    let (done, file) = view.compiled()?;
    let position = params.text_document_position_params.position;
    let (_, offset) = place(view, done, file, position);
    let overlay = view.overlay()?;
    let others = view.names();
    let renaming = names::rename(done, file, offset as usize, &params.new_name, &others, &overlay)
        .map_err(|why| Refusal::Impossible(why.to_string()))?;
    for note in &renaming.notes {
        view.tell(note.to_string());
    }
    let mut edits = BTreeMap::new();
    for changed in renaming.edits {
        let source = view.source(&changed.file, &overlay)?;
        let edit = |one: names::TextEdit| {
            let span = Span::new(FileId::default(), one.range.start, one.range.end);
            let range = view.client.encoding.range_in(&source, span);
            lsp::TextEdit { range, new_text: one.text }
        };
        let own: Vec<lsp::TextEdit> = changed.edits.into_iter().map(edit).collect();
        edits.insert(changed.file, own);
    }
    view.workspace_edit(edits)
}

impl View<'_> {
    /// Converts edits, by the names of files, to the form that the client takes.
    ///
    /// # Errors
    /// A file name cannot be written as an address.
    fn workspace_edit(
        &self,
        edits: BTreeMap<String, Vec<lsp::TextEdit>>,
    ) -> Result<lsp::WorkspaceEdit, Refusal> {
        let mut changes = Vec::new();
        for (name, edits) in edits {
            let open = self.texts.named(&name);
            let version = open.map(|(_, open)| open.version);
            // For an open text, use the client's own spelling of the address: others may mean the same file.
            let uri = open.map(|(uri, _)| uri.clone()).or_else(|| self.places.uri(&name));
            let uri = uri.ok_or_else(|| Refusal::Impossible(format!("{name} is in no file")))?;
            changes.push((uri, version, edits));
        }
        if !self.client.versioned_edits {
            let changes = changes.into_iter().map(|(uri, _, edits)| (uri, edits));
            let changes: HashMap<lsp::Uri, Vec<lsp::TextEdit>> = changes.collect();
            return Ok(lsp::WorkspaceEdit {
                changes: Some(changes),
                ..lsp::WorkspaceEdit::default()
            });
        }
        let versioned = changes.into_iter().map(|(uri, version, edits)| {
            let identifier = lsp::TextDocumentIdentifier { uri };
            lsp::DocumentChange::TextDocumentEdit(lsp::TextDocumentEdit {
                text_document: lsp::OptionalVersionedTextDocumentIdentifier {
                    version,
                    text_document_identifier: identifier,
                },
                edits: edits.into_iter().map(lsp::Edit::TextEdit).collect(),
            })
        });
        let document_changes = Some(versioned.collect());
        Ok(lsp::WorkspaceEdit { document_changes, ..lsp::WorkspaceEdit::default() })
    }
}

// Answers requests that make a text easier to read: hover, colours, folds, hints.

fn hover(view: &View<'_>, params: lsp::HoverParams) -> Result<Option<lsp::Hover>, Refusal> {
    let (done, file) = view.compiled()?;
    let position = params.text_document_position_params.position;
    let (source, offset) = place(view, done, file, position);
    let found = hover::hover(done, file, offset as usize).map(|found| (found.span, found.markdown));
    let found = found.or_else(|| {
        // Not a name of the chart: perhaps a key of the agent file.
        let format = Format::from_path(&source.name, &source.text)?;
        let found = yaml::hover(format, &source.text, offset as usize)?;
        Some((Span::new(file, found.at.start, found.at.end), found.text))
    });
    Ok(found.map(|(span, value)| lsp::Hover {
        contents: lsp::Contents::MarkupContent(lsp::MarkupContent {
            kind: lsp::MarkupKind::Markdown,
            value,
        }),
        range: Some(view.client.encoding.range_in(source, span)),
    }))
}

fn folding(view: &View<'_>, _: lsp::FoldingRangeParams) -> Result<Vec<lsp::FoldingRange>, Refusal> {
    let (done, file) = view.compiled()?;
    let source = done.sources.get(file);
    let shown = |fold: crate::ide::folds::Fold| {
        let range = view.client.encoding.range_in(source, fold.span);
        lsp::FoldingRange {
            start_line: range.start.line,
            start_character: Some(range.start.character),
            end_line: range.end.line,
            end_character: Some(range.end.character),
            kind: Some(match fold.kind {
                FoldKind::Region => lsp::FoldingRangeKind::Region,
                FoldKind::Comment => lsp::FoldingRangeKind::Comment,
                FoldKind::Imports => lsp::FoldingRangeKind::Imports,
            }),
            collapsed_text: None,
        }
    };
    Ok(folds(done, file).into_iter().map(shown).collect())
}

fn inlay(view: &View<'_>, params: lsp::InlayHintParams) -> Result<Vec<lsp::InlayHint>, Refusal> {
    let (done, file) = view.compiled()?;
    let source = done.sources.get(file);
    let encoding = view.client.encoding;
    let at = |place| encoding.offset(source, place) as usize;
    let range = at(params.range.start)..at(params.range.end);
    let wanted = view.client.settings.inlay_hints;
    let is_wanted = |kind: &HintKind| match kind {
        HintKind::Type => wanted.types,
        HintKind::Parameter => wanted.parameters,
        HintKind::Policy => wanted.limits,
        HintKind::Calls => wanted.costs,
    };
    let kinds: Vec<HintKind> = HintKind::ALL.into_iter().filter(is_wanted).collect();
    let shown = |hint: crate::ide::hints::Hint| lsp::InlayHint {
        position: encoding.position(source, hint.offset as u32),
        label: lsp::Label::String(hint.text),
        kind: match hint.kind {
            HintKind::Type => Some(lsp::InlayHintKind::Type),
            HintKind::Parameter => Some(lsp::InlayHintKind::Parameter),
            HintKind::Policy | HintKind::Calls => None,
        },
        text_edits: None,
        tooltip: None,
        padding_left: None,
        padding_right: None,
        data: None,
    };
    Ok(hints(done, file, range, &kinds).into_iter().map(shown).collect())
}

/// The kinds of tokens, indexed by their numbers in the protocol, with names for which editors have colours.
const KINDS: &[(TokenKind, &str)] = &[
    (TokenKind::Keyword, "keyword"),
    (TokenKind::State, "class"),
    (TokenKind::Event, "event"),
    (TokenKind::Variable, "variable"),
    (TokenKind::Parameter, "parameter"),
    (TokenKind::Property, "property"),
    (TokenKind::Type, "type"),
    (TokenKind::Enum, "enum"),
    (TokenKind::EnumMember, "enumMember"),
    (TokenKind::Function, "function"),
    (TokenKind::Tool, "method"),
    (TokenKind::Step, "macro"),
    (TokenKind::Option, "label"),
    (TokenKind::Client, "interface"),
    (TokenKind::Component, "decorator"),
    (TokenKind::Chart, "namespace"),
    (TokenKind::Number, "number"),
    (TokenKind::Duration, "number"),
    (TokenKind::String, "string"),
    (TokenKind::Brace, "regexp"),
    (TokenKind::Comment, "comment"),
    (TokenKind::Doc, "comment"),
    (TokenKind::Operator, "operator"),
];

/// The modifiers of tokens. The first has the lowest bit.
const MODIFIERS: &[&str] = &["declaration", "readonly", "deprecated", "documentation"];

/// The names of the kinds and of the modifiers, in the order of their numbers.
pub(super) fn legend() -> (Vec<&'static str>, Vec<&'static str>) {
    (KINDS.iter().map(|(_, name)| *name).collect(), MODIFIERS.to_vec())
}

fn all_tokens(
    view: &View<'_>,
    _: lsp::SemanticTokensParams,
) -> Result<lsp::SemanticTokens, Refusal> {
    let (_, file) = view.compiled()?;
    coloured(view, Span::new(file, 0, u32::MAX as usize))
}

fn some_tokens(
    view: &View<'_>,
    params: lsp::SemanticTokensRangeParams,
) -> Result<lsp::SemanticTokens, Refusal> {
    let (done, file) = view.compiled()?;
    let source = done.sources.get(file);
    let at = |place| view.client.encoding.offset(source, place) as usize;
    coloured(view, Span::new(file, at(params.range.start), at(params.range.end)))
}

/// The tokens that touch a span. The protocol wants the position of each relative to the one before.
fn coloured(view: &View<'_>, within: Span) -> Result<lsp::SemanticTokens, Refusal> {
    let (done, file) = view.compiled()?;
    let source = done.sources.get(file);
    let encoding = view.client.encoding;
    let (mut line, mut character) = (0, 0);
    let mut data = Vec::new();
    let touches = |token: &Token| token.span.end >= within.start && token.span.start <= within.end;
    for token in tokens(done, file).into_iter().filter(touches) {
        let at = encoding.position(source, token.span.start);
        let delta_line = at.line - line;
        let delta_start = if delta_line == 0 { at.character - character } else { at.character };
        (line, character) = (at.line, at.character);
        data.push(lsp::SemanticToken {
            delta_line,
            delta_start,
            length: encoding.length(source.slice(token.span)),
            token_type: number(token.kind),
            token_modifiers_bitset: bits(&token),
        });
    }
    Ok(lsp::SemanticTokens { result_id: None, data })
}

fn number(kind: TokenKind) -> u32 {
    KINDS.iter().position(|(known, _)| *known == kind).unwrap_or_default() as u32
}

fn bits(token: &Token) -> u32 {
    let Modifiers { declaration, readonly, deprecated } = token.modifiers;
    let all = [declaration, readonly, deprecated, token.kind == TokenKind::Doc];
    all.into_iter().enumerate().map(|(nth, is_so)| u32::from(is_so) << nth).sum()
}

// Answers requests for the declarations of a file and of a project.

/// The maximum number of symbols in the result of a search.
const MOST_SYMBOLS: usize = 500;

fn document(view: &View<'_>, params: lsp::DocumentSymbolParams) -> Result<Value, Refusal> {
    let (done, file) = view.compiled()?;
    let source = done.sources.get(file);
    let symbols = outline(done, file);
    let value = if view.client.nested_symbols {
        serde_json::to_value(
            symbols.iter().map(|one| nested(view, source, one)).collect::<Vec<_>>(),
        )
    } else {
        let mut flat = Vec::new();
        let uri = &params.text_document.uri;
        for one in &symbols {
            flatten(view, source, uri, None, one, &mut flat);
        }
        serde_json::to_value(flat)
    };
    value.map_err(|why| Refusal::Impossible(why.to_string()))
}

fn nested(view: &View<'_>, source: &Source, symbol: &Symbol) -> lsp::DocumentSymbol {
    let range = |span| view.client.encoding.range_in(source, span);
    let children: Vec<lsp::DocumentSymbol> =
        symbol.children.iter().map(|child| nested(view, source, child)).collect();
    #[allow(deprecated, reason = "the type has the field")]
    lsp::DocumentSymbol {
        name: symbol_item(&symbol.name),
        detail: (!symbol.detail.is_empty()).then(|| symbol_item(&symbol.detail)),
        kind: kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: range(symbol.whole),
        selection_range: range(symbol.name_span),
        children: (!children.is_empty()).then_some(children),
    }
}

/// Escapes a name. An empty one becomes `?`, because clients refuse empty names.
fn symbol_item(name: &str) -> String {
    let name = chartc_core::visible::line(name);
    if name.is_empty() { "?".to_owned() } else { name.into_owned() }
}

fn flatten(
    view: &View<'_>,
    source: &Source,
    uri: &lsp::Uri,
    container: Option<&str>,
    symbol: &Symbol,
    out: &mut Vec<lsp::SymbolInformation>,
) {
    let range = view.client.encoding.range_in(source, symbol.whole);
    out.push(information(symbol, container, lsp::Location { uri: uri.clone(), range }));
    for child in &symbol.children {
        flatten(view, source, uri, Some(&symbol.name), child, out);
    }
}

fn information(
    symbol: &Symbol,
    container: Option<&str>,
    location: lsp::Location,
) -> lsp::SymbolInformation {
    #[allow(deprecated, reason = "the type has the field")]
    lsp::SymbolInformation {
        deprecated: None,
        location,
        base_symbol_information: lsp::BaseSymbolInformation {
            name: symbol_item(&symbol.name),
            kind: kind(symbol.kind),
            tags: None,
            container_name: container.map(symbol_item),
        },
    }
}

fn workspace(
    view: &View<'_>,
    params: lsp::WorkspaceSymbolParams,
) -> Result<Vec<lsp::SymbolInformation>, Refusal> {
    let Some(done) = view.everything() else { return Ok(Vec::new()) };
    let mapper = view.mapper(&done);
    let found = search(&done, &params.query).into_iter().take(MOST_SYMBOLS);
    let shown = found.filter_map(|one| {
        let location = mapper.location(one.symbol.name_span)?;
        let container = Some(one.container.as_str()).filter(|name| !name.is_empty());
        Some(information(&one.symbol, container, location))
    });
    Ok(shown.collect())
}

fn kind(of: SymbolKind) -> lsp::SymbolKind {
    match of {
        SymbolKind::Import => lsp::SymbolKind::File,
        SymbolKind::Chart => lsp::SymbolKind::Class,
        SymbolKind::State | SymbolKind::Parallel | SymbolKind::Final | SymbolKind::History => {
            lsp::SymbolKind::Namespace
        }
        SymbolKind::Event => lsp::SymbolKind::Event,
        SymbolKind::Param | SymbolKind::Input | SymbolKind::Variable => lsp::SymbolKind::Variable,
        SymbolKind::Step => lsp::SymbolKind::Method,
        SymbolKind::Option => lsp::SymbolKind::Key,
        SymbolKind::Tool | SymbolKind::Function | SymbolKind::Effect => lsp::SymbolKind::Function,
        SymbolKind::ToolSet => lsp::SymbolKind::Array,
        SymbolKind::Type => lsp::SymbolKind::Struct,
        SymbolKind::Field => lsp::SymbolKind::Field,
        SymbolKind::Enum => lsp::SymbolKind::Enum,
        SymbolKind::EnumValue => lsp::SymbolKind::EnumMember,
        SymbolKind::Predicate => lsp::SymbolKind::Boolean,
        SymbolKind::Client => lsp::SymbolKind::Interface,
        SymbolKind::Component => lsp::SymbolKind::String,
        SymbolKind::Test => lsp::SymbolKind::Constructor,
    }
}

// All files of a project, with the texts that are open in the editor or, otherwise, on disk.

/// The maximum number of files and folders searched below the open folder. In a larger folder only open texts and their imports are known.
const MOST_FILES: usize = 50_000;

impl View<'_> {
    /// The names of all charts and agents below the open folder, and of those that are open.
    fn names(&self) -> Vec<String> {
        let mut names: BTreeSet<String> =
            self.texts.iter().map(|(_, open)| open.name.clone()).collect();
        if self.client.folder.is_some() {
            let own = Arc::clone(self.settings);
            let skips: Skips = Arc::new(move |path, is_folder| own.leave_out(path, is_folder));
            // If the folder cannot be listed, only the open texts are known.
            let found = files::below_within(Path::new("."), &skips, MOST_FILES).ok().flatten();
            names.extend(found.unwrap_or_default());
        }
        names.into_iter().collect()
    }

    /// A loader that reads open texts from the editor and other files from disk.
    ///
    /// # Errors
    /// The open folder no longer exists.
    fn overlay(&self) -> Result<Overlay, Refusal> {
        Overlay::new(self.texts, self.places).map_err(Refusal::Impossible)
    }

    /// Compiles all charts and agents with an index of names, and without exploration. Returns `None` if the open folder no longer exists.
    fn everything(&self) -> Option<Compilation> {
        let overlay = self.overlay().ok()?;
        Some(chartc_compiler::compile::check_indexed(&self.names(), &overlay, 0))
    }

    /// The text of the file `name`: from the editor if it is open, else from disk.
    ///
    /// # Errors
    /// The file cannot be read.
    fn source(&self, name: &str, overlay: &Overlay) -> Result<Arc<Source>, Refusal> {
        match self.texts.named(name) {
            Some((_, open)) => Ok(Arc::clone(&open.source)),
            None => {
                let text = overlay.read(name);
                let text =
                    text.map_err(|why| Refusal::Impossible(format!("cannot read {name}: {why}")))?;
                Ok(Arc::new(Source::new(name, text)))
            }
        }
    }
}

/// The result of `initialize`: the capabilities that the server announces.
pub(super) fn hello(client: &Client) -> Value {
    // An editor with the extension carries out the commands itself: announcing them here would register them twice.
    let commands: &[&str] = if client.pictures { &[] } else { &COMMANDS };
    let (types, modifiers) = legend();
    json!({
        "serverInfo": { "name": "chartc", "version": env!("CARGO_PKG_VERSION") },
        "capabilities": {
            "positionEncoding": client.encoding.name(),
            "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
            "hoverProvider": true,
            "definitionProvider": true,
            "referencesProvider": true,
            "documentHighlightProvider": true,
            "renameProvider": { "prepareProvider": true },
            "documentSymbolProvider": true,
            "workspaceSymbolProvider": true,
            "foldingRangeProvider": true,
            "documentFormattingProvider": true,
            "completionProvider": { "triggerCharacters": [".", "{", "\"", "(", "/", ">", ":", "<"] },
            "codeActionProvider": { "codeActionKinds": ["quickfix", "source.fixAll"] },
            "codeLensProvider": {},
            "executeCommandProvider": { "commands": commands },
            "inlayHintProvider": true,
            "semanticTokensProvider": {
                "legend": { "tokenTypes": types, "tokenModifiers": modifiers },
                "full": true,
                "range": true,
            },
            "workspace": { "workspaceFolders": { "supported": true } },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_snippet_without_its_places() {
        assert_eq!(plain("state ${1:name} {\n  $0\n\\}"), "state name {\n  \n}");
        assert_eq!(plain("\\$ ${2} $3 ${1:a\\}b} }"), "$   a}b }");
    }
}
