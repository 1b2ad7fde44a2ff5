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
use super::durable::{self, RunParts};
use super::ending::close;
use super::instance::{
    InitialValues, PairKind, has_turns, instance, is_disabled, oracle, read, values,
};
use super::interrupt::{self, Interrupt, unless_stopped};
use super::live::is_live;
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
use chartc_core::plan::Plan;
use chartc_runtime::agent::Agent;
use chartc_runtime::clock::{Clock, RealClock, VirtualClock};
use chartc_runtime::driver::{Driver, Free, Parts};
use chartc_runtime::host::{HostLog, Watched};
use chartc_runtime::oracle::{Recording, Tape};
use chartc_runtime::trace::{JsonLines, Origin};
use chartc_runtime::{PlayError, RunError, Saved, Session, data};
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

/// The number of turns unless the command line sets one.
const TURNS: u32 = 100;

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    if Path::new(&args.file).is_dir() {
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
        return crowd::run(&common, &args.many);
    }
    #[cfg(feature = "sqlite")]
    if args.store.is_some() && args.run.is_none() {
        return Err(miette::miette!(
            help = "a store has many runs: name this one, as in `--run ada`",
            "--store needs --run NAME for a single agent"
        ));
    }
    if let Some(option) = args.many.given() {
        if !Path::new(&args.file).exists() {
            return Err(miette::miette!("there is no folder {}", args.file));
        }
        return Err(miette::miette!(
            help = "name a folder, whose agents run in one world",
            "`{option}` is for many agents, and {} is one file",
            args.file
        ));
    }
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
        durable.as_ref().map_or((false, false), |durable| (true, durable.args.is_some()));
    #[cfg(not(feature = "sqlite"))]
    let (is_stored, is_begun) = (false, false);
    let given = InitialValues {
        params: match saved {
            Some(_) => Map::new(),
            None if is_begun && args.param.is_empty() => Map::new(),
            None => values(&chart, PairKind::Param, &args.param)?,
        },
        inputs: values(&chart, PairKind::Input, &args.input)?,
    };
    let entries = match &args.events {
        Some(path) => data::entries(&read(path)?)
            .map_err(|fault| miette::miette!("{}: {fault}", path.display()))?,
        None => Vec::new(),
    };
    // Fail now rather than after a long run.
    args.snapshot.as_deref().map(save::check).transpose()?;
    // The trace of a continued run goes on in its file.
    let open = if saved.is_some() || is_begun { Stream::append } else { Stream::create };
    let trace = args.trace.as_deref().map(open).transpose()?;
    let lasts = has_turns(&chart) || checked.children().any(has_turns);
    let unless_said = if args.events.is_some() || !lasts { 0 } else { TURNS };
    let turns = args.turns.unwrap_or(unless_said);
    let live = is_live(args.llm.as_deref());
    // Real models and tools take real time. Their calls have effects, so none is repeated without being asked for.
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
        // Standard input is not a file that a replay could read.
        file: if args.file == "-" { String::new() } else { args.file.clone() },
        calls_per_turn: args.calls_per_turn,
        real_clock: args.clock.as_deref() == Some("real") || in_earnest,
    };
    let mut charts = checked.family();
    charts[0] = &chart;
    let plans: Vec<Plan<'_>> = charts.iter().map(|chart| Plan::new(chart)).collect();
    let exporting = args.otel.begin(&charts, args.llm.as_deref())?;
    // A stored run survives Ctrl-C anyway, so with a store Ctrl-C only ends the servers and the process.
    let done = runtime.block_on(servers.during(types || is_stored, async {
        // Starting servers takes time, which should not count for the run.
        servers.begin().await;
        #[cfg(feature = "sqlite")]
        if let Some(durable) = durable {
            let is_real = in_earnest || args.clock.as_deref() == Some("real");
            let clock = durable.clock(is_real)?;
            let replies = args.human.as_deref() == Some("later");
            let human = args.human.as_deref().filter(|_| !replies);
            let llm = (args.llm.as_deref(), args.model.as_deref());
            let mut backends = oracle(&charts, llm, human, args.functions.as_deref(), &clock)?;
            if let Some(exit) = servers.serve(&mut backends, &seen, beside)? {
                return Ok(exit);
            }
            let run_args = args.run_args(&given);
            durable.ensure_same(&run_args)?;
            let given = &given;
            let (plans, entries) = (plans.as_slice(), entries.as_slice());
            let is_live = live;
            let params = durable.args.as_ref().map_or(&given.params, |run_args| &run_args.params);
            let file = args.memory.as_deref();
            let memory = file.map(|file| recall::open(file, &chart, plans, params)).transpose()?;
            let parts = RunParts {
                plans,
                given,
                backends,
                clock,
                is_live,
                is_real,
                replies,
                origin,
                args: run_args,
                entries,
                turns,
                memory: memory.as_ref(),
            };
            let screen = Screen::new(terminal(args.color), &charts).going_on(durable.shown()?);
            let screen = Live::new(screen);
            let name = args.run.clone().unwrap_or_default();
            return durable::go(
                durable,
                parts,
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
        let mut backends = oracle(&charts, llm, args.human.as_deref(), functions, &clock)?;
        if let Some(exit) = servers.serve(&mut backends, &seen, beside)? {
            return Ok(exit);
        }
        if let Some(folder) = &args.record {
            let tape = Tape::new(shelf(folder)?, clock.clone());
            backends.oracle = Arc::new(Recording::new(backends.oracle, tape.clone()));
            backends.tools = Arc::new(Recording::new(backends.tools, tape.clone()));
            backends.people =
                backends.people.map(|people| Arc::new(Recording::new(people, tape)) as _);
        }
        let log = HostLog::default();
        let world = args.world.as_deref().map(world::open).transpose()?;
        let (host, life) = world::live(world, &charts, &given, saved.as_ref(), backends.host)?;
        let before = saved.as_ref().map_or(0, Saved::turns);
        let all = args.turns.map(|turns| turns.saturating_add(before));
        let life = life.map(|life| life.with_turns(all));
        let host = Watched::new(host, log.clone());
        let machine = match &saved {
            Some(saved) => Interpreter::resume(&plans[0], &plans, host, saved.machine())
                .map_err(|why| miette::miette!("the snapshot: {why}"))?,
            None => instance(&plans, &given, host)?,
        };
        let from = saved.as_ref().map(Saved::now);
        let screen = Live::new(Screen::new(terminal(args.color), &charts).going_on(from));
        let sink = ((screen, trace.map(JsonLines)), exporting.sink(&chart.name));
        let oracle = backends.oracle.clone();
        let parts =
            Parts { oracle: backends.oracle, people: backends.people, tools: backends.tools };
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
                Some(saved) => agent.resume(saved)?,
                None => agent.start().await?,
            }
            agent.play(&entries).await?;
            for _ in 0..turns {
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
        // A turn whose calls are paid for may end; a run that can be saved stops at once; any other has nothing to lose.
        let interrupt = match (types, in_earnest, &args.snapshot) {
            (true, ..) | (false, false, None) => Interrupt::Kills,
            (false, true, _) => Interrupt::EndsTurn,
            (false, false, Some(_)) => Interrupt::Stops,
        };
        let outcome = unless_stopped(interrupt, &stop, work).await;
        let was_stopped = outcome.is_none() || stop.get();
        if let Some(Err(PlayError::Run(fault @ RunError::NoModel { .. }))) = &outcome {
            complain(format!("error: {fault}"));
            return Ok(Exit::Findings);
        }
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
        // A run that was stopped has not reached its end, whatever its states say.
        Ok(if was_stopped && exit == Exit::Clean { Exit::Findings } else { exit })
    }));
    exporting.end();
    done
}
