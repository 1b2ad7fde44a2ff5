//! The command `chartc fmt`.

use super::Exit;
use super::files::{Files, Root, STDIN};
use super::fix::difference;
use super::output::{Colour, complain, complain_report, print, print_made, say, terminal};
use super::save::write;
use crate::report::REPORTS;
use chartc_text::diagnostic::{Diagnostic, Severity};
use chartc_text::front::{Alone, chart};
use chartc_text::load::Loader;
use chartc_text::source::{Source, Sources};
use std::path::Path;

/// Format charts: indentation, spaces and line breaks; comments are kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc fmt                     every *.chart below this folder
  chartc fmt charts/ my.chart    some files and folders
  chartc fmt --check             only list the files that are not formatted
  chartc fmt --diff              only show what would change
  cat my.chart | chartc fmt -    standard input to standard output

Exit codes: 0 formatted, 1 errors in a file or, with --check or --diff, unformatted files, 2 wrong usage,
3 internal error, 4 no chart found")]
pub(super) struct Args {
    /// Files, folders, or - for standard input [default: this folder]
    paths: Vec<String>,
    /// Change nothing; list the files that would change
    #[arg(long)]
    check: bool,
    /// Change nothing; show what would change
    #[arg(long)]
    diff: bool,
}

/// The result of formatting one text.
#[derive(Debug)]
pub(super) enum Formatted {
    /// The text is already formatted.
    Same,
    /// The formatted text.
    Changed(String),
    /// The errors for which the text cannot be formatted.
    Broken(Vec<Diagnostic>, Sources),
    /// The formatted text could not be parsed, or formats differently: an error in chartc.
    Failed,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let files = Files::find(&args.paths, &Root::default())?;
    let charts = files.names().iter();
    let charts: Vec<&String> =
        charts.filter(|file| *file == STDIN || (chart::FRONTEND.takes)(file)).collect();
    if charts.is_empty() {
        complain("nothing to format: no *.chart found here; name a file or a folder");
        return Ok(Exit::Nothing);
    }
    let mut exit = Exit::Clean;
    for file in charts {
        let text = match files.read(file) {
            Ok(text) => text,
            Err(why) if files.is_found(file) => {
                complain(format!("error: cannot read {file}: {why}"));
                exit = Exit::Findings;
                continue;
            }
            Err(why) => return Err(miette::miette!("cannot read {file}: {why}")),
        };
        match formatted(file, &text) {
            Formatted::Failed => {
                return Err(miette::miette!(
                    "{file} cannot be formatted; this is an error in chartc"
                ));
            }
            Formatted::Broken(findings, sources) => {
                complain_report(&REPORTS[0].render(&findings, &sources, terminal(Colour::Auto)));
                exit = Exit::Findings;
            }
            Formatted::Changed(new) if args.check || args.diff => {
                if args.diff {
                    print(&difference(file, &text, &new, terminal(Colour::Auto)))?;
                } else {
                    say(file)?;
                }
                exit = Exit::Findings;
            }
            Formatted::Changed(new) if file == STDIN => print_made(&new)?,
            Formatted::Same if file == STDIN && !args.check && !args.diff => print_made(&text)?,
            Formatted::Changed(new) => write(Path::new(file), &new)?,
            Formatted::Same => {}
        }
    }
    Ok(exit)
}

/// Formats the text of a file. The result is parsed and printed again, so that no file is overwritten with text that chartc cannot parse.
pub(super) fn formatted(file: &str, text: &str) -> Formatted {
    let mut sources = Sources::default();
    let id = sources.add(Source::new(file, text));
    let mut findings = Vec::new();
    let parse = chart::FRONTEND.parse;
    let tree = parse(id, sources.get(id), &mut Alone, &mut findings);
    if !findings.is_empty() {
        return Formatted::Broken(findings, sources);
    }
    let new = chartc_text::print::print(&tree);
    let mut raw = chartc_text::confusables::unwritable(&tree, sources.get(id), &new);
    if file != STDIN {
        // A file may keep hidden characters that do not mislead: they are in it already. Standard output would show them raw.
        raw.retain(|found| found.severity == Severity::Error);
    }
    if !raw.is_empty() {
        return Formatted::Broken(raw, sources);
    }
    let again = parse(id, &Source::new(file, new.as_str()), &mut Alone, &mut findings);
    if !findings.is_empty() || chartc_text::print::print(&again) != new {
        return Formatted::Failed;
    }
    if new == text { Formatted::Same } else { Formatted::Changed(new) }
}
