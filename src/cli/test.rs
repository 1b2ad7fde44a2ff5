//! The command `chartc test`: plays tests, and reports results and coverage.
//!
//! [`crate::scenario`] plays a test and returns its trace; everything here is computed from the traces. For a file with two tests:
//!
//! 1. The files are compiled. With errors no test is played.
//! 2. Each test is played, and its line `ok` or `FAILED` is printed at once.
//! 3. A failure becomes a finding with the places that explain it, and is printed with the last lines of its trace ([`show`]).
//! 4. With `--coverage` the traces of both tests are followed ([`coverage`](mod@coverage)): a state that either of them enters counts.
//! 5. [`report`] writes the same results as JSON or JUnit XML.

use super::files::{Files, Root, write};
use super::output::{
    self, Colour, Exit, StyledText, complain, complain_report, print, print_coloured, print_json,
    say, terminal,
};
use crate::report::ci::escaped;
use crate::report::{REPORTS, format, one};
use crate::scenario::{self, Did, Played, follow, short};
use chartc_compiler::compile::{Checked, Compilation};
use chartc_compiler::lower::SourceMap;
use chartc_compiler::lower::test::Test;
use chartc_compiler::syntax::diagnostic::{Diagnostic, Severity};
use chartc_compiler::syntax::source::{Sources, Span};
use chartc_core::arena::TransitionId;
use chartc_core::model::{Chart, ChoiceKind, StateKind};
use chartc_runtime::trace::Line;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
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
            went(&mut line, &played, &format!("{file}: {}", test.name));
            print(&line)?;
        }
        let finding = scenario::finding(test, &played, &done.sources);
        rows.push(PlayedTest { checked, test, played, took, finding });
    }
    let wants = args.coverage || args.min_coverage.is_some();
    let runs = rows.iter().map(|row| (row.checked, row.played.lines.as_slice()));
    let coverage = wants.then(|| self::coverage(runs, &done.sources));
    if let Some(path) = &args.junit {
        write(path, &junit(&rows, &done.sources))?;
    }
    let failed = rows.iter().filter(|row| row.played.failure.is_some()).count();
    if is_text {
        for row in &rows {
            let Some(finding) = &row.finding else { continue };
            let text = one(finding, &done.sources, terminal);
            print_coloured(&format!("\n{text}"))?;
            print(&tail(&row.played))?;
        }
        if let (Some(all), true) = (&coverage, args.coverage) {
            print(&human(all))?;
            print(&untested(&done))?;
        }
        say("")?;
        say(format!("{} passed, {failed} failed", rows.len() - failed))?;
    } else if is_junit {
        print_coloured(&junit(&rows, &done.sources))?;
    } else {
        print_json(&json(&rows, coverage.as_deref(), &done.sources))?;
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

// Formats the results of tests for other programs: as JSON and as JUnit XML.

/// The version of the JSON format.
const VERSION: u32 = 1;

/// Formats all results as one JSON object.
fn json(rows: &[PlayedTest<'_>], coverage: Option<&[Coverage]>, sources: &Sources) -> String {
    let failed = rows.iter().filter(|row| row.played.failure.is_some()).count();
    let tests: Vec<Value> = rows.iter().map(|row| test(row, sources)).collect();
    let mut all = json!({
        "version": VERSION,
        "passed": rows.len() - failed,
        "failed": failed,
        "tests": tests,
    });
    if let Some(coverage) = coverage {
        all["coverage"] = json!(coverage);
    }
    format!("{all:#}\n")
}

fn test(row: &PlayedTest<'_>, sources: &Sources) -> Value {
    let at = |span: chartc_compiler::syntax::source::Span| {
        let source = sources.get(span.file);
        let place = source.position(span.start);
        (source.name.clone(), place.line, place.column)
    };
    let (file, line, _) = at(row.test.span);
    let related = row.finding.iter().flat_map(|finding| &finding.related);
    let places: Vec<Value> = related
        .map(|(span, what)| {
            let (file, line, column) = at(*span);
            json!({ "file": file, "line": line, "column": column, "what": what })
        })
        .collect();
    let failure = row.played.failure.as_ref().map(|failure| {
        let (file, line, column) = at(failure.span);
        json!({
            "file": file,
            "line": line,
            "column": column,
            "message": failure.message,
            "found": failure.found,
            "help": failure.help,
            "places": places,
            "trace": last(&row.played),
        })
    });
    json!({
        "file": file,
        "line": line,
        "name": row.test.name,
        "chart": row.checked.chart().name,
        "passed": failure.is_none(),
        "states": row.played.states,
        "ended": row.played.ended,
        "waiting": row.played.waiting,
        "calls": row.played.calls,
        "failure": failure,
    })
}

/// Formats a JUnit report, with a suite for each file that has tests.
fn junit(rows: &[PlayedTest<'_>], sources: &Sources) -> String {
    let mut files: BTreeMap<&str, Vec<&PlayedTest<'_>>> = BTreeMap::new();
    for row in rows {
        files.entry(&sources.get(row.test.span.file).name).or_default().push(row);
    }
    let failed =
        |rows: &[&PlayedTest<'_>]| rows.iter().filter(|r| r.played.failure.is_some()).count();
    let time = |rows: &[&PlayedTest<'_>]| seconds(rows.iter().map(|row| row.took).sum());
    let all: Vec<&PlayedTest<'_>> = rows.iter().collect();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"chartc\" tests=\"{}\" failures=\"{}\" errors=\"0\" time=\"{}\">\n",
        all.len(),
        failed(&all),
        time(&all)
    );
    for (file, rows) in files {
        text.push_str(&format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\" time=\"{}\">\n",
            escaped(file),
            rows.len(),
            failed(&rows),
            time(&rows)
        ));
        for row in rows {
            case(row, file, sources, &mut text);
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

/// Formats a time in seconds with six decimals, as JUnit reports have it.
fn seconds(took: Duration) -> String {
    format!("{:.6}", took.as_secs_f64())
}

fn case(row: &PlayedTest<'_>, file: &str, sources: &Sources, text: &mut String) {
    let line = sources.get(row.test.span.file).position(row.test.span.start).line;
    text.push_str(&format!(
        "    <testcase name=\"{}\" classname=\"{}\" file=\"{}\" line=\"{line}\" time=\"{}\"",
        escaped(&row.test.name),
        escaped(&row.checked.chart().name),
        escaped(file),
        seconds(row.took),
    ));
    let Some(failure) = &row.played.failure else {
        text.push_str("/>\n");
        return;
    };
    let source = sources.get(failure.span.file);
    let place = source.position(failure.span.start);
    let mut body = format!("{}:{}:{}: {}", source.name, place.line, place.column, failure.message);
    for more in failure.found.iter().chain(&failure.help) {
        body.push_str(&format!("\n{more}"));
    }
    for (span, what) in row.finding.iter().flat_map(|finding| &finding.related) {
        let source = sources.get(span.file);
        let place = source.position(span.start);
        body.push_str(&format!("\n{}:{}:{}: {what}", source.name, place.line, place.column));
    }
    body.push_str(&format!("\n{}", tail(&row.played).as_str()));
    text.push_str(&format!(
        ">\n      <failure message=\"{}\" type=\"failed-test\">{}</failure>\n    </testcase>\n",
        escaped(&failure.message),
        escaped(&body)
    ));
}

// Formats tests as text: results, and the ends of traces.

/// The number of trace lines that are shown of a failed test.
const TAIL: usize = 12;

/// Adds a line with the result of a test.
fn went(out: &mut StyledText, played: &Played, test: &str) {
    if played.failure.is_some() {
        out.led("31", "FAILED", format!(" {test}"));
    } else {
        out.led("32", "ok", format!("     {test}"));
        for waits in &played.waiting {
            out.line(format!("         waiting: {waits}"));
        }
    }
}

/// Formats the last lines of the trace.
fn last(played: &Played) -> Vec<String> {
    let from = played.lines.len().saturating_sub(TAIL);
    played.lines[from..].iter().map(words).collect()
}

/// Formats the final states and the last lines of the trace.
fn tail(played: &Played) -> StyledText {
    let states = match played.states.join(", ") {
        states if states.is_empty() => "nowhere".to_owned(),
        states => states,
    };
    let mut out = StyledText::default();
    out.line(format!("  at {states}; the last that happened:"));
    for line in last(played) {
        out.line(format!("    {line}"));
    }
    out
}

/// Formats a trace line: its kind, then its fields.
fn words(line: &Line) -> String {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(&line.what) else {
        return String::new();
    };
    let mut text = if line.child.is_empty() { String::new() } else { format!("{}: ", line.child) };
    text.push_str(fields.get("kind").and_then(serde_json::Value::as_str).unwrap_or_default());
    if let Some(line) = fields.get("line") {
        let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let targets = line["targets"].as_array().into_iter().flatten();
        let targets: Vec<&str> = targets.filter_map(serde_json::Value::as_str).collect();
        text.push_str(&format!(" {} {}", word("state"), word("trigger")));
        if !targets.is_empty() {
            text.push_str(&format!(" -> {}", targets.join(", ")));
        }
    }
    for (key, value) in &fields {
        if matches!(key.as_str(), "kind" | "line" | "hash" | "oracle") {
            continue;
        }
        let value = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        if !value.is_empty() {
            text.push_str(&format!(" {key}={}", short(&value, 80)));
        }
    }
    text
}

// Computes the coverage of a chart by its tests, from the traces of their runs.

/// The parts of a chart that tests have covered.
#[derive(Debug, Default)]
struct CoveredParts {
    entered: BTreeSet<String>,
    taken: BTreeSet<Span>,
    /// The guards that were seen true, and those that were seen false.
    held: BTreeSet<Span>,
    refused: BTreeSet<Span>,
    offered: BTreeSet<String>,
    chosen: BTreeSet<String>,
}

/// A count out of a total.
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
pub(super) struct Share {
    pub(super) seen: usize,
    pub(super) all: usize,
}

impl Share {
    /// The share in percent; 100 if the total is 0.
    pub(super) fn percent(self) -> f64 {
        if self.all == 0 { 100.0 } else { 100.0 * self.seen as f64 / self.all as f64 }
    }
}

/// A transition that no test takes.
#[derive(Debug, serde::Serialize)]
pub(super) struct Untaken {
    pub(super) file: String,
    pub(super) line: usize,
    pub(super) text: String,
}

/// The coverage of one chart.
#[derive(Debug, serde::Serialize)]
pub(super) struct Coverage {
    pub(super) chart: String,
    pub(super) file: String,
    /// The sum of all shares below, which `--min-coverage` compares with.
    pub(super) all: Share,
    pub(super) states: Share,
    pub(super) lines: Share,
    pub(super) options_offered: Share,
    pub(super) options_chosen: Share,
    pub(super) guards_true: Share,
    pub(super) guards_false: Share,
    /// The paths of the states that no test enters.
    pub(super) never_entered: Vec<String>,
    /// The transitions that no test takes.
    pub(super) never_taken: Vec<Untaken>,
    /// The options that no test chooses.
    pub(super) never_chosen: Vec<String>,
}

impl Coverage {
    /// The shares, each with its label.
    pub(super) fn rows(&self) -> [(&'static str, Share); 6] {
        [
            ("states entered", self.states),
            ("lines taken", self.lines),
            ("options offered", self.options_offered),
            ("options chosen", self.options_chosen),
            ("guards seen true", self.guards_true),
            ("guards seen false", self.guards_false),
        ]
    }

    fn added_up(mut self) -> Self {
        self.all = self.rows().iter().fold(Share::default(), |all, (_, row)| Share {
            seen: all.seen + row.seen,
            all: all.all + row.all,
        });
        self
    }
}

/// A chart that tests have run, and what they have covered of it.
struct CoveredChart<'c> {
    chart: &'c Chart,
    map: &'c SourceMap,
    seen: CoveredParts,
}

/// Computes the coverage of each chart that ran, in the order of the sources.
pub(super) fn coverage<'c>(
    runs: impl Iterator<Item = (&'c Checked, &'c [Line])>,
    sources: &Sources,
) -> Vec<Coverage> {
    let mut subjects: BTreeMap<Span, CoveredChart<'c>> = BTreeMap::new();
    for (checked, lines) in runs {
        for one in std::iter::once(checked.lowered()).chain(checked.lowered_children()) {
            let (chart, map, seen) = (&one.chart, &one.map, CoveredParts::default());
            subjects.entry(map.name).or_insert(CoveredChart { chart, map, seen });
        }
        follow(checked, lines, |one, _, did| {
            subjects.get_mut(&one.map.name).into_iter().for_each(|subject| subject.see(&did));
        });
    }
    subjects.values().map(|subject| subject.sum(sources)).collect()
}

impl CoveredChart<'_> {
    fn see(&mut self, did: &Did) {
        let Self { chart, map, seen } = self;
        match did {
            Did::Entered(state) => {
                seen.entered.insert(chart.state(*state).path.clone());
            }
            Did::Taken(line) => {
                seen.taken.insert(map.transition(*line).whole);
                seen.held.extend(map.transition(*line).guard);
            }
            Did::Held(line) => seen.held.extend(map.transition(*line).guard),
            Did::Refused(line) => seen.refused.extend(map.transition(*line).guard),
            Did::Offered(option) => {
                seen.offered.insert(option.clone());
            }
            Did::Chosen(option) => {
                seen.chosen.insert(option.clone());
            }
            Did::Denied(_) | Did::Done(_) => {}
        }
    }

    fn untaken(&self, span: Span, sources: &Sources) -> Option<Untaken> {
        let nth = self.map.transitions.iter().position(|line| line.whole == span)?;
        let (line, text) = output::line(self.chart, self.map, TransitionId::at(nth), sources);
        Some(Untaken { file: sources.get(span.file).name.clone(), line, text })
    }

    fn sum(&self, sources: &Sources) -> Coverage {
        let Self { chart, map, seen } = self;
        // The root is entered in every run, and a history in none.
        let real = |state: &&chartc_core::model::State| {
            state.parent.is_some() && !matches!(state.kind, StateKind::History { .. })
        };
        let states: BTreeSet<&str> =
            chart.states.iter().filter(real).map(|state| state.path.as_str()).collect();
        // Counted by source text, so that a line with `from *` counts once.
        let lines: BTreeSet<Span> = map.transitions.iter().map(|line| line.whole).collect();
        let guards: BTreeSet<Span> = map.transitions.iter().filter_map(|line| line.guard).collect();
        let mut options: BTreeSet<&str> = BTreeSet::new();
        for choice in &chart.choices {
            match &choice.kind {
                ChoiceKind::Option(_) => {
                    options.insert(&choice.name);
                }
                ChoiceKind::Call(set, _) => {
                    let tools = chart.tools_of(*set);
                    options.extend(tools.iter().map(|id| chart.tools[id.index()].name.as_str()));
                }
            }
        }
        let share = |all: usize, seen: usize| Share { seen, all };
        let count = |names: &BTreeSet<&str>, seen: &BTreeSet<String>| {
            names.iter().filter(|name| seen.contains(**name)).count()
        };
        let inside = |all: &BTreeSet<Span>, seen: &BTreeSet<Span>| all.intersection(seen).count();
        let without = |names: &BTreeSet<&str>, seen: &BTreeSet<String>| {
            let left = names.iter().filter(|name| !seen.contains(**name));
            left.map(|name| (*name).to_owned()).collect()
        };
        let coverage = Coverage {
            chart: chart.name.clone(),
            file: sources.get(map.file).name.clone(),
            all: Share::default(),
            states: share(states.len(), count(&states, &seen.entered)),
            lines: share(lines.len(), inside(&lines, &seen.taken)),
            options_offered: share(options.len(), count(&options, &seen.offered)),
            options_chosen: share(options.len(), count(&options, &seen.chosen)),
            guards_true: share(guards.len(), inside(&guards, &seen.held)),
            guards_false: share(guards.len(), inside(&guards, &seen.refused)),
            never_entered: without(&states, &seen.entered),
            never_taken: lines
                .difference(&seen.taken)
                .filter_map(|at| self.untaken(*at, sources))
                .collect(),
            never_chosen: without(&options, &seen.chosen),
        };
        coverage.added_up()
    }
}

/// Formats the coverage as text.
pub(super) fn human(all: &[Coverage]) -> StyledText {
    let mut text = StyledText::default();
    for one in all {
        text.line("");
        text.line(format!("{} ({})", one.chart, one.file));
        let rows = one.rows().into_iter().chain([("all", one.all)]);
        for (what, share) in rows.filter(|(_, share)| share.all > 0) {
            let (seen, all) = (share.seen, share.all);
            text.line(format!("  {what:18}{seen:>4} of {all:<4} {:>3.0} %", share.percent()));
        }
        if !one.never_entered.is_empty() {
            text.line(format!("  never entered: {}", one.never_entered.join(", ")));
        }
        if !one.never_chosen.is_empty() {
            text.line(format!("  never chosen: {}", one.never_chosen.join(", ")));
        }
        if !one.never_taken.is_empty() {
            text.line("  never taken:");
        }
        for line in &one.never_taken {
            text.line(format!("    {}:{}  {}", line.file, line.line, line.text));
        }
    }
    text
}
