//! Starts the language server of chartc in Zed.

use zed_extension_api::settings::LspSettings;
use zed_extension_api::{Command, Extension, LanguageServerId, Result, Worktree, register_extension};

struct Chartc;

impl Extension for Chartc {
    fn new() -> Self {
        Self
    }

    /// The binary of the settings (`lsp.chartc.binary`), else the one in the path.
    fn language_server_command(
        &mut self,
        _: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Command> {
        let binary = LspSettings::for_worktree("chartc", worktree).ok().and_then(|s| s.binary);
        let (path, arguments) = binary.map_or((None, None), |b| (b.path, b.arguments));
        let command = path.or_else(|| worktree.which("chartc")).ok_or(
            "no `chartc` in the path: install it, or say where it is with `lsp.chartc.binary.path` in the settings",
        )?;
        Ok(Command {
            command,
            args: arguments.unwrap_or_else(|| vec!["lsp".to_owned()]),
            env: worktree.shell_env(),
        })
    }
}

register_extension!(Chartc);
