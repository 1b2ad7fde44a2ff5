//! The command `chartc test`: plays tests, and reports results and coverage.
//!
//! [`crate::scenario`] plays a test and returns its trace; everything here is computed from the traces. For a file with two tests:
//!
//! 1. The files are compiled. With errors no test is played.
//! 2. Each test is played, and its line `ok` or `FAILED` is printed at once.
//! 3. A failure becomes a finding with the places that explain it, and is printed with the last lines of its trace ([`show`]).
//! 4. With `--coverage` the traces of both tests are followed ([`coverage`](mod@coverage)): a state that either of them enters counts.
//! 5. [`report`] writes the same results as JSON or JUnit XML.

mod coverage;
mod report;
mod show;

use super::Exit;
use super::files::{Files, Root};
use super::output::{
    Colour, StyledText, complain, complain_report, print, print_coloured, print_json, say, terminal,
};
use super::save::write;
use crate::report::{REPORTS, format, one};
use crate::scenario::{self, Played};
use chartc_check::compile::{Checked, Compilation};
use chartc_check::lower::test::Test;
use chartc_text::diagnostic::{Diagnostic, Severity};
use coverage::Coverage;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Play the tests of charts, offline and in virtual time; only the test itself gives answers.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc test                                 all tests below this folder
  chartc test charts/builder.chart            the tests in this file and in builder.test.chart
  chartc test --filter pivot                  tests with this text in their name
  chartc test --coverage --min-coverage 80    show coverage; fail if a chart has less than 80 %
  chartc test --junit report.xml              a report for a CI server; --format junit prints it

A test is written outside charts. In a file of its own, x.test.chart, it imports the chart:

  import \"x.chart\"
  test \"name\" for Chart { given x = 1  send e  turn  answers s option  expect at t }

Exit codes: 0 all passed, 1 a test failed, coverage is too low, or a chart has errors, 2 wrong usage,
3 internal error, 4 no test found")]
pub(super) struct Args {
    /// Files or folders [default: this folder]
    paths: Vec<String>,
    /// Play only tests whose name contains this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Output format
    #[arg(long, default_value = "text", value_parser = ["text", "json", "junit"])]
    format: String,
    /// File for the results in JUnit's XML format
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Show the coverage of each chart: states, transitions, options, guards
    #[arg(long)]
    coverage: bool,
    /// Fail if the coverage of a chart is lower: states, transitions, options and guards together
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    min_coverage: Option<f64>,
    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Colour::Auto)]
    color: Colour,
    #[command(flatten)]
    root: Root,
}

fn percent(text: &str) -> Result<f64, String> {
    let number: f64 =
        text.trim_end_matches('%').parse().map_err(|_| "it is not a number".to_owned())?;
    if (0.0..=100.0).contains(&number) { Ok(number) } else { Err("it is not in 0..100".to_owned()) }
}

/// A test with its chart and its result.
struct PlayedTest<'c> {
    checked: &'c Checked,
    test: &'c Test,
    played: Played,
    /// The real time that it took.
    took: Duration,
    /// The finding, if the test failed, with the places that explain the failure.
    finding: Option<Diagnostic>,
}

#[allow(
    clippy::disallowed_methods,
    reason = "a report tells how long tests took; nothing depends on it"
)]
fn timed<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let made = act();
    (made, start.elapsed())
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let files = Files::find_with_tests(&args.paths, &args.root)?;
    let done = crate::check_within(files.names(), &files, 0);
    if let Some(exit) = refuse(&done, &args)? {
        return Ok(exit);
    }
    let tests = chosen(&done, args.filter.as_deref());
    if tests.is_empty() {
        complain(match &args.filter {
            Some(_) => "no test name contains this text",
            None => "no test found: write `test \"name\" for Chart { … }` in a *.chart file",
        });
        return Ok(Exit::Nothing);
    }
    let is_text = args.format == "text";
    let is_junit = args.format == "junit";
    let terminal = terminal(args.color);
    let mut rows = Vec::new();
    for (checked, test) in tests {
        let (played, took) = timed(|| scenario::play(checked, test, scenario::OF_A_TEST));
        if is_text {
            let file = &done.sources.get(test.span.file).name;
            let mut line = StyledText::on(terminal);
            show::went(&mut line, &played, &format!("{file}: {}", test.name));
            print(&line)?;
        }
        let finding = scenario::finding(test, &played, &done.sources);
        rows.push(PlayedTest { checked, test, played, took, finding });
    }
    let wants = args.coverage || args.min_coverage.is_some();
    let runs = rows.iter().map(|row| (row.checked, row.played.lines.as_slice()));
    let coverage = wants.then(|| coverage::coverage(runs, &done.sources));
    if let Some(path) = &args.junit {
        write(path, &report::junit(&rows, &done.sources))?;
    }
    let failed = rows.iter().filter(|row| row.played.failure.is_some()).count();
    if is_text {
        for row in &rows {
            let Some(finding) = &row.finding else { continue };
            let text = one(finding, &done.sources, terminal);
            print_coloured(&format!("\n{text}"))?;
            print(&show::tail(&row.played))?;
        }
        if let (Some(all), true) = (&coverage, args.coverage) {
            print(&coverage::human(all))?;
            print(&untested(&done))?;
        }
        say("")?;
        say(format!("{} passed, {failed} failed", rows.len() - failed))?;
    } else if is_junit {
        print_coloured(&report::junit(&rows, &done.sources))?;
    } else {
        print_json(&report::json(&rows, coverage.as_deref(), &done.sources))?;
    }
    let lacks = args.min_coverage.is_some_and(|least| lacks(coverage.as_deref(), least));
    Ok(if failed == 0 && !lacks { Exit::Clean } else { Exit::Findings })
}

/// Reports the charts whose coverage is below `least` percent, and returns whether there are any.
fn lacks(coverage: Option<&[Coverage]>, least: f64) -> bool {
    let poor = |one: &&Coverage| one.all.percent() < least;
    let poor: Vec<&Coverage> = coverage.into_iter().flatten().filter(poor).collect();
    for one in &poor {
        let rows = one.rows();
        let missing = rows.iter().filter(|(_, row)| row.seen < row.all);
        let missing: Vec<String> =
            missing.map(|(what, row)| format!("{what} {} of {}", row.seen, row.all)).collect();
        complain(format!(
            "error: the tests cover {:.1} % of {}, less than {least} %: {}",
            one.all.percent(),
            one.chart,
            missing.join(", ")
        ));
    }
    !poor.is_empty()
}

/// Lists the charts without a test.
fn untested(done: &Compilation) -> StyledText {
    let is_tested = |checked: &&Checked| {
        done.tested.iter().any(|other| {
            let name = checked.map().name;
            other.map().name == name || other.lowered_children().any(|c| c.map.name == name)
        })
    };
    let names: Vec<String> = (done.charts.iter().filter(|checked| !is_tested(checked)))
        .map(|checked| format!("{} ({})", checked.chart().name, checked.source()))
        .collect();
    let mut out = StyledText::default();
    if !names.is_empty() {
        out.line("");
        out.line(format!("charts without tests: {}", names.join(", ")));
    }
    out
}

/// Reports errors in the charts, also as a JUnit report if one is wanted, and returns the exit code. With errors no test is played.
fn refuse(done: &Compilation, args: &Args) -> miette::Result<Option<Exit>> {
    let errors: Vec<_> =
        done.diagnostics.iter().filter(|d| d.severity == Severity::Error).cloned().collect();
    if errors.is_empty() {
        return Ok(None);
    }
    let junit = format("junit").render(&errors, &done.sources, terminal(args.color));
    if let Some(path) = &args.junit {
        write(path, &junit)?;
    }
    if args.format == "junit" {
        print_coloured(&junit)?;
    }
    complain_report(&REPORTS[0].render(&errors, &done.sources, terminal(Colour::Auto)));
    Ok(Some(Exit::Findings))
}

/// The tests to play, by file and position.
fn chosen<'c>(done: &'c Compilation, filter: Option<&str>) -> Vec<(&'c Checked, &'c Test)> {
    let mut tests = scenario::tests(done);
    tests.retain(|(_, test)| filter.is_none_or(|word| test.name.contains(word)));
    tests
}
