//! Tools for charts: servers of the Model Context Protocol, commands and HTTP endpoints.
//!
//! A [`Configuration`] lists the tools. [`Pool::start`] starts the servers, [`Pool::check`] compares their tools with those that charts
//! declare, and the pool implements [`Tools`] for the run. It needs a tokio runtime with network and timer,
//! and a clock that lets real time pass.
//!
//! ```text
//! tools.toml   [servers.files] command = "npx"     the server `files`, started as a process
//!              [tools.greet] command = ["echo"]     the tool `greet`, a program that is started for each call
//! start        initialize, tools/list               `files` has read_file(path: string)
//! check        tool files.read_file(path: Int)      a finding: `path` is a string on the server
//! call         files.read_file("a.txt")             tools/call read_file, its result read as the type that the chart declares
//! ```
//!
//! Servers are not trusted: every wait has a deadline, every text and list has a bound, a process gets only a few variables of the
//! environment, and its child processes end with it.

mod check;
mod command;
mod config;
mod declare;
mod process;
mod result;
mod server;

pub use check::{Finding, FindingKind};
pub use config::{ConfigError, Configuration, Place};

use crate::web::is_of_this_machine;
use chartc_core::expr::{Duration as ChartDuration, Value};
use chartc_core::host::ToolCall;
use chartc_core::model::Chart;
use chartc_runtime::oracle::OracleError;
use chartc_runtime::tools::{Calling, Tools};
use check::check;
use config::{Act, ServerSpec};
use declare::declaration;
use process::StderrListener;
use result::Wanted;
use server::{Server, client};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::task::JoinSet;

// All servers and tools of a run.

/// The servers, commands and endpoints of a configuration. Clones share them.
///
/// The processes end with [`Pool::close`], or when the last clone is dropped. So does everything that they have started.
///
/// ```
/// use chartc_core::expr::Value;
/// use chartc_core::host::ToolCall;
/// use chartc_adapters::tools::{Configuration, Pool};
/// use chartc_runtime::tools::Tools;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # if cfg!(unix) {
/// let text = "[tools.greet]\ncommand = [\"echo\", \"hello {name}\"]\n";
/// let variables = |name: &str| (name == "PATH").then(|| "/usr/bin:/bin".to_owned());
/// let configuration = Configuration::read("tools.toml", text, ".".as_ref(), &variables);
/// let pool = Pool::start(configuration.expect("it is sound"), &[], |_, line| println!("{line}")).await;
/// let call = ToolCall {
///     tool: "greet".into(),
///     arguments: vec![("name".into(), Value::Text("Ada".into()))],
///     result: r#"{"type":"string"}"#.into(),
/// };
/// assert_eq!(pool.call(call).await, Ok(Value::Text("hello Ada".into())));
/// pool.close().await;
/// # }
/// # }
/// ```
#[derive(Clone)]
pub struct Pool(Arc<Inner>);

struct Inner {
    configuration: Configuration,
    servers: BTreeMap<String, Arc<Server>>,
    heard: StderrListener,
    /// The clients for endpoints elsewhere, and for those of this machine.
    clients: [OnceLock<reqwest::Client>; 2],
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Pool").field(&self.0.configuration).finish()
    }
}

impl Pool {
    /// Creates a pool with the servers that these charts need, or with all servers of the configuration if there are no charts. It does not
    /// start them. `heard` gets each line that a server or command writes to standard error, after its name.
    pub fn new(
        configuration: Configuration,
        charts: &[&Chart],
        heard: impl Fn(&str, &str) + Send + Sync + 'static,
    ) -> Self {
        let tools = charts.iter().flat_map(|chart| &chart.tools).map(|tool| tool.name.as_str());
        let wanted: BTreeSet<String> = match charts {
            [] => configuration.servers.keys().cloned().collect(),
            _ => configuration.needed(tools),
        };
        Self::of_servers(configuration, &wanted, heard)
    }

    /// Creates a pool with the servers named in `wanted`. It does not start them.
    pub fn of_servers(
        configuration: Configuration,
        wanted: &BTreeSet<String>,
        heard: impl Fn(&str, &str) + Send + Sync + 'static,
    ) -> Self {
        // The lines go to screens and logs, so secrets are hidden before the listener sees them.
        let secrets = configuration.secrets.clone();
        let heard: StderrListener = Arc::new(move |name, line| {
            heard(name, &hidden(line, &secrets));
        });
        let specs = configuration.servers.values().filter(|spec| wanted.contains(&spec.name));
        let server = |spec: &ServerSpec| {
            let (base, heard) = (configuration.environment.clone(), heard.clone());
            (spec.name.clone(), Arc::new(Server::new(spec.clone(), base, heard)))
        };
        let servers = specs.map(server).collect();
        let clients = Default::default();
        Self(Arc::new(Inner { configuration, servers, heard, clients }))
    }

    /// Starts all servers at the same time, and returns when each has started or failed. [`Pool::check`] and [`Pool::servers`] report
    /// failures.
    pub async fn begin(&self) {
        let mut starting = JoinSet::new();
        for server in self.0.servers.values() {
            let server = server.clone();
            starting.spawn(async move { server.start().await });
        }
        while starting.join_next().await.is_some() {}
    }

    /// Creates a pool as [`Pool::new`] does, and starts its servers.
    pub async fn start(
        configuration: Configuration,
        charts: &[&Chart],
        heard: impl Fn(&str, &str) + Send + Sync + 'static,
    ) -> Self {
        let pool = Self::new(configuration, charts, heard);
        pool.begin().await;
        pool
    }

    /// The configuration with which the pool was created.
    pub fn configuration(&self) -> &Configuration {
        &self.0.configuration
    }

    /// Whether the configuration maps a tool of a chart. Whether its server has the tool is for [`Pool::check`] to say.
    pub fn provides(&self, tool: &str) -> bool {
        self.0.configuration.provides(tool)
    }

    /// Compares the tools of charts with those that the servers have, and returns the differences.
    pub fn check(&self, charts: &[&Chart]) -> Vec<Finding> {
        let mut findings = check(charts, &self.0.configuration, &self.0.servers);
        let secrets = &self.0.configuration.secrets;
        for finding in &mut findings {
            finding.message = hidden(&finding.message, secrets);
            finding.help = hidden(&finding.help, secrets);
        }
        findings
    }

    /// The servers of the pool with their tools, for display. Call it after [`Pool::begin`].
    pub fn servers(&self) -> Vec<ServerView> {
        let secrets = &self.0.configuration.secrets;
        let view = |server: &Arc<Server>| {
            let spec = &server.spec;
            let listed = server.listed();
            let faults = listed.as_ref().map(|listed| listed.faults.clone()).unwrap_or_default();
            let faults = faults.iter().map(|fault| hidden(fault, secrets)).collect();
            let tools = listed.map_err(|fault| fault.without(secrets)).map(|listed| {
                let tools = listed.tools.iter().filter(|tool| spec.includes(&tool.name));
                tools.map(|tool| declare::view(tool, spec.called(&tool.name))).collect()
            });
            let place = spec.place.clone();
            ServerView { name: spec.name.clone(), place, tools, faults }
        };
        self.0.servers.values().map(view).collect()
    }

    /// The declaration of a server's tool as text of a chart, with the types that it needs. `called` is the tool's name in charts. `taken`
    /// contains the type names that are in use, and gets the new ones. `None` if the server has no such tool.
    pub fn declaration(
        &self,
        server: &str,
        called: &str,
        taken: &mut BTreeSet<String>,
    ) -> Option<String> {
        let server = self.0.servers.get(server)?;
        let (name, _) = server.spec.tool(called);
        let listing = server.listed().ok()?.tools.iter().find(|tool| tool.name == name)?;
        let text = declaration(&server.spec.name, called, listing, taken);
        Some(hidden(&text, &self.0.configuration.secrets))
    }

    /// Ends all servers at the same time, and returns when all have ended.
    pub async fn close(&self) {
        let mut closing = JoinSet::new();
        for server in self.0.servers.values() {
            let server = server.clone();
            closing.spawn(async move { server.close().await });
        }
        while closing.join_next().await.is_some() {}
    }
}

impl Inner {
    async fn call(&self, call: &ToolCall) -> Result<Value, Fault> {
        let wanted = Wanted::of(&call.result);
        // Commands and endpoints have whole names; only for other names does the first part name a server.
        if let Some(spec) = self.configuration.tools.get(&call.tool) {
            return match &spec.act {
                Act::Command(program) => {
                    let with = (spec.limits, &*self.configuration.environment, &self.heard);
                    command::call(&call.tool, program, with, &call.arguments, &wanted).await
                }
                Act::Http { method, url, headers } => {
                    let place = &self.clients[usize::from(is_of_this_machine(url))];
                    let client = match place.get() {
                        Some(client) => client.clone(),
                        None => {
                            let client =
                                client(url).map_err(|why| Fault::Start(why.to_string()))?;
                            place.get_or_init(|| client).clone()
                        }
                    };
                    let to = (method.as_str(), url.as_str(), headers.as_slice());
                    command::call_endpoint(&client, to, spec.limits, &call.arguments, &wanted).await
                }
            };
        }
        let found = call.tool.split_once('.');
        let found = found.and_then(|(server, tool)| Some((self.servers.get(server)?, tool)));
        match found {
            Some((server, tool)) => server.call(tool, &call.arguments, &wanted).await,
            None => Err(Fault::Changed(format!("{} maps no such tool", self.configuration.file))),
        }
    }
}

impl Tools for Pool {
    fn call(&self, call: ToolCall) -> Calling {
        let inner = self.0.clone();
        Box::pin(async move {
            let result = inner.call(&call).await;
            let Configuration { secrets, keys, .. } = &inner.configuration;
            // A server may send a key back.
            let result = result.map(|value| without_keys(value, keys));
            result.map_err(|fault| fault.without(secrets).told(&format!("`{}`", call.tool)))
        })
    }
}

// Descriptions of servers and their tools for people.

/// A server, as `chartc tools list` shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerView {
    /// The name in the configuration.
    pub name: String,
    /// The place in the configuration.
    pub place: Place,
    /// The tools that charts may use, or the reason why the server cannot be used.
    pub tools: Result<Vec<ToolView>, Fault>,
    /// Problems of the server's list of tools.
    pub faults: Vec<String>,
}

/// A tool of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolView {
    /// The name in charts, without the server's name.
    pub called: String,
    /// The name on the server.
    pub name: String,
    /// The description by the server; may be empty.
    pub doc: String,
    /// The name of each parameter, its type as written in a chart, and whether it is required.
    pub parameters: Vec<(String, String, bool)>,
    /// The type of the result as written in a chart; `Text` if the server declares none.
    pub result: String,
}

// Errors of servers and of calls.

/// The reason why a server cannot be used, or a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The program cannot be started.
    #[error("cannot be started: {0}")]
    Start(String),
    /// There is no connection to the address.
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    /// The answer did not arrive in time.
    #[error("no answer to {what} after {}", ChartDuration(u64::try_from(after.as_millis()).unwrap_or(u64::MAX)))]
    Silent {
        /// The request.
        what: String,
        /// The time limit that it exceeded.
        after: Duration,
    },
    /// The connection ended. The call under way may have had effects.
    #[error("connection lost: {0}")]
    Gone(String),
    /// The server violates the protocol.
    #[error("{0}")]
    Protocol(String),
    /// The server answered with an error.
    #[error("{0}")]
    Refused(String),
    /// The tool ran and failed.
    #[error("{0}")]
    Failed(String),
    /// The server or endpoint answered with an HTTP error that may be temporary.
    #[error("status {status}{}", wait(*retry_after))]
    Status {
        /// The HTTP status.
        status: u16,
        /// The waiting time that the server asked for, in milliseconds, if any.
        retry_after: Option<u64>,
    },
    /// The result exceeds `max_output`.
    #[error("the result has {bytes} bytes, and `max_output` is {limit}")]
    TooLong {
        /// The size of the result, in bytes.
        bytes: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The server has no such tool, or not the one that the chart was checked against.
    #[error("{0}")]
    Changed(String),
}

fn wait(retry_after: Option<u64>) -> String {
    retry_after
        .map(|ms| format!(", to be asked again after {}", ChartDuration(ms)))
        .unwrap_or_default()
}

impl Fault {
    /// Converts the error to one that a run handles. `by` names the tool in the message.
    fn told(self, by: &str) -> OracleError {
        let text = format!("{by}: {self}");
        match self {
            Self::Silent { after, .. } => {
                OracleError::Timeout(u64::try_from(after.as_millis()).unwrap_or(u64::MAX))
            }
            // The text of `OracleError::Connection` already says that the connection is lost.
            Self::Gone(why) => OracleError::Connection(format!("{by}: {why}")),
            // Nothing was sent.
            Self::Start(_) | Self::Unreachable(_) => OracleError::Unreachable(text),
            // The tool has run, or the server has begun to answer.
            Self::Protocol(_) | Self::TooLong { .. } => OracleError::Aborted(text),
            Self::Status { status: 429, retry_after } => OracleError::RateLimited { retry_after },
            // A gateway says that the server behind it has not answered.
            Self::Status { status: 502 | 504, .. } => OracleError::Aborted(text),
            Self::Status { status, retry_after } if status >= 500 => {
                OracleError::Server { status, why: String::new(), retry_after }
            }
            _ => OracleError::Other(text),
        }
    }

    /// The error without the values of secret variables, in the texts that other programs wrote.
    fn without(self, secrets: &[String]) -> Self {
        let hide = |text: String| hidden(&text, secrets);
        match self {
            Self::Start(why) => Self::Start(hide(why)),
            Self::Unreachable(why) => Self::Unreachable(hide(why)),
            Self::Gone(why) => Self::Gone(hide(why)),
            Self::Protocol(why) => Self::Protocol(hide(why)),
            Self::Refused(why) => Self::Refused(hide(why)),
            Self::Failed(why) => Self::Failed(hide(why)),
            Self::Changed(why) => Self::Changed(hide(why)),
            // The last lines that the program wrote follow the request; they may contain a secret as well.
            Self::Silent { what, after } => Self::Silent { what: hide(what), after },
            other @ (Self::Status { .. } | Self::TooLong { .. }) => other,
        }
    }
}

/// The text with `…` in place of each secret. `secrets` must be ordered from the longest to the shortest, since one may contain another.
fn hidden(text: &str, secrets: &[String]) -> String {
    let mut text = text.to_owned();
    for secret in secrets {
        if text.contains(secret.as_str()) {
            text = text.replace(secret.as_str(), "…");
        }
    }
    text
}

/// The value with `…` in place of each key in its texts.
fn without_keys(value: Value, keys: &[String]) -> Value {
    match value {
        Value::Text(text) => Value::Text(hidden(&text, keys)),
        Value::List(items) => {
            Value::List(items.into_iter().map(|item| without_keys(item, keys)).collect())
        }
        Value::Map(map) => {
            let entries = map.into_iter();
            Value::Map(entries.map(|(name, value)| (name, without_keys(value, keys))).collect())
        }
        other => other,
    }
}

/// The text, cut to at most `most` bytes and an ellipsis.
fn short(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}
