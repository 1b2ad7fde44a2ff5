//! `chartc graph`.

use super::Exit;
use super::files::Root;
use super::highlight;
use super::output::{Colour, complain_report, paper, print_made};
use super::pick::pick_with_sources;
use super::save::write;
use crate::emit::{EMITTERS, Emitter, Kind, Options};
use crate::report::REPORTS;
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;

/// Draw a chart: states, lines, choices, deadlines and steps, for Graphviz or Mermaid.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc graph builder.chart | dot -Tsvg > builder.svg
  chartc graph builder.chart --format mermaid          for a ```mermaid block in Markdown
  chartc graph agent.yaml -o agent.mmd                 the format by the ending
  chartc graph player.chart --highlight on.sound.loud --highlight on.picture
  chartc graph all.chart --chart Builder --legend
  chartc graph player.chart -o player.dot              then, with how often each line was taken: --trace run.jsonl

Exit codes: 0 drawn, 1 errors in the chart, 2 wrong usage, 3 a fault of chartc, 4 no chart in the file")]
pub(super) struct Args {
    /// A *.chart, *.scxml or agent.yaml file, or - for standard input
    file: String,
    /// Which chart, when the file has several
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// In which language [default: by the ending of --output, else dot]
    #[arg(long, value_parser = PossibleValuesParser::new(pictures().map(|e| e.name)))]
    format: Option<String>,
    /// A state that stands out, as a dotted path; may be given several times
    #[arg(long, value_name = "STATE")]
    highlight: Vec<String>,
    /// Weigh the lines by how often runs took them: what `chartc run --trace` wrote; may be given several times
    #[cfg(feature = "run")]
    #[arg(long, value_name = "FILE")]
    trace: Vec<PathBuf>,
    /// Say what the looks mean
    #[arg(long)]
    legend: bool,
    #[command(flatten)]
    root: Root,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let (checked, sources) = match pick_with_sources(&args.file, args.chart.as_deref(), &args.root)?
    {
        Ok(picked) => picked,
        Err(exit) => return Ok(exit),
    };
    let highlight = highlight::states(checked.chart(), &args.highlight)?;
    #[cfg(feature = "run")]
    let taken = super::trace::taken(&checked, &args.trace)?;
    #[cfg(not(feature = "run"))]
    let taken = None;
    let options = Options { legend: args.legend, highlight, taken };
    let ending = args.output.as_ref().and_then(|path| path.extension());
    let emitter = pictures().find(|e| match &args.format {
        Some(name) => e.name == name,
        None => ending.is_some_and(|ending| ending == e.extension),
    });
    match (emitter.unwrap_or(EMITTERS[0]).emit)(&checked, &options) {
        Ok(text) => {
            match args.output {
                Some(path) => write(&path, &text)?,
                None => print_made(&text)?,
            }
            Ok(Exit::Clean)
        }
        Err(found) => {
            complain_report(&(REPORTS[0].render)(&found, &sources, paper(Colour::Auto)));
            Ok(Exit::Findings)
        }
    }
}

fn pictures() -> impl Iterator<Item = &'static Emitter> {
    EMITTERS.iter().copied().filter(|e| e.kind == Kind::Picture)
}
