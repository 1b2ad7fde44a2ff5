//! `chartc trace`: what a run did, from what it wrote.

mod count;
mod kept;
mod read;
mod sequence;
mod story;
mod summary;
mod table;
mod taken;
mod tell;
mod why;

use super::Exit;
use super::output::{Colour, Page, complain, paper, print, print_json, print_made};
use read::{Read, read};
use std::path::PathBuf;
use summary::Summary;
pub(super) use taken::taken;

/// Read the trace of a run: what was decided when and why, what each state cost, and why nothing happened.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc trace run.jsonl                        a line for each decision; below, what each state cost
  chartc trace run.jsonl --turn 3               one turn of it
  chartc trace run.jsonl --step observe         the decisions of one step
  chartc trace run.jsonl --why                  for what moved nothing: the lines that lost, and why
  chartc trace --summary runs/*.jsonl           totals of many runs: how they ended, calls, failures, transitions
  chartc trace --summary --format json run.jsonl
  chartc trace run.jsonl --format mermaid       who said what to whom, for a ```mermaid block in Markdown
  chartc trace run.json                         of what --snapshot has kept: the last transitions

Exit codes: 0 shown, 1 some lines cannot be read (the rest is shown), 2 wrong usage, 3 a fault of chartc")]
pub(super) struct Args {
    /// What `chartc run --trace` wrote, or --snapshot
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// For each input that moved nothing: the lines that might have been taken, and why each was not
    #[arg(long, conflicts_with = "summary")]
    why: bool,
    /// Totals instead of single lines; those of several traces add up
    #[arg(long)]
    summary: bool,
    /// How to say it; json goes with --summary, mermaid with one trace
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json", "mermaid"], default_value = "text")]
    format: String,
    /// Only this turn
    #[arg(long, value_name = "N")]
    turn: Option<u32>,
    /// Only this step; one of a chart that is run as `step/its_step`
    #[arg(long, value_name = "STEP")]
    step: Option<String>,
    /// Colours in the output
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Colour::Auto)]
    color: Colour,
}

/// Which lines are asked for.
#[derive(Debug, Clone, Copy, Default)]
struct Filter<'a> {
    turn: Option<u32>,
    step: Option<&'a str>,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    if let [path] = args.files.as_slice()
        && let Some(saved) = read::snapshot(path)?
    {
        let is_filtered = args.turn.is_some() || args.step.is_some();
        if args.why || args.summary || args.format != "text" || is_filtered {
            return Err(miette::miette!(
                help = "`chartc run --trace FILE` writes all that happens",
                "{} is a snapshot: it has the last transitions and nothing else to choose from",
                path.display()
            ));
        }
        print(&kept::kept(&saved))?;
        return Ok(Exit::Clean);
    }
    let traces = args.files.iter().map(|path| read(path)).collect::<miette::Result<Vec<Read>>>()?;
    for fault in traces.iter().flat_map(|trace| &trace.faults) {
        complain(format!("warning: {fault}"));
    }
    let filter = Filter { turn: args.turn, step: args.step.as_deref() };
    if args.summary && (args.turn.is_some() || args.step.is_some()) {
        return Err(miette::miette!(
            help = "leave --summary out to see single lines",
            "--summary is of whole runs: it goes with neither --turn nor --step"
        ));
    }
    let paper = paper(args.color);
    match (args.format.as_str(), args.summary) {
        ("json", true) => print_json(&Summary::of(&traces).json())?,
        ("json", false) => {
            return Err(miette::miette!(
                help = "each line of a trace is a JSON object already; for totals: --summary --format json",
                "--format json goes with --summary"
            ));
        }
        ("mermaid", true) => {
            return Err(miette::miette!(
                "--format mermaid draws one run: it does not go with --summary"
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
        (_, true) => print(&Summary::of(&traces).text())?,
        (_, false) => {
            let tell = if args.why { why::why } else { table::table };
            let mut page = Page::on(paper);
            for trace in &traces {
                if !page.is_empty() {
                    page.line("");
                }
                page.add(&tell(trace, filter, paper));
            }
            print(&page)?;
        }
    }
    let is_whole = traces.iter().all(|trace| trace.faults.is_empty());
    Ok(if is_whole { Exit::Clean } else { Exit::Findings })
}
