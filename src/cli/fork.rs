//! The command `chartc store S.db fork`: a new run that begins at a line of another run's trace.

use super::Exit;
use super::durable::{refused, stored_args};
use super::files::Root;
use super::instance::instance;
use super::output::{complain, print_json, say};
use super::replay::recorded;
use chartc_core::plan::Plan;
use chartc_core::visible;
use chartc_runtime::replay::Tape;
use chartc_store::{Listed, Store};
use std::path::Path;

/// What `fork` is given.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Name of the run
    run: String,
    /// Position in its journal: the `seq` of a line of its trace, from 1
    #[arg(long, value_name = "SEQ")]
    at: u64,
    /// Name of the new run [default: NAME@SEQ]
    #[arg(long = "as", value_name = "NEW")]
    name: Option<String>,
    /// How to print the new run
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text")]
    format: String,
    #[command(flatten)]
    root: Root,
}

/// Forks a run of the store, and prints the new run.
pub(super) fn run(path: &Path, args: Args) -> miette::Result<Exit> {
    let Args { run, at, name, format, root } = args;
    let store = Store::open(path).map_err(refused)?;
    let lines = store.lines(&run).map_err(refused)?;
    if lines.is_empty() {
        return Err(miette::miette!(
            help = "chartc store FILE list shows the runs",
            "{} has no run `{run}`: it was never begun there, or it was pruned with its journal",
            path.display()
        ));
    }
    // The first line names the chart and its file, which is all that `recorded` needs.
    let first = lines.iter().take(1).map(|line| serde_json::to_string(line).unwrap_or_default());
    let head = Tape::read(&first.collect::<String>())
        .map_err(|why| miette::miette!("run `{run}`, {why}"))?;
    let recorded = match recorded(&head, (&run, path), None, &root, false)? {
        Ok(recorded) => recorded,
        Err(exit) => return Ok(exit),
    };
    let charts = recorded.family();
    let plans: Vec<Plan<'_>> = charts.iter().map(|chart| Plan::new(chart)).collect();
    let name = name.unwrap_or_else(|| format!("{run}@{at}"));
    let given = without_memory(&store, &run)?;
    let forked = store
        .fork((&run, at), (&name, given.as_deref()), |tape| {
            instance(&plans, &recorded.given(tape), tape.host()).map_err(|why| why.to_string())
        })
        .map_err(refused)?;
    let lines = store.lines(&name).map_err(refused)?.len();
    show(path, &forked, (&run, at), lines, format == "json")?;
    Ok(Exit::Clean)
}

/// The arguments of the run without its memory, as JSON; `None` if it has no memory. The memory also holds what the run did after the fork,
/// which the fork must not know.
fn without_memory(store: &Store, run: &str) -> miette::Result<Option<String>> {
    let listed = store.list().map_err(refused)?;
    let Some(row) = listed.into_iter().find(|row| row.run == run) else { return Ok(None) };
    let mut args = stored_args(&row)?;
    let Some(file) = args.memory.take() else { return Ok(None) };
    complain(format!(
        "the fork has no `--memory`: {file} holds what `{run}` did later, too, and the fork would remember it"
    ));
    Ok(Some(serde_json::to_string(&args).unwrap_or_default()))
}

fn show(
    path: &Path,
    forked: &Listed,
    (run, at): (&str, u64),
    lines: usize,
    is_json: bool,
) -> miette::Result<()> {
    let Listed { run: name, status, state, turns, calls, waits_for, .. } = forked;
    if is_json {
        let forked = serde_json::json!({
            "run": name,
            "of": run,
            "at": at,
            "lines": lines,
            "state": state,
            "status": status,
            "turns": turns,
            "calls": calls,
            "waits_for": waits_for,
        });
        let text = serde_json::to_string_pretty(&forked).unwrap_or_default();
        return print_json(&format!("{text}\n"));
    }
    let mut line = format!("{name}: {run} after line {at}, {status} in {state}, turn {turns}");
    if lines as u64 > at {
        line += &format!(", with the rest of its step up to line {lines}");
    }
    if !waits_for.is_empty() {
        line += &format!(", will ask {} anew", waits_for.join(", "));
    }
    say(&*visible::line(&line))?;
    if status == "running" {
        say(&*visible::line(&format!("go on: chartc store {} resume {name}", path.display())))?;
    }
    Ok(())
}
