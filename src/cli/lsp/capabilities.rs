//! What the client can do, and what the server says that it can.

use super::position::Encoding;
use gen_lsp_types as lsp;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

/// What the server has to know of a client.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub(super) struct Client {
    /// The unit of columns.
    pub(super) encoding: Encoding,
    /// The folder that is open.
    pub(super) folder: Option<PathBuf>,
    /// Whether completions may have places to fill in.
    pub(super) snippets: bool,
    /// Whether edits may say which version of a text they change.
    pub(super) versioned_edits: bool,
    /// Whether code actions may be more than commands.
    pub(super) literal_actions: bool,
    /// Whether it can be asked to watch files.
    pub(super) watches: bool,
    /// Whether it can be asked for its settings.
    pub(super) configuration: bool,
    /// Whether it can be asked to ask again for hints and lenses.
    pub(super) refreshes: bool,
    /// Whether symbols may have children.
    pub(super) nested_symbols: bool,
    /// Whether it knows the requests of chartc's own extensions.
    pub(super) pictures: bool,
    /// What the user set.
    pub(super) settings: Wishes,
}

/// The section `chartc` of an editor's settings.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Wishes {
    /// Hints between words.
    pub(super) inlay_hints: Hints,
    /// When to check.
    pub(super) check: When,
}

/// Which hints are shown.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub(super) struct Hints {
    /// Types that are not written.
    pub(super) types: bool,
    /// The names of parameters at arguments.
    pub(super) parameters: bool,
    /// Limits and policies that a step has from elsewhere.
    pub(super) limits: bool,
    /// The worst number of calls.
    pub(super) costs: bool,
}

impl Default for Hints {
    fn default() -> Self {
        Self { types: true, parameters: true, limits: true, costs: true }
    }
}

/// When to check.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct When {
    /// Explore and play tests only on save, however short it takes.
    pub(super) on_save_only: bool,
}

impl Client {
    /// What it says of itself.
    pub(super) fn from_params(params: lsp::InitializeParams) -> Self {
        let offered = |all: &Value, path: &str| all.pointer(path).cloned().unwrap_or(Value::Null);
        let all = serde_json::to_value(&params.capabilities).unwrap_or_default();
        let is = |path: &str| offered(&all, path).as_bool().unwrap_or(false);
        let encodings = params.capabilities.general.as_ref();
        let encodings = encodings.and_then(|general| general.position_encodings.clone());
        let folders = params.workspace_folders_initialize_params.workspace_folders;
        let first = match folders {
            Some(lsp::WorkspaceFolders::WorkspaceFolderList(all)) => {
                all.into_iter().next().map(|first| first.uri)
            }
            Some(lsp::WorkspaceFolders::Null) | None => None,
        };
        #[allow(deprecated, reason = "some editors say only this")]
        let folder = first.or(params.root_uri);
        let settings = params.initialization_options.unwrap_or_default();
        Self {
            encoding: Encoding::agreed(&encodings.unwrap_or_default()),
            folder: folder.and_then(|uri| uri.to_file_path().ok()).filter(|path| path.is_dir()),
            snippets: is("/textDocument/completion/completionItem/snippetSupport"),
            versioned_edits: is("/workspace/workspaceEdit/documentChanges"),
            literal_actions: !offered(&all, "/textDocument/codeAction/codeActionLiteralSupport")
                .is_null(),
            watches: is("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            configuration: is("/workspace/configuration"),
            refreshes: is("/workspace/inlayHint/refreshSupport"),
            nested_symbols: is("/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
            pictures: is("/experimental/chartcPictures"),
            settings: Wishes::from_value(settings),
        }
    }
}

impl Wishes {
    /// The settings, without what cannot be understood.
    pub(super) fn from_value(value: Value) -> Self {
        let inner = value.get("chartc").cloned().unwrap_or(value);
        serde_json::from_value(inner).unwrap_or_default()
    }
}

/// The result of `initialize`.
pub(super) fn hello(client: &Client) -> Value {
    // An editor with the extension has commands of its own.
    let commands: &[&str] = if client.pictures { &[] } else { &super::answer::COMMANDS };
    let (types, modifiers) = super::answer::legend();
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
