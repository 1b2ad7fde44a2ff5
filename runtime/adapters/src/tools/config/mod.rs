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

mod tree;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tree::{At, Dialect, Entries, Node, Read, Reading, Tree};

/// The default time limit within which a server must answer `initialize`, and each request for its list of tools.
const START: Duration = Duration::from_secs(30);
/// The default time limit within which a call must end or report progress.
const CALL: Duration = Duration::from_mins(1);
/// The default time limit within which a call must end, whatever progress it reports.
const TOTAL: Duration = Duration::from_mins(10);
/// The default maximum size of a result, in bytes.
const OUTPUT: usize = 1024 * 1024;

/// The variables that every process gets if they are set. All others must be configured.
pub(super) const INHERITED: &[&str] =
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
/// use chartc_adapters::tools::Configuration;
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
    pub(super) file: String,
    pub(super) servers: BTreeMap<String, ServerSpec>,
    pub(super) tools: BTreeMap<String, ToolSpec>,
    /// The variables that every process gets, with their values.
    pub(super) environment: Vec<(String, String)>,
    /// The values of expanded variables and of headers, which no message may show. The longest is first.
    pub(super) secrets: Vec<String>,
    /// The `secrets` that are keys, longest first. They are hidden in the results of tools, too.
    pub(super) keys: Vec<String>,
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
pub(super) struct ServerSpec {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) reach: Reach,
    pub(super) start: Duration,
    pub(super) limits: Limits,
    /// The names on the server of the tools that charts may use; `None` for all.
    pub(super) include: Option<BTreeSet<String>>,
    /// The tools that charts call by other names than the server, by their names in charts.
    pub(super) tools: BTreeMap<String, Alias>,
}

/// The way to a server.
#[derive(Clone)]
pub(super) enum Reach {
    Process(Program),
    Http { url: String, headers: Vec<(String, String)> },
}

/// A program with its arguments and environment.
#[derive(Clone)]
pub(super) struct Program {
    /// The program, followed by its arguments.
    pub(super) argv: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    pub(super) cwd: Option<PathBuf>,
}

/// The limits of one call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The time limit without progress.
    pub(super) idle: Duration,
    pub(super) total: Duration,
    /// The maximum size of the result, in bytes.
    pub(super) output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { idle: CALL, total: TOTAL, output: OUTPUT }
    }
}

/// The configuration of one tool of a server.
#[derive(Clone)]
pub(super) struct Alias {
    /// The name of the tool on the server.
    pub(super) name: String,
    pub(super) limits: Limits,
}

/// The configuration of a tool without a server.
#[derive(Clone)]
pub(super) struct ToolSpec {
    pub(super) line: usize,
    pub(super) act: Act,
    pub(super) limits: Limits,
}

/// The action of a tool without a server.
#[derive(Clone)]
pub(super) enum Act {
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
        let mut configuration = read(file, text, folder, variables)?;
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
    pub(super) fn server_of(&self, tool: &str) -> Option<&str> {
        let (server, _) = tool.split_once('.')?;
        self.servers.get_key_value(server).map(|(name, _)| name.as_str())
    }

    /// The names of the servers that these tools need.
    pub(super) fn needed<'t>(&self, tools: impl Iterator<Item = &'t str>) -> BTreeSet<String> {
        let tools = tools.filter(|tool| !self.tools.contains_key(*tool));
        tools.filter_map(|tool| self.server_of(tool)).map(ToOwned::to_owned).collect()
    }
}

impl ServerSpec {
    /// The name on the server, and the limits, of the tool that charts call `tool` (without the server's name).
    pub(super) fn tool(&self, tool: &str) -> (String, Limits) {
        match self.tools.get(tool) {
            Some(alias) => (alias.name.clone(), alias.limits),
            None => (tool.to_owned(), self.limits),
        }
    }

    /// The name in charts of a tool of the server, without the server's name.
    pub(super) fn called(&self, tool: &str) -> String {
        let alias = self.tools.iter().find(|(_, alias)| alias.name == tool);
        alias.map_or_else(|| tool.to_owned(), |(name, _)| name.clone())
    }

    /// Whether charts may use the tool with this name on the server.
    pub(super) fn includes(&self, tool: &str) -> bool {
        self.include.as_ref().is_none_or(|names| names.contains(tool))
    }
}

// Expands variables of the environment in texts: `${VAR}`, `${VAR:-default}` and `${env:VAR}`.

/// A function that returns the value of a variable of the environment.
pub(super) type Variables<'v> = &'v dyn Fn(&str) -> Option<String>;

/// The reason why a text cannot be expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refused {
    /// The variable is not set and has no default.
    Unset(String),
    /// The text has `${input:…}`, for which VS Code would ask a person.
    Input(String),
    /// The text between `${` and `}` is no name of a variable.
    Unknown(String),
    /// A `${` has no `}`.
    Open,
}

/// Returns the text with the values of its variables, and adds these values to `secrets`. `$${` stands for `${`.
pub(super) fn expand(
    text: &str,
    variables: Variables<'_>,
    secrets: &mut Vec<String>,
) -> Result<String, Refused> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            out.push_str(&rest[..at]);
            out.push('{');
            rest = &rest[at + 2..];
            continue;
        }
        out.push_str(&rest[..at]);
        let inner = &rest[at + 2..];
        let end = inner.find('}').ok_or(Refused::Open)?;
        let (word, default) = match inner[..end].split_once(":-") {
            Some((word, default)) => (word, Some(default)),
            None => (&inner[..end], None),
        };
        let name = word.strip_prefix("env:").unwrap_or(word);
        if name.starts_with("input:") {
            return Err(Refused::Input(name.to_owned()));
        }
        if !is_name(name) {
            return Err(Refused::Unknown(word.to_owned()));
        }
        // As in shells, the default replaces an empty value, too.
        match (variables(name).filter(|value| default.is_none() || !value.is_empty()), default) {
            (Some(value), _) => {
                out.push_str(&value);
                secrets.push(value);
            }
            (None, Some(default)) => out.push_str(default),
            (None, None) => return Err(Refused::Unset(name.to_owned())),
        }
        rest = &inner[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// Percent-encodes everything but the characters that RFC 3986 calls unreserved.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

// Reads a configuration from its tree.

/// The maximum size of the file, in bytes.
const LENGTH: usize = 1024 * 1024;

fn read(file: &str, text: &str, folder: &Path, variables: Variables<'_>) -> Read<Configuration> {
    let is_json = Path::new(file).extension().is_some_and(|end| end == "json")
        || text.trim_start().starts_with('{');
    let wrong = |line: usize, why: String| ConfigError {
        file: file.to_owned(),
        line,
        key: String::new(),
        why,
        help: String::new(),
    };
    if text.len() > LENGTH {
        return Err(wrong(1, format!("longer than {LENGTH} bytes")));
    }
    let (parsed, dialect) =
        if is_json { (tree::json(text), Dialect::Json) } else { (tree::toml(text), Dialect::Toml) };
    let root = parsed.map_err(|fault| wrong(fault.line, fault.why))?;
    let mut reading =
        Reading { file, folder, variables, dialect, secrets: Vec::new(), keys: Vec::new() };
    let (servers, tools) = reading.root(&root)?;
    let (secrets, keys) = (forms(&reading.secrets), forms(&reading.keys));
    let file = file.to_owned();
    Ok(Configuration { file, servers, tools, environment: Vec::new(), secrets, keys })
}

/// All forms in which secrets may come back: as they are, and encoded for addresses, JSON and base64. The longest come first, since a
/// secret may contain another one.
fn forms(secrets: &[String]) -> Vec<String> {
    let mut forms = BTreeSet::new();
    // A short value is hardly a secret, and hiding it would garble messages.
    for secret in secrets.iter().filter(|secret| secret.len() >= 6) {
        forms.insert(secret.clone());
        forms.extend([STANDARD_NO_PAD.encode(secret), URL_SAFE_NO_PAD.encode(secret)]);
        let json = serde_json::to_string(secret).unwrap_or_default();
        forms.insert(json.trim_matches('"').to_owned());
        let all = escaped(secret);
        forms.extend([all.to_ascii_lowercase(), all]);
        if let Ok(mut url) = reqwest::Url::parse("http://x/") {
            url.set_path(secret);
            forms.insert(url.path().trim_start_matches('/').to_owned());
            url.set_query(Some(secret));
            forms.insert(url.query().unwrap_or_default().to_owned());
            url.set_query(None);
            url.query_pairs_mut().append_pair("x", secret);
            let form = url.query().and_then(|query| query.strip_prefix("x="));
            forms.insert(form.unwrap_or_default().to_owned());
        }
    }
    let mut forms: Vec<String> = forms.into_iter().filter(|form| form.len() >= 6).collect();
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    forms
}

impl Reading<'_> {
    fn root(
        &mut self,
        root: &Node,
    ) -> Read<(BTreeMap<String, ServerSpec>, BTreeMap<String, ToolSpec>)> {
        let at = At { key: "", node: root };
        let entries = self.table(at)?;
        let known = match self.dialect {
            Dialect::Toml => &["servers", "tools"][..],
            Dialect::Json => &["mcpServers", "servers"][..],
        };
        self.keys(at, entries, known)?;
        let mut both = entries.iter().filter(|(key, _)| known[..2].contains(&key.as_str()));
        if self.dialect == Dialect::Json {
            let (one, other) = (both.next(), both.next());
            if one.is_none() {
                let help = "the file needs `{\"mcpServers\": {\"name\": {\"command\": …}}}`";
                return Err(self.wrong(at, "there are no `mcpServers`", help));
            }
            if let Some((key, node)) = other {
                let help = "keep one of `mcpServers` and `servers`";
                return Err(self.wrong(At { key, node }, "a second table of servers", help));
            }
        }
        let (mut servers, mut tools) = (BTreeMap::new(), BTreeMap::new());
        for (group, node) in entries {
            if !known.contains(&group.as_str()) {
                continue;
            }
            let all = self.table(At { key: group, node })?;
            for (name, node) in all {
                let key = format!("{group}.{}", quoted(name));
                let at = At { key: &key, node };
                if group == "tools" {
                    let tool = self.tool(at)?;
                    self.twice(at, tools.insert(name.clone(), tool).is_some())?;
                } else if let Some(server) = self.server(at, name)? {
                    self.twice(at, servers.insert(name.clone(), server).is_some())?;
                }
            }
        }
        // Otherwise it would depend on the order of lookup whether `files.read` is the server's tool or the command.
        for (name, tool) in &tools {
            let Some((server, _)) = name.split_once('.') else { continue };
            if let Some(other) = servers.get(server) {
                let node = Node { line: tool.line, tree: Tree::Null };
                let key = format!("tools.{}", quoted(name));
                let why = format!(
                    "the server `{server}` (line {}) has the tools whose names begin with `{server}.`",
                    other.place.line
                );
                let help = "rename the tool, or the server";
                return Err(self.wrong(At { key: &key, node: &node }, why, help));
            }
        }
        Ok((servers, tools))
    }

    /// Refuses a key that `is` declared twice.
    fn twice(&self, at: At<'_>, is: bool) -> Read<()> {
        if is { Err(self.wrong(at, "declared twice", "keep one")) } else { Ok(()) }
    }

    /// Reads one server; `None` if it is switched off.
    fn server(&mut self, at: At<'_>, name: &str) -> Read<Option<ServerSpec>> {
        let entries = self.table(at)?;
        if name.is_empty() || name.contains('.') {
            let why = "the name of a server is the first part of its tools' names in charts";
            return Err(self.wrong(at, why, "choose a name without dots"));
        }
        self.keys(at, entries, SERVER_KEYS)?;
        let get = |name: &str| entries.iter().find(|(key, _)| key == name).map(|(_, node)| node);
        if matches!(get("disabled").map(|node| &node.tree), Some(Tree::Bool(true)))
            || matches!(get("enabled").map(|node| &node.tree), Some(Tree::Bool(false)))
        {
            return Ok(None);
        }
        let key = |name: &str| format!("{}.{name}", at.key);
        let (mut argv, mut env, mut cwd, mut url, mut headers) =
            (Vec::new(), Vec::new(), None, None, Vec::new());
        let (mut limits, mut start, mut include) = (Limits::default(), START, None);
        // `argv` is complete only at the end: `args` may come before `command` in the file, so `command` is inserted at the front.
        for (word, node) in entries {
            let key = key(word);
            let at = At { key: &key, node };
            match word.as_str() {
                "command" => argv.insert(0, self.expanded(at)?),
                "args" => argv.extend(self.texts(at)?),
                "env" => env = self.named(at)?,
                "cwd" => cwd = Some(self.folder.join(self.expanded(at)?)),
                "url" | "serverUrl" | "httpUrl" => url = Some(self.url(at)?),
                "headers" | "http_headers" => headers = self.headers(at)?,
                "type" | "transport" => self.transport(at)?,
                "start_timeout" | "startTimeout" => start = self.duration(at)?,
                "include_tools" | "includeTools" => {
                    include = Some(self.texts(at)?.into_iter().collect());
                }
                "envFile" => {
                    let help = "load the file in your shell, and name the variables under `env`";
                    return Err(self.wrong(at, "a file of variables is not read", help));
                }
                _ => self.limit(word, at, &mut limits)?,
            }
        }
        let has_command = get("command").is_some();
        let reach = match (has_command, url) {
            (true, None) => Reach::Process(Program { argv, env, cwd }),
            (false, Some(url)) if argv.is_empty() => Reach::Http { url, headers },
            (false, None) => {
                let help = "a server on this machine has a `command`, one elsewhere a `url`";
                return Err(self.wrong(at, "neither `command` nor `url`", help));
            }
            (true | false, Some(_)) => {
                let help = "a server on this machine has a `command`, one elsewhere a `url`";
                return Err(self.wrong(at, "both `command` (or `args`) and `url`", help));
            }
        };
        let tools = match (get("tools"), self.dialect) {
            (Some(node), Dialect::Toml) => self.aliases(At { key: &key("tools"), node }, limits)?,
            (Some(_), Dialect::Json) | (None, _) => BTreeMap::new(),
        };
        let (name, file) = (name.to_owned(), self.file.to_owned());
        let place = Place { file, line: at.node.line };
        Ok(Some(ServerSpec { name, place, reach, start, limits, include, tools }))
    }

    fn transport(&self, at: At<'_>) -> Read<()> {
        match self.text(at)? {
            "stdio" | "local" | "http" | "streamable-http" | "streamableHttp"
            | "streamable_http" | "remote" => Ok(()),
            "sse" => {
                let help = "use the server's address for streamable HTTP, often `…/mcp` instead of `…/sse`, with \"type\": \"http\"";
                Err(self.wrong(at, "the transport `sse` is gone from the protocol", help))
            }
            other => {
                let why = format!("`{other}` is no transport");
                Err(self.wrong(at, why, "use `stdio` or `http`"))
            }
        }
    }

    /// Reads `[servers.x.tools]`. An entry is `name = "other-name"`, or a table with limits.
    fn aliases(&mut self, at: At<'_>, limits: Limits) -> Read<BTreeMap<String, Alias>> {
        let mut aliases: BTreeMap<String, Alias> = BTreeMap::new();
        for (called, node) in self.table(at)? {
            let key = format!("{}.{}", at.key, quoted(called));
            let at = At { key: &key, node };
            let mut alias = Alias { name: called.clone(), limits };
            if let Tree::Text(name) = &node.tree {
                alias.name.clone_from(name);
            } else {
                let entries = self.table(at)?;
                self.keys(at, entries, &["name", "timeout", "max_timeout", "max_output"])?;
                for (word, node) in entries {
                    let key = format!("{}.{word}", at.key);
                    let at = At { key: &key, node };
                    match word.as_str() {
                        "name" => self.text(at)?.clone_into(&mut alias.name),
                        _ => self.limit(word, at, &mut alias.limits)?,
                    }
                }
            }
            // With two names for a tool, `ServerSpec::called` could not say which one charts use.
            let other = aliases.iter().find(|(_, other)| other.name == alias.name);
            if let Some((other, _)) = other {
                let why = format!("`{}` is `{other}` already", alias.name);
                return Err(self.wrong(at, why, "give a tool one name"));
            }
            aliases.insert(called.clone(), alias);
        }
        Ok(aliases)
    }

    /// Reads `[tools."a.b"]`: a command or an HTTP endpoint.
    fn tool(&mut self, at: At<'_>) -> Read<ToolSpec> {
        let entries = self.table(at)?;
        self.keys(at, entries, TOOL_KEYS)?;
        let mut limits = Limits::default();
        let (mut argv, mut env, mut cwd) = (None, Vec::new(), None);
        let (mut method, mut url, mut headers) = (None, None, Vec::new());
        for (word, node) in entries {
            let key = format!("{}.{word}", at.key);
            let at = At { key: &key, node };
            match word.as_str() {
                "command" => {
                    if let Tree::Text(_) = &node.tree {
                        let help = "give the program and its arguments as a list: [\"git\", \"log\", \"{path}\"]; no shell is involved";
                        return Err(self.wrong(at, "expected a list of texts", help));
                    }
                    argv = Some(self.texts(at)?).filter(|argv| !argv.is_empty());
                    let words = argv.as_deref().unwrap_or_default();
                    let Some(program) = words.first() else {
                        return Err(self.wrong(at, "an empty command", "name a program"));
                    };
                    if let Some(why) = words.iter().find_map(|word| parts(word).err()) {
                        return Err(self.wrong(at, why, ""));
                    }
                    if program.contains('{') {
                        let help = "an argument may stand behind the program";
                        return Err(self.wrong(at, "a call must not choose the program", help));
                    }
                }
                "env" => env = self.named(at)?,
                "cwd" => cwd = Some(self.folder.join(self.expanded(at)?)),
                "url" => url = Some(self.url(at)?),
                "headers" => headers = self.headers(at)?,
                "method" => method = Some(self.method(at)?),
                _ => self.limit(word, at, &mut limits)?,
            }
        }
        let act = match (argv, url) {
            (Some(argv), None) => Act::Command(Program { argv, env, cwd }),
            (None, Some(url)) => {
                Act::Http { method: method.unwrap_or_else(|| "POST".into()), url, headers }
            }
            (Some(_), Some(_)) | (None, None) => {
                let help = "a tool is a `command` or a `url`; the tools of an MCP server stand under `servers`";
                return Err(self.wrong(at, "needs either `command` or `url`", help));
            }
        };
        Ok(ToolSpec { line: at.node.line, act, limits })
    }

    fn method(&self, at: At<'_>) -> Read<String> {
        let word = self.text(at)?.to_ascii_uppercase();
        if ["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&word.as_str()) {
            return Ok(word);
        }
        Err(self.wrong(at, "unknown method", "use GET, POST, PUT, PATCH or DELETE"))
    }

    /// Refuses unknown keys, and keys that occur twice. In JSON, unknown keys belong to other clients and are ignored.
    fn keys(&self, at: At<'_>, entries: &Entries, known: &[&str]) -> Read<()> {
        for (nth, (key, node)) in entries.iter().enumerate() {
            let path = if at.key.is_empty() { key.clone() } else { format!("{}.{key}", at.key) };
            let at = At { key: &path, node };
            self.twice(at, entries[..nth].iter().any(|(other, _)| other == key))?;
            if self.dialect == Dialect::Json || known.contains(&key.as_str()) {
                continue;
            }
            let near = known.iter().min_by_key(|one| strsim::damerau_levenshtein(one, key));
            let near = near.filter(|one| strsim::damerau_levenshtein(one, key) <= 2);
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the keys are `{}`", known.join("`, `")),
            };
            return Err(self.wrong(at, "unknown key", help));
        }
        Ok(())
    }
}

const SERVER_KEYS: &[&str] = &[
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "timeout",
    "max_timeout",
    "start_timeout",
    "max_output",
    "include_tools",
    "tools",
    "type",
    "enabled",
];

const TOOL_KEYS: &[&str] =
    &["command", "env", "cwd", "url", "method", "headers", "timeout", "max_timeout", "max_output"];

/// Quotes a key unless TOML allows it without quotes.
fn quoted(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(plain) { key.to_owned() } else { format!("{key:?}") }
}

// Placeholders, `{name}`, in the arguments of commands and the addresses of endpoints.

/// A part of a text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Hole(String),
}

/// Splits a text into its parts. `{{` and `}}` stand for braces.
///
/// # Errors
/// A brace has no counterpart, or the braces enclose no name.
pub(super) fn parts(text: &str) -> Result<Vec<Part>, &'static str> {
    let (mut parts, mut plain) = (Vec::new(), String::new());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        let after = &rest[at + 1..];
        if after.starts_with(brace) {
            plain.push_str(brace);
            rest = &after[1..];
            continue;
        }
        if brace == "}" {
            return Err("`}` without `{`; `}}` stands for the brace");
        }
        let end = after.find('}').ok_or("`{` without `}`; `{{` stands for the brace")?;
        if after[..end].is_empty() || after[..end].contains('{') {
            return Err(
                "between `{` and `}` stands the name of an argument; `{{` stands for the brace",
            );
        }
        if !plain.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut plain)));
        }
        parts.push(Part::Hole(after[..end].to_owned()));
        rest = &after[end + 1..];
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        parts.push(Part::Text(plain));
    }
    Ok(parts)
}

/// The names of the placeholders of a text; none if it is malformed.
pub(super) fn names(text: &str) -> Vec<String> {
    let name = |part: Part| match part {
        Part::Hole(name) => Some(name),
        Part::Text(_) => None,
    };
    parts(text).unwrap_or_default().into_iter().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, Refused> {
        let of = |name: &str| match name {
            "HOME" => Some("/home/ada".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        expand(text, &of, &mut Vec::new())
    }

    #[test]
    fn variables_are_replaced() {
        let ok = |text: &str| expanded(text).expect("it expands");
        assert_eq!(ok("${HOME}/a:${env:HOME}"), "/home/ada/a:/home/ada");
        assert_eq!(ok("${NONE:-x}${EMPTY:-y}[${EMPTY}]"), "xy[]");
        assert_eq!(ok("$HOME $${HOME} $"), "$HOME ${HOME} $");
        // What a variable holds is not expanded again.
        assert_eq!(expand("${A}", &|_| Some("${A}".into()), &mut Vec::new()), Ok("${A}".into()));
    }

    #[test]
    fn what_has_no_value_is_refused() {
        assert_eq!(expanded("a ${TOKEN}"), Err(Refused::Unset("TOKEN".into())));
        assert_eq!(expanded("${env:TOKEN}"), Err(Refused::Unset("TOKEN".into())));
        assert_eq!(expanded("${input:key}"), Err(Refused::Input("input:key".into())));
        assert_eq!(expanded("${file:x}"), Err(Refused::Unknown("file:x".into())));
        assert_eq!(expanded("${HOME"), Err(Refused::Open));
    }
}

#[cfg(test)]
mod holes_tests {
    use super::*;

    #[test]
    fn placeholders_are_found() {
        let (text, hole) = (|t: &str| Part::Text(t.into()), |t: &str| Part::Hole(t.into()));
        assert_eq!(parts("--n={n}{{x}}"), Ok(vec![text("--n="), hole("n"), text("{x}")]));
        assert_eq!(parts(""), Ok(vec![]));
        for wrong in ["{", "a}", "{}", "{a{b}"] {
            assert!(parts(wrong).is_err(), "{wrong}");
        }
    }
}
