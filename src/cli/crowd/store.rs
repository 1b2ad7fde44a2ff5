//! The store of a world that survives its process.

use super::super::durable::refused;
use super::super::output::{StyledText, align_columns, print, print_json};
use crate::cli::files;
use crate::cli::glance::LISTED;
use crate::cli::output::Exit;
use chartc_core::wording::counted;
use chartc_runtime::trace::Logged;
use chartc_runtime::trace::view::time;
use chartc_store::Safety;
use chartc_world::engine::{KeptAgent, Use};
use chartc_world::{Checkpoint, Keep, KeepError, Loaded, WorldStore};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The arguments with which a world was started. It continues only with the same ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[derive(Default)]
pub(super) struct WorldArgs {
    pub(super) folder: String,
    pub(super) llm: Option<String>,
    pub(super) seed: u64,
    pub(super) delay: u64,
    pub(super) is_ticked: bool,
    /// The structural hashes of each agent's charts, by the agent's name.
    pub(super) charts: Vec<(String, String)>,
}

/// The store of a run, and the log lines since the last checkpoint.
pub(super) struct CheckpointWriter {
    pub(super) keep: Arc<dyn Keep>,
    lines: Vec<String>,
}

fn fault(why: KeepError) -> miette::Report {
    miette::miette!("{why}")
}

/// Opens the store, or creates it, and loads the last checkpoint if there is one.
pub(super) fn open(
    path: &Path,
    args: &WorldArgs,
) -> miette::Result<(CheckpointWriter, Option<Loaded>)> {
    files::check(path)?;
    let keep: Arc<dyn Keep> = Arc::new(WorldStore::own(path, Safety::Full).map_err(refused)?);
    let now = serde_json::to_string(args).map_err(|why| miette::miette!("{why}"))?;
    match keep.given().map_err(fault)? {
        None => keep.begin(&now).map_err(fault)?,
        Some(given) => {
            let before: WorldArgs = serde_json::from_str(&given)
                .map_err(|why| miette::miette!("{}: {why}", path.display()))?;
            if let Some(what) = difference(&before, args) {
                return Err(miette::miette!(
                    help = "go on in the same way, or give another file with --store",
                    "the world in {} was begun with {what}",
                    path.display()
                ));
            }
        }
    }
    let loaded = keep.load().map_err(fault)?;
    Ok((CheckpointWriter { keep, lines: Vec::new() }, loaded))
}

/// Prints the folder and the progress of the world in a store.
pub(in crate::cli) fn told(path: &Path, store: &WorldStore, is_json: bool) -> miette::Result<Exit> {
    let given = store.given().map_err(fault)?.unwrap_or_default();
    let args: WorldArgs =
        serde_json::from_str(&given).map_err(|why| miette::miette!("{}: {why}", path.display()))?;
    let loaded = store.load().map_err(fault)?.unwrap_or_default();
    let agents = KeptAgent::read(&loaded).map_err(|why| miette::miette!("{why}"))?;
    let (ticks, now, lines) = (loaded.number, loaded.now_ms, loaded.log_lines);
    let count = if agents.is_empty() { args.charts.len() } else { agents.len() };
    let WorldArgs { folder, seed, is_ticked, .. } = &args;
    if is_json {
        let row = |(name, one): (&&str, &KeptAgent)| {
            let Use { turns, cpu_us, memory_bytes } = one.used;
            serde_json::json!({
                "name": name,
                "loop": one.mode.word(),
                "why": one.mode.why(),
                "turns": turns,
                "cpu_ms": cpu_us as f64 / 1000.0,
                "memory_bytes": memory_bytes,
            })
        };
        let world = serde_json::json!({
            "world": folder,
            "seed": seed,
            "ticked": is_ticked,
            "ticks": ticks,
            "now_ms": now,
            "agents": count,
            "log_lines": lines,
            "each": agents.iter().map(row).collect::<Vec<_>>(),
        });
        print_json(&format!("{world}\n"))?;
        return Ok(Exit::Clean);
    }
    let units = match (ticks, *is_ticked) {
        (1, true) => "tick",
        (1, false) => "summary",
        (_, true) => "ticks",
        (_, false) => "summaries",
    };
    let (agents_, seconds) = (counted(count, "agent"), now / 1000);
    let mut out = StyledText::default();
    out.line(format!(
        "the world of {folder}, seed {seed}: {agents_}, {ticks} {units}, {seconds} s of its time, {lines} lines of its log"
    ));
    out.add(&table(&agents));
    print(&out)?;
    Ok(Exit::Clean)
}

/// The agents of a world, those that are idle for a reason first.
fn table(agents: &BTreeMap<&str, KeptAgent>) -> StyledText {
    let mut sorted: Vec<(&&str, &KeptAgent)> = agents.iter().collect();
    sorted.sort_by_key(|(_, one)| one.mode.why().is_none());
    let row = |(name, one): &(&&str, &KeptAgent)| {
        let Use { turns, cpu_us, memory_bytes } = one.used;
        let (cpu, memory) = (time(cpu_us / 1000), format!("{} MB", memory_bytes >> 20));
        let why = one.mode.why().unwrap_or_default().to_owned();
        vec![(**name).to_owned(), one.mode.word().into(), turns.to_string(), cpu, memory, why]
    };
    let rows: Vec<Vec<String>> = sorted.iter().take(LISTED).map(row).collect();
    let head = ["agent", "loop", "turns", "processor", "memory", "why"];
    let mut out = StyledText::default();
    if !rows.is_empty() {
        out.add(&align_columns(&head, &rows, &[2, 3, 4]));
    }
    if agents.len() > LISTED {
        out.line(format!("  … {} more: --format json", counted(agents.len() - LISTED, "agent")));
    }
    out
}

/// The first argument that differs from the one with which the world was started, as text.
fn difference(before: &WorldArgs, now: &WorldArgs) -> Option<String> {
    if before.folder != now.folder {
        return Some(format!("the folder {}", before.folder));
    }
    if before.llm != now.llm {
        let word = before.llm.as_ref().map_or("no --llm".into(), |llm| format!("--llm {llm}"));
        return Some(word);
    }
    if before.seed != now.seed {
        return Some(format!("--seed {}", before.seed));
    }
    if before.delay != now.delay {
        return Some(format!("--delay {}", before.delay as f64 / 1000.0));
    }
    if before.is_ticked != now.is_ticked {
        return Some(if before.is_ticked { "--ticks" } else { "--duration" }.into());
    }
    (before.charts != now.charts).then(|| "other agents, or other charts of theirs".into())
}

impl CheckpointWriter {
    /// Adds a line of the log, to be stored with the next checkpoint.
    pub(super) fn line(&mut self, line: &Logged) -> serde_json::Result<()> {
        self.lines.push(line.text()?);
        Ok(())
    }

    /// Stores a checkpoint with the log lines since the previous one.
    pub(super) fn commit(&mut self, mut checkpoint: Checkpoint) -> io::Result<()> {
        checkpoint.log = std::mem::take(&mut self.lines);
        self.keep.commit(&checkpoint).map_err(io::Error::other)
    }

    /// The whole log up to the last checkpoint, one line of text each.
    pub(super) fn log(&self) -> miette::Result<Vec<String>> {
        self.keep.log(0).map_err(fault)
    }
}
