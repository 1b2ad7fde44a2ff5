//! `chartc run`.

#[cfg(feature = "sqlite")]
mod begun;

use super::cassette::shelf;
#[cfg(feature = "sqlite")]
use super::durable::{self, Cast};
use super::ending::close;
use super::files::Root;
use super::instance::{Given, Kind, has_turns, instance, is_disabled, oracle, read, values};
use super::interrupt::{self, Interrupt, unless_stopped};
use super::live::is_live;
use super::otel;
use super::output::{Colour, complain, paper};
use super::pick::pick_to_run_with_sources;
#[cfg(feature = "sqlite")]
use super::recall;
use super::save::{self, Stream};
use super::screen::Screen;
use super::servers::{self, Beside};
use super::status::Live;
use super::{Exit, memory, world};
use chartc_check::explore::STATES;
use chartc_core::expr::Map;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::plan::Plan;
use chartc_runtime::agent::Agent;
use chartc_runtime::clock::{Clock, RealClock, VirtualClock};
use chartc_runtime::driver::{Driver, Free, Parts};
use chartc_runtime::host::{HostLog, Watched};
use chartc_runtime::oracle::{Recording, Tape};
use chartc_runtime::trace::{JsonLines, Origin};
use chartc_runtime::{PlayError, RunError, Saved, Session, data};
use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;

/// The default number of turns.
const TURNS: u32 = 100;

/// Run a chart with answers from a script, a recording, a real model, a person, or a stand-in (first, random, deny).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc run charts/builder.chart --llm script:charts/builder.script.yaml --param agent_id=ada
  chartc run agent.yaml --llm random:7 --turns 20 --trace run.jsonl
  chartc run social.chart --llm first --events posts.jsonl
  chartc run agent.yaml --llm human --record calls/
  chartc run agent.yaml --llm replay:calls/
  chartc run agent.yaml --llm openai:gpt-4o-mini
  chartc run support.chart --llm clients --snapshot run.json
  chartc run support.chart --llm clients --resume run.json
  chartc run support.chart --llm clients --store runs.db --run ada
  chartc run support.chart --llm clients --tools tools.toml
  chartc run agent.yaml --llm script:answers.yaml --world world.yaml --turns 20
  chartc run agent.yaml --llm clients --world world.yaml --memory agents.db

Exit codes: 0 the run ended ok, partial or canceled, or used all its turns; 1 errors in the chart, the
last turn failed, or the run ended stuck, limit or error; 2 wrong usage, 3 internal error,
4 no chart in the file")]
pub(super) struct Args {
    /// A *.chart, *.scxml or agent.yaml file, or - for standard input
    file: String,
    /// The chart, if the file has several
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,
    /// Who answers: script:FILE, replay:DIR, first, random:SEED, human, deny, clients, PROVIDER:MODEL, or a URL [default: deny, and stop at the first question]
    ///
    /// script:FILE takes scripted answers; replay:DIR takes the calls that --record kept; first takes the first option; random:SEED
    /// chooses at random; human asks at the terminal; deny fails every call. `clients` asks the model of each step's client; openai:MODEL,
    /// anthropic:MODEL, gemini:MODEL and ollama:MODEL ask that model in all steps. Variables such as OPENAI_API_KEY and OLLAMA_BASE_URL
    /// hold keys and addresses; `chartc doctor` shows what is set. A URL such as http://localhost:8000/v1 is any server with OpenAI's chat
    /// interface: it gets all questions, with the key CHARTC_API_KEY.
    #[arg(long, value_name = "WHO")]
    llm: Option<String>,
    /// Model for steps without a client, with `--llm clients` or a URL, such as openai:gpt-4o-mini
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Who answers `human` steps: terminal, script:FILE, or with --store `later` for `chartc store … reply` [default: as --llm; with a real model, terminal]
    #[arg(long, value_name = "WHO")]
    human: Option<String>,
    /// Script with results of host functions and tools [default: the script of --llm]
    #[arg(long, value_name = "FILE")]
    functions: Option<PathBuf>,
    #[command(flatten)]
    servers: servers::Options,
    #[command(flatten)]
    otel: otel::Options,
    /// YAML file with the world in which the agent acts: agent, balances, disk and artifacts
    ///
    /// After each turn, the action that its `llm` steps chose (read_artifact, write_artifact, invoke_artifact) is performed in this world.
    /// Its result, and the rest of the agent's context, are set as inputs before the next turn. Host functions read this world, too.
    #[arg(long, value_name = "FILE")]
    world: Option<PathBuf>,
    /// SQLite file with the agent's memories, created if missing, or `:memory:` for this run only
    ///
    /// After each turn, the action and its result are stored. Before each turn, if the chart's `rag` is enabled, the input `memories` is set to
    /// the result of a search for `query_template`. Several agents may share a file: each sees only its own memories.
    #[arg(long, value_name = "FILE")]
    memory: Option<PathBuf>,
    /// Events from the host: one JSON object per line, or a JSON array
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Set an input; the value is JSON or plain text
    #[arg(long, value_name = "NAME=VALUE")]
    input: Vec<String>,
    /// Set a param; the value is JSON or plain text
    #[arg(long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Turns to run after the events [default: 100; 0 with --events, or if nothing in the chart happens in a turn]
    #[arg(long, value_name = "N")]
    turns: Option<u32>,
    /// Model calls that one turn may make, instead of the chart's own limit; 0 means no limit
    #[arg(long, value_name = "N")]
    calls_per_turn: Option<u32>,
    /// Run an agent even if it says `enabled: false`
    #[arg(long)]
    even_disabled: bool,
    /// File for the trace, one JSON object per line
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Folder to record each call of a model, a person or a tool in, for --llm replay:DIR
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// File to save the run in if it stops before its end: by Ctrl-C, by an error, or when it has used all its turns
    #[arg(long, value_name = "FILE")]
    snapshot: Option<PathBuf>,
    /// Continue a run that --snapshot saved; --trace appends to its trace
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// SQLite file in which the run survives this process, created if missing
    ///
    /// Each step of the run is committed before it is shown, and each call before it is made. The same command again after a crash, or after
    /// `kill -9`, goes on where the run was: no call is made twice. `chartc store` lists the runs of a file.
    #[cfg(feature = "sqlite")]
    #[arg(long, value_name = "FILE", requires = "run", conflicts_with_all = ["snapshot", "resume", "record"])]
    store: Option<PathBuf>,
    /// Name of the run in the store
    #[cfg(feature = "sqlite")]
    #[arg(long, value_name = "NAME", requires = "store")]
    run: Option<String>,
    /// Whether time is real, or jumps to the next deadline [default: virtual; real with a real model]
    #[arg(long, value_name = "KIND", value_parser = ["virtual", "real"])]
    clock: Option<String>,
    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Colour::Auto)]
    color: Colour,
    #[command(flatten)]
    root: Root,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let chosen = pick_to_run_with_sources(&args.file, args.chart.as_deref(), &args.root, STATES)?;
    let (checked, sources) = match chosen {
        Ok(found) => found,
        Err(exit) => return Ok(exit),
    };
    let mut chart = checked.chart().clone();
    if !args.even_disabled && is_disabled(&chart) {
        complain(format!(
            "{}: not run, because it says `enabled: false`; use `--even-disabled` to run it",
            args.file
        ));
        return Ok(Exit::Clean);
    }
    if let Some(calls) = args.calls_per_turn {
        chart.calls_per_turn = (calls > 0).then_some(calls);
    }
    let saved = args.resume.as_deref().map(interrupt::resume).transpose()?;
    if saved.is_some() && !args.param.is_empty() {
        return Err(miette::miette!(
            "the snapshot already contains the params of its run: omit `--param`"
        ));
    }
    #[cfg(feature = "sqlite")]
    let durable = match (&args.store, &args.run) {
        (Some(path), Some(run)) => Some(durable::open(path, run, args.world.as_deref())?),
        _ => None,
    };
    #[cfg(feature = "sqlite")]
    let (is_stored, is_begun) =
        durable.as_ref().map_or((false, false), |durable| (true, durable.begun.is_some()));
    #[cfg(not(feature = "sqlite"))]
    let (is_stored, is_begun) = (false, false);
    let given = Given {
        params: match saved {
            Some(_) => Map::new(),
            None if is_begun && args.param.is_empty() => Map::new(),
            None => values(&chart, Kind::Param, &args.param)?,
        },
        inputs: values(&chart, Kind::Input, &args.input)?,
    };
    let entries = match &args.events {
        Some(path) => data::entries(&read(path)?)
            .map_err(|fault| miette::miette!("{}: {fault}", path.display()))?,
        None => Vec::new(),
    };
    args.snapshot.as_deref().map(save::check).transpose()?;
    let open = if saved.is_some() || is_begun { Stream::append } else { Stream::create };
    let trace = args.trace.as_deref().map(open).transpose()?;
    let lasts = has_turns(&chart) || checked.children().any(has_turns);
    let unless_said = if args.events.is_some() || !lasts { 0 } else { TURNS };
    let turns = args.turns.unwrap_or(unless_said);
    let live = is_live(args.llm.as_deref());
    // Real models and tools take real time, and a call of theirs is not repeated unasked.
    let in_earnest = live || args.servers.are_given();
    let types = args.llm.as_deref() == Some("human") || args.human.as_deref() == Some("terminal");
    let beside = Beside { llm: args.llm.as_deref(), functions: args.functions.as_deref() };
    let servers = args.servers.servers(&checked.family(), beside)?;
    let seen = [(&checked, &sources)];
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|fault| miette::miette!("no runtime: {fault}"))?;
    let origin = Origin {
        file: if args.file == "-" { String::new() } else { args.file.clone() },
        calls_per_turn: args.calls_per_turn,
        real_clock: args.clock.as_deref() == Some("real") || in_earnest,
    };
    let mut charts = checked.family();
    charts[0] = &chart;
    let plans: Vec<Plan<'_>> = charts.iter().map(|chart| Plan::new(chart)).collect();
    let exporting = args.otel.begin(&charts, args.llm.as_deref())?;
    // With a store, nothing else waits for Ctrl-C.
    let done = runtime.block_on(servers.during(types || is_stored, async {
        // Before the clock of the run begins.
        servers.begin().await;
        #[cfg(feature = "sqlite")]
        if let Some(durable) = durable {
            let is_real = in_earnest || args.clock.as_deref() == Some("real");
            let clock = durable.clock(is_real)?;
            let replies = args.human.as_deref() == Some("later");
            let human = args.human.as_deref().filter(|_| !replies);
            let llm = (args.llm.as_deref(), args.model.as_deref());
            let mut who = oracle(&charts, llm, human, args.functions.as_deref(), &clock)?;
            if let Some(exit) = servers.serve(&mut who, &seen, beside)? {
                return Ok(exit);
            }
            let begun = args.begun(&given);
            durable.is_the_same(&begun)?;
            let given = &given;
            let (plans, entries) = (plans.as_slice(), entries.as_slice());
            let is_live = live;
            let params = durable.begun.as_ref().map_or(&given.params, |begun| &begun.params);
            let file = args.memory.as_deref();
            let memory = file.map(|file| recall::open(file, &chart, plans, params)).transpose()?;
            let cast = Cast {
                plans,
                given,
                who,
                clock,
                is_live,
                is_real,
                replies,
                origin,
                begun,
                entries,
                turns,
                memory: memory.as_ref(),
            };
            let screen = Screen::new(paper(args.color), &charts).going_on(is_begun);
            let screen = Live::new(screen);
            let name = args.run.clone().unwrap_or_default();
            return durable::go(
                durable,
                cast,
                ((screen, trace.map(JsonLines)), exporting.sink(&name)),
            )
            .await;
        }
        let now = saved.as_ref().map_or(0, Saved::now);
        let clock: Arc<dyn Clock> = match args.clock.as_deref() {
            Some("virtual") if in_earnest => {
                let who = if live { "a real model answers" } else { "servers answer" };
                return Err(miette::miette!("{who} in real time: omit `--clock`"));
            }
            None if !in_earnest => Arc::new(VirtualClock::starting_at(now)),
            Some("virtual") => Arc::new(VirtualClock::starting_at(now)),
            Some(_) | None => Arc::new(RealClock::starting_at(now)),
        };
        let functions = args.functions.as_deref();
        let llm = (args.llm.as_deref(), args.model.as_deref());
        let mut who = oracle(&charts, llm, args.human.as_deref(), functions, &clock)?;
        if let Some(exit) = servers.serve(&mut who, &seen, beside)? {
            return Ok(exit);
        }
        if let Some(folder) = &args.record {
            let tape = Tape::new(shelf(folder)?, clock.clone());
            who.oracle = Arc::new(Recording::new(who.oracle, tape.clone()));
            who.tools = Arc::new(Recording::new(who.tools, tape.clone()));
            who.people = who.people.map(|people| Arc::new(Recording::new(people, tape)) as _);
        }
        let log = HostLog::default();
        let world = args.world.as_deref().map(world::open).transpose()?;
        let (host, life) = world::live(world, &charts, &given, saved.as_ref(), who.host)?;
        let before = saved.as_ref().map_or(0, Saved::turns);
        let all = args.turns.map(|turns| turns.saturating_add(before));
        let life = life.map(|life| life.with_turns(all));
        let host = Watched::new(host, log.clone());
        let machine = match &saved {
            Some(saved) => Interpreter::resume(&plans[0], &plans, host, saved.machine())
                .map_err(|why| miette::miette!("the snapshot: {why}"))?,
            None => instance(&plans, &given, host)?,
        };
        let screen = Live::new(Screen::new(paper(args.color), &charts));
        let sink = ((screen, trace.map(JsonLines)), exporting.sink(&chart.name));
        let oracle = who.oracle.clone();
        let parts = Parts { oracle: who.oracle, people: who.people, tools: who.tools };
        let driver: Arc<dyn Driver> =
            if in_earnest { Arc::new(parts) } else { Arc::new(Free(parts)) };
        let session = Session::new(machine, oracle, clock, sink)
            .with_driver(driver)
            .with_host_log(log)
            .with_origin(origin);
        let mut agent = Agent::new(session, life);
        if let Some(file) = &args.memory {
            let name = agent.record().map(|record| record.agent);
            let variables = agent.session().machine().variables();
            agent = agent.with_memory(memory::open(file, &chart, variables, name)?);
        }
        for (name, value) in given.inputs.iter() {
            agent.input(name, value.clone()).map_err(|fault| miette::miette!("{fault}"))?;
        }
        if let Some(saved) = &saved {
            agent.take_back(saved).map_err(|why| miette::miette!("the snapshot: {why}"))?;
        }
        let mut last = None;
        let stop = Cell::new(false);
        let work = async {
            match &saved {
                Some(saved) => agent.go_on(saved)?,
                None => agent.start().await?,
            }
            agent.play(&entries).await?;
            for _ in 0..turns {
                // A run that never waits would never notice Ctrl-C.
                tokio::task::yield_now().await;
                let asked = args.llm.is_none() && agent.session().calls() > 0;
                if agent.session().status().is_some() || stop.get() || asked {
                    break;
                }
                last = Some(agent.turn().await?);
            }
            Ok::<(), PlayError>(())
        };
        let interrupt = match (types, in_earnest, &args.snapshot) {
            (true, ..) | (false, false, None) => Interrupt::Kills,
            (false, true, _) => Interrupt::EndsTurn,
            (false, false, Some(_)) => Interrupt::Stops,
        };
        let outcome = unless_stopped(interrupt, &stop, work).await;
        let was_stopped = outcome.is_none() || stop.get();
        if let Some(path) = &args.snapshot {
            interrupt::save(&agent, path, &args.file, was_stopped)?;
        }
        let fault = match outcome.unwrap_or(Ok(())) {
            Err(fault @ PlayError::Entry { .. }) => return Err(miette::miette!("{fault}")),
            Err(PlayError::Run(RunError::Trace(fault))) => {
                return Err(miette::miette!("{fault}"));
            }
            Err(PlayError::Run(fault)) => Some(fault.to_string()),
            Ok(()) => None,
        };
        let exit = close(agent.session(), last, fault, args.llm.is_none())?;
        Ok(if was_stopped && exit == Exit::Clean { Exit::Findings } else { exit })
    }));
    exporting.end();
    done
}
