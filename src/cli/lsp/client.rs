//! The capabilities and settings of the client.

use super::texts::Encoding;
use gen_lsp_types as lsp;
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;

/// The capabilities and settings of a client.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub(super) struct Client {
    /// The unit in which the client counts columns.
    pub(super) encoding: Encoding,
    /// The folder that is open, if there is one. If there are several, the first.
    pub(super) folder: Option<PathBuf>,
    /// Whether completions may contain placeholders.
    pub(super) snippets: bool,
    /// Whether edits may name the version of the text that they change.
    pub(super) versioned_edits: bool,
    /// Whether code actions may be edits. Otherwise they must be commands.
    pub(super) literal_actions: bool,
    /// Whether the client watches files if it is asked to.
    pub(super) watches: bool,
    /// Whether the client can be asked for its settings.
    pub(super) configuration: bool,
    /// Whether the client can be asked to request hints and lenses again.
    pub(super) refreshes: bool,
    /// Whether symbols may have children.
    pub(super) nested_symbols: bool,
    /// Whether the client has chartc's extension, and so knows its requests and commands.
    pub(super) pictures: bool,
    /// The settings of the user.
    pub(super) settings: Wishes,
}

/// The section `chartc` of an editor's settings.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Wishes {
    /// The hints to show between words.
    pub(super) inlay_hints: Hints,
    /// When to explore and play tests.
    pub(super) check: When,
}

/// The kinds of hints to show.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub(super) struct Hints {
    /// Types that the text does not name.
    pub(super) types: bool,
    /// The names of parameters at arguments.
    pub(super) parameters: bool,
    /// Limits and policies that a step inherits.
    pub(super) limits: bool,
    /// The maximum number of model calls.
    pub(super) costs: bool,
}

impl Default for Hints {
    fn default() -> Self {
        Self { types: true, parameters: true, limits: true, costs: true }
    }
}

/// When to explore and play tests.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct When {
    /// Explore and play tests only on save, even if it takes little time.
    pub(super) on_save_only: bool,
}

impl Client {
    /// Reads the capabilities and settings from the parameters of `initialize`.
    pub(super) fn from_params(params: lsp::InitializeParams) -> Self {
        let offered = |all: &Value, path: &str| all.pointer(path).cloned().unwrap_or(Value::Null);
        // As JSON, because nearly every capability is optional at every level.
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
    /// Reads the settings. If one of them cannot be understood, all have their defaults.
    pub(super) fn from_value(value: Value) -> Self {
        let inner = value.get("chartc").cloned().unwrap_or(value);
        serde_json::from_value(inner).unwrap_or_default()
    }
}
