//! The command `chartc run`.
//!
//! Options decide which parts a run is made of; the runtime does the rest. `chartc run a.chart --llm script:a.yaml --turns 2`:
//!
//! 1. The chart is selected, and refused if it has any errors.
//! 2. `--llm` becomes the oracle, the tools and the host functions. A script needs no real time, so the clock is virtual.
//! 3. A session is made of the machine, these parts, and a sink that prints the trace.
//! 4. The session starts, plays the events of `--events`, and takes two turns or fewer if it ends before.
//! 5. The last line and the exit code say how it ended.
//!
//! Three variants branch off: a folder is a world of many agents ([`crowd`]), `--store` makes the run survive its process
//! (`durable`), and `--resume` continues a snapshot.

use super::crowd;
#[cfg(feature = "sqlite")]
use super::durable::{self, Durable, RunArgs, RunParts};
use super::files::{self, Root, Stream};
use super::instance::{
    self, InitialValues, PairKind, backends, has_turns, is_disabled, read, shelf, values,
};
use super::otel::{self, Exporting};
use super::output::{Colour, Exit, complain, terminal};
use super::pick::pick_to_run_with_sources;
use super::screen::{Live, Screen, close, say_of_wait};
use super::servers;
use super::signals;
use crate::setup::{Answerers, Backends, is_live};
use chartc_compiler::compile::Checked;
use chartc_compiler::explore::STATES;
use chartc_compiler::syntax::source::Sources;
use chartc_core::expr::Map;
use chartc_core::host::Machine;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_core::visible;
use chartc_runtime::agent::Agent;
use chartc_runtime::agents::{AgentState, NextAct};
use chartc_runtime::cassette::Recorder;
use chartc_runtime::clock::{Clock, RealClock, VirtualClock};
use chartc_runtime::data::{self, Entry};
use chartc_runtime::journal::Journaled;
use chartc_runtime::trace::{JsonLines, Origin, Sink};
use chartc_runtime::{PlayError, RunError, RunSetup, Saved};
use std::cell::Cell;
use std::fmt::Display;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The number of turns unless the command line sets one.
const TURNS: u32 = 100;

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    if Path::new(&args.file).is_dir() {
        return run_folder(&args);
    }
    refuse_misplaced_options(&args)?;
    let chosen = pick_to_run_with_sources(&args.file, args.chart.as_deref(), &args.root, STATES)?;
    let (checked, sources) = match chosen {
        Ok(found) => found,
        Err(exit) => return Ok(exit),
    };
    let mut chart = Chart::clone(checked.chart());
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
    run_chart(&args, &Arc::new(chart), &checked, &sources)
}

/// Runs a chart that is free of errors.
fn run_chart(
    args: &Args,
    chart: &Arc<Chart>,
    checked: &Checked,
    sources: &Sources,
) -> miette::Result<Exit> {
    let saved = args.resume.as_deref().map(resume).transpose()?;
    #[cfg(feature = "sqlite")]
    let durable = match (&args.store, &args.run) {
        (Some(path), Some(run)) => Some(durable::open(path, run, args.world.as_deref())?),
        _ => None,
    };
    #[cfg(feature = "sqlite")]
    let (is_stored, is_begun) =
        durable.as_ref().map_or((false, false), |durable| (true, durable.args.is_some()));
    #[cfg(not(feature = "sqlite"))]
    let (is_stored, is_begun) = (false, false);
    let given = initial_values(args, chart, saved.as_ref(), is_begun)?;
    let entries = entries(args.events.as_deref())?;
    // Fail now rather than after a long run.
    args.snapshot.as_deref().map(files::check).transpose()?;
    // The trace of a continued run goes on in its file.
    let open = if saved.is_some() || is_begun { Stream::append } else { Stream::create };
    let trace = args.trace.as_deref().map(open).transpose()?.map(JsonLines);
    let lasts = has_turns(chart) || checked.children().any(has_turns);
    let unless_said = if args.events.is_some() || !lasts { 0 } else { TURNS };
    let is_live = is_live(args.llm.as_deref());
    let answerers = args.answerers();
    let servers = args.servers.servers(&checked.family(), answerers)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|fault| miette::miette!("no runtime: {fault}"))?;
    let mut charts = checked.family();
    charts[0] = chart;
    let plans = checked.plans_with(chart);
    let exporting = args.otel.begin(&charts, args.llm.as_deref())?;
    let prepared = Prepared {
        args,
        charts: &charts,
        plans: &plans,
        given,
        entries,
        turns: args.turns.unwrap_or(unless_said),
        saved,
        is_live,
        has_effects: is_live || args.servers.are_given(),
    };
    let done = runtime.block_on(servers.during(prepared.is_killed(is_stored), async {
        // Starting servers takes time, which should not count for the run.
        servers.begin().await;
        let add_servers =
            |backends: &mut Backends| servers.serve(backends, &[(checked, sources)], answerers);
        #[cfg(feature = "sqlite")]
        if let Some(durable) = durable {
            return run_stored(&prepared, durable, add_servers, trace, &exporting).await;
        }
        run_once(&prepared, add_servers, trace, &exporting).await
    }));
    exporting.end();
    done
}

/// Reads the entries of the file of events, if there is one.
fn entries(path: Option<&Path>) -> miette::Result<Vec<Entry>> {
    let Some(path) = path else { return Ok(Vec::new()) };
    data::entries(&read(path)?).map_err(|fault| miette::miette!("{}: {fault}", path.display()))
}

/// Runs the agents of a folder in one world.
fn run_folder(args: &Args) -> miette::Result<Exit> {
    if let Some(option) = args.of_one_agent() {
        return Err(miette::miette!(
            help = "name a file to run one agent, or say it in the run file",
            "{} is a folder: `{option}` has no meaning for many agents",
            args.file
        ));
    }
    let common = crowd::Common {
        folder: &args.file,
        answerers: args.answerers(),
        world: args.world.as_deref(),
        #[cfg(feature = "sqlite")]
        store: args.store.as_deref(),
        #[cfg(not(feature = "sqlite"))]
        store: None,
        even_disabled: args.even_disabled,
        root: &args.root,
    };
    crowd::run(&common, &args.many)
}

/// Refuses options that have no meaning for the run of one file.
fn refuse_misplaced_options(args: &Args) -> miette::Result<()> {
    #[cfg(feature = "sqlite")]
    if args.store.is_some() && args.run.is_none() {
        return Err(miette::miette!(
            help = "a store has many runs: name this one, as in `--run ada`",
            "--store needs --run NAME for a single agent"
        ));
    }
    let Some(option) = args.many.given() else { return Ok(()) };
    if !Path::new(&args.file).exists() {
        return Err(miette::miette!("there is no folder {}", args.file));
    }
    Err(miette::miette!(
        help = "name a folder, whose agents run in one world",
        "`{option}` is for many agents, and {} is one file",
        args.file
    ))
}

/// The params and inputs of the command line. A run that continues has its params already.
fn initial_values(
    args: &Args,
    chart: &Chart,
    saved: Option<&Saved>,
    is_begun: bool,
) -> miette::Result<InitialValues> {
    if saved.is_some() && !args.param.is_empty() {
        return Err(miette::miette!(
            "the snapshot already contains the params of its run: omit `--param`"
        ));
    }
    let continues = saved.is_some() || is_begun && args.param.is_empty();
    let params = if continues { Map::new() } else { values(chart, PairKind::Param, &args.param)? };
    Ok(InitialValues { params, inputs: values(chart, PairKind::Input, &args.input)? })
}

/// A run whose chart and options are read, before its servers are started.
struct Prepared<'a> {
    args: &'a Args,
    charts: &'a [&'a Chart],
    plans: &'a Arc<[Plan]>,
    given: InitialValues,
    entries: Vec<Entry>,
    turns: u32,
    /// The snapshot that the run continues.
    saved: Option<Saved>,
    /// Whether a real model answers.
    is_live: bool,
    /// Whether models or servers answer. They take real time, and their calls have effects: none is repeated without being asked for.
    has_effects: bool,
}

impl Prepared<'_> {
    /// Whether a person types answers in this terminal.
    fn is_typed(&self) -> bool {
        self.args.llm.as_deref() == Some("human") || self.args.human.as_deref() == Some("terminal")
    }

    fn is_real_clock(&self) -> bool {
        self.args.clock.as_deref() == Some("real") || self.has_effects
    }

    fn origin(&self) -> Origin {
        let file = &self.args.file;
        Origin {
            // Standard input is not a file that a replay could read.
            file: if file == "-" { String::new() } else { file.clone() },
            calls_per_turn: self.args.calls_per_turn,
            real_clock: self.is_real_clock(),
            ..Origin::default()
        }
    }

    /// What answers the calls of the run, without servers.
    fn backends(&self, human: Option<&str>, clock: &Arc<dyn Clock>) -> miette::Result<Backends> {
        backends(self.charts, Answerers { human, ..self.args.answerers() }, clock)
    }

    /// The clock of a run without a store, which starts when its snapshot was taken.
    fn clock(&self) -> miette::Result<Arc<dyn Clock>> {
        let now = self.saved.as_ref().map_or(0, Saved::now);
        Ok(match self.args.clock.as_deref() {
            Some("virtual") if self.has_effects => {
                let who = if self.is_live { "a real model answers" } else { "servers answer" };
                return Err(miette::miette!("{who} in real time: omit `--clock`"));
            }
            None if !self.has_effects => Arc::new(VirtualClock::starting_at(now)),
            Some("virtual") => Arc::new(VirtualClock::starting_at(now)),
            Some(_) | None => Arc::new(RealClock::starting_at(now)),
        })
    }

    /// Whether a signal ends the servers and the process at once.
    fn is_killed(&self, is_stored: bool) -> bool {
        if is_stored { self.is_typed() } else { self.interrupt() == Interrupt::Kills }
    }

    /// What a signal does. A turn whose calls are paid for may end; a run that can be saved stops at once; any other has nothing to lose.
    fn interrupt(&self) -> Interrupt {
        match (self.is_typed(), self.has_effects, &self.args.snapshot) {
            (true, ..) | (false, false, None) => Interrupt::Kills,
            (false, true, _) => Interrupt::EndsTurn,
            (false, false, Some(_)) => Interrupt::Stops,
        }
    }
}

/// Runs a chart whose state and calls a store keeps.
#[cfg(feature = "sqlite")]
async fn run_stored(
    prepared: &Prepared<'_>,
    durable: Durable,
    add_servers: impl FnOnce(&mut Backends) -> miette::Result<Option<Exit>>,
    trace: Option<JsonLines<Stream>>,
    exporting: &Exporting,
) -> miette::Result<Exit> {
    let args = prepared.args;
    let is_real = prepared.is_real_clock();
    let clock = durable.clock(is_real)?;
    let replies = args.human.as_deref() == Some("later");
    let mut backends = prepared.backends(args.human.as_deref().filter(|_| !replies), &clock)?;
    if let Some(exit) = add_servers(&mut backends)? {
        return Ok(exit);
    }
    let run_args = args.run_args(&prepared.given);
    durable.ensure_same(&run_args)?;
    let params = durable.args.as_ref().map_or(&prepared.given.params, |run_args| &run_args.params);
    let memory = (args.memory.as_deref())
        .map(|file| durable::open_recall(file, prepared.charts[0], prepared.plans, params))
        .transpose()?;
    let parts = RunParts {
        plans: prepared.plans,
        given: &prepared.given,
        backends,
        clock,
        is_live: prepared.is_live,
        is_real,
        is_typed: prepared.is_typed(),
        replies,
        origin: prepared.origin(),
        args: run_args,
        entries: &prepared.entries,
        turns: prepared.turns,
        memory: memory.as_ref(),
    };
    let screen = Screen::new(terminal(args.color), prepared.charts).going_on(durable.shown()?);
    let name = args.run.clone().unwrap_or_default();
    durable::go(durable, parts, ((Live::new(screen), trace), exporting.sink(&name))).await
}

/// Runs a chart in this process only.
async fn run_once(
    prepared: &Prepared<'_>,
    add_servers: impl FnOnce(&mut Backends) -> miette::Result<Option<Exit>>,
    trace: Option<JsonLines<Stream>>,
    exporting: &Exporting,
) -> miette::Result<Exit> {
    let (args, saved) = (prepared.args, prepared.saved.as_ref());
    let (chart, plans) = (prepared.charts[0], prepared.plans);
    let clock = prepared.clock()?;
    let mut backends = prepared.backends(args.human.as_deref(), &clock)?;
    if let Some(exit) = add_servers(&mut backends)? {
        return Ok(exit);
    }
    let recorder = match &args.record {
        Some(folder) => Some(Arc::new(Recorder::new(shelf(folder)?, clock.clone()))),
        None => None,
    };
    let world = args.world.as_deref().map(instance::open_world).transpose()?;
    let (host, life) =
        instance::live(world, prepared.charts, &prepared.given, saved, backends.host)?;
    let before = saved.map_or(0, Saved::turns);
    let all = args.turns.map(|turns| turns.saturating_add(before));
    let life = life.map(|life| life.with_turns(all));
    let screen = Screen::new(terminal(args.color), prepared.charts);
    let screen = Live::new(screen.going_on(saved.map(Saved::now)));
    let sink = ((screen, trace), exporting.sink(&chart.name));
    let driver = Backends::driver(backends.parts, !prepared.has_effects);
    let driver = match recorder {
        Some(recorder) => Arc::new(Journaled::new(recorder, driver)),
        None => driver,
    };
    let setup = RunSetup {
        plans,
        params: &prepared.given.params,
        // The agent sets them below, so that its world does not overwrite them.
        inputs: &Map::new(),
        host,
        driver,
        clock: clock.clone(),
        run: "",
        origin: prepared.origin(),
        saved,
    };
    let session = setup.session(sink).map_err(|why| match saved {
        Some(_) => snapshot_fault(why),
        None => miette::miette!("{why}"),
    })?;
    let mut agent = Agent::new(session, life);
    if let Some(file) = &args.memory {
        let name = agent.record().map(|record| record.agent);
        let variables = agent.session().machine().variables();
        agent = agent.with_memory(instance::open_memory(file, chart, variables, name)?);
    }
    for (name, value) in prepared.given.inputs.iter() {
        agent.input(name, value.clone()).map_err(|fault| miette::miette!("{fault}"))?;
    }
    if let Some(saved) = saved {
        agent.take_back(saved).map_err(snapshot_fault)?;
    }
    play(prepared, &clock, &mut agent).await
}

fn snapshot_fault(why: impl Display) -> miette::Report {
    miette::miette!("the snapshot: {why}")
}

/// Plays the events and takes the turns of a run, saves it where `--snapshot` says so, and tells how it ended.
async fn play<M: Machine, T: Sink>(
    prepared: &Prepared<'_>,
    clock: &Arc<dyn Clock>,
    agent: &mut Agent<M, T>,
) -> miette::Result<Exit> {
    let args = prepared.args;
    let mut last = None;
    let stop = Cell::new(false);
    let work = async {
        match &prepared.saved {
            Some(saved) => agent.resume(saved)?,
            None => agent.start().await?,
        }
        agent.play(&prepared.entries).await?;
        let mut before = None;
        for _ in 0..prepared.turns {
            // A run whose answers are always ready would never yield, and Ctrl-C would never be noticed.
            tokio::task::yield_now().await;
            // Without `--llm` every call is denied: one question is enough to say so.
            let asked = args.llm.is_none() && agent.session().calls() > 0;
            if stop.get() || asked {
                break;
            }
            let state = AgentState::of(agent.session());
            match state.next_act(before.as_ref()) {
                NextAct::Stop => break,
                NextAct::Until(at) => {
                    before = None;
                    let wait = at.saturating_sub(clock.now());
                    say_of_wait(prepared.is_real_clock(), wait);
                    agent.advance(wait).await?;
                }
                NextAct::Turn => {
                    before = Some(state);
                    last = Some(agent.turn().await?);
                }
            }
        }
        Ok::<(), PlayError>(())
    };
    let outcome = unless_stopped(prepared.interrupt(), &stop, work).await;
    let was_stopped = outcome.is_none() || stop.get();
    if let Some(Err(PlayError::Run(fault @ RunError::NoModel { .. }))) = &outcome {
        complain(format!("error: {fault}"));
        return Ok(Exit::Findings);
    }
    if let Some(path) = &args.snapshot {
        save(agent, path, &args.file, was_stopped)?;
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
    // A run that was stopped has not reached its end, whatever its states say.
    Ok(if was_stopped && exit == Exit::Clean { Exit::Findings } else { exit })
}

// The arguments of `chartc run`.

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

Many agents in one world, those of a folder or of its run.yaml (docs/world.md):
  chartc run examples/ecology --ticks 20 --seed 7 --log world.jsonl
  chartc run agents/ --duration 60 --llm clients --format text
  chartc run agents/ --config night.yaml --workers 4 --format json
  chartc run examples/ecology --store world.db       continues after a crash
  chartc trace world.jsonl --plot                    who was in which state, and when

Exit codes: 0 the run ended ok, partial or canceled, or used all its turns; 1 errors in the chart,
the last turn failed, the run ended stuck, limit or error, or an agent of many could not continue;
2 wrong usage, 3 internal error, 4 no chart in the file")]
pub(super) struct Args {
    /// A *.chart, *.scxml or agent.yaml file, - for standard input, or a folder, whose agents run in one world
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
    /// Who answers `human` steps: terminal, script:FILE, or with --store `later` for `chartc store FILE reply` [default: as --llm; with a real model, terminal]
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
    /// `kill -9`, continues the run: no call is made twice. `chartc store` lists the runs of a file. For a folder, the file keeps the
    /// whole world at each of its summaries, with the calls since then; `--run` is not needed.
    #[cfg(feature = "sqlite")]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["snapshot", "resume", "record"])]
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
    #[command(flatten)]
    many: crowd::Options,
}

impl Args {
    fn answerers(&self) -> Answerers<'_> {
        let (llm, model) = (self.llm.as_deref(), self.model.as_deref());
        Answerers { llm, model, human: self.human.as_deref(), functions: self.functions.as_deref() }
    }

    /// The name of the first given option that has no meaning for many agents.
    fn of_one_agent(&self) -> Option<&'static str> {
        #[cfg(feature = "sqlite")]
        let is_named = self.run.is_some();
        #[cfg(not(feature = "sqlite"))]
        let is_named = false;
        let all = [
            (self.chart.is_some(), "--chart"),
            (self.memory.is_some(), "--memory"),
            (self.events.is_some(), "--events"),
            (!self.input.is_empty(), "--input"),
            (!self.param.is_empty(), "--param"),
            (self.turns.is_some(), "--turns"),
            (self.trace.is_some(), "--trace"),
            (self.record.is_some(), "--record"),
            (self.snapshot.is_some(), "--snapshot"),
            (self.resume.is_some(), "--resume"),
            (self.servers.are_given(), "--tools"),
            (self.clock.is_some(), "--clock"),
            (self.calls_per_turn.is_some(), "--calls-per-turn"),
            (is_named, "--run"),
            (self.otel.is_given(), "--otel"),
        ];
        all.into_iter().find(|(is, _)| *is).map(|(_, name)| name)
    }
}

// The closing lines of a run on the command line, and its exit code.

// Handles signals, and reads and writes the file from which a run continues.

/// The effect of Ctrl-C, SIGTERM and SIGHUP on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interrupt {
    /// Ends the process, which is the default of the system. Needed while a person types: another handler would run only after Enter.
    Kills,
    /// Stops the run at once.
    Stops,
    /// Lets the turn end, because its calls are paid for. The second signal stops the run at once.
    EndsTurn,
}

/// Awaits `work`. Returns `None` if a signal stopped it. Sets `asked` if no further turn should begin.
async fn unless_stopped<R>(
    interrupt: Interrupt,
    asked: &Cell<bool>,
    work: impl Future<Output = R>,
) -> Option<R> {
    let ask = || {
        asked.set(true);
        complain("the turn runs to its end; press Ctrl-C again to stop at once");
    };
    match interrupt {
        Interrupt::Kills => Some(work.await),
        Interrupt::Stops => tokio::select! {
            biased;
            _ = signals::signal() => None,
            done = work => Some(done),
        },
        Interrupt::EndsTurn => signals::unless_stopped(ask, work).await,
    }
}

/// Reads the file of `--resume`.
pub(super) fn resume(path: &Path) -> miette::Result<Saved> {
    let name = path.display().to_string();
    let text = super::instance::read_made(path)?;
    Saved::read(&text).map_err(|why| miette::miette!("{name}: {why}"))
}

/// Writes the file of `--snapshot`, and says how to continue if the run was stopped. A run that has ended is not written.
pub(super) fn save<M: Machine, T: Sink>(
    agent: &Agent<M, T>,
    path: &Path,
    file: &str,
    was_stopped: bool,
) -> miette::Result<()> {
    let Some(saved) = agent.save() else { return Ok(()) };
    let text =
        saved.text().map_err(|why| miette::miette!("the snapshot cannot be written: {why}"))?;
    files::write(path, &format!("{}\n", visible::json(&text)))?;
    if was_stopped {
        complain(format!("continue with: chartc run {file} --resume {}", path.display()));
    }
    Ok(())
}

// The arguments of a stored run, which the store keeps.

#[cfg(feature = "sqlite")]
impl Args {
    /// The arguments with which a stored run is continued.
    pub(in crate::cli) fn from_stored(args: RunArgs, store: PathBuf, run: String) -> Self {
        Self {
            file: args.file,
            chart: args.chart,
            llm: args.llm,
            model: args.model,
            human: args.human,
            functions: args.functions.map(PathBuf::from),
            servers: servers::Options::from_file(args.tools),
            otel: otel::Options::default(),
            world: None,
            memory: args.memory.map(PathBuf::from),
            events: args.events.map(PathBuf::from),
            // The stored run has its inputs and params.
            input: Vec::new(),
            param: Vec::new(),
            turns: args.turns,
            calls_per_turn: args.calls_per_turn,
            even_disabled: true,
            trace: None,
            record: None,
            snapshot: None,
            resume: None,
            store: Some(store),
            run: Some(run),
            clock: args.clock,
            color: Colour::Auto,
            root: Root::default(),
            many: crowd::Options::default(),
        }
    }

    /// The arguments of a new run, as the store keeps them.
    pub(super) fn run_args(&self, given: &InitialValues) -> RunArgs {
        let path = |path: &PathBuf| path.display().to_string();
        RunArgs {
            file: self.file.clone(),
            chart: self.chart.clone(),
            llm: self.llm.clone(),
            model: self.model.clone(),
            human: self.human.clone(),
            functions: self.functions.as_ref().map(path),
            tools: self.servers.file(),
            events: self.events.as_ref().map(path),
            turns: self.turns,
            calls_per_turn: self.calls_per_turn,
            clock: self.clock.clone(),
            memory: self.memory.as_ref().map(path),
            client: None,
            params: given.params.clone(),
            inputs: given.inputs.clone(),
        }
    }
}
