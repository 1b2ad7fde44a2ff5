//! `chartc graph`.

use super::Exit;
use super::files::write;
use super::output::print;
use super::pick::pick;
use crate::emit::dot::{self, Options};
use std::path::PathBuf;

/// Draw a chart: states, lines, choices, deadlines and steps, for Graphviz.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc graph builder.chart | dot -Tsvg > builder.svg
  chartc graph agent.yaml -o agent.dot
  chartc graph all.chart --chart Builder --legend

Exit codes: 0 drawn, 1 errors in the chart, 2 wrong usage, 3 a fault of chartc, 4 no chart in the file")]
pub(super) struct Args {
    /// A *.chart or agent.yaml file, or - for standard input
    file: String,
    /// Which chart, when the file has several
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// In which language
    #[arg(long, default_value = "dot", value_parser = ["dot"])]
    format: String,
    /// Say what the colours mean
    #[arg(long)]
    legend: bool,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let checked = match pick(&args.file, args.chart.as_deref())? {
        Ok(checked) => checked,
        Err(exit) => return Ok(exit),
    };
    let text = dot::dot(checked.chart(), checked.map(), Options { legend: args.legend });
    match args.output {
        Some(path) => write(&path, &text)?,
        None => print(&text)?,
    }
    Ok(Exit::Clean)
}
