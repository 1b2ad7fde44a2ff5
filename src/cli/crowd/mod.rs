//! `chartc run DIR`: many agents in one world.

mod apart;
mod auction;
mod begin;
mod find;
mod forecast;
mod maker;
mod mould;
mod options;
mod shelf;
mod show;
#[cfg(feature = "sqlite")]
mod store;
mod voice;

pub(super) use options::Options;
#[cfg(feature = "sqlite")]
pub(super) use store::told as told_of_store;

use super::Exit;
use super::files::Root;
use super::live::is_live;
use super::output::{complain, foot, is_seen, print_json, say};
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_world::engine::{Engine, Recipe, Stopper, WorkerPool, workers};
use chartc_world::{Auctioneer, Census, Gate, RunFile};
use find::{cast, run_file};
use forecast::Forecast;
use maker::{Machine, Workbench};
use options::{End, settings};
use serde_json::json;
use shelf::Shelf;
use show::{Format, Shown};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use voice::{Said, Scripts, Voice};

/// The options of `chartc run` that a folder shares with a file.
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
    let cast = match cast(folder, (&file, &base), common.root, common.even_disabled)? {
        Ok(cast) => cast,
        Err(exit) => return Ok(exit),
    };
    apart::check(common, options, &file, &base, &cast)?;
    let is_real = is_live(common.llm)
        || cast.kinds.iter().any(|kind| is_live(kind.entry.llm.as_deref()))
        || file.auction.as_ref().is_some_and(|auction| is_live(auction.scoring.as_deref()));
    let settings = settings(&file, options, is_real)?;
    let end = End::of(&file, options)?;
    let forecast = Forecast::of(common, &file, &cast, end, &settings);
    let world = begin::world(common.world, &file, &cast)?;
    let format = options.format.unwrap_or(if is_seen() { Format::Text } else { Format::Json });
    let ticks = if let End::Ticks(ticks) = end { Some(ticks) } else { None };
    #[cfg(feature = "sqlite")]
    let (kept, loaded) = match common.store.map(Path::to_owned).or_else(|| pool(&file, &base)) {
        Some(path) => {
            let begun = store::Begun {
                folder: common.folder.to_owned(),
                llm: common.llm.map(str::to_owned),
                seed: settings.seed,
                delay: settings.delay,
                is_ticked: ticks.is_some(),
                charts: cast.hashes(),
            };
            let (kept, loaded) = store::open(&path, &begun)?;
            (Some(kept), loaded)
        }
        None => (None, None),
    };
    #[cfg(not(feature = "sqlite"))]
    let loaded: Option<chartc_world::Loaded> = None;
    #[cfg(feature = "sqlite")]
    let keep = kept.as_ref().map(|kept| kept.keep.clone());
    let out = Shown {
        format,
        log: None,
        ticks,
        agents: cast.actors.len(),
        is_live: foot::is_there() && format == Format::Text,
        census: Census::new(),
        #[cfg(feature = "sqlite")]
        kept,
    };
    let holding = match &file.auction {
        Some(config) => Some((config, auction::chart()?)),
        None => None,
    };
    let plans: Vec<Vec<Plan<'_>>> =
        cast.kinds.iter().map(|kind| kind.family.charts.iter().map(Plan::new).collect()).collect();
    let auction_plans: Vec<Plan<'_>> = holding.iter().map(|(_, chart)| Plan::new(chart)).collect();
    let nobody = Chart::empty("Nobody");
    let nothing = Plan::new(&nobody);
    let gate = Gate::new(&file.rate_limiting);
    for actor in &cast.actors {
        gate.set_budget(&actor.name, cast.kinds[actor.kind].entry.budget);
    }
    let (charts, shelf) = (Shelf::new(), Shelf::new());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|fault| miette::miette!("no runtime: {fault}"))?;
    let wanted = options.workers.or(file.execution.workers()).unwrap_or(0);
    let threads = workers(wanted);
    std::thread::scope(|scope| {
        runtime.block_on(async {
            let crew = WorkerPool::<Machine<'_>>::within(scope, threads, runtime.handle());
            let bench = Workbench {
                world: world.clone(),
                kinds: &cast.kinds,
                actors: &cast.actors,
                plans: &plans,
                auction: None,
                auction_voice: None,
                voices: Vec::new(),
                charts: &charts,
                shelf: &shelf,
                families: BTreeMap::new(),
                by_name: OnceCell::new(),
                made: BTreeMap::new(),
                moulds: BTreeMap::new(),
                nobody: &nothing,
                door: world.shared(),
                scripts: Scripts::default(),
                is_real,
                working_memory: file.working_memory.as_ref(),
                gate: gate.clone(),
                #[cfg(feature = "sqlite")]
                keep,
            };
            let mut engine = Engine::new(world, settings, crew, bench, out).with_gate(gate);
            let clock = engine.clock();
            for kind in &cast.kinds {
                engine.know(kind.family.root());
                let own = kind.entry.llm.as_deref().map(|own| beside(&base, own));
                let mut said = common.said(own.as_deref());
                if !file.statechart.oracle_enabled {
                    said.llm = Some("deny");
                }
                let charts: Vec<&Chart> = kind.family.charts.iter().collect();
                let voice = Voice::of(&charts, said, &clock)?;
                engine.maker_mut().voices.push(voice);
            }
            if let Some((config, chart)) = &holding {
                let settings = auction::settings(config);
                let params = settings.params();
                let made = Auctioneer::new(engine.world().clone(), settings, clock.clone());
                let made = made.map_err(|why| miette::miette!("`auction`: {why}"))?;
                let own = config.scoring.as_deref().map(|own| beside(&base, own));
                let voice = auction::voice(chart, own.as_deref(), common.said(None), &clock)?;
                engine.maker_mut().auction = Some((auction_plans.as_slice(), made, params));
                engine.maker_mut().auction_voice = Some(voice);
            }
            if let Some(loaded) = &loaded {
                take_back(&mut engine, loaded)?;
            } else {
                if holding.is_some() {
                    let added = engine.add(auction::NAME, Recipe::Service);
                    added.map_err(|why| miette::miette!("the auctions: {why}"))?;
                }
                for (number, actor) in cast.actors.iter().enumerate() {
                    engine
                        .add(&actor.name, Recipe::Configured(number))
                        .map_err(|why| miette::miette!("agent `{}`: {why}", actor.name))?;
                }
            }
            // A run that cannot begin leaves the log of the last one as it is.
            if let Some(path) = &options.log {
                engine.out_mut().open_log(path)?;
            }
            if let Some(forecast) = &forecast {
                forecast.tell(format)?;
            }
            let stopper = engine.stopper();
            let done = {
                let work = async {
                    match end {
                        End::Ticks(ticks) => engine.ticks(ticks).await,
                        End::Time(end) => engine.until(end).await,
                    }
                };
                until_stopped(work, &stopper).await
            };
            let Some(done) = done else { return Ok(Exit::Findings) };
            if let Some(why) = engine.no_model() {
                complain(format!("error: {why}"));
                return Ok(Exit::Findings);
            }
            done.map_err(|why| miette::miette!("{why}"))?;
            ended(&engine, format)
        })
    })
}

impl Common<'_> {
    fn said<'s>(&'s self, own: Option<&'s str>) -> Said<'s> {
        Said {
            llm: own.or(self.llm),
            model: self.model,
            human: self.human,
            functions: self.functions,
        }
    }
}

/// Who answers, as the run file says it: the path of a script is relative to that file.
fn beside(base: &Path, said: &str) -> String {
    match said.strip_prefix("script:") {
        Some(file) => format!("script:{}", base.join(file).display()),
        None => said.to_owned(),
    }
}

/// The store that a worker pool of the run file has, where the command names none.
#[cfg(feature = "sqlite")]
fn pool(file: &RunFile, base: &Path) -> Option<PathBuf> {
    let path = file.execution.worker_pool.state_db_path.as_deref();
    path.filter(|_| file.execution.use_worker_pool).map(|path| base.join(path))
}

/// Goes on where the store has the run.
fn take_back<'p>(
    engine: &mut Engine<Machine<'p>, Workbench<'p>, Shown>,
    loaded: &chartc_world::Loaded,
) -> miette::Result<()> {
    let world = loaded.world.as_deref().unwrap_or("null");
    let world = serde_json::from_str(world).map_err(|why| miette::miette!("the world: {why}"))?;
    engine.world().load(&world).map_err(|why| miette::miette!("the world: {why}"))?;
    engine.restore(loaded).map_err(|why| miette::miette!("{why}"))
}

/// Does the work. The first Ctrl-C lets turns end, the second one ends the process' work at once: `None`.
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

/// The last line: how everything stands.
fn ended<'p>(
    engine: &Engine<Machine<'p>, Workbench<'p>, Shown>,
    format: Format,
) -> miette::Result<Exit> {
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
