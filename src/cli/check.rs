//! The command `chartc check`: checks files, plays their tests, and reports what is wrong.
//!
//! **The problem.** The compiler returns every finding. Which ones are shown, and which make the command fail, depends on the options, on
//! the `chartc.toml` of each file, and on what a team has accepted before.
//!
//! **The idea.** `once` is a pipeline:
//!
//! 1. `select` finds the files: named ones, those in folders, and the tests beside named ones.
//! 2. `check_each` compiles and explores them. With `--fix`, `Fixing::apply` does so and changes the files.
//! 3. `finish` plays tests, applies the levels of each file, and writes or applies a baseline.
//! 4. `show` prints the report, or the table of `--cost` or `--statistics`. `write_runs` writes witnesses.
//!
//! With `--watch`, `forever` repeats this whenever the time or the length of a file that was read changes. The rest of the file has a part
//! for each option: `--statistics`, baselines, `--cost`, `--watch`.
//!
//! **Example.** A baseline identifies a finding by file, code and fingerprint. No line number is in it, so it survives edits elsewhere:
//!
//! ```text
//! known.json   a.chart C0302 f1     a.chart C0303 f2
//! found now    a.chart C0302 f1     b.chart C0310 f3
//! reported     b.chart C0310, and on standard error: gone: a.chart: C0303 …
//! ```

use super::config::{self, Config, Levels, Setting, Settings};
#[cfg(feature = "run")]
use super::files::tests_of as beside;
use super::files::{Files, Root, Skips, write, write_into};
use super::fix::{Fixing, Outcome};
use super::output::{
    self, Colour, Exit, StyledText, align_columns, begin_anew, complain, print, print_coloured,
    print_json, terminal,
};
use crate::Compilation;
use crate::costs::{amount_text, bound, driver, formula, name, path};
use crate::disk::{named, shown, tidy};
use crate::report::REPORTS;
use crate::report::{Findings, Terminal, fingerprints};
use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::analysis::turn::Driver;
use chartc_compiler::analysis::turn::cost::{CallBound, Cost, Money, Most, RunCost, cost, money};
use chartc_compiler::compile::{Checked, check_each};
use chartc_compiler::explore::STATES;
use chartc_compiler::notation;
use chartc_compiler::syntax::diagnostic::{Diagnostic, Rule, Severity};
use chartc_compiler::syntax::source::{FileId, Sources};
use chartc_core::machine::LimitKind;
use chartc_core::model::Chart;
use chartc_core::visible;
use clap::builder::PossibleValuesParser;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

/// Check charts and agents before they run: names, types, structure, behaviour, prompts, data and tests.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc check                                  every chart and agent below this folder
  chartc check charts/builder.chart agents/     some files and folders
  cat my.chart | chartc check -                 standard input
  chartc check --deny warnings                  fail on warnings, too
  chartc check --witness runs/                  write runs that refute `check` lines
  chartc check --format json > findings.json    for other programs; sarif, github, gitlab and junit for CI servers
  chartc check --cost my.chart                  model calls of a turn and of a run
  chartc check --no-tests                       do not play tests
  chartc check --fix --diff                     show what --fix would change
  chartc check --write-baseline known.json      accept all current findings, except C0001 to C0005
  chartc check --baseline known.json            report only what is new
  chartc check --statistics                     count the findings of each rule
  chartc check --watch charts/                  check again whenever a file changes, until Ctrl-C

Tests are played offline: those in the files, those in x.test.chart beside an x.chart that you name,
and those of each *.test.chart in a folder. A failed test is the error C0601.

A file has the settings of the nearest chartc.toml, in its folder or above. Options override them.

  [lints]
  undriven-state = \"allow\"
  warnings = \"deny\"
  [check]
  fail-on = \"warning\"
  tests = false
  exclude = [\"vendor/\", \"*.draft.chart\"]
  [per-path.\"legacy/**\"]
  C0303 = \"allow\"

A comment suppresses a diagnostic in its own line or, if it stands alone, in the next one:

  // chartc: allow(C0301) reason

Exit codes: 0 clean, 1 diagnostics at or above --fail-on, 2 wrong usage, 3 internal error,
4 nothing to check")]
pub(super) struct Args {
    /// Files, folders, or - for standard input [default: this folder]
    paths: Vec<String>,
    /// Format of the diagnostics
    #[arg(long, default_value = "human", value_parser = PossibleValuesParser::new(REPORTS.iter().map(|r| r.name)))]
    format: String,
    /// Show the minimum and maximum number of model calls of a turn and of a run, instead of diagnostics; with --format json as JSON
    #[arg(long)]
    cost: bool,
    /// Show how many findings each rule has, instead of diagnostics; with --format json as JSON
    #[arg(long, conflicts_with = "cost")]
    statistics: bool,
    /// Report only findings that this file does not list, and which of its findings are gone
    #[arg(long, value_name = "FILE", conflicts_with = "write_baseline")]
    baseline: Option<PathBuf>,
    /// Write all findings to this file, for --baseline; those of syntax and loading (C0001 to C0005) are still reported
    #[arg(long, value_name = "FILE")]
    write_baseline: Option<PathBuf>,
    /// Check again whenever a file changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["fix", "unsafe_fixes", "diff", "write_baseline", "witness"])]
    watch: bool,
    /// File name for standard input: decides its language, its settings and the folder of its imports
    #[arg(long, value_name = "FILE")]
    stdin_filename: Option<String>,
    /// Apply `exclude` of chartc.toml also to files that are named
    #[arg(long)]
    force_exclude: bool,
    /// Lowest level that makes the check fail [default: error]
    #[arg(long, value_name = "LEVEL", value_parser = ["error", "warning", "note"])]
    fail_on: Option<String>,
    /// Raise a rule to an error, by code or name, or all active warnings by `warnings`
    #[arg(long, value_name = "CODE|NAME|warnings")]
    deny: Vec<String>,
    /// Set a rule to a warning, by code or name, even if it is off; with `warnings`, warnings that a chartc.toml denies are warnings again
    #[arg(long, value_name = "CODE|NAME|warnings")]
    warn: Vec<String>,
    /// Turn a rule off, by code or name (not possible for errors of syntax, names and data)
    #[arg(long, value_name = "CODE|NAME")]
    allow: Vec<String>,
    /// Maximum number of states to explore for a `check` line [default: 2000]
    #[arg(long, value_name = "N")]
    explore: Option<usize>,
    /// Do not play tests
    #[arg(long)]
    no_tests: bool,
    /// Folder for runs that refute `check` lines, to be played by `chartc simulate`
    #[arg(long, value_name = "DIR")]
    witness: Option<PathBuf>,
    /// When to use colours in human output
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Colour::Auto)]
    color: Colour,
    #[command(flatten)]
    fixing: Fixing,
    #[command(flatten)]
    root: Root,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let mut read = Vec::new();
    if !args.watch {
        return once(&args, &settings(&args)?, &mut read);
    }
    if args.paths.iter().any(|path| path == "-") {
        return Err(miette::miette!("--watch watches files, not standard input"));
    }
    settings(&args)?;
    let list = |read: &[String]| {
        let Ok(settings) = settings(&args) else { return Vec::new() };
        let mut names =
            found(&args, &settings).map_or_else(|_| Vec::new(), |files| files.names().to_vec());
        // `for_file` searches for the `chartc.toml` of each file, so a new one is watched too. The check itself reports its errors.
        names.iter().chain(read).for_each(|name| drop(settings.for_file(name)));
        names.extend(settings.files());
        names
    };
    forever(list, |read| {
        let settings = settings(&args)?;
        let ended = once(&args, &settings, read);
        read.extend(settings.files());
        ended
    })
}

/// The settings from the options. Those from files are added when a file is checked.
fn settings(args: &Args) -> miette::Result<Arc<Settings>> {
    let mut levels = Levels::default();
    levels.add(&args.allow, &args.warn, &args.deny)?;
    Settings::new(Config {
        levels,
        fail_on: args.fail_on.as_deref().map(config::severity),
        explore: args.explore,
        tests: (args.no_tests || args.cost).then_some(false),
        ..Config::default()
    })
    .map(Arc::new)
}

/// The stack of a thread that checks charts, as large as that of the first thread usually is.
const STACK: usize = 8 << 20;

/// Checks the files once. Adds the names of all files that were read to `read`.
fn once(args: &Args, settings: &Arc<Settings>, read: &mut Vec<String>) -> miette::Result<Exit> {
    for (option, is_given) in [("--cost", args.cost), ("--statistics", args.statistics)] {
        if is_given && !matches!(args.format.as_str(), "human" | "json") {
            return Err(miette::miette!("{option} supports only the formats human and json"));
        }
    }
    let files = match select(args, settings)? {
        ControlFlow::Continue(files) => files,
        ControlFlow::Break(exit) => return Ok(exit),
    };
    let states = |name: &str| settings.for_file(name).map_or(STATES, |own| own.states);
    let (mut done, fixed) = if args.fixing.is_asked() {
        let counts = |name: &str, found: &Diagnostic| {
            settings.for_file(name).is_ok_and(|own| !own.levels.is_off(found.rule))
        };
        let fixed = args.fixing.apply(&files, &states, &counts, terminal(args.color))?;
        match fixed {
            Outcome::Shown(exit) => return Ok(exit),
            Outcome::Applied(done, said) => (*done, said),
        }
    } else {
        (check_each(files.names(), &files, &states, &on_all_cores), None)
    };
    read.extend(done.sources.iter().map(|(_, source)| source.name.clone()));
    let empty = done.diagnostics.iter().filter(|d| d.rule.name == "empty-file").count();
    let nothing = empty == done.sources.iter().count() && !files.names().is_empty();
    let bars = finish(args, settings, &mut done)?;
    let findings = Findings {
        diagnostics: &done.diagnostics,
        suppressed: &done.suppressed,
        sources: &done.sources,
        bars: &bars,
        terminal: terminal(args.color),
    };
    show(args, &findings, &done.charts, files.stdin().is_some())?;
    if let Some(said) = fixed {
        output::complain(said);
    }
    if let Some(folder) = &args.witness {
        write_runs(folder, &done)?;
    }
    let fails = done.diagnostics.iter().any(|found| findings.fails(found));
    // The process ends after a single check: the system frees its memory at once, which is faster than dropping each value.
    if !args.watch {
        std::mem::forget(done);
    }
    Ok(if fails {
        Exit::Findings
    } else if nothing {
        Exit::Nothing
    } else {
        Exit::Clean
    })
}

/// Runs jobs on all cores.
fn on_all_cores(count: usize, job: &(dyn Fn(usize) + Sync)) {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let work = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        numbers.take_while(|nth| *nth < count).for_each(job);
    };
    std::thread::scope(|scope| {
        for _ in 1..cores.min(count) {
            // A thread that cannot be started leaves its share to the others.
            let _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        }
        work();
    });
}

/// Selects the files to check. Returns the exit code if there are none.
fn select(args: &Args, settings: &Arc<Settings>) -> miette::Result<ControlFlow<Exit, Files>> {
    let mut files = found(args, settings)?;
    if let Some(name) = &args.stdin_filename {
        files.name_stdin(name)?;
    }
    let asked = files.names().len();
    if args.force_exclude {
        if let Some(stdin) = files.stdin()
            && args.fixing.is_asked()
            && settings.exclude(stdin)?
        {
            // An editor replaces its text with the output, so an excluded text has to come back unchanged.
            return args.fixing.keep(&files, stdin).map(ControlFlow::Break);
        }
        // Named files are kept by default: whoever names a file wants it checked.
        files.take_out(|name| settings.exclude(name))?;
    }
    let excludes = files.names().len() < asked;
    let others = files.without_others();
    for name in &others {
        output::complain(format!(
            "{name} is no chart: chartc reads *.chart, agent.yaml, *.agent.yaml and *.scxml"
        ));
    }
    if files.names().is_empty() && !others.is_empty() {
        return Ok(ControlFlow::Break(Exit::Nothing));
    }
    if files.names().is_empty() && !excludes {
        output::complain(
            "nothing to check: no *.chart, *.scxml or agent.yaml found here; name a file or a folder",
        );
        return Ok(ControlFlow::Break(Exit::Nothing));
    }
    // Report errors in settings before the work begins.
    files.names().iter().try_for_each(|name| settings.for_file(name).map(drop))?;
    Ok(ControlFlow::Continue(files))
}

/// Plays the tests, and applies settings and baselines to the findings. Returns for each file the least severity that fails.
fn finish(
    args: &Args,
    settings: &Arc<Settings>,
    done: &mut Compilation,
) -> miette::Result<Vec<Severity>> {
    // Findings of rules that are off by default: the settings may turn them on.
    let silent = std::mem::take(&mut done.silent);
    let names = done.sources.iter().map(|(_, source)| source.name.as_str());
    let own: Vec<Setting> = names.map(|name| settings.for_file(name)).collect::<Result<_, _>>()?;
    let own_of = |file: FileId| &own[file.0 as usize];
    play(done, &|file| own_of(file).plays);
    config::apply(|file| &own_of(file).levels, &mut done.diagnostics, silent);
    if let Some(path) = &args.write_baseline {
        create(path, &mut done.diagnostics, &done.sources)?;
    }
    if let Some(path) = &args.baseline {
        cover(path, &mut done.diagnostics, &done.sources)?;
    }
    Ok(own.iter().map(|own| own.bar).collect())
}

/// Prints the findings, or what the options ask for instead of them.
fn show(
    args: &Args,
    findings: &Findings<'_>,
    charts: &[Checked],
    reads_stdin: bool,
) -> miette::Result<()> {
    if args.cost {
        let is_error = |d: &&Diagnostic| d.severity == Severity::Error;
        let errors: Vec<Diagnostic> =
            findings.diagnostics.iter().filter(is_error).cloned().collect();
        let text = REPORTS[0].render(&errors, findings.sources, terminal(args.color));
        if !errors.is_empty() {
            output::complain_report(&text);
        }
        return match args.format.as_str() {
            "json" => print_json(&json(charts)),
            _ => print(&human(charts)),
        };
    }
    if args.statistics {
        let is_json = args.format == "json";
        return show_statistics(findings.diagnostics, is_json, terminal(args.color));
    }
    let text = (crate::report::format(&args.format).format)(findings);
    if args.fixing.is_asked() && reads_stdin {
        // Standard output carries the fixed text.
        output::complain_report(&text);
        return Ok(());
    }
    print_coloured(&text)
}

/// The files to check and, if tests are played, the test files beside the files that the user named.
fn found(args: &Args, settings: &Arc<Settings>) -> miette::Result<Files> {
    let own = Arc::clone(settings);
    let skips: Skips = Arc::new(move |path, is_folder| own.leave_out(path, is_folder));
    let plays = |name: &String| settings.for_file(name).is_ok_and(|own| own.plays);
    Files::find_without(&args.paths, &args.root, &skips, |name| beside(name).filter(plays))
}

/// Without the feature `run` no tests are played.
#[cfg(not(feature = "run"))]
fn beside(_: &str) -> Option<String> {
    None
}

/// Adds a finding for each failed test in the files that `plays` selects.
#[cfg(feature = "run")]
pub(super) fn play(done: &mut Compilation, plays: &dyn Fn(FileId) -> bool) {
    let failed = crate::scenario::failed_in(done, plays);
    if !failed.is_empty() {
        done.diagnostics.extend(failed);
        // The report groups findings by file, and expects them in this order.
        done.diagnostics.sort_by_key(|d| (d.span, d.rule.code));
    }
}

/// Without the feature `run` no tests are played.
#[cfg(not(feature = "run"))]
pub(super) fn play(_: &mut Compilation, _: &dyn Fn(FileId) -> bool) {}

/// Writes the witnesses of refuted `check` lines. If charts of several files share a name, those of each file go into a folder named after
/// it.
fn write_runs(folder: &Path, done: &Compilation) -> miette::Result<()> {
    let mut by_file: BTreeMap<FileId, Vec<&(String, String)>> = BTreeMap::new();
    for found in &done.diagnostics {
        by_file.entry(found.span.file).or_default().extend(&found.witness);
    }
    let mut owners: BTreeMap<&str, usize> = BTreeMap::new();
    for runs in by_file.values() {
        let names: BTreeSet<&str> = runs.iter().map(|(name, _)| name.as_str()).collect();
        for name in names {
            *owners.entry(name).or_default() += 1;
        }
    }
    for (file, runs) in by_file {
        let (own, shared): (Vec<_>, Vec<_>) =
            runs.into_iter().partition(|(n, _)| owners[&**n] == 1);
        write_into(folder, own.into_iter())?;
        if !shared.is_empty() {
            // The name of a file contains separators, and may begin with dots, which would hide the folder.
            let plain = |c: char| if c.is_alphanumeric() || c == '.' { c } else { '_' };
            let name: String = done.sources.get(file).name.chars().map(plain).collect();
            let inner = folder.join(name.trim_start_matches(['_', '.']));
            output::complain(format!(
                "several charts have the same name: the runs of {} are in {}",
                done.sources.get(file).name,
                inner.display()
            ));
            write_into(&inner, shared.into_iter())?;
        }
    }
    Ok(())
}

// The table of `chartc check --statistics`: the number of findings of each rule.

struct StatisticsRow {
    rule: &'static Rule,
    level: Severity,
    count: usize,
    fixable: usize,
}

/// Prints a row for each rule, the most frequent first, and the total.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn show_statistics(
    diagnostics: &[Diagnostic],
    is_json: bool,
    terminal: Terminal,
) -> miette::Result<()> {
    let mut rows: BTreeMap<&str, StatisticsRow> = BTreeMap::new();
    for found in diagnostics {
        let new = StatisticsRow { rule: found.rule, level: found.severity, count: 0, fixable: 0 };
        let row = rows.entry(found.rule.code).or_insert(new);
        // A rule may have different levels in different files.
        row.level = row.level.max(found.severity);
        row.count += 1;
        row.fixable += usize::from(found.fix.as_ref().is_some_and(|fix| fix.is_safe));
    }
    let mut rows: Vec<StatisticsRow> = rows.into_values().collect();
    rows.sort_by_key(|row| Reverse(row.count));
    let fixable = rows.iter().map(|row| row.fixable).sum::<usize>();
    if is_json {
        let row = |row: &StatisticsRow| {
            json!({
                "code": row.rule.code,
                "name": row.rule.name,
                "severity": row.level.word(),
                "count": row.count,
                "fixable": row.fixable,
            })
        };
        let rules: Vec<Value> = rows.iter().map(row).collect();
        let total =
            json!({ "version": 1, "total": diagnostics.len(), "fixable": fixable, "rules": rules });
        return print_json(&format!("{total:#}\n"));
    }
    let mut out = StyledText::on(terminal);
    for row in &rows {
        let mark = if row.fixable > 0 {
            format!(", {} with a safe fix", row.fixable)
        } else {
            String::new()
        };
        out.line(format!(
            "{:>6}  {}  {:<7}  {}{mark}",
            row.count,
            row.rule.code,
            row.level.word(),
            row.rule.name
        ));
    }
    out.line(format!("{:>6}  total, {fixable} with a safe fix", diagnostics.len()));
    print(&out)
}

// Baselines: lists of findings that a team has accepted for now. A check with a baseline reports only findings that it does not list.
//
// ```json
// {"version":1,"findings":[
// {"file":"a.chart","code":"C0302","fingerprint":"…","message":"…"}
// ]}
// ```

/// The version of the file's format.
const VERSION: u32 = 1;

/// The last code that a baseline cannot contain: a file that cannot be read or parsed hides its other findings.
const LAST_FIRM: &str = "C0005";

/// The maximum number of missing findings that are listed.
const MOST_NAMED: usize = 10;

#[derive(Deserialize)]
struct BaselineDocument {
    version: u32,
    findings: Vec<Entry>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    file: String,
    code: String,
    fingerprint: String,
    message: String,
}

/// The entry of each finding, in order; `None` for a finding that no baseline can contain.
fn entries(path: &Path, diagnostics: &[Diagnostic], sources: &Sources) -> Vec<Option<Entry>> {
    let folder = folder(path);
    let own = |name: &str| relative(&folder, name);
    let prints = fingerprints(diagnostics, sources, own);
    let entry = |(found, fingerprint): (&Diagnostic, String)| {
        (found.rule.code > LAST_FIRM).then(|| Entry {
            file: own(&sources.get(found.span.file).name),
            code: found.rule.code.to_owned(),
            fingerprint,
            message: found.message.clone(),
        })
    };
    diagnostics.iter().zip(prints).map(entry).collect()
}

/// Writes the findings to the file and removes them from `diagnostics`, except those that no baseline can contain.
///
/// # Errors
/// The file could not be written.
pub(super) fn create(
    path: &Path,
    diagnostics: &mut Vec<Diagnostic>,
    sources: &Sources,
) -> miette::Result<()> {
    let entries = entries(path, diagnostics, sources);
    let mut lines: Vec<&Entry> = entries.iter().flatten().collect();
    // A fixed order keeps the differences small when the file is under version control.
    lines.sort_by(|a, b| {
        (&a.file, &a.code, &a.fingerprint).cmp(&(&b.file, &b.code, &b.fingerprint))
    });
    let line = |entry: &&Entry| serde_json::to_string(entry).expect("strings always serialize");
    let body: Vec<String> = lines.iter().map(line).collect();
    let text = format!("{{\"version\":{VERSION},\"findings\":[\n{}\n]}}\n", body.join(",\n"));
    write(path, &visible::json(&text))?;
    complain(format!(
        "{} finding{} in {}",
        body.len(),
        if body.len() == 1 { "" } else { "s" },
        path.display()
    ));
    let mut covered = entries.iter().map(Option::is_some);
    diagnostics.retain(|_| !covered.next().unwrap_or(false));
    Ok(())
}

/// Removes the findings that the file lists, and reports the entries that no longer occur.
///
/// # Errors
/// The file cannot be read, or is not a baseline.
pub(super) fn cover(
    path: &Path,
    diagnostics: &mut Vec<Diagnostic>,
    sources: &Sources,
) -> miette::Result<()> {
    let listed = read(path)?;
    let mut left: BTreeMap<(String, String, String), Entry> = listed
        .into_iter()
        .map(|e| ((e.file.clone(), e.code.clone(), e.fingerprint.clone()), e))
        .collect();
    let entries = entries(path, diagnostics, sources);
    let mut covered = entries.into_iter().map(|entry| {
        entry.is_some_and(|e| left.remove(&(e.file, e.code, e.fingerprint)).is_some())
    });
    diagnostics.retain(|_| !covered.next().unwrap_or(false));
    drop(covered);
    let folder = folder(path);
    let checked: Vec<String> =
        sources.iter().map(|(_, source)| relative(&folder, &source.name)).collect();
    // This check says nothing about files that it did not read, unless they have been deleted.
    left.retain(|(file, ..), _| checked.contains(file) || !folder.join(file).exists());
    if left.is_empty() {
        return Ok(());
    }
    for entry in left.values().take(MOST_NAMED) {
        complain(format!("gone: {}: {} {}", entry.file, entry.code, entry.message));
    }
    let (count, path) = (left.len(), path.display());
    complain(format!(
        "{count} of the findings in {path} {} gone; update it with `--write-baseline {path}`",
        if count == 1 { "is" } else { "are" }
    ));
    Ok(())
}

fn read(path: &Path) -> miette::Result<Vec<Entry>> {
    let help = "write it with `chartc check --write-baseline FILE`";
    let text = named(path).map_err(|why| {
        miette::miette!(help = help, "cannot read the baseline {}: {why}", path.display())
    })?;
    let document: BaselineDocument = serde_json::from_str(&text)
        .map_err(|why| miette::miette!(help = help, "{} is no baseline: {why}", path.display()))?;
    if document.version != VERSION {
        let version = document.version;
        return Err(miette::miette!(
            help = help,
            "{} is a baseline of version {version}, and this chartc reads version {VERSION}",
            path.display()
        ));
    }
    Ok(document.findings)
}

/// The absolute path of the folder of a file.
fn folder(path: &Path) -> PathBuf {
    let folder = path.parent().unwrap_or(Path::new(""));
    let folder = std::path::absolute(folder.join(".")).unwrap_or_else(|_| folder.to_owned());
    tidy(&folder)
}

/// The path of a file relative to `folder`, so that a baseline is the same wherever the check runs; absolute if it is not below it.
fn relative(folder: &Path, name: &str) -> String {
    let path = std::path::absolute(name).unwrap_or_else(|_| PathBuf::from(name));
    let path = tidy(&path);
    shown(path.strip_prefix(folder).unwrap_or(&path))
}

// The tables of `chartc check --cost`: model calls of a turn and of a run.

/// The maximum number of turns in the text. The most expensive come first.
const ROWS: usize = 20;

/// Formats the cost of each chart as text.
pub(super) fn human(charts: &[Checked]) -> StyledText {
    let mut out = StyledText::default();
    for checked in charts {
        let chart = checked.chart();
        let found = cost(chart, &Facts::new(chart));
        if !out.is_empty() {
            out.line("");
        }
        out.line(format!("{}: model calls of {}", checked.source(), chart.name));
        table(&mut out, chart, &found);
    }
    out
}

fn table(out: &mut StyledText, chart: &Chart, found: &Cost) {
    let mut turns: Vec<_> = found.turns.iter().collect();
    turns.sort_by_key(|t| (std::cmp::Reverse(t.worst), t.leaf));
    let more = turns.len().saturating_sub(ROWS);
    turns.truncate(ROWS);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for turn in turns {
        let why: Vec<String> = turn.drivers.iter().take(4).map(|d| driver(chart, d)).collect();
        let rest = if turn.drivers.len() > 4 { " + …" } else { "" };
        rows.push(vec![
            path(chart, turn.leaf).to_owned(),
            turn.least.to_string(),
            turn.worst.to_string(),
            why.join(" + ") + rest,
        ]);
    }
    if more > 0 {
        rows.push(vec![format!("and {more} more"), String::new(), String::new(), String::new()]);
    }
    for event in &found.events {
        let why = driver(chart, event);
        rows.push(vec![
            format!("a question of {}", name(chart, event.step)),
            "0".into(),
            event.calls().to_string(),
            why,
        ]);
    }
    rows.push(calls_row(chart, found));
    if let Some(found) = money(chart, &found.run).filter(|_| !chart.clients.is_empty()) {
        rows.push(money_row(chart, &found));
    }
    out.add(&align_columns(&["a turn that begins in", "least", "worst", ""], &rows, &[1, 2]));
}

/// The row of the model calls of a whole run.
fn calls_row(chart: &Chart, found: &Cost) -> Vec<String> {
    let (least, way) = match &found.run.least {
        Some((calls, lines)) => (calls.to_string(), lines.len()),
        None => ("-".into(), 0),
    };
    let worst = if found.run.worst == CallBound::Formula {
        formula(chart, LimitKind::Calls)
    } else {
        found.run.worst.calls().map_or("unbounded".into(), |n| n.to_string())
    };
    let by = match (found.run.least.is_some(), bound(chart, &found.run)) {
        (true, by) => {
            format!("least over {way} {}; worst: {by}", if way == 1 { "line" } else { "lines" })
        }
        (false, by) => format!("no end is `ok`; worst: {by}"),
    };
    vec!["a run, to an end that is ok".into(), least, worst, by]
}

/// The row of the money that a whole run costs.
fn money_row(chart: &Chart, found: &Money<'_>) -> Vec<String> {
    let known = |amount: Option<f64>| amount.map_or("-".into(), amount_text);
    let most = found.most.known().map_or("unbounded".into(), amount_text);
    let (most, by) = match found.most {
        Most::NoCalls => (most, "no step calls a model".into()),
        Most::Cost(cost) => (most, format!("limits {{ cost {cost:?} }}")),
        Most::Tokens { tokens, price } => {
            (most, format!("limits {{ tokens {tokens} }}, {price:?} for a million"))
        }
        Most::CostOf(cost) => {
            (notation::expression(chart, cost), "limits { cost … } over params".into())
        }
        Most::TokensOf { tokens, price } => {
            let tokens = notation::expression(chart, tokens);
            (format!("({tokens}) * {price:?} / 1e6"), "limits { tokens … } over params".into())
        }
        Most::Answers(answers) => {
            let answers = amount_text(answers);
            (most, format!("answers cost {answers} at most, nothing bounds the prompts"))
        }
        Most::Unbounded => (most, "no limit of cost or tokens".into()),
    };
    vec!["money of such a run".into(), known(found.least), most, by]
}

#[derive(Serialize)]
struct CostDocument<'c> {
    version: u32,
    charts: Vec<Figures<'c>>,
}

#[derive(Serialize)]
struct Figures<'c> {
    file: &'c str,
    chart: &'c str,
    turns: Vec<Turn<'c>>,
    events: Vec<By<'c>>,
    run: JsonRunCost,
}

#[derive(Serialize)]
struct Turn<'c> {
    state: &'c str,
    least: u64,
    worst: u64,
    steps: Vec<By<'c>>,
}

#[derive(Serialize)]
struct By<'c> {
    step: &'c str,
    times: u64,
    retries: u64,
    tools: u64,
    calls: u64,
}

#[derive(Serialize)]
struct JsonRunCost {
    least: Option<u64>,
    worst: Option<u64>,
    bound: String,
    /// The cost in the unit of the prices; absent if a price is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    money: Option<Amounts>,
}

#[derive(Serialize)]
struct Amounts {
    least: Option<f64>,
    most: Option<f64>,
    /// The maximum as an expression over params, if it is not a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<String>,
}

fn amounts(chart: &Chart, run: &RunCost) -> Option<Amounts> {
    let found = money(chart, run).filter(|_| !chart.clients.is_empty())?;
    let formula = match found.most {
        Most::CostOf(cost) => Some(notation::expression(chart, cost)),
        Most::TokensOf { tokens, price } => {
            Some(format!("({}) * {price:?} / 1e6", notation::expression(chart, tokens)))
        }
        _ => None,
    };
    Some(Amounts { least: found.least, most: found.most.known(), formula })
}

fn steps<'c>(chart: &'c Chart, drivers: &[Driver]) -> Vec<By<'c>> {
    let by = |d: &Driver| {
        let step = name(chart, d.step);
        By { step, times: d.times, retries: d.retries, tools: d.tools, calls: d.calls() }
    };
    drivers.iter().map(by).collect()
}

/// Formats the cost of each chart as JSON: `{"version":1,"charts":[…]}`. Later versions only add fields. `null` means that a run has no
/// end, or no bound.
pub(super) fn json(charts: &[Checked]) -> String {
    let figures = |checked: &Checked| {
        let chart = checked.chart();
        let found = cost(chart, &Facts::new(chart));
        let bound = bound(chart, &found.run);
        (found, bound)
    };
    let all: Vec<(Cost, String)> = charts.iter().map(figures).collect();
    let charts = charts
        .iter()
        .zip(&all)
        .map(|(checked, (found, bound))| {
            let chart = checked.chart();
            let turns = found.turns.iter().map(|t| Turn {
                state: path(chart, t.leaf),
                least: t.least,
                worst: t.worst,
                steps: steps(chart, &t.drivers),
            });
            Figures {
                file: checked.source(),
                chart: &chart.name,
                turns: turns.collect(),
                events: steps(chart, &found.events),
                run: JsonRunCost {
                    least: found.run.least.as_ref().map(|(calls, _)| *calls),
                    worst: found.run.worst.calls(),
                    bound: bound.clone(),
                    money: amounts(chart, &found.run),
                },
            }
        })
        .collect();
    let text = serde_json::to_string_pretty(&CostDocument { version: 1, charts });
    text.expect("strings and numbers always serialize") + "\n"
}

// Runs `chartc check --watch` again whenever a file changes.

/// The interval at which files are looked at. Looking costs a system call for each file. Notifications would cost a dependency for each
/// platform, and fail on network file systems.
const PAUSE: Duration = Duration::from_millis(300);

/// The time of the last change of a file, and its length; `None` if there is no such file.
type Stamp = Option<(SystemTime, u64)>;

/// Runs a command, then again whenever one of its files changes, until the process ends. Its files are those that it has read, which
/// `once` adds while it runs the command, and those that `list` returns for them.
///
/// # Errors
/// Standard output cannot be written. An error of the command or its settings is printed instead, and the next change may repair it.
#[allow(clippy::disallowed_methods, reason = "it waits for files to change")]
pub(super) fn forever(
    list: impl Fn(&[String]) -> Vec<String>,
    once: impl Fn(&mut Vec<String>) -> miette::Result<Exit>,
) -> miette::Result<Exit> {
    let mut read: Vec<String> = Vec::new();
    loop {
        // Stamps are taken before files are read, so that a change in between is noticed.
        let early = stamps(&list, &read);
        read.clear();
        if let Err(fault) = once(&mut read) {
            complain(format!("error: {fault}"));
        }
        let mut last = early;
        for name in &read {
            last.entry(name.clone()).or_insert_with(|| stamp(Path::new(name)));
        }
        let listed = stamps(&list, &read);
        // A file that is no longer listed, for example because it is excluded now, would differ from the list forever.
        last.retain(|name, _| listed.contains_key(name));
        complain("watching; Ctrl-C ends");
        while stamps(&list, &read) == last {
            std::thread::sleep(PAUSE);
        }
        begin_anew()?;
    }
}

fn stamps(list: &impl Fn(&[String]) -> Vec<String>, read: &[String]) -> BTreeMap<String, Stamp> {
    let names = list(read).into_iter().chain(read.iter().cloned());
    names.map(|name| (name.clone(), stamp(Path::new(&name)))).collect()
}

fn stamp(path: &Path) -> Stamp {
    let known = path.metadata().ok()?;
    Some((known.modified().ok()?, known.len()))
}
