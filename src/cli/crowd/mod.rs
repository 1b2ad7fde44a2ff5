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
//! 1. [`find`] checks `trader.chart` and lists the agents `Trader_1` to `Trader_1000`, in one [`find::AgentGroup`].
//! 2. [`begin`] makes the world and adds an account for each agent.
//! 3. [`answer_source`] reads the script once; each agent gets a copy with its own position.
//! 4. [`template`] makes the parts that all agents of the group share, and [`factory`] makes each agent from them.
//! 5. The engine of `chartc-world` runs ten ticks on a pool of workers, and [`show`] prints a line for each.
//!
//! Agents that other agents spawn come from the same factory, while the run is under way; [`arena`] owns their charts.

mod answer_source;
mod apart;
mod arena;
mod auction;
mod begin;
mod factory;
mod find;
mod forecast;
mod options;
mod show;
#[cfg(feature = "sqlite")]
mod store;
mod template;

pub(super) use options::Options;
#[cfg(feature = "sqlite")]
pub(super) use store::told as told_of_store;

use super::Exit;
use super::files::Root;
use super::live::is_live;
use super::output::{complain, foot, is_seen, print_json, say};
use answer_source::{AnswerSource, OracleArgs, Scripts};
use arena::Arena;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::clock::Clock;
use chartc_world::engine::{Engine, Recipe, Settings, Stopper, WorkerPool, workers};
use chartc_world::{AuctionConfig, Auctioneer, Census, Gate, Loaded, RunFile};
use factory::{AgentFactory, Machine};
use find::{AgentSet, find_agents, run_file};
use forecast::Forecast;
use options::{End, settings};
use serde_json::json;
use show::{Format, WorldOutput};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;

type CrowdEngine<'p> = Engine<Machine<'p>, AgentFactory<'p>, WorldOutput>;

/// The options of `chartc run` that apply to a folder as well as to a file.
pub(super) struct Common<'a> {
    pub(super) folder: &'a str,
    pub(super) llm: Option<&'a str>,
    pub(super) model: Option<&'a str>,
    pub(super) human: Option<&'a str>,
    pub(super) functions: Option<&'a Path>,
    pub(super) world: Option<&'a Path>,
    /// The file of `--store`.
    pub(super) store: Option<&'a Path>,
    pub(super) even_disabled: bool,
    pub(super) root: &'a Root,
}

pub(super) fn run(common: &Common<'_>, options: &Options) -> miette::Result<Exit> {
    let folder = Path::new(common.folder);
    let (file, base) = run_file(folder, options.config.as_deref())?;
    let agent_set = match find_agents(folder, (&file, &base), common.root, common.even_disabled)? {
        Ok(agent_set) => agent_set,
        Err(exit) => return Ok(exit),
    };
    // Check this before anything is created: `open_log` empties the log.
    apart::check(common, options, &file, &base, &agent_set)?;
    let is_real = is_live(common.llm)
        || agent_set.groups.iter().any(|group| is_live(group.entry.llm.as_deref()))
        || file.auction.as_ref().is_some_and(|auction| is_live(auction.scoring.as_deref()));
    let settings = settings(&file, options, is_real)?;
    let end = End::from_options(&file, options)?;
    let forecast = Forecast::new(common, &file, &agent_set, end, &settings);
    let world = begin::world(common.world, &file, &agent_set)?;
    let format = options.format.unwrap_or(if is_seen() { Format::Text } else { Format::Json });
    let ticks = if let End::Ticks(ticks) = end { Some(ticks) } else { None };
    #[cfg(feature = "sqlite")]
    let (checkpoints, loaded) = open_store(common, (&file, &base), &settings, end, &agent_set)?;
    #[cfg(not(feature = "sqlite"))]
    let loaded: Option<Loaded> = None;
    #[cfg(feature = "sqlite")]
    let keep = checkpoints.as_ref().map(|checkpoints| checkpoints.keep.clone());
    let out = WorldOutput {
        format,
        log: None,
        ticks,
        agents: agent_set.agents.len(),
        is_live: foot::is_there() && format == Format::Text,
        census: Census::new(),
        #[cfg(feature = "sqlite")]
        checkpoints,
    };
    let holding = match &file.auction {
        Some(config) => Some((config, auction::chart()?)),
        None => None,
    };
    let plans: Vec<Vec<Plan<'_>>> = agent_set
        .groups
        .iter()
        .map(|group| group.family.charts.iter().map(Plan::new).collect())
        .collect();
    let auction_plans: Vec<Plan<'_>> = holding.iter().map(|(_, chart)| Plan::new(chart)).collect();
    let idle_chart = Chart::empty("Nobody");
    let idle_plan = Plan::new(&idle_chart);
    let gate = Gate::new(&file.rate_limiting);
    for agent in &agent_set.agents {
        gate.set_budget(&agent.name, agent_set.groups[agent.group].entry.budget);
    }
    let (family_arena, plan_arena) = (Arena::new(), Arena::new());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|fault| miette::miette!("no runtime: {fault}"))?;
    let wanted = options.workers.or(file.execution.workers()).unwrap_or(0);
    let threads = workers(wanted);
    // Agents borrow the charts and plans above, so the workers have to end before these are dropped.
    std::thread::scope(|scope| {
        runtime.block_on(async {
            let pool = WorkerPool::<Machine<'_>>::within(scope, threads, runtime.handle());
            let factory = AgentFactory {
                world: world.clone(),
                groups: &agent_set.groups,
                agents: &agent_set.agents,
                plans: &plans,
                auction: None,
                auction_answers: None,
                answer_sources: Vec::new(),
                family_arena: &family_arena,
                plan_arena: &plan_arena,
                families: BTreeMap::new(),
                by_name: OnceCell::new(),
                family_plans: BTreeMap::new(),
                templates: BTreeMap::new(),
                idle_plan: &idle_plan,
                artifact_host: world.shared(),
                scripts: Scripts::default(),
                is_real,
                working_memory: file.working_memory.as_ref(),
                gate: gate.clone(),
                #[cfg(feature = "sqlite")]
                keep,
            };
            let mut engine = Engine::new(world, settings, pool, factory, out).with_gate(gate);
            let clock = engine.clock();
            let start = Start { common, file: &file, base: &base, agent_set: &agent_set };
            start.add_answers(&mut engine, &clock)?;
            if let Some((config, chart)) = &holding {
                start.add_auction(
                    &mut engine,
                    config,
                    (chart, auction_plans.as_slice()),
                    &clock,
                )?;
            }
            match &loaded {
                Some(loaded) => take_back(&mut engine, loaded)?,
                None => start.add_agents(&mut engine)?,
            }
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
        llm: common.llm.map(str::to_owned),
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
    agent_set: &'s AgentSet,
}

impl Start<'_> {
    /// Gives each group of agents the oracle that answers it.
    fn add_answers(
        &self,
        engine: &mut CrowdEngine<'_>,
        clock: &Arc<dyn Clock>,
    ) -> miette::Result<()> {
        for group in &self.agent_set.groups {
            engine.know(group.family.root());
            let own = group.entry.llm.as_deref().map(|own| beside(self.base, own));
            let mut oracle_args = self.common.oracle_args(own.as_deref());
            if !self.file.statechart.oracle_enabled {
                // Without oracles every call is denied, so that charts take their fallbacks.
                oracle_args.llm = Some("deny");
            }
            let charts: Vec<&Chart> = group.family.charts.iter().collect();
            let source = AnswerSource::from_args(&charts, oracle_args, clock)?;
            engine.maker_mut().answer_sources.push(source);
        }
        Ok(())
    }

    /// Gives the engine what it needs to make the agent that runs the auctions.
    fn add_auction<'p>(
        &self,
        engine: &mut CrowdEngine<'p>,
        config: &AuctionConfig,
        (chart, plans): (&Chart, &'p [Plan<'p>]),
        clock: &Arc<dyn Clock>,
    ) -> miette::Result<()> {
        let settings = auction::settings(config);
        let params = settings.params();
        let made = Auctioneer::new(engine.world().clone(), settings, clock.clone());
        let made = made.map_err(|why| miette::miette!("`auction`: {why}"))?;
        let own = config.scoring.as_deref().map(|own| beside(self.base, own));
        let args = self.common.oracle_args(None);
        let source = auction::answer_source(chart, own.as_deref(), args, clock)?;
        engine.maker_mut().auction = Some((plans, made, params));
        engine.maker_mut().auction_answers = Some(source);
        Ok(())
    }

    /// Adds all agents to a new world.
    fn add_agents(&self, engine: &mut CrowdEngine<'_>) -> miette::Result<()> {
        if self.file.auction.is_some() {
            let added = engine.add(auction::NAME, Recipe::Service);
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
async fn play(engine: &mut CrowdEngine<'_>, end: End, format: Format) -> miette::Result<Exit> {
    let stopper = engine.stopper();
    let work = async {
        match end {
            End::Ticks(ticks) => engine.ticks(ticks).await,
            End::Time(end) => engine.until(end).await,
        }
    };
    let Some(done) = until_stopped(work, &stopper).await else { return Ok(Exit::Findings) };
    if let Some(why) = engine.no_model() {
        complain(format!("error: {why}"));
        return Ok(Exit::Findings);
    }
    done.map_err(|why| miette::miette!("{why}"))?;
    ended(engine, format)
}

impl Common<'_> {
    fn oracle_args<'s>(&'s self, own: Option<&'s str>) -> OracleArgs<'s> {
        OracleArgs {
            llm: own.or(self.llm),
            model: self.model,
            human: self.human,
            functions: self.functions,
        }
    }
}

/// An oracle that the run file names. The path of a script is relative to the run file.
fn beside(base: &Path, source: &str) -> String {
    match source.strip_prefix("script:") {
        Some(file) => format!("script:{}", base.join(file).display()),
        None => source.to_owned(),
    }
}

/// The store of the worker pool in the run file, which counts if the command line names none.
#[cfg(feature = "sqlite")]
fn pool(file: &RunFile, base: &Path) -> Option<std::path::PathBuf> {
    let path = file.execution.worker_pool.state_db_path.as_deref();
    path.filter(|_| file.execution.use_worker_pool).map(|path| base.join(path))
}

/// Restores the world and the engine from a store.
fn take_back(engine: &mut CrowdEngine<'_>, loaded: &Loaded) -> miette::Result<()> {
    let world = loaded.world.as_deref().unwrap_or("null");
    let world = serde_json::from_str(world).map_err(|why| miette::miette!("the world: {why}"))?;
    engine.world().load(&world).map_err(|why| miette::miette!("the world: {why}"))?;
    engine.restore(loaded).map_err(|why| miette::miette!("{why}"))
}

/// Awaits the work. The first Ctrl-C lets the turns under way end; the second returns `None` at once.
async fn until_stopped<R>(work: impl Future<Output = R>, stopper: &Stopper) -> Option<R> {
    let mut work = std::pin::pin!(work);
    let mut was_asked = false;
    loop {
        tokio::select! {
            biased;
            _ = tokio::signal::ctrl_c() => {
                if std::mem::replace(&mut was_asked, true) {
                    return None;
                }
                stopper.stop();
                complain("turns under way are finished; press Ctrl-C again to stop at once");
            }
            done = &mut work => return Some(done),
        }
    }
}

/// Prints the final state of all agents, and returns the exit code.
fn ended(engine: &CrowdEngine<'_>, format: Format) -> miette::Result<Exit> {
    let balances = engine.world().balances();
    let states = engine.configurations();
    let loops: BTreeMap<&str, &str> =
        engine.loops().map(|(name, mode)| (name, mode.word())).collect();
    let broken: BTreeMap<&str, &str> =
        engine.loops().filter_map(|(name, mode)| Some((name, mode.broken()?))).collect();
    match format {
        Format::Json => {
            let end = json!({
                "type": "end",
                "now_ms": engine.now(),
                "balances": balances,
                "states": states,
                "loops": loops,
                "broken": broken,
            });
            print_json(&format!("{end}\n"))?;
        }
        Format::Text => {
            if foot::is_there() {
                drop(foot::wipe());
            }
            say(format!("ended after {} s of the world's time", engine.now() / 1000))?;
            for (name, states) in &states {
                let scrip = balances.get(name).copied().unwrap_or_default();
                let states = if states.is_empty() { "ended".to_owned() } else { states.join(", ") };
                say(format!("  {name}: {states}, {scrip} scrip"))?;
            }
        }
    }
    for (name, why) in &broken {
        complain(format!("{name} could not go on: {why}"));
    }
    Ok(if broken.is_empty() { Exit::Clean } else { Exit::Findings })
}
