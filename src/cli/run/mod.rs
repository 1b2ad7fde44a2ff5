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

mod args;
#[cfg(feature = "sqlite")]
mod run_args;

pub(super) use args::Args;

use super::cassette::shelf;
#[cfg(feature = "sqlite")]
use super::durable::{self, Durable, RunParts};
use super::ending::close;
use super::instance::{
    Backends, InitialValues, PairKind, has_turns, instance, is_disabled, oracle, read, values,
};
use super::interrupt::{self, Interrupt, unless_stopped};
use super::live::is_live;
use super::otel::Exporting;
use super::output::{complain, terminal};
use super::pick::pick_to_run_with_sources;
#[cfg(feature = "sqlite")]
use super::recall;
use super::save::{self, Stream};
use super::screen::Screen;
use super::servers::Beside;
use super::status::Live;
use super::{Exit, crowd, memory, world};
use chartc_check::explore::STATES;
use chartc_core::expr::Map;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::agent::Agent;
use chartc_runtime::clock::{Clock, RealClock, VirtualClock};
use chartc_runtime::data::Entry;
use chartc_runtime::driver::{Driver, Free, Parts};
use chartc_runtime::host::{HostLog, Watched};
use chartc_runtime::oracle::{Recording, Tape};
use chartc_runtime::trace::{JsonLines, Origin, Sink};
use chartc_runtime::{PlayError, RunError, Saved, Session, data};
use std::cell::Cell;
use std::fmt::Display;
use std::path::Path;
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
    let given = initial_values(&args, &chart, saved.as_ref(), is_begun)?;
    let entries = match &args.events {
        Some(path) => data::entries(&read(path)?)
            .map_err(|fault| miette::miette!("{}: {fault}", path.display()))?,
        None => Vec::new(),
    };
    // Fail now rather than after a long run.
    args.snapshot.as_deref().map(save::check).transpose()?;
    // The trace of a continued run goes on in its file.
    let open = if saved.is_some() || is_begun { Stream::append } else { Stream::create };
    let trace = args.trace.as_deref().map(open).transpose()?.map(JsonLines);
    let lasts = has_turns(&chart) || checked.children().any(has_turns);
    let unless_said = if args.events.is_some() || !lasts { 0 } else { TURNS };
    let is_live = is_live(args.llm.as_deref());
    let beside = Beside { llm: args.llm.as_deref(), functions: args.functions.as_deref() };
    let servers = args.servers.servers(&checked.family(), beside)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|fault| miette::miette!("no runtime: {fault}"))?;
    let mut charts = checked.family();
    charts[0] = &chart;
    let plans: Vec<Plan<'_>> = charts.iter().map(|chart| Plan::new(chart)).collect();
    let exporting = args.otel.begin(&charts, args.llm.as_deref())?;
    let prepared = Prepared {
        args: &args,
        charts: &charts,
        plans: &plans,
        given,
        entries,
        turns: args.turns.unwrap_or(unless_said),
        saved,
        is_live,
        has_effects: is_live || args.servers.are_given(),
    };
    // A stored run survives Ctrl-C anyway, so with a store Ctrl-C only ends the servers and the process.
    let survives = prepared.is_typed() || is_stored;
    let done = runtime.block_on(servers.during(survives, async {
        // Starting servers takes time, which should not count for the run.
        servers.begin().await;
        let add_servers =
            |backends: &mut Backends| servers.serve(backends, &[(&checked, &sources)], beside);
        #[cfg(feature = "sqlite")]
        if let Some(durable) = durable {
            return run_stored(&prepared, durable, add_servers, trace, &exporting).await;
        }
        run_once(&prepared, add_servers, trace, &exporting).await
    }));
    exporting.end();
    done
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
        llm: args.llm.as_deref(),
        model: args.model.as_deref(),
        human: args.human.as_deref(),
        functions: args.functions.as_deref(),
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
    plans: &'a [Plan<'a>],
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
        }
    }

    /// What answers the calls of the run, without servers.
    fn backends(&self, human: Option<&str>, clock: &Arc<dyn Clock>) -> miette::Result<Backends> {
        let llm = (self.args.llm.as_deref(), self.args.model.as_deref());
        oracle(self.charts, llm, human, self.args.functions.as_deref(), clock)
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

    /// What Ctrl-C does. A turn whose calls are paid for may end; a run that can be saved stops at once; any other has nothing to lose.
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
        .map(|file| recall::open(file, prepared.charts[0], prepared.plans, params))
        .transpose()?;
    let parts = RunParts {
        plans: prepared.plans,
        given: &prepared.given,
        backends,
        clock,
        is_live: prepared.is_live,
        is_real,
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
    if let Some(folder) = &args.record {
        record_calls(&mut backends, Tape::new(shelf(folder)?, clock.clone()));
    }
    let log = HostLog::default();
    let world = args.world.as_deref().map(world::open).transpose()?;
    let (host, life) = world::live(world, prepared.charts, &prepared.given, saved, backends.host)?;
    let before = saved.map_or(0, Saved::turns);
    let all = args.turns.map(|turns| turns.saturating_add(before));
    let life = life.map(|life| life.with_turns(all));
    let host = Watched::new(host, log.clone());
    let machine = match saved {
        Some(saved) => {
            Interpreter::resume(&plans[0], plans, host, saved.machine()).map_err(snapshot_fault)?
        }
        None => instance(plans, &prepared.given, host)?,
    };
    let screen = Screen::new(terminal(args.color), prepared.charts);
    let screen = Live::new(screen.going_on(saved.map(Saved::now)));
    let sink = ((screen, trace), exporting.sink(&chart.name));
    let oracle = backends.oracle.clone();
    let parts = Parts { oracle: backends.oracle, people: backends.people, tools: backends.tools };
    let driver: Arc<dyn Driver> =
        if prepared.has_effects { Arc::new(parts) } else { Arc::new(Free(parts)) };
    let session = Session::new(machine, oracle, clock, sink)
        .with_driver(driver)
        .with_host_log(log)
        .with_origin(prepared.origin());
    let mut agent = Agent::new(session, life);
    if let Some(file) = &args.memory {
        let name = agent.record().map(|record| record.agent);
        let variables = agent.session().machine().variables();
        agent = agent.with_memory(memory::open(file, chart, variables, name)?);
    }
    for (name, value) in prepared.given.inputs.iter() {
        agent.input(name, value.clone()).map_err(|fault| miette::miette!("{fault}"))?;
    }
    if let Some(saved) = saved {
        agent.take_back(saved).map_err(snapshot_fault)?;
    }
    play(prepared, &mut agent).await
}

fn snapshot_fault(why: impl Display) -> miette::Report {
    miette::miette!("the snapshot: {why}")
}

/// Keeps the calls of all backends on a tape.
fn record_calls(backends: &mut Backends, tape: Arc<Tape>) {
    backends.oracle = Arc::new(Recording::new(backends.oracle.clone(), tape.clone()));
    backends.tools = Arc::new(Recording::new(backends.tools.clone(), tape.clone()));
    let people = backends.people.take();
    backends.people = people.map(|people| Arc::new(Recording::new(people, tape)) as _);
}

/// Plays the events and takes the turns of a run, saves it where `--snapshot` says so, and tells how it ended.
async fn play<M: Machine, T: Sink>(
    prepared: &Prepared<'_>,
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
        for _ in 0..prepared.turns {
            // A run whose answers are always ready would never yield, and Ctrl-C would never be noticed.
            tokio::task::yield_now().await;
            // Without `--llm` every call is denied: one question is enough to say so.
            let asked = args.llm.is_none() && agent.session().calls() > 0;
            if agent.session().status().is_some() || stop.get() || asked {
                break;
            }
            last = Some(agent.turn().await?);
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
        interrupt::save(agent, path, &args.file, was_stopped)?;
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
