//! The command `chartc store`: lists, continues and answers the runs of a store.

use super::Exit;
use super::durable::{refused, stored_args};
use super::instance::values_of_event;
use super::output::{StyledText, complain, print, print_json, say};
use super::{crowd, fork, reply, run, send};
use chartc_core::visible;
use chartc_runtime::oracle::Question;
use chartc_store::{Kind, Letter, Listed, Store, StoreError, WorldStore};
use serde_json::json;
use std::path::PathBuf;

/// List, continue and answer the runs that `chartc run --store` keeps in a file
///
/// A run in a store survives its process. It may wait there for days: for the answer of a person (`reply`), for an event (`send`), or for a
/// process that continues it (`resume`). `reply` and `send` store what they are given and start nothing: a process that is running the run
/// takes it at once, and otherwise `resume` does.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc run support.chart --llm clients --human later --store runs.db --run ada
  chartc store runs.db list
  chartc store runs.db list --format json
  chartc store runs.db reply ada q94a6n897 yes
  chartc store runs.db send ada order '{\"id\":7}'
  chartc store runs.db resume ada
  chartc store runs.db fork ada --at 12 --as eva
  chartc store runs.db check
  chartc store runs.db backup copy.db
  chartc store runs.db migrate --check support.chart
  chartc store runs.db prune --days 30

Exit codes: 0 done, 1 a damaged store, a run that `migrate` refuses, or the run ended badly, 2 wrong usage, 3 internal error")]
pub(super) struct Args {
    /// File of `chartc run --store`
    store: PathBuf,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List the runs: state, age, cost, and what they wait for; of a world, its progress
    List {
        /// How to print them
        #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text")]
        format: String,
    },
    /// Continue a run, with the options with which it began
    Resume {
        /// Name of the run
        run: String,
    },
    /// Begin a new run from an earlier moment of another one, without calls
    ///
    /// The new run repeats the journal of the old one up to this position. Calls that had no result there become new calls of the new run.
    /// The old run does not change. The step that wrote the line is copied as a whole.
    Fork(fork::Args),
    /// Answer an open question of a run, as a person
    ///
    /// Each asking has an id, which `list` shows beside the text of the question. An answer to an id that is not open any more is refused,
    /// and so is an answer that the step cannot use: it is not stored and costs no attempt.
    Reply {
        /// Name of the run
        run: String,
        /// Id of the question, as `list` shows it
        question: String,
        /// The answer, as a person would type it
        answer: String,
    },
    /// Send an event to a run
    ///
    /// An event that its chart does not declare, and data that do not fit, are refused here.
    Send {
        /// Name of the run
        run: String,
        /// Name of the event, or `turn`
        event: String,
        /// Its data, as a JSON object
        data: Option<String>,
    },
    /// Copy the store into another file, even while runs are active
    Backup {
        /// The copy, which must not exist
        to: PathBuf,
    },
    /// Read the whole store and report damage
    Check,
    /// Show which runs can continue with another version of their chart
    ///
    /// Each run of the chart loads as it is, loads with the changes that are listed, or is refused for the reason that is given. Nothing is
    /// changed: a run takes over a version when `chartc run --store` or `store … resume` continues it. Exit code 1 if one is refused.
    Migrate(super::migrate::Args),
    /// Delete runs that ended some time ago
    Prune {
        /// Keep the runs that ended in the last N days
        #[arg(long, value_name = "N", default_value_t = 30)]
        days: u32,
    },
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let path = &args.store;
    if let What::Resume { run } = &args.what {
        let store = Store::open(path).map_err(refused)?;
        let listed = store.list().map_err(refused)?.into_iter().find(|row| row.run == *run);
        let Some(listed) = listed else {
            return Err(miette::miette!(
                help = "chartc store FILE list shows the runs",
                "{} has no run `{run}`",
                path.display()
            ));
        };
        let args = stored_args(&listed)?;
        drop(store);
        return run::run(run::Args::from_stored(args, path.clone(), run.clone()));
    }
    if let What::Fork(fork) = args.what {
        return fork::run(path, fork);
    }
    let store = match (Store::open(path), &args.what) {
        // The store of a world has no runs, but its progress can be listed.
        (Err(StoreError::Kind { found: Kind::World, .. }), What::List { format }) => {
            let world = WorldStore::open(path).map_err(refused)?;
            return crowd::told_of_store(path, &world, format == "json");
        }
        (opened, _) => opened.map_err(refused)?,
    };
    match args.what {
        What::Resume { .. } | What::Fork(_) => {}
        What::Migrate(args) => {
            drop(store);
            return super::migrate::run(path, &args);
        }
        What::List { format } => list(&store, format == "json")?,
        What::Reply { run, question, answer } => {
            reply::check(&store, &run, &question, &answer)?;
            store.post(&run, &Letter::Reply(question, answer)).map_err(refused)?;
            posted(path, &run);
        }
        What::Send { run, event, data } => {
            let data = values_of_event(data.as_deref())?;
            send::check(&store, &run, &event, &data)?;
            store.post(&run, &Letter::Event(event, data)).map_err(refused)?;
            posted(path, &run);
        }
        What::Backup { to } => {
            store.backup(&to).map_err(refused)?;
            say(format!("{} is a copy of {}", to.display(), path.display()))?;
        }
        What::Check => {
            let faults = store.check().map_err(refused)?;
            let mut out = StyledText::default();
            for fault in &faults {
                out.block("", &visible::line(fault));
            }
            print(&out)?;
            if !faults.is_empty() {
                return Ok(Exit::Findings);
            }
            say(format!("{}: no damage", path.display()))?;
        }
        What::Prune { days } => {
            let count = store.prune(days).map_err(refused)?;
            let runs = if count == 1 { "1 run".to_owned() } else { format!("{count} runs") };
            say(format!("{runs} deleted"))?;
        }
    }
    Ok(Exit::Clean)
}

/// The trace of a run, as `--trace` would have written it. If the store is damaged, reports it and returns the exit code.
pub(super) fn trace(store: &std::path::Path, run: &str) -> miette::Result<Result<String, Exit>> {
    let lines = match Store::open(store).and_then(|store| store.lines(run)) {
        Ok(lines) => lines,
        Err(damage @ StoreError::Damaged { .. }) => {
            complain(damage.to_string());
            return Ok(Err(Exit::Findings));
        }
        Err(fault) => return Err(refused(fault)),
    };
    if lines.is_empty() {
        return Err(miette::miette!(
            help = "chartc store FILE list shows the runs",
            "{} has no run `{run}`",
            store.display()
        ));
    }
    let lines = lines.iter().map(|line| serde_json::to_string(line).unwrap_or_default() + "\n");
    Ok(Ok(lines.collect()))
}

fn posted(path: &std::path::Path, run: &str) {
    complain(format!(
        "stored: a process that is running `{run}` takes it at once; otherwise: chartc store {} resume {run}",
        path.display()
    ));
}

/// Prints the runs.
fn list(store: &Store, is_json: bool) -> miette::Result<()> {
    let rows = store.list().map_err(refused)?;
    if is_json {
        let mut all = Vec::new();
        for row in &rows {
            let question = |asked: &Question| json!({"id": asked.id, "step": asked.path(), "question": asked.prompt});
            let mut one = row.json();
            one["questions"] = questions(store, row).iter().map(question).collect();
            all.push(one);
        }
        let text = serde_json::to_string_pretty(&all).unwrap_or_default();
        return print_json(&format!("{text}\n"));
    }
    if rows.is_empty() {
        say("no runs")?;
        return Ok(());
    }
    for row in rows {
        let Listed { run, chart, status, state, turns, calls, waits_for, .. } = &row;
        let mut line =
            format!("{run}: {chart}, {status} in {state}, turn {turns}, {calls} model calls");
        if row.cost > 0 {
            line += &format!(", {:.4} spent", row.cost as f64 / 1e6);
        }
        if !waits_for.is_empty() {
            line += &format!(", waits for {}", waits_for.join(", "));
        }
        if let Some(why) = &row.stopped {
            line += &format!(", cannot go on: {why}");
        }
        line += &format!(", changed {} ago", age(row.age_ms()));
        say(&*visible::line(&line))?;
        for question in questions(store, &row) {
            say(&*visible::line(&format!("  {} asks {}", question.path(), question.line())))?;
        }
    }
    Ok(())
}

/// The open questions of a run to people. If the store is damaged, reports it and returns none, so that the other runs are listed.
fn questions(store: &Store, row: &Listed) -> Vec<Question> {
    if row.waits_for.is_empty() {
        return Vec::new();
    }
    store.asked(&row.run).unwrap_or_else(|damage| {
        complain(damage.to_string());
        Vec::new()
    })
}

/// Formats a time in its largest unit.
fn age(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        7200..=172_799 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
