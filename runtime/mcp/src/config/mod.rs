//! What the file of `--tools` says: servers, and tools that are commands or HTTP endpoints.

mod expand;
mod read;
mod tree;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time within which a server must answer `initialize`, and each request for its list of tools.
const START: Duration = Duration::from_secs(30);
/// The time within which a call must end or show progress.
const CALL: Duration = Duration::from_mins(1);
/// The time within which a call must end, whatever progress it shows.
const TOTAL: Duration = Duration::from_mins(10);
/// Bytes of a result.
const OUTPUT: usize = 1024 * 1024;

/// The variables that every process gets, if they are set; all others must be configured.
pub(crate) const INHERITED: &[&str] =
    &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TMPDIR", "TZ"];
/// The same, for processes on Windows.
const WINDOWS: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];

/// What is wrong with a configuration, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {}{why}", if key.is_empty() { String::new() } else { format!("{key}: ") })]
pub struct ConfigError {
    /// The file, as messages call it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The key, dotted: `servers.files.env.TOKEN`; empty for the file.
    pub key: String,
    /// What is wrong.
    pub why: String,
    /// What to do about it; empty where the message says it.
    pub help: String,
}

/// A place in a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as messages call it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Which tools there are and how they are reached. Nothing is started yet.
///
/// ```
/// use chartc_mcp::Configuration;
///
/// let text = "[servers.files]\ncommand = \"npx\"\nargs = [\"-y\", \"server\", \"${DATA:-.}\"]\n";
/// let configuration = Configuration::read("tools.toml", text, ".".as_ref(), &|_| None);
/// assert!(configuration.is_ok_and(|c| c.provides("files.read_file") && !c.provides("web.search")));
///
/// let fault = Configuration::read("t.json", "{\"mcpServers\": {\"a\": {\"url\": \"${URL}\"}}}", ".".as_ref(), &|_| None);
/// assert_eq!(
///     fault.expect_err("the variable is not set").to_string(),
///     "t.json:1: mcpServers.a.url: the variable `URL` is not set",
/// );
/// ```
#[derive(Clone)]
pub struct Configuration {
    pub(crate) file: String,
    pub(crate) servers: BTreeMap<String, ServerSpec>,
    pub(crate) tools: BTreeMap<String, ToolSpec>,
    /// What every process gets.
    pub(crate) environment: Vec<(String, String)>,
    /// Values of variables, which no message shows.
    pub(crate) secrets: Vec<String>,
}

impl std::fmt::Debug for Configuration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (servers, tools) = (self.servers.keys(), self.tools.keys());
        f.debug_struct("Configuration")
            .field("file", &self.file)
            .field("servers", &servers.collect::<Vec<_>>())
            .field("tools", &tools.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// One server.
#[derive(Clone)]
pub(crate) struct ServerSpec {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) reach: Reach,
    pub(crate) start: Duration,
    pub(crate) limits: Limits,
    /// The tools that charts may use, by their names on the server; all if `None`.
    pub(crate) include: Option<BTreeSet<String>>,
    /// Tools that charts call by other names, by those names.
    pub(crate) tools: BTreeMap<String, Alias>,
}

/// How a server is reached.
#[derive(Clone)]
pub(crate) enum Reach {
    Process(Program),
    Http { url: String, headers: Vec<(String, String)> },
}

/// A program to start.
#[derive(Clone)]
pub(crate) struct Program {
    /// The program, then its arguments.
    pub(crate) argv: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: Option<PathBuf>,
}

/// What one call may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Without progress.
    pub(crate) idle: Duration,
    pub(crate) total: Duration,
    /// Bytes of the result.
    pub(crate) output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { idle: CALL, total: TOTAL, output: OUTPUT }
    }
}

/// A tool of a server, as charts see it.
#[derive(Clone)]
pub(crate) struct Alias {
    /// Its name on the server.
    pub(crate) name: String,
    pub(crate) limits: Limits,
}

/// A tool without a server.
#[derive(Clone)]
pub(crate) struct ToolSpec {
    pub(crate) line: usize,
    pub(crate) act: Act,
    pub(crate) limits: Limits,
}

/// What a tool without a server does.
#[derive(Clone)]
pub(crate) enum Act {
    Command(Program),
    Http { method: String, url: String, headers: Vec<(String, String)> },
}

impl Configuration {
    /// Reads a configuration: TOML, or the JSON with `mcpServers` (or `servers`) that other clients read. `folder` is where relative `cwd`s
    /// begin; `variables` reads the environment.
    ///
    /// # Errors
    /// The file is malformed, names an unknown key, a variable that is not set, or something that charts cannot use.
    pub fn read(
        file: &str,
        text: &str,
        folder: &Path,
        variables: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let mut configuration = read::read(file, text, folder, variables)?;
        let names = INHERITED.iter().chain(if cfg!(windows) { WINDOWS } else { &[] });
        configuration.environment =
            names.filter_map(|name| Some(((*name).to_owned(), variables(name)?))).collect();
        Ok(configuration)
    }

    /// The file, as messages call it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The names of the servers, in alphabetical order.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// The tools that are commands or HTTP endpoints, in alphabetical order.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// Whether the configuration maps a chart's tool to a server, a command or an endpoint. Whether the server has it is another question.
    pub fn provides(&self, tool: &str) -> bool {
        self.tools.contains_key(tool) || self.server_of(tool).is_some()
    }

    /// Where a tool is mapped, for messages.
    pub fn place(&self, tool: &str) -> Option<Place> {
        match self.tools.get(tool) {
            Some(tool) => Some(Place { file: self.file.clone(), line: tool.line }),
            None => Some(self.servers.get(self.server_of(tool)?)?.place.clone()),
        }
    }

    /// The server of a tool: the first part of its path.
    pub(crate) fn server_of(&self, tool: &str) -> Option<&str> {
        let (server, _) = tool.split_once('.')?;
        self.servers.get_key_value(server).map(|(name, _)| name.as_str())
    }

    /// The servers that these tools need.
    pub(crate) fn needed<'t>(&self, tools: impl Iterator<Item = &'t str>) -> BTreeSet<String> {
        let tools = tools.filter(|tool| !self.tools.contains_key(*tool));
        tools.filter_map(|tool| self.server_of(tool)).map(ToOwned::to_owned).collect()
    }
}

impl ServerSpec {
    /// The name on the server of what a chart calls `tool`, without the server's name, and its limits.
    pub(crate) fn tool(&self, tool: &str) -> (String, Limits) {
        match self.tools.get(tool) {
            Some(alias) => (alias.name.clone(), alias.limits),
            None => (tool.to_owned(), self.limits),
        }
    }

    /// What charts call a tool of the server.
    pub(crate) fn called(&self, tool: &str) -> String {
        let alias = self.tools.iter().find(|(_, alias)| alias.name == tool);
        alias.map_or_else(|| tool.to_owned(), |(name, _)| name.clone())
    }

    /// Whether charts may use a tool, by its name on the server.
    pub(crate) fn includes(&self, tool: &str) -> bool {
        self.include.as_ref().is_none_or(|names| names.contains(tool))
    }
}
