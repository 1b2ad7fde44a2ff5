//! The command `chartc check`.

use super::config::Config;
use super::files::{Files, Root};
use super::fix::{Fixing, Outcome};
use super::levels::Levels;
use super::output::{Colour, print, print_coloured, print_json, terminal};
use super::save::write_into;
use super::settings::{Setting, Settings};
use super::walk::Skips;
use super::{Exit, baseline, config, cost, levels, output, statistics, watch};
use crate::Compilation;
use crate::report::{Findings, REPORTS};
use chartc_check::compile::{Checked, check_each};
use chartc_check::explore::STATES;
use chartc_text::diagnostic::{Diagnostic, Severity};
use chartc_text::span::FileId;
use clap::builder::PossibleValuesParser;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    watch::forever(list, |read| {
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
        (check_each(files.names(), &files, &states), None)
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

/// Selects the files to check; or ends the check where there are none.
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
    levels::apply(|file| &own_of(file).levels, &mut done.diagnostics, silent);
    if let Some(path) = &args.write_baseline {
        baseline::create(path, &mut done.diagnostics, &done.sources)?;
    }
    if let Some(path) = &args.baseline {
        baseline::cover(path, &mut done.diagnostics, &done.sources)?;
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
            "json" => print_json(&cost::json(charts)),
            _ => print(&cost::human(charts)),
        };
    }
    if args.statistics {
        let is_json = args.format == "json";
        return statistics::show(findings.diagnostics, is_json, terminal(args.color));
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

#[cfg(feature = "run")]
use super::files::tests_of as beside;

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
