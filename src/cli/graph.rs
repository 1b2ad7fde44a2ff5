//! The command `chartc graph`.

use super::files::{Root, write};
use super::output::{Colour, Exit, complain_report, print_made, terminal};
use super::pick::pick_with_sources;
use crate::report::REPORTS;
use chartc_compiler::emit::{EMITTERS, Emitter, Options, OutputKind};
use chartc_compiler::syntax::diagnostic::nearest;
use chartc_core::arena::StateId;
use chartc_core::model::Chart;
use clap::builder::PossibleValuesParser;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Draw a chart for Graphviz or Mermaid: states, transitions, options, deadlines and steps.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc graph builder.chart | dot -Tsvg > builder.svg
  chartc graph builder.chart --format mermaid    for a ```mermaid block in Markdown
  chartc graph agent.yaml -o agent.mmd           the extension chooses the format
  chartc graph player.chart --highlight on.sound.loud --highlight on.picture
  chartc graph all.chart --chart Builder --legend
  chartc graph player.chart --trace run.jsonl    show how often each transition was taken

Exit codes: 0 drawn, 1 errors in the chart, 2 wrong usage, 3 internal error, 4 no chart in the file")]
pub(super) struct Args {
    /// A *.chart, *.scxml or agent.yaml file, or - for standard input
    file: String,
    /// The chart, if the file has several
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Output format [default: by the extension of --output, else dot]
    #[arg(long, value_parser = PossibleValuesParser::new(pictures().map(|e| e.name)))]
    format: Option<String>,
    /// Highlight a state, as a dotted path; may be repeated
    #[arg(long, value_name = "STATE")]
    highlight: Vec<String>,
    /// Show how often the runs in this trace took each transition; may be repeated
    #[cfg(feature = "run")]
    #[arg(long, value_name = "FILE")]
    trace: Vec<PathBuf>,
    /// Add a legend of the shapes and colours
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
    let highlight = states(checked.chart(), &args.highlight)?;
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
            complain_report(&REPORTS[0].render(&found, &sources, terminal(Colour::Auto)));
            Ok(Exit::Findings)
        }
    }
}

fn pictures() -> impl Iterator<Item = &'static Emitter> {
    EMITTERS.iter().copied().filter(|e| e.kind == OutputKind::Picture)
}

// Finds the states that a command highlights.

/// Finds the states that `wanted` names. A name is the dotted path of a state, or the end of a path that belongs to one state only.
///
/// # Errors
/// A name belongs to no state, or to several.
pub(super) fn states(chart: &Chart, wanted: &[String]) -> miette::Result<BTreeSet<StateId>> {
    wanted.iter().map(|name| state(chart, name)).collect()
}

/// Finds the state that `wanted` names, as [`states`] does.
///
/// # Errors
/// The name belongs to no state, or to several.
pub(super) fn state(chart: &Chart, wanted: &str) -> miette::Result<StateId> {
    // State 0 is the chart itself.
    let all = || chart.state_ids().skip(1);
    if let Some(found) = all().find(|id| chart.state(*id).path == wanted) {
        return Ok(found);
    }
    let is_end = |path: &str| {
        path.strip_suffix(wanted).is_some_and(|above| above.is_empty() || above.ends_with('.'))
    };
    let found: Vec<StateId> =
        all().filter(|id| !wanted.is_empty() && is_end(&chart.state(*id).path)).collect();
    match found.as_slice() {
        [only] => Ok(*only),
        [] => {
            let paths = all().map(|id| chart.state(id).path.as_str());
            let names = all().map(|id| chart.state(id).name.as_str());
            let fault = format!("{} has no state `{wanted}`", chart.name);
            Err(match nearest(wanted, paths.chain(names)) {
                Some(near) => miette::miette!("{fault}; did you mean `{near}`?"),
                None => miette::miette!("{fault}"),
            })
        }
        [first, second, ..] => Err(miette::miette!(
            "{} has several states `{wanted}`: `{}`, `{}`{}; give the whole path",
            chart.name,
            chart.state(*first).path,
            chart.state(*second).path,
            if found.len() > 2 { ", …" } else { "" }
        )),
    }
}
