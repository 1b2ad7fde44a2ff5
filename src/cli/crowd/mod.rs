//! `chartc run DIR`: many agents in one world.

mod find;
mod maker;
mod shelf;
mod show;
mod voice;

use super::Exit;
use super::files::Root;
use super::instance::read;
use super::live::is_live;
use super::output::{complain, foot, print_json, say};
use super::save::Stream;
use chartc_core::expr::{Map, Value};
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_text::diagnostic::nearest;
use chartc_world::engine::{Crew, Engine, Loop, Recipe, Settings, Stopper, workers};
use chartc_world::{Census, Family, Gate, NewAgent, Resources, RunFile, World};
use find::{Cast, cast, run_file};
use maker::{Machine, Workbench};
use serde_json::json;
use shelf::Shelf;
pub(super) use show::Format;
use show::Shown;
use std::collections::BTreeMap;
use std::future::Future;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use voice::{Said, Voice};

/// How long an autonomous run takes that nobody has set an end: a minute, in milliseconds.
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
    /// The first option that is given and that only a folder has.
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

/// The options of `chartc run` that a folder shares with a file.
pub(super) struct Common<'a> {
    pub(super) folder: &'a str,
    pub(super) llm: Option<&'a str>,
    pub(super) model: Option<&'a str>,
    pub(super) human: Option<&'a str>,
    pub(super) functions: Option<&'a Path>,
    pub(super) world: Option<&'a Path>,
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
    let is_real =
        is_live(common.llm) || cast.kinds.iter().any(|kind| is_live(kind.entry.llm.as_deref()));
    let settings = settings(&file, options, is_real)?;
    let end = End::of(&file, options)?;
    let world = world(common.world, &file, &cast)?;
    let log = options.log.as_deref().map(Stream::create).transpose()?;
    let is_terminal = std::io::stdout().is_terminal();
    let format = options.format.unwrap_or(if is_terminal { Format::Text } else { Format::Json });
    let ticks = if let End::Ticks(ticks) = end { Some(ticks) } else { None };
    let out = Shown {
        format,
        log: log.map(std::io::BufWriter::new),
        ticks,
        is_live: foot::is_there(),
        census: Census::new(),
    };
    let plans: Vec<Vec<Plan<'_>>> =
        cast.kinds.iter().map(|kind| kind.charts.iter().map(Plan::new).collect()).collect();
    let gate = Gate::new(&file.rate_limiting);
    for actor in &cast.actors {
        gate.set_budget(&actor.name, cast.kinds[actor.kind].entry.budget);
    }
    let (charts, shelf) = (Shelf::new(), Shelf::new());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|fault| miette::miette!("no runtime: {fault}"))?;
    let threads =
        workers(options.workers.or(file.execution.workers.map(|n| n as usize)).unwrap_or(0));
    std::thread::scope(|scope| {
        runtime.block_on(async {
            let crew = Crew::<Machine<'_>>::within(scope, threads, runtime.handle());
            let bench = Workbench {
                world: world.clone(),
                kinds: &cast.kinds,
                actors: &cast.actors,
                plans: &plans,
                voices: Vec::new(),
                charts: &charts,
                shelf: &shelf,
                kind_of: BTreeMap::new(),
                is_real,
                gate: gate.clone(),
            };
            let mut engine = Engine::new(world, settings, crew, bench, out).with_gate(gate);
            let clock = engine.clock();
            for kind in &cast.kinds {
                let said = Said {
                    llm: kind.entry.llm.as_deref().or(common.llm),
                    model: common.model,
                    human: common.human,
                    functions: common.functions,
                };
                let charts: Vec<&Chart> = kind.charts.iter().collect();
                let voice = Voice::of(&charts, said, &clock)?;
                engine.maker_mut().voices.push(voice);
            }
            for (number, actor) in cast.actors.iter().enumerate() {
                engine
                    .add(&actor.name, Recipe::Configured(number))
                    .map_err(|why| miette::miette!("agent `{}`: {why}", actor.name))?;
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
            done.map_err(|why| miette::miette!("{why}"))?;
            ended(&engine, format)
        })
    })
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
        engine
            .loops()
            .filter_map(|(name, mode)| {
                if let Loop::Broken(why) = mode { Some((name, why.as_str())) } else { None }
            })
            .collect();
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
            say(format!("ended after {} s of the world's time", engine.now() / 1000))?;
            for (name, states) in &states {
                let scrip = balances.get(name).copied().unwrap_or_default();
                say(format!("  {name}: {}, {scrip} scrip", states.join(", ")))?;
            }
        }
    }
    for (name, why) in &broken {
        complain(format!("{name} could not go on: {why}"));
    }
    Ok(if broken.is_empty() { Exit::Clean } else { Exit::Findings })
}

/// When a run ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Ticks(u32),
    Time(u64),
}

impl End {
    fn of(file: &RunFile, options: &Options) -> miette::Result<Self> {
        if let Some(ticks) = options.ticks {
            return Ok(Self::Ticks(ticks));
        }
        if let Some(seconds) = options.duration {
            return Ok(Self::Time(milliseconds(seconds, "--duration")?));
        }
        let ticks = file.execution.ticks.map(|ticks| u32::try_from(ticks).unwrap_or(u32::MAX));
        Ok(match ticks.filter(|_| !file.execution.is_autonomous()) {
            Some(ticks) => Self::Ticks(ticks),
            None => Self::Time(file.execution.duration.unwrap_or(DURATION)),
        })
    }
}

/// Seconds that the command line names.
fn milliseconds(seconds: f64, option: &str) -> miette::Result<u64> {
    if seconds.is_finite() && (0.0..1e12).contains(&seconds) {
        Ok((seconds * 1000.0).round() as u64)
    } else {
        Err(miette::miette!("{option} is a number of seconds, 0 or more"))
    }
}

fn settings(file: &RunFile, options: &Options, is_real: bool) -> miette::Result<Settings> {
    let execution = &file.execution;
    let delay = options.delay.map(|seconds| milliseconds(seconds, "--delay")).transpose()?;
    Ok(Settings {
        seed: options.seed.or(execution.seed).unwrap_or(0),
        delay: delay.unwrap_or(execution.delay),
        interval: execution.interval,
        max_backoff: execution.max_backoff,
        max_errors: execution.max_consecutive_errors,
        is_real,
        exhaustion: execution.exhaustion,
    })
}

/// The world with all agents in it. What the run file says of balances counts most, then `--world`, then the agents' own files.
fn world(path: Option<&Path>, file: &RunFile, cast: &Cast) -> miette::Result<World> {
    let settings = allowed(&file.resources);
    let world = match path {
        Some(path) => World::parse(&read(path)?, settings)
            .map_err(|fault| miette::miette!("{}: {fault}", path.display()))?,
        None => World::new(settings),
    };
    for actor in &cast.actors {
        let kind = &cast.kinds[actor.kind];
        let mut content = Map::new();
        content.insert("file".into(), Value::Text(kind.file.clone()));
        content.insert("chart".into(), Value::Text(kind.charts[0].name.clone()));
        let new = NewAgent {
            name: actor.name.clone(),
            scrip: file.balances.get(&actor.name).copied().or(actor.scrip),
            content,
            family: Some(Arc::new(Family { charts: kind.charts.clone() })),
            owner: None,
        };
        world.add_agent(new).map_err(|why| miette::miette!("agent `{}`: {why}", actor.name))?;
    }
    let known = |name: &String| cast.actors.iter().any(|actor| actor.name == *name);
    if let Some(stranger) = file.balances.keys().find(|name| !known(name)) {
        let names = cast.actors.iter().map(|actor| actor.name.as_str());
        let near = nearest(stranger, names).map(|near| format!("; did you mean `{near}`?"));
        return Err(miette::miette!(
            "`balances` of the run file names `{stranger}`, which is no agent{}",
            near.unwrap_or_default()
        ));
    }
    Ok(world)
}

/// What the run file allows, in the words of the world.
fn allowed(resources: &Resources) -> chartc_world::Settings {
    let mut all = chartc_world::Settings::default();
    let set = |to: &mut u64, from: Option<u64>| *to = from.unwrap_or(*to);
    set(&mut all.disk, resources.disk.everybody);
    set(&mut all.compute, resources.compute.everybody);
    set(&mut all.max_artifacts, resources.max_artifacts);
    set(&mut all.max_content_bytes, resources.max_content_bytes);
    set(&mut all.spawn.max_agents, resources.spawn.max_agents.map(u64::from));
    set(&mut all.spawn.per_parent, resources.spawn.per_parent.map(u64::from));
    all.spawn.max_depth = resources.spawn.max_depth.unwrap_or(all.spawn.max_depth);
    all.starting_scrip = resources.starting_scrip.unwrap_or(all.starting_scrip);
    all
}
