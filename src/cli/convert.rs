//! The command `chartc convert`.

use super::files::{Files, Root, write};
use super::output::{Colour, Exit, complain, complain_report, print_made, terminal};
use crate::report::REPORTS;
use chartc_compiler::syntax::diagnostic::Severity;
use std::path::PathBuf;

/// Convert an agent.yaml or an SCXML document to a .chart with the same semantics.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc convert agent.yaml
  chartc convert agent.yaml -o builder.chart
  chartc convert player.scxml

If the file has errors, they are reported, and the rest of the file is converted.

Exit codes: 0 converted, 1 converted with errors, 2 wrong usage, 3 internal error,
4 no chart in the file")]
pub(super) struct Args {
    /// An agent.yaml or *.scxml file
    file: String,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    root: Root,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let files = Files::find(std::slice::from_ref(&args.file), &args.root)?;
    let [_] = files.names() else {
        return Err(miette::miette!(
            "{} contains {} files; name one",
            args.file,
            files.names().len()
        ));
    };
    let done = crate::check(files.names(), &files);
    let errors: Vec<_> =
        done.diagnostics.iter().filter(|d| d.severity == Severity::Error).cloned().collect();
    let converted = done.files.first().filter(|f| !f.items.is_empty());
    if let Some(file) = converted {
        let text = chartc_compiler::syntax::print::print(file);
        let raw = chartc_compiler::confusables::unwritable(file, done.sources.get(file.id), &text);
        if !raw.is_empty() {
            complain_report(&REPORTS[0].render(&raw, &done.sources, terminal(Colour::Auto)));
            return Ok(Exit::Findings);
        }
        match args.output {
            Some(path) => write(&path, &text)?,
            None => print_made(&text)?,
        }
    }
    if !errors.is_empty() {
        complain_report(&REPORTS[0].render(&errors, &done.sources, terminal(Colour::Auto)));
        return Ok(Exit::Findings);
    }
    if converted.is_none() {
        complain(format!("error: there is no chart in {}", args.file));
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Clean)
}
