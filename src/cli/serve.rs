//! The command `chartc serve`: offers charts to programs, over HTTP and as tools of the Model Context Protocol.

#![allow(clippy::disallowed_methods, reason = "tokens come from the environment, and only here")]

use super::durable::{RunArgs, finish_calls, made, refused, service};
use super::files::{self, Root};
use super::given::{PairKind, given};
use super::instance::{InitialValues, backends, has_turns};
use super::otel;
use super::output::{Exit, complain};
use super::pick::pick_to_run_with_sources;
use super::servers;
use super::signals;
use crate::setup::{Answerers, Backends};
use chartc_adapters::server::{
    AccessRules, Client, Feed, Limits, Offer, RunRequest, Runs, Token, over_stdio, serve,
};
use chartc_compiler::compile::Checked;
use chartc_compiler::syntax::source::Sources;
use chartc_core::expr::Map;
use chartc_core::interpreter::Interpreter;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::clock::{Clock, RealClock};
use chartc_runtime::host::Watched;
use chartc_runtime::oracle::Script;
use chartc_runtime::trace::Origin;
use chartc_store::{Making, Options, PendingLines, Safety, Store, Worker};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;

/// The default address.
const ADDRESS: &str = "127.0.0.1:7878";

/// The names of this machine for itself. A request with another `Host` header may come from a web page that rebinds DNS.
const OWN: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Serve charts to programs: begin runs, send events, follow traces, answer for people. Over HTTP, and as tools of the Model Context Protocol
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc serve support.chart --llm clients --store runs.db
  chartc serve support.chart researcher.chart --llm openai:gpt-4o-mini --listen 127.0.0.1:9000
  chartc serve support.chart --llm ollama:llama3.2 --mcp
  SERVE_TOKEN=$(openssl rand -hex 32) chartc serve support.chart --token-env SERVE_TOKEN

Each request needs the header `Authorization: Bearer TOKEN`. Unless they are given, the tokens are chosen at random and printed once.
Answers to `human` steps need the people's token; a client of the Model Context Protocol cannot give them. docs/serve.md lists the addresses.

Exit codes: 0 stopped by Ctrl-C or SIGTERM, or the client of --mcp has left; 1 errors in a chart, 2 wrong usage, 3 internal error")]
pub(super) struct Args {
    /// *.chart, *.scxml or agent.yaml files, one chart of each
    #[arg(required = true)]
    files: Vec<String>,
    /// Speak the Model Context Protocol over standard input and output; with --listen, HTTP too
    #[arg(long)]
    mcp: bool,
    /// Address for HTTP; port 0 chooses a free one [default: 127.0.0.1:7878, or none with --mcp]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// A name by which clients may call this server, beside localhost
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// SQLite file in which the runs survive this process, created if missing [default: none: the runs end with this process]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Variable of the environment that holds the token of clients; several give each client its own limits [default: a random token]
    #[arg(long, value_name = "NAME")]
    token_env: Vec<String>,
    /// Variable of the environment that holds the token of those who answer for people [default: a random token]
    #[arg(long, value_name = "NAME")]
    people_token_env: Option<String>,
    /// Who answers, as in `chartc run` [default: deny]
    #[arg(long, value_name = "WHO")]
    llm: Option<String>,
    /// Model for steps without a client, with `--llm clients` or a URL
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Script with results of host functions and tools [default: the script of --llm]
    #[arg(long, value_name = "FILE")]
    functions: Option<PathBuf>,
    #[command(flatten)]
    servers: servers::Options,
    #[command(flatten)]
    otel: otel::Options,
    /// Set a param of all charts that have it; clients cannot change it
    #[arg(long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Turns that a run makes by itself, at most: a client may ask for fewer [default: 100; where nothing happens in a turn, 0 unless a client asks for more]
    #[arg(long, value_name = "N")]
    turns: Option<u32>,
    /// Runs of a client that have not ended, at most
    #[arg(long, value_name = "N", default_value_t = 1000)]
    max_runs: u64,
    /// Maximum number of events of a client in a minute [default: no limit]
    #[arg(long, value_name = "N")]
    max_events: Option<u32>,
    /// Size of the store from which on new runs and events are refused [default: no limit]
    #[arg(long, value_name = "MIB")]
    max_store: Option<u64>,
    #[command(flatten)]
    root: Root,
}

impl Args {
    fn answerers(&self) -> Answerers<'_> {
        let (llm, model) = (self.llm.as_deref(), self.model.as_deref());
        Answerers { llm, model, human: None, functions: self.functions.as_deref() }
    }
}

/// The maximum number of turns that a run makes by itself, unless the operator sets one.
const TURNS: u32 = 100;
/// The maximum number of calls under way, of all runs together.
const CALLS: usize = 512;

/// A chart that is served.
struct Served {
    file: String,
    checked: Checked,
    sources: Sources,
    /// The values of the params that the host fixes.
    fixed: Map,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let served = match served(&args)? {
        Ok(served) => served,
        Err(exit) => return Ok(exit),
    };
    let access = access(&args)?;
    let families: BTreeMap<&str, Vec<&Chart>> = served
        .iter()
        .map(|one| (one.checked.chart().name.as_str(), one.checked.family()))
        .collect();
    let plans: BTreeMap<&str, Arc<[Plan]>> =
        served.iter().map(|one| (one.checked.chart().name.as_str(), one.checked.plans())).collect();
    args.store.as_deref().map(files::check).transpose()?;
    // Without `--store` the runs are in a temporary folder, which is removed when the process ends.
    let passing = tempfile::tempdir().map_err(|why| miette::miette!("no folder: {why}"))?;
    let (path, safety) = match &args.store {
        Some(path) => (path.clone(), Safety::Full),
        // A temporary store need not survive a power failure.
        None => (passing.path().join("runs.db"), Safety::Process),
    };
    let store = Store::own(&path, safety).map_err(refused)?;
    let now = store.moment(None, true).map_err(refused)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|fault| miette::miette!("no runtime: {fault}"))?;
    let charts: Vec<&Chart> = families.values().flatten().copied().collect();
    let answerers = args.answerers();
    let servers = args.servers.servers(&charts, answerers)?;
    let exporting = args.otel.begin(&charts, args.llm.as_deref())?;
    let done = runtime.block_on(async {
        servers.begin().await;
        let clock: Arc<dyn Clock> = Arc::new(RealClock::starting_at(now));
        let mut backends = backends(&charts, answerers, &clock)?;
        let seen: Vec<_> = served.iter().map(|one| (&one.checked, &one.sources)).collect();
        let done = match servers.serve(&mut backends, &seen, answerers)? {
            Some(exit) => Ok(exit),
            None => {
                let exporting = exporting.clone();
                work(
                    &args,
                    &served,
                    &plans,
                    ServerParts { store, clock, backends, access, exporting },
                )
                .await
            }
        };
        servers.end().await;
        done
    });
    // A read of standard input cannot be cancelled: do not wait for its thread.
    runtime.shutdown_background();
    exporting.end();
    done
}

/// Checks the charts to serve, and reads the params that the host fixes.
fn served(args: &Args) -> miette::Result<Result<Vec<Served>, Exit>> {
    let mut served: Vec<Served> = Vec::new();
    for file in &args.files {
        let (checked, sources) = match pick_to_run_with_sources(file, None, &args.root, 0)? {
            Ok(found) => found,
            Err(exit) => return Ok(Err(exit)),
        };
        let name = &checked.chart().name;
        if let Some(other) = served.iter().find(|one| one.checked.chart().name == *name) {
            return Err(miette::miette!("{} and {file} both have a chart `{name}`", other.file));
        }
        let fixed = fixed(checked.chart(), &args.param)?;
        served.push(Served { file: file.clone(), checked, sources, fixed });
    }
    for pair in &args.param {
        let name = pair.split('=').next().unwrap_or_default();
        if !served.iter().any(|one| one.fixed.get(name).is_some()) {
            return Err(miette::miette!("no chart that is served has a param `{name}`"));
        }
    }
    Ok(Ok(served))
}

/// Reads the values of those params that the chart has, from all `--param` options.
fn fixed(chart: &Chart, pairs: &[String]) -> miette::Result<Map> {
    let has = |name: &str| {
        chart.variables.iter().any(|one| one.name == name && PairKind::Param.is(&one.kind))
    };
    let own = pairs.iter().filter(|pair| has(pair.split('=').next().unwrap_or_default()));
    given(chart, PairKind::Param, &own.cloned().collect::<Vec<_>>())
}

fn access(args: &Args) -> miette::Result<AccessRules> {
    let token = |variable: Option<&String>| match variable {
        None => Token::random().map_err(|why| miette::miette!("{why}")),
        Some(name) => {
            let text = std::env::var(name)
                .map_err(|_| miette::miette!("the variable {name} is not set to a token"))?;
            Token::new(text.trim()).map_err(|why| miette::miette!("{name}: {why}"))
        }
    };
    let people = token(args.people_token_env.as_ref())?;
    let mut clients: Vec<(Client, Token)> = match args.token_env.as_slice() {
        [] => vec![(None, token(None)?)],
        [one] => vec![(None, token(Some(one))?)],
        _ => Vec::new(),
    };
    if clients.is_empty() {
        for name in &args.token_env {
            let token = token(Some(name))?;
            if let Some((Some(other), _)) = clients.iter().find(|(_, other)| *other == token) {
                return Err(miette::miette!(
                    "the clients {other} and {name} have the same token: give each its own"
                ));
            }
            clients.push((Some(name.as_str().into()), token));
        }
    }
    if clients.iter().any(|(_, token)| *token == people) {
        return Err(miette::miette!(
            "clients and people have the same token: a client could answer for people"
        ));
    }
    let hosts = OWN.iter().map(|&name| name.to_owned()).chain(args.host.iter().cloned()).collect();
    Ok(AccessRules { clients, people, hosts })
}

/// The parts from which runs are made, and the access rules.
struct ServerParts {
    store: Store,
    clock: Arc<dyn Clock>,
    backends: Backends,
    access: AccessRules,
    exporting: otel::Exporting,
}

async fn work(
    args: &Args,
    served: &[Served],
    plans: &BTreeMap<&str, Arc<[Plan]>>,
    ServerParts { store, clock, backends, access, exporting }: ServerParts,
) -> miette::Result<Exit> {
    let listener = listen(args).await?;
    // List the runs now: the worker takes the store over.
    let before = store.list_unfinished().map_err(refused)?;
    let limits = Limits {
        runs: args.max_runs,
        events: args.max_events,
        store: args.max_store.map(|most| (store.path().to_owned(), most)),
    };
    let Backends { parts, host } = backends;
    let feed = Feed::default();
    let show = feed.clone();
    let options = Options {
        make: Box::new(|making| make(making, plans, host.clone())),
        driver: Backends::driver(parts, false),
        clock,
        is_real: true,
        replies: true,
        workers: CALLS,
        show: Box::new(move |run, line| {
            show.grown(run);
            exporting.line(run, line);
            Ok(())
        }),
        after: Box::new(|_, _| Ok(())),
        given: String::new(),
        service: Some(service()),
    };
    let (engine, mut worker) = Worker::new(store, options);
    worker.load_all().map_err(refused)?;
    for (run, why) in worker.broken() {
        complain(format!("run `{run}` cannot go on: {why}"));
    }
    let offers = offers(args, served);
    let runs = Arc::new(Runs::new(engine, feed, offers, limits, keep_args(args, served)));
    // Runs that were under way when the last process ended make their turns again.
    for row in before.iter().filter(|row| row.status == "running") {
        let run_args: RunArgs = serde_json::from_str(&row.given).unwrap_or_default();
        if let Some(client) = run_args.client {
            runs.own(&row.run, client.into());
        }
        runs.drive(&row.run, run_args.turns.unwrap_or(0));
    }
    if let Some(listener) = &listener {
        welcome(args, listener, &access);
    }
    let outside = serve_clients(listener, args.mcp, runs, access);
    let mut outside = std::pin::pin!(outside);
    let done = tokio::select! {
        done = &mut outside => done,
        // The worker ends first only if its file cannot be written.
        worked = worker.work() => {
            worked.map_err(refused)?;
            Ok(())
        }
    };
    done.map_err(|why| miette::miette!("{why}"))?;
    finish_calls(&mut worker).await?;
    Ok(Exit::Clean)
}

/// Makes the session of a stored run.
fn make(
    making: Making<'_>,
    plans: &BTreeMap<&str, Arc<[Plan]>>,
    host: Script,
) -> Result<Session<Interpreter<Watched<Script>>, PendingLines>, String> {
    let run_args: RunArgs = serde_json::from_str(making.given)
        .map_err(|why| format!("it was not begun by `chartc serve`: {why}"))?;
    let chart = run_args.chart.as_deref().unwrap_or_default();
    // A run from before its chart was renamed keeps the earlier name.
    let earlier = || plans.values().find(|plans| plans[0].tables().is_named(chart));
    let Some(plans) = plans.get(chart).or_else(earlier) else {
        return Err(format!("its chart `{chart}` is not served now"));
    };
    let origin = Origin {
        file: run_args.file,
        calls_per_turn: run_args.calls_per_turn,
        real_clock: true,
        ..Origin::default()
    };
    let given = InitialValues { params: run_args.params, inputs: run_args.inputs };
    made(making, plans, &given, host, origin)
}

/// Serves clients over HTTP, standard input or both, until a signal or the end of standard input.
async fn serve_clients(
    listener: Option<TcpListener>,
    mcp: bool,
    runs: Arc<Runs>,
    access: AccessRules,
) -> io::Result<()> {
    match (listener, mcp) {
        (Some(listener), false) => {
            serve(listener, runs, access, async {
                _ = signals::signal().await;
            })
            .await
        }
        (None, _) => {
            tokio::select! { done = over_stdio(runs) => done, _ = signals::signal() => Ok(()) }
        }
        (Some(listener), true) => {
            let http = serve(listener, runs.clone(), access, async {
                _ = signals::signal().await;
            });
            tokio::select! { done = over_stdio(runs) => done, done = http => done }
        }
    }
}

/// The socket to serve HTTP on. With `--mcp` there is one only if `--listen` names it.
async fn listen(args: &Args) -> miette::Result<Option<TcpListener>> {
    let address = match args.listen {
        None if args.mcp => None,
        None => ADDRESS.parse().ok(),
        listen => listen,
    };
    let Some(address) = address else { return Ok(None) };
    let bound = TcpListener::bind(address).await;
    bound.map(Some).map_err(|why| miette::miette!("{address}: {why}"))
}

/// What clients can begin: each chart, with the params that the command line leaves open.
fn offers(args: &Args, served: &[Served]) -> Vec<Offer> {
    let turns = |checked: &Checked| {
        let lasts = checked.family().into_iter().any(has_turns);
        let most = args.turns.unwrap_or(TURNS);
        (if lasts || args.turns.is_some() { most } else { 0 }, most)
    };
    served
        .iter()
        .map(|one| {
            let chart = one.checked.chart();
            Offer::new(chart, turns(&one.checked), &|name| one.fixed.get(name).is_some())
        })
        .collect()
}

/// Writes what a client asks for as the arguments of a run, which the store keeps.
fn keep_args(
    args: &Args,
    served: &[Served],
) -> impl Fn(&RunRequest<'_>) -> String + Send + Sync + 'static {
    let known: BTreeMap<String, (String, Map)> = served
        .iter()
        .map(|one| (one.checked.chart().name.clone(), (one.file.clone(), one.fixed.clone())))
        .collect();
    let run_args = RunArgs {
        llm: args.llm.clone(),
        model: args.model.clone(),
        human: Some("later".into()),
        functions: args.functions.as_ref().map(|path| path.display().to_string()),
        tools: args.servers.file(),
        clock: Some("real".into()),
        ..RunArgs::default()
    };
    move |given| {
        let (file, fixed) = known.get(given.chart).cloned().unwrap_or_default();
        let params = fixed.iter().chain(given.params.iter());
        let run_args = RunArgs {
            file,
            chart: Some(given.chart.to_owned()),
            turns: Some(given.turns),
            client: given.client.map(str::to_owned),
            params: params.map(|(name, value)| (name.to_owned(), value.clone())).collect(),
            inputs: given.inputs.clone(),
            ..run_args.clone()
        };
        serde_json::to_string(&run_args).unwrap_or_default()
    }
}

/// Writes to standard error where the server listens, and the tokens that were chosen at random.
fn welcome(args: &Args, listener: &TcpListener, access: &AccessRules) {
    let Ok(address) = listener.local_addr() else { return };
    complain(format!("listening on http://{address}"));
    if !address.ip().is_loopback() {
        complain(
            "warning: others can reach this address, and HTTP is not encrypted: put a proxy with TLS before it",
        );
    }
    if let ([], [(_, token)]) = (args.token_env.as_slice(), access.clients.as_slice()) {
        complain(format!("token of clients: {}", token.reveal()));
    }
    if args.people_token_env.is_none() {
        complain(format!("token of people: {}", access.people.reveal()));
    }
    if args.store.is_none() {
        complain("the runs end with this process: --store FILE keeps them");
    }
}
