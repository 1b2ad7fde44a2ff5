//! `chartc test`.

mod desk;
mod expect;
mod play;
mod show;

use super::Exit;
use super::files::{Files, find};
use super::output::{Colour, complain, paper, print};
use crate::compile::{Checked, Compilation};
use crate::diagnostic::Severity;
use crate::lower::test::Test;
use crate::report::{REPORTS, one};
use play::Played;

/// Play the tests of charts: offline, in virtual time, and nothing is answered that a test does not answer.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc test                                  every test of every *.chart below this folder
  chartc test charts/builder.test.chart        the tests of one file
  chartc test --filter pivot                   those with a word in their name

Exit codes: 0 all passed, 1 a test failed or a chart has errors, 2 wrong usage, 3 a fault of chartc, 4 no test found")]
pub(super) struct Args {
    /// Files or folders [default: this folder]
    paths: Vec<String>,
    /// Play only tests whose name contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Colours in the output
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Colour::Auto)]
    color: Colour,
}

/// A test with the chart that it is for, and how it went.
struct Row<'c> {
    test: &'c Test,
    played: Played,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let done = crate::check_within(&find(&args.paths), &Files, 0);
    if let Some(exit) = refuse(&done) {
        return Ok(exit);
    }
    let tests = chosen(&done, args.filter.as_deref());
    if tests.is_empty() {
        complain(match &args.filter {
            Some(_) => "no test has a name like that",
            None => "no test found: write `test \"name\" for Chart { … }` in a *.chart file",
        });
        return Ok(Exit::Nothing);
    }
    let mut rows = Vec::new();
    let paper = paper(args.color);
    for (checked, test) in tests {
        let played = play::play(checked, test);
        let word = if played.failure.is_some() { "FAILED" } else { "ok" };
        let file = &done.sources.get(test.span.file).name;
        print(&format!("{word:6} {file}: {}\n", test.name))?;
        rows.push(Row { test, played });
    }
    let mut failed = 0;
    for row in &rows {
        let Some(failure) = &row.played.failure else { continue };
        failed += 1;
        let finding = show::finding(&row.test.name, failure);
        let text = one(&finding, &done.sources, paper);
        print(&format!("\n{text}{}", show::tail(&row.played)))?;
    }
    print(&format!("\n{} passed, {failed} failed\n", rows.len() - failed))?;
    Ok(if failed == 0 { Exit::Clean } else { Exit::Findings })
}

/// Tells errors of the charts: no test is played then.
fn refuse(done: &Compilation) -> Option<Exit> {
    let errors: Vec<_> =
        done.diagnostics.iter().filter(|d| d.severity == Severity::Error).cloned().collect();
    if errors.is_empty() {
        return None;
    }
    complain((REPORTS[0].render)(&errors, &done.sources, paper(Colour::Auto)).trim_end());
    Some(Exit::Findings)
}

/// The tests to play, by file and place.
fn chosen<'c>(done: &'c Compilation, filter: Option<&str>) -> Vec<(&'c Checked, &'c Test)> {
    let all = done.tested.iter().flat_map(|c| c.tests().iter().map(move |test| (c, test)));
    let mut tests: Vec<_> =
        all.filter(|(_, test)| filter.is_none_or(|word| test.name.contains(word))).collect();
    tests.sort_by_key(|(_, test)| test.span);
    tests
}
