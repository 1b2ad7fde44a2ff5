//! The configuration of tools (`--tools FILE`): servers, commands and HTTP endpoints.
//!
//! The file is TOML, or the JSON that other clients of the protocol read. It is parsed into one kind of tree with line numbers (`tree`),
//! and read from there (`read`, with `value` for single values). Variables of the environment are expanded on the way (`expand`).
//!
//! ```text
//! [servers.files]                       files.* are tools of a process that is started for the run
//! command = "npx"
//! args = ["-y", "server", "${DATA}"]    DATA = "/data" -> argv ["npx", "-y", "server", "/data"]; "/data" is hidden in messages
//! [tools."git.log"]                     one tool, whose program is started for each call
//! command = ["git", "log", "{path}"]    {path} is filled in with an argument of the call
//! ```

mod expand;
mod read;
mod tree;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The default time limit within which a server must answer `initialize`, and each request for its list of tools.
const START: Duration = Duration::from_secs(30);
/// The default time limit within which a call must end or report progress.
const CALL: Duration = Duration::from_mins(1);
/// The default time limit within which a call must end, whatever progress it reports.
const TOTAL: Duration = Duration::from_mins(10);
/// The default maximum size of a result, in bytes.
const OUTPUT: usize = 1024 * 1024;

/// The variables that every process gets if they are set. All others must be configured.
pub(crate) const INHERITED: &[&str] =
    &["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TMPDIR", "TZ"];
/// Further variables for processes on Windows.
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

/// An error in a configuration, with its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {}{why}", if key.is_empty() { String::new() } else { format!("{key}: ") })]
pub struct ConfigError {
    /// The name of the file, as given to [`Configuration::read`].
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The dotted key, such as `servers.files.env.TOKEN`; empty if the error concerns the whole file.
    pub key: String,
    /// A description of the error.
    pub why: String,
    /// A remedy; empty if the description suffices.
    pub help: String,
}

/// A place in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The name of the file, as given to [`Configuration::read`].
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The servers and tools that a configuration names. Reading it starts nothing.
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
    /// The variables that every process gets, with their values.
    pub(crate) environment: Vec<(String, String)>,
    /// The values of expanded variables and of headers, which no message may show. The longest is first.
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

/// The configuration of one server.
#[derive(Clone)]
pub(crate) struct ServerSpec {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) reach: Reach,
    pub(crate) start: Duration,
    pub(crate) limits: Limits,
    /// The names on the server of the tools that charts may use; `None` for all.
    pub(crate) include: Option<BTreeSet<String>>,
    /// The tools that charts call by other names than the server, by their names in charts.
    pub(crate) tools: BTreeMap<String, Alias>,
}

/// The way to a server.
#[derive(Clone)]
pub(crate) enum Reach {
    Process(Program),
    Http { url: String, headers: Vec<(String, String)> },
}

/// A program with its arguments and environment.
#[derive(Clone)]
pub(crate) struct Program {
    /// The program, followed by its arguments.
    pub(crate) argv: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: Option<PathBuf>,
}

/// The limits of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The time limit without progress.
    pub(crate) idle: Duration,
    pub(crate) total: Duration,
    /// The maximum size of the result, in bytes.
    pub(crate) output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { idle: CALL, total: TOTAL, output: OUTPUT }
    }
}

/// The configuration of one tool of a server.
#[derive(Clone)]
pub(crate) struct Alias {
    /// The name of the tool on the server.
    pub(crate) name: String,
    pub(crate) limits: Limits,
}

/// The configuration of a tool without a server.
#[derive(Clone)]
pub(crate) struct ToolSpec {
    pub(crate) line: usize,
    pub(crate) act: Act,
    pub(crate) limits: Limits,
}

/// The action of a tool without a server.
#[derive(Clone)]
pub(crate) enum Act {
    Command(Program),
    Http { method: String, url: String, headers: Vec<(String, String)> },
}

impl Configuration {
    /// Reads a configuration: TOML, or the JSON with `mcpServers` (or `servers`) that other clients read. Relative `cwd`s begin at
    /// `folder`. `variables` returns the values of variables of the environment.
    ///
    /// # Errors
    /// The file is malformed, names an unknown key or a variable that is not set, or has a value that cannot be used.
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

    /// The name of the file, as given to [`Configuration::read`].
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

    /// Whether the configuration maps a chart's tool to a server, a command or an endpoint. It does not say whether the server has the
    /// tool.
    pub fn provides(&self, tool: &str) -> bool {
        self.tools.contains_key(tool) || self.server_of(tool).is_some()
    }

    /// The place in the file that maps a tool, for messages.
    pub fn place(&self, tool: &str) -> Option<Place> {
        match self.tools.get(tool) {
            Some(tool) => Some(Place { file: self.file.clone(), line: tool.line }),
            None => Some(self.servers.get(self.server_of(tool)?)?.place.clone()),
        }
    }

    /// The server of a tool, by the first part of the tool's name: `files` for `files.read_file`.
    pub(crate) fn server_of(&self, tool: &str) -> Option<&str> {
        let (server, _) = tool.split_once('.')?;
        self.servers.get_key_value(server).map(|(name, _)| name.as_str())
    }

    /// The names of the servers that these tools need.
    pub(crate) fn needed<'t>(&self, tools: impl Iterator<Item = &'t str>) -> BTreeSet<String> {
        let tools = tools.filter(|tool| !self.tools.contains_key(*tool));
        tools.filter_map(|tool| self.server_of(tool)).map(ToOwned::to_owned).collect()
    }
}

impl ServerSpec {
    /// The name on the server, and the limits, of the tool that charts call `tool` (without the server's name).
    pub(crate) fn tool(&self, tool: &str) -> (String, Limits) {
        match self.tools.get(tool) {
            Some(alias) => (alias.name.clone(), alias.limits),
            None => (tool.to_owned(), self.limits),
        }
    }

    /// The name in charts of a tool of the server, without the server's name.
    pub(crate) fn called(&self, tool: &str) -> String {
        let alias = self.tools.iter().find(|(_, alias)| alias.name == tool);
        alias.map_or_else(|| tool.to_owned(), |(name, _)| name.clone())
    }

    /// Whether charts may use the tool with this name on the server.
    pub(crate) fn includes(&self, tool: &str) -> bool {
        self.include.as_ref().is_none_or(|names| names.contains(tool))
    }
}
