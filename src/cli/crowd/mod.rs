//! `chartc run DIR`: many agents in one world.
//!
//! A folder becomes a world in which every agent has a machine, an oracle and limits. Agents of one entry differ only in name and
//! data, so everything else is made once and shared. A run of `traders/` with this `run.yaml`:
//!
//! ```yaml
//! execution: { ticks: 10 }
//! agents: [{ file: trader.chart, count: 1000, llm: "script:trader.yaml" }]
//! ```
//!
//! 1. [`find`] checks `trader.chart` and lists the agents `Trader_1` to `Trader_1000`, in one group of an [`AgentSet`].
//! 2. The world is made, with an account for each agent.
//! 3. [`answers`] reads the script once; each agent gets a copy with its own position. The [`AgentFactory`] makes what all agents of the
//!    group share once, too, and each agent from it.
//! 4. The engine of `chartc-world` runs ten ticks on a pool of workers, and [`show`] prints a line for each.
//!
//! Agents that other agents spawn come from the same factory, while the run is under way.

mod answers;
mod find;
mod show;
#[cfg(feature = "sqlite")]
mod store;

pub(super) use find::Common;
#[cfg(feature = "sqlite")]
pub(super) use store::told as told_of_store;

use super::files::real;
use super::glance::at_a_glance;
use super::instance::read;
use super::output::{Exit, complain, foot, is_seen, print, print_json};
use super::signals;
use crate::chart_compiler::Compiler;
use crate::setup::{Answerers, is_live};
use chartc_compiler::syntax::diagnostic::nearest;
use chartc_core::model::Chart;
use chartc_core::wording::counted;
use chartc_runtime::agent::WorldFile;
use chartc_runtime::clock::Clock;
use chartc_world::engine::{Engine, Meter, Recipe, Settings, WorkerPool, workers};
use chartc_world::{
    AgentFactory, AgentSet, AuctionConfig, Census, Loaded, Machine, Methods, Resources, RunFile,
    World,
};
use find::{End, Forecast, Found, RUN_FILE, beside, find_agents, milliseconds, run_file};
use show::{Format, RunEnd, Typed, WorldOutput};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

type CrowdEngine = Engine<Machine, AgentFactory, WorldOutput>;

pub(super) fn run(common: &Common<'_>, options: &Options) -> miette::Result<Exit> {
    let folder = Path::new(common.folder);
    let (file, base) = run_file(folder, options.config.as_deref())?;
    let found = match find_agents(folder, (&file, &base), common.root, common.even_disabled)? {
        Ok(found) => found,
        Err(exit) => return Ok(exit),
    };
    // Check this before anything is created: `open_log` empties the log.
    check(common, options, &file, &base, &found)?;
    run_agents(common, options, (&file, &base), &Arc::new(found.agent_set))
}

/// Runs the agents to the end of the run.
fn run_agents(
    common: &Common<'_>,
    options: &Options,
    (file, base): (&RunFile, &Path),
    agent_set: &Arc<AgentSet>,
) -> miette::Result<Exit> {
    let start = Start { common, file, base, agent_set };
    let settings = settings(file, options, &start)?;
    let end = options.end(file)?;
    let forecast = Forecast::new(common, file, agent_set, end, &settings);
    let world = self::world(common.world, file, agent_set)?;
    let format = options.format.unwrap_or(if is_seen() { Format::Text } else { Format::Json });
    #[cfg(feature = "sqlite")]
    let (checkpoints, loaded) = open_store(common, (file, base), &settings, end, agent_set)?;
    #[cfg(not(feature = "sqlite"))]
    let loaded: Option<Loaded> = None;
    #[cfg(feature = "sqlite")]
    let keep = checkpoints.as_ref().map(|checkpoints| checkpoints.keep.clone());
    let out = output(format, end, agent_set.agents.len());
    #[cfg(feature = "sqlite")]
    let out = WorldOutput { checkpoints, ..out };
    let holding = match &file.auction {
        Some(config) => Some((config, find::chart()?)),
        None => None,
    };
    let gate = agent_set.gate(&file.rate_limiting);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|fault| miette::miette!("no runtime: {fault}"))?;
    let wanted = options.workers.or(file.execution.workers()).unwrap_or(0);
    let threads = workers(wanted);
    std::thread::scope(|scope| {
        runtime.block_on(async {
            let pool = WorkerPool::<Machine>::within(scope, threads, runtime.handle());
            let pool = pool.map_err(|fault| {
                miette::miette!(
                    help = "choose fewer with --workers N, or with `workers` in the run file",
                    "cannot start {}: {fault}",
                    counted(threads, "thread")
                )
            })?;
            let factory =
                AgentFactory::new(&world, agent_set.clone(), gate.clone(), start.is_real())
                    .with_working_memory(file.working_memory.clone());
            #[cfg(feature = "sqlite")]
            let factory = factory.with_keep(keep);
            let mut engine = Engine::new(world, settings, pool, factory, out).with_gate(gate);
            start.fill(&mut engine, holding.as_ref(), loaded.as_ref())?;
            // The log is opened only now, so that a run which cannot start keeps the log of the previous one.
            if let Some(path) = &options.log {
                engine.out_mut().open_log(path)?;
            }
            if let Some(forecast) = &forecast {
                forecast.tell(format)?;
            }
            play(&mut engine, end, format).await
        })
    })
}

/// Makes the output of a run without a store.
fn output(format: Format, end: End, agents: usize) -> WorldOutput {
    let ticks = if let End::Ticks(ticks) = end { Some(ticks) } else { None };
    WorldOutput {
        format,
        log: None,
        ticks,
        agents,
        is_live: foot::is_there() && format == Format::Text,
        census: Census::new(),
        #[cfg(feature = "sqlite")]
        checkpoints: None,
    }
}

/// Opens the store of the run, if it has one, and reads what it has kept of it.
#[cfg(feature = "sqlite")]
fn open_store(
    common: &Common<'_>,
    (file, base): (&RunFile, &Path),
    settings: &Settings,
    end: End,
    agent_set: &AgentSet,
) -> miette::Result<(Option<store::CheckpointWriter>, Option<Loaded>)> {
    let Some(path) = common.store.map(Path::to_owned).or_else(|| pool(file, base)) else {
        return Ok((None, None));
    };
    let args = store::WorldArgs {
        folder: common.folder.to_owned(),
        llm: common.answerers.llm.map(str::to_owned),
        seed: settings.seed,
        delay: settings.delay,
        is_ticked: matches!(end, End::Ticks(_)),
        charts: agent_set.hashes(),
    };
    let (checkpoints, loaded) = store::open(&path, &args)?;
    Ok((Some(checkpoints), loaded))
}

/// What an engine is filled from.
struct Start<'s> {
    common: &'s Common<'s>,
    file: &'s RunFile,
    /// The folder that paths of the run file are relative to.
    base: &'s Path,
    agent_set: &'s Arc<AgentSet>,
}

impl Start<'_> {
    /// Whether a real model answers anyone.
    fn is_real(&self) -> bool {
        is_live(self.common.answerers.llm)
            || self.agent_set.groups.iter().any(|group| is_live(group.entry.llm.as_deref()))
            || self.file.auction.as_ref().is_some_and(|auction| is_live(auction.scoring.as_deref()))
    }

    /// Gives the engine its answers, its auctions and its agents, which a store may have kept.
    fn fill(
        &self,
        engine: &mut CrowdEngine,
        holding: Option<&(&AuctionConfig, Arc<Chart>)>,
        loaded: Option<&Loaded>,
    ) -> miette::Result<()> {
        let clock = engine.clock();
        self.add_answers(engine, &clock)?;
        if let Some((config, chart)) = holding {
            self.add_auction(engine, config, chart, &clock)?;
        }
        match loaded {
            Some(loaded) => take_back(engine, loaded),
            None => self.add_agents(engine),
        }
    }

    /// Gives each group of agents the oracle that answers it.
    fn add_answers(&self, engine: &mut CrowdEngine, clock: &Arc<dyn Clock>) -> miette::Result<()> {
        for group in &self.agent_set.groups {
            engine.know(group.family.root());
            let own = group.entry.llm.as_deref().map(|own| beside(self.base, own));
            let common = self.common.answerers;
            let mut answerers = Answerers { llm: own.as_deref().or(common.llm), ..common };
            if !self.file.statechart.oracle_enabled {
                // Without oracles every call is denied, so that charts take their fallbacks.
                answerers.llm = Some("deny");
            }
            let charts: Vec<&Chart> = group.family.charts().map(|chart| &**chart).collect();
            let source = answers::answers(&charts, answerers, clock)?;
            engine.maker_mut().answer_next_group(source);
        }
        Ok(())
    }

    /// Gives the engine what it needs to make the agent that runs the auctions.
    fn add_auction(
        &self,
        engine: &mut CrowdEngine,
        config: &AuctionConfig,
        chart: &Arc<Chart>,
        clock: &Arc<dyn Clock>,
    ) -> miette::Result<()> {
        let own = config.scoring.as_deref().map(|own| beside(self.base, own));
        let source = answers::scores(chart, own.as_deref(), self.common.answerers, clock)?;
        let made = engine.maker_mut().hold_auctions(chart, config.into(), source, clock.clone());
        made.map_err(|why| miette::miette!("`auction`: {why}"))
    }

    /// Adds all agents to a new world.
    fn add_agents(&self, engine: &mut CrowdEngine) -> miette::Result<()> {
        if self.file.auction.is_some() {
            let added = engine.add(AgentFactory::AUCTIONEER, Recipe::Service);
            added.map_err(|why| miette::miette!("the auctions: {why}"))?;
        }
        for (number, agent) in self.agent_set.agents.iter().enumerate() {
            engine
                .add(&agent.name, Recipe::Configured(number))
                .map_err(|why| miette::miette!("agent `{}`: {why}", agent.name))?;
        }
        Ok(())
    }
}

/// Runs the engine to its end, and prints how all agents ended.
async fn play(engine: &mut CrowdEngine, end: End, format: Format) -> miette::Result<Exit> {
    let stopper = engine.stopper();
    let work = async {
        match end {
            End::Ticks(ticks) => engine.ticks(ticks).await,
            End::Time(end) => engine.until(end).await,
        }
    };
    let ask = || {
        stopper.stop();
        complain("turns under way are finished; press Ctrl-C again to stop at once");
    };
    let Some(done) = signals::unless_stopped(ask, work).await else {
        return Ok(Exit::Findings);
    };
    if let Some(why) = engine.no_model() {
        complain(format!("error: {why}"));
        return Ok(Exit::Findings);
    }
    done.map_err(|why| miette::miette!("{why}"))?;
    ended(engine, format)
}

/// The store of the worker pool in the run file, which counts if the command line names none.
#[cfg(feature = "sqlite")]
fn pool(file: &RunFile, base: &Path) -> Option<std::path::PathBuf> {
    let path = file.execution.worker_pool.state_db_path.as_deref();
    path.filter(|_| file.execution.use_worker_pool).map(|path| base.join(path))
}

/// Restores the world and the engine from a store.
fn take_back(engine: &mut CrowdEngine, loaded: &Loaded) -> miette::Result<()> {
    let world = loaded.world.as_deref().unwrap_or("null");
    let world = serde_json::from_str(world).map_err(|why| miette::miette!("the world: {why}"))?;
    engine.world().load(&world).map_err(|why| miette::miette!("the world: {why}"))?;
    engine.restore(loaded).map_err(|why| miette::miette!("{why}"))
}

/// Prints the final state of all agents, and returns the exit code.
fn ended(engine: &CrowdEngine, format: Format) -> miette::Result<Exit> {
    let broken: BTreeMap<&str, &str> =
        engine.loops().filter_map(|(name, mode)| Some((name, mode.broken()?))).collect();
    let spent = engine.spent();
    let end = RunEnd {
        now_ms: engine.now(),
        llm_calls: spent.llm_calls,
        llm_tokens: spent.llm_tokens,
        cost: spent.cost as f64 / 1e6,
        balances: engine.world().balances(),
        states: engine.configurations(),
        loops: engine.loops().map(|(name, mode)| (name, mode.word())).collect(),
        idle: engine.idle(),
        broken: &broken,
    };
    match format {
        Format::Json => {
            let text = serde_json::to_string(&Typed { ty: "end", of: &end });
            print_json(&format!("{}\n", text.unwrap_or_default()))?;
        }
        Format::Text => {
            if foot::is_there() {
                drop(foot::wipe());
            }
            print(&end.text(&at_a_glance(engine.census())))?;
        }
    }
    for (name, why) in &broken {
        complain(format!("{name} could not go on: {why}"));
    }
    Ok(if broken.is_empty() { Exit::Clean } else { Exit::Findings })
}

// The options of `chartc run` for a folder, and the settings that follow from them and the run file.

/// The default duration of an autonomous run, in milliseconds.
const DURATION: u64 = 60_000;

/// The options of `chartc run` for a folder.
#[derive(Debug, Default, clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Many agents")]
pub(super) struct Options {
    /// For a folder: ticks to run, in each of which all agents think about the same world and then act in a random order
    #[arg(long, value_name = "N")]
    ticks: Option<u32>,
    /// For a folder: seconds of the world's time to run, each agent in a loop of its own [default: 60]
    #[arg(long, value_name = "SECONDS", conflicts_with = "ticks")]
    duration: Option<f64>,
    /// For a folder: seconds from one tick to the next [default: 15]
    #[arg(long, value_name = "SECONDS")]
    delay: Option<f64>,
    /// For a folder: decides the order in which agents act [default: 0]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// For a folder: the run file, which says who runs and with what limits [default: run.yaml in the folder]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// For a folder: file for the log of all agents, one JSON object per line
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// For a folder: threads on which agents think; 0 means as many as there are processors [default: 0]
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// For a folder: how summaries are written [default: text on a terminal, otherwise json]
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<Format>,
}

impl Options {
    /// When the run ends: the option, or else what the run file says.
    fn end(&self, file: &RunFile) -> miette::Result<End> {
        if let Some(ticks) = self.ticks {
            return Ok(End::Ticks(ticks));
        }
        if let Some(seconds) = self.duration {
            return Ok(End::Time(milliseconds(seconds, "--duration")?));
        }
        let execution = &file.execution;
        let time = execution.duration.unwrap_or(DURATION);
        if execution.is_autonomous() {
            return Ok(End::Time(time));
        }
        let ticks = execution.ticks.unwrap_or_else(|| time.div_ceil(execution.delay.max(1)));
        Ok(End::Ticks(u32::try_from(ticks).unwrap_or(u32::MAX)))
    }

    /// The name of the first option that was given and applies only to a folder.
    pub(super) fn given(&self) -> Option<&'static str> {
        let all = [
            (self.ticks.is_some(), "--ticks"),
            (self.duration.is_some(), "--duration"),
            (self.delay.is_some(), "--delay"),
            (self.seed.is_some(), "--seed"),
            (self.config.is_some(), "--config"),
            (self.log.is_some(), "--log"),
            (self.workers.is_some(), "--workers"),
            (self.format.is_some(), "--format"),
        ];
        all.into_iter().find(|(is, _)| *is).map(|(_, name)| name)
    }
}

fn settings(file: &RunFile, options: &Options, start: &Start<'_>) -> miette::Result<Settings> {
    let execution = &file.execution;
    let is_kept = start.common.store.is_some() || execution.use_worker_pool;
    let delay = options.delay.map(|seconds| milliseconds(seconds, "--delay")).transpose()?;
    Ok(Settings {
        seed: options.seed.or(execution.seed).unwrap_or(0),
        delay: delay.unwrap_or(execution.delay),
        interval: execution.interval,
        max_backoff: execution.max_backoff,
        max_errors: execution.max_consecutive_errors,
        is_real: start.is_real(),
        exhaustion: execution.exhaustion,
        // Only a store keeps what was measured: the log is the same on every machine.
        meter: is_kept.then_some(measure as Meter),
    })
}

/// The time of the processor for this thread, in microseconds, and the memory of the process, in bytes; 0 where it is not known.
#[allow(
    clippy::disallowed_methods,
    reason = "the system says what the process takes; no chart is read"
)]
fn measure() -> (u64, u64) {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let cpu = time.tv_sec.unsigned_abs() * 1_000_000 + time.tv_nsec.unsigned_abs() / 1000;
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
    (cpu, pages.unwrap_or(0) * rustix::param::page_size() as u64)
}

// Checks that a run does not write to a file that it reads.

/// Refuses a log that is another file of the run: creating the log would empty that file.
fn check(
    common: &Common<'_>,
    options: &Options,
    file: &RunFile,
    base: &Path,
    found: &Found,
) -> miette::Result<()> {
    let Some(log) = &options.log else { return Ok(()) };
    let script = |source: &str| source.strip_prefix("script:").map(PathBuf::from);
    let entries = file.agents.iter().filter_map(|entry| entry.llm.as_deref());
    let scoring = file.auction.as_ref().and_then(|auction| auction.scoring.as_deref());
    let beside = entries.chain(scoring).filter_map(script).map(|path| base.join(path));
    let Answerers { llm, functions, .. } = common.answerers;
    let named = [functions, common.world, common.store, options.config.as_deref()];
    let charts = found.done.sources.iter().map(|(_, source)| PathBuf::from(&source.name));
    let mut all = charts
        .chain(beside)
        .chain(named.into_iter().flatten().map(Path::to_owned))
        .chain(llm.and_then(script))
        .chain([Path::new(common.folder).join(RUN_FILE)]);
    // Compare paths without links: different names may lead to one file.
    let place = real(log);
    match all.find(|path| real(path) == place) {
        Some(path) => Err(miette::miette!(
            help = "give another file with --log",
            "--log would replace {}, which the run needs",
            path.display()
        )),
        None => Ok(()),
    }
}

// Makes the world before its first tick.

/// Makes the world with all agents in it. Balances of the run file override those of `--world`, which override those of the agents' own
/// files.
fn world(path: Option<&Path>, file: &RunFile, agent_set: &AgentSet) -> miette::Result<World> {
    let settings = chartc_world::Settings::from(&file.resources);
    let world = match path {
        Some(path) => {
            let text = read(path)?;
            let told = |fault| miette::miette!("{}: {fault}", path.display());
            agree(path, &WorldFile::parse(&text).map_err(told)?, file)?;
            World::parse(&text, settings).map_err(told)?
        }
        None => World::new(settings),
    };
    let world = world.with_workshop(Arc::new(Compiler)).with_invoke(Arc::new(Methods));
    agent_set.settle_in(&world, file).map_err(|why| miette::miette!("{why}"))?;
    let Resources { disk, compute, .. } = &file.resources;
    let named = [
        ("balances", file.balances.keys().collect::<Vec<_>>()),
        ("resources.disk", disk.each.keys().collect()),
        ("resources.compute", compute.each.keys().collect()),
    ];
    let known: BTreeSet<&String> = agent_set.agents.iter().map(|agent| &agent.name).collect();
    let known = |name: &String| known.contains(name);
    for (key, named) in named {
        if let Some(stranger) = named.into_iter().find(|name| !known(name)) {
            let names = agent_set.agents.iter().map(|agent| agent.name.as_str());
            let near = nearest(stranger, names).map(|near| format!("; did you mean `{near}`?"));
            return Err(miette::miette!(
                "`{key}` of the run file names `{stranger}`, which is no agent{}",
                near.unwrap_or_default()
            ));
        }
    }
    Ok(world)
}

/// Refuses a file of a world and a run file that give an agent different disk quotas, because neither takes precedence.
fn agree(path: &Path, world: &WorldFile, file: &RunFile) -> miette::Result<()> {
    let disk = file
        .resources
        .disk
        .each
        .iter()
        .find(|(name, bytes)| world.disk.each.get(*name).is_some_and(|other| other != *bytes));
    match disk {
        None => Ok(()),
        Some((name, _)) => Err(miette::miette!(
            help = "say it in one of them",
            "`disk` of `{name}` is one thing in the run file and another in {}",
            path.display()
        )),
    }
}
