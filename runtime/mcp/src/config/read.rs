//! Reads a configuration from its tree.

use super::expand::Variables;
use super::tree::{self, Node, Tree};
use super::value::{At, Dialect, Entries, Read, Reading};
use super::{
    Act, Alias, ConfigError, Configuration, Limits, Place, Program, Reach, START, ServerSpec,
    ToolSpec,
};
use crate::holes::parts;
use std::collections::BTreeMap;
use std::path::Path;

/// The maximum size of the file, in bytes.
const LENGTH: usize = 1024 * 1024;

pub(super) fn read(
    file: &str,
    text: &str,
    folder: &Path,
    variables: Variables<'_>,
) -> Read<Configuration> {
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
    let mut reading = Reading { file, folder, variables, dialect, secrets: Vec::new() };
    let (servers, tools) = reading.root(&root)?;
    let mut secrets = reading.secrets;
    // A short value is hardly a secret, and hiding it would garble messages. The longest come first, since a secret may contain another
    // one.
    secrets.retain(|secret| secret.len() >= 6);
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    let file = file.to_owned();
    Ok(Configuration { file, servers, tools, environment: Vec::new(), secrets })
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
