//! All servers and tools of a run.

use crate::check::{Finding, check};
use crate::config::{Act, Configuration, ServerSpec};
use crate::declare::declaration;
use crate::fault::Fault;
use crate::process::StderrListener;
use crate::reach::client;
use crate::result::Wanted;
use crate::server::Server;
use crate::view::ServerView;
use crate::{command, endpoint};
use chartc_core::expr::Value;
use chartc_core::host::ToolCall;
use chartc_core::model::Chart;
use chartc_runtime::tools::{Calling, Tools};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use tokio::task::JoinSet;

/// The servers, commands and endpoints of a configuration. Clones share them.
///
/// The processes end with [`Pool::close`], or when the last clone is dropped. So does everything that they have started.
///
/// ```
/// use chartc_core::expr::Value;
/// use chartc_core::host::ToolCall;
/// use chartc_mcp::{Configuration, Pool};
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
    client: OnceLock<reqwest::Client>,
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
            heard(name, &crate::fault::hidden(line, &secrets));
        });
        let specs = configuration.servers.values().filter(|spec| wanted.contains(&spec.name));
        let server = |spec: &ServerSpec| {
            let (base, heard) = (configuration.environment.clone(), heard.clone());
            (spec.name.clone(), Arc::new(Server::new(spec.clone(), base, heard)))
        };
        let servers = specs.map(server).collect();
        let client = OnceLock::new();
        Self(Arc::new(Inner { configuration, servers, heard, client }))
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
            finding.message = crate::fault::hidden(&finding.message, secrets);
            finding.help = crate::fault::hidden(&finding.help, secrets);
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
            let faults = faults.iter().map(|fault| crate::fault::hidden(fault, secrets)).collect();
            let tools = listed.map_err(|fault| fault.without(secrets)).map(|listed| {
                let tools = listed.tools.iter().filter(|tool| spec.includes(&tool.name));
                tools.map(|tool| crate::declare::view(tool, spec.called(&tool.name))).collect()
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
        Some(crate::fault::hidden(&text, &self.0.configuration.secrets))
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
                    let client = match self.client.get() {
                        Some(client) => client.clone(),
                        None => {
                            let client = client().map_err(|why| Fault::Start(why.to_string()))?;
                            self.client.get_or_init(|| client).clone()
                        }
                    };
                    let to = (method.as_str(), url.as_str(), headers.as_slice());
                    endpoint::call(&client, to, spec.limits, &call.arguments, &wanted).await
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
            let secrets = &inner.configuration.secrets;
            result.map_err(|fault| fault.without(secrets).told(&format!("`{}`", call.tool)))
        })
    }
}
