//! `chartc trace`: shows what a run did, from its trace or snapshot, and what many agents did, from the log of their world.
//!
//! A trace has a line for everything that happened; a person wants the decisions and their reasons. From these lines, shortened:
//!
//! ```text
//! {"seq":4,"at_ms":0,"kind":"turn","turn":1}
//! {"seq":6,"at_ms":0,"kind":"question","step":"triage","options":["close","wait"]}
//! {"seq":7,"at_ms":900,"kind":"answer","step":"triage","option":"close"}
//! {"seq":9,"at_ms":900,"kind":"taken","line":{"state":"open","trigger":"may close","targets":["solved"]}}
//! ```
//!
//! 1. [`read`](mod@read) parses the lines, and assigns each to turn 1.
//! 2. [`story`] makes a row of the answer; the transition at the same time becomes its result: `close`, `open -> solved`.
//! 3. [`table`](mod@table) prints the row. [`why`](mod@why) instead lists inputs without effect, [`sequence`](mod@sequence) draws a
//!    diagram, and [`summary`] counts.

mod read;
mod sequence;
mod story;
mod summary;
pub(super) mod world;

pub(super) use summary::taken;

use super::output::{
    Colour, Exit, StyledText, align_columns, complain, print, print_json, print_made, terminal,
};
use crate::report::Terminal;
use chartc_core::wording::counted;
use chartc_runtime::Saved;
use chartc_runtime::trace::view::{Fate, Happening, time};
use read::{Filter, Read};
use std::path::PathBuf;
use summary::Summary;
use world::{Log, Views};

/// Show the trace of a run: what was decided, when and why, and what each state cost.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc trace run.jsonl                     one row per decision, then the cost of each state
  chartc trace run.jsonl --turn 3            only one turn
  chartc trace run.jsonl --step observe      only the decisions of one step
  chartc trace run.jsonl --why               why inputs had no effect
  chartc trace --summary runs/*.jsonl        totals of many runs
  chartc trace --summary --format json run.jsonl
  chartc trace run.jsonl --format mermaid    a sequence diagram, for a ```mermaid block in Markdown
  chartc trace run.json                      the last transitions in a snapshot

Logs of worlds with many agents, by `chartc run DIR --log FILE`:
  chartc trace world.jsonl                   an overview: agents, states, actions, money, influence
  chartc trace world.jsonl --plot            how many agents were in each state over time
  chartc trace world.jsonl --distribution --at 40
                                             where all agents were at the end of tick 40
  chartc trace world.jsonl --agents-in Trader.bidding
  chartc trace world.jsonl --cascade ada     what followed from the actions of ada
  chartc trace world.jsonl --agent ada --why any view of one agent's trace
  chartc trace world.jsonl --summary         totals of all ticks and all agents

Exit codes: 0 shown, 1 some lines cannot be read (the rest is shown), 2 wrong usage,
3 internal error")]
pub(super) struct Args {
    /// Traces written by `chartc run --trace`, a snapshot by --snapshot, or the log of a world by --log
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// For each input without effect, show the transitions that could have been taken, and why each was not
    #[arg(long, conflicts_with = "summary")]
    why: bool,
    /// Show totals instead of decisions, added up over several traces
    #[arg(long)]
    summary: bool,
    /// Output format; for a trace, json only with --summary; mermaid only for one trace
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json", "mermaid"], default_value = "text")]
    format: String,
    /// Show only this turn
    #[arg(long, value_name = "N")]
    turn: Option<u32>,
    /// Show only this step; a step of a child chart is `step/its_step`
    #[arg(long, value_name = "STEP")]
    step: Option<String>,
    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Colour::Auto)]
    color: Colour,
    #[command(flatten)]
    views: Views,
}

/// Opens the log of a world, if the only file is one.
fn log(args: &Args) -> miette::Result<Option<Log>> {
    let mut logs =
        args.files.iter().map(|path| Log::open(path)).collect::<miette::Result<Vec<_>>>()?;
    if logs.len() > 1 && logs.iter().any(Option::is_some) {
        return Err(miette::miette!(
            help = "show each by itself",
            "the log of a world cannot be combined with other files"
        ));
    }
    let log = logs.pop().flatten();
    if let (None, Some(option)) = (&log, args.views.given()) {
        return Err(miette::miette!(
            help = "`chartc run DIR --log FILE` writes the log of a world",
            "{option} is for the log of a world with many agents; {} is the trace of one run",
            args.files[0].display()
        ));
    }
    Ok(log)
}

/// Shows the log of a world.
fn many(args: &Args, log: Log) -> miette::Result<Exit> {
    if args.format == "mermaid" || args.why || args.turn.is_some() || args.step.is_some() {
        return Err(miette::miette!(
            help = "add --agent NAME",
            "--why, --turn, --step and --format mermaid show one run, and {} is the log of many agents",
            args.files[0].display()
        ));
    }
    let is_json = args.format == "json";
    world::run(log, &args.views, args.summary, is_json, terminal(args.color))
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let traces = match (log(&args)?, args.views.agent()) {
        (Some(log), Some(agent)) => vec![world::trace_of(log, agent)?],
        (Some(log), None) => return many(&args, log),
        (None, _) => {
            if show_snapshot(&args)? {
                return Ok(Exit::Clean);
            }
            args.files.iter().map(|path| read::read(path)).collect::<miette::Result<Vec<Read>>>()?
        }
    };
    for fault in traces.iter().flat_map(|trace| &trace.faults) {
        complain(format!("warning: {fault}"));
    }
    let filter = Filter { turn: args.turn, step: args.step.as_deref() };
    if args.summary && (args.turn.is_some() || args.step.is_some()) {
        return Err(miette::miette!(
            help = "omit --summary to see single decisions",
            "--summary covers whole runs, and cannot be combined with --turn or --step"
        ));
    }
    let terminal = terminal(args.color);
    match (args.format.as_str(), args.summary) {
        ("json", true) => print_json(&Summary::from_traces(&traces).json(None::<&()>))?,
        ("json", false) => {
            return Err(miette::miette!(
                help = "each line of a trace is a JSON object already; for totals: --summary --format json",
                "--format json needs --summary"
            ));
        }
        ("mermaid", true) => {
            return Err(miette::miette!(
                "--format mermaid draws one run, and cannot be combined with --summary"
            ));
        }
        ("mermaid", false) => match traces.as_slice() {
            [one] => print_made(&sequence::sequence(one, filter))?,
            several => {
                return Err(miette::miette!(
                    "--format mermaid draws one run; there are {} traces",
                    several.len()
                ));
            }
        },
        (_, true) => print(&Summary::from_traces(&traces).text())?,
        (_, false) => {
            print_stories(&args, &traces, filter, terminal)?;
        }
    }
    let is_whole = traces.iter().all(|trace| trace.faults.is_empty());
    Ok(if is_whole { Exit::Clean } else { Exit::Findings })
}

/// Prints the last transitions of a snapshot, if the only file is one. Returns whether it is.
fn show_snapshot(args: &Args) -> miette::Result<bool> {
    if let [path] = args.files.as_slice()
        && let Some(saved) = read::snapshot(path)?
    {
        let is_filtered = args.turn.is_some() || args.step.is_some();
        if args.why || args.summary || args.format != "text" || is_filtered {
            return Err(miette::miette!(
                help = "`chartc run --trace FILE` writes a complete trace",
                "{} is a snapshot: it contains only the last transitions",
                path.display()
            ));
        }
        print(&kept(&saved))?;
        return Ok(true);
    }
    Ok(false)
}

/// Prints the decisions of each trace, or with `--why` what came of its inputs.
fn print_stories(
    args: &Args,
    traces: &[Read],
    filter: Filter<'_>,
    terminal: Terminal,
) -> miette::Result<()> {
    let tell = if args.why { story::why } else { story::table };
    let mut out = StyledText::on(terminal);
    for trace in traces {
        if !out.is_empty() {
            out.line("");
        }
        out.add(&tell(trace, filter, terminal));
    }
    print(&out)
}

// Reads a trace as far as possible, and assigns each line to a turn.

// Formats the history in a snapshot.

/// Formats the last transitions of a saved run, the oldest first.
fn kept(saved: &Saved) -> StyledText {
    let chart = saved.machine().chart();
    let at = time(saved.now());
    let mut out = StyledText::default();
    let has_others = saved.history().any(|line| !line.child.is_empty());
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in saved.history() {
        let Happening::Transition(taken, Fate::Taken(held)) = line.event().what else { continue };
        let mut row = vec![time(line.at_ms)];
        row.extend(has_others.then(|| line.child.clone()));
        row.extend([taken.way(), taken.trigger(held)]);
        rows.push(row);
    }
    if rows.is_empty() {
        out.line(format!("{chart}: kept at {at}, with no transitions"));
        return out;
    }
    let count = counted(rows.len(), "transition");
    let head: &[&str] = if has_others {
        &["time", "chart", "from -> to", "taken by"]
    } else {
        &["time", "from -> to", "taken by"]
    };
    out.line(format!("{chart}: kept at {at}, with its last {count}"));
    out.line("");
    out.add(&align_columns(head, &rows, &[]));
    out
}

// Finds the senders of the events that the charts of a run handled.
//
// A trace says that an event was posted, and later that one was handled, but not that these are the same. Events for one chart are
// handled in the order in which they were posted, so they can be matched. The chart `""` runs the child `sub`:
//
// ```text
// seq 7   child ""      posted  go to sub    under way: 7
// seq 8   child ""      posted  go to sub    under way: 7, 8
// seq 9   child "sub"   event   go           from the chart "", which is 7; under way: 8
// (the end)                                  8 is lost: nobody has handled it
// ```
