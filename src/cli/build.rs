//! The command `chartc build`.

use super::files::{Root, write};
use super::output::{Colour, Exit, complain_report, print_made, terminal};
use super::pick::pick_with_sources;
use crate::report::REPORTS;
use chartc_compiler::emit::rust;
use std::path::PathBuf;

/// Generate Rust: states, events, data, and a machine that depends only on chartc-core.
///
/// In a cargo package, call `chartc::build::compile("builder.chart")` from the build script instead.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc build builder.chart -o src/builder.rs
  chartc build agent.yaml | less
  chartc build all.chart --chart Builder

Exit codes: 0 generated, 1 errors in the chart, or two names are equal in Rust, 2 wrong usage,
3 internal error, 4 no chart in the file")]
pub(super) struct Args {
    /// A *.chart, *.scxml or agent.yaml file, or - for standard input
    file: String,
    /// The chart, if the file has several
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    root: Root,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let (checked, sources) = match pick_with_sources(&args.file, args.chart.as_deref(), &args.root)?
    {
        Ok(picked) => picked,
        Err(exit) => return Ok(exit),
    };
    match rust::emit(&checked) {
        Ok(code) => {
            match args.output {
                Some(path) => write(&path, &code)?,
                None => print_made(&code)?,
            }
            Ok(Exit::Clean)
        }
        Err(found) => {
            complain_report(&REPORTS[0].render(&found, &sources, terminal(Colour::Auto)));
            Ok(Exit::Findings)
        }
    }
}
