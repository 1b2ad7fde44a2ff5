//! The command `chartc store`: lists, continues and answers the runs of a store.
//!
//! **The problem.** Runs wait in a file for people, events and processes that go on with them. Somebody who sends an answer is gone when
//! the run reads it, so a mistake must be found now. Another version of a chart may not fit a run, and that must show before the run
//! continues.
//!
//! **The idea.** Each subcommand is one operation of `chartc_store`. `reply` and `send` only put a letter into the inbox of the run;
//! whoever runs it, now or later, takes the letter. Before that, an answer is tried on a copy of the run (`check_reply`), and an event on a
//! new run of its chart (`check_send`); both call nobody and are dropped. `resume` starts `chartc run` with the stored arguments. `fork`
//! replays a trace up to a line. `migrate` compares each run with the tables of the other version, and then loads it to see whether its
//! values fit (`fate`).
//!
//! The copy for a reply also advances to the present time, because a deadline may have withdrawn the question since.
//!
//! **Example.**
//!
//! ```text
//! store runs.db reply ada q94a6n897 maybe     a copy of `ada` gets the answer: the line `unusable` says why; nothing is stored
//! store runs.db reply ada q94a6n897 yes       the copy accepts it: the letter is stored
//! store runs.db resume ada                    the arguments of `ada`, with the store: the run takes the letter and goes on
//! ```

use super::durable::{made, refused, stored_args};
use super::files::{self, Root};
use super::instance::{InitialValues, instance, values_of_event};
use super::output::{Exit, StyledText, complain, print, print_json, say};
use super::pick::pick_to_run;
use super::replay::recorded;
use super::{crowd, run};
use chartc_core::expr::Map;
use chartc_core::interpreter::Interpreter;
use chartc_core::plan::Plan;
use chartc_core::saved::{Comparison, Unfit};
use chartc_core::tables::Tables;
use chartc_core::visible;
use chartc_core::wording::counted;
use chartc_runtime::agents::Event;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::driver::{Free, Parts};
use chartc_runtime::journal::Known;
use chartc_runtime::oracle::{Deny, Question, Script};
use chartc_runtime::replay::Tape;
use chartc_runtime::stepped::{Stepped, StoredCalls};
use chartc_runtime::tools::NoTools;
use chartc_runtime::trace::view::{Happening, Outcome};
use chartc_runtime::trace::{self, Line, Origin, TraceEvent};
use chartc_runtime::{Saved, Session};
use chartc_store::{Kind, Letter, Listed, Store, StoreError};
use chartc_world::WorldStore;
use serde_json::json;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// List, continue and answer the runs that `chartc run --store` keeps in a file
///
/// A run in a store survives its process. It may wait there for days: for the answer of a person (`reply`), for an event (`send`), or for a
/// process that continues it (`resume`). `reply` and `send` store what they are given and start nothing: a process that is running the run
/// takes it at once, and otherwise `resume` does.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc run support.chart --llm clients --human later --store runs.db --run ada
  chartc store runs.db list
  chartc store runs.db list --format json
  chartc store runs.db reply ada q94a6n897 yes
  chartc store runs.db send ada order '{\"id\":7}'
  chartc store runs.db resume ada
  chartc store runs.db fork ada --at 12 --as eva
  chartc store runs.db check
  chartc store runs.db backup copy.db
  chartc store runs.db migrate --check support.chart
  chartc store runs.db prune --days 30

Exit codes: 0 done, 1 a damaged store, a run that `migrate` refuses, or the run ended badly, 2 wrong usage, 3 internal error")]
pub(super) struct Args {
    /// File of `chartc run --store`
    store: PathBuf,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List the runs: state, age, cost, and what they wait for; of a world, its progress
    List {
        /// How to print them
        #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text")]
        format: String,
    },
    /// Continue a run, with the options with which it began
    Resume {
        /// Name of the run
        run: String,
    },
    /// Begin a new run from an earlier moment of another one, without calls
    ///
    /// The new run repeats the journal of the old one up to this position. Calls that had no result there become new calls of the new run.
    /// The old run does not change. The step that wrote the line is copied as a whole.
    Fork(ForkArgs),
    /// Answer an open question of a run, as a person
    ///
    /// Each asking has an id, which `list` shows beside the text of the question. An answer to an id that is not open any more is refused,
    /// and so is an answer that the step cannot use: it is not stored and costs no attempt.
    Reply {
        /// Name of the run
        run: String,
        /// Id of the question, as `list` shows it
        question: String,
        /// The answer, as a person would type it
        answer: String,
    },
    /// Send an event to a run
    ///
    /// An event that its chart does not declare, and data that do not fit, are refused here.
    Send {
        /// Name of the run
        run: String,
        /// Name of the event, or `turn`
        event: String,
        /// Its data, as a JSON object
        data: Option<String>,
    },
    /// Copy the store into another file, even while runs are active
    Backup {
        /// The copy, which must not exist
        to: PathBuf,
    },
    /// Read the whole store and report damage
    Check,
    /// Show which runs can continue with another version of their chart
    ///
    /// Each run of the chart loads as it is, loads with the changes that are listed, or is refused for the reason that is given. Nothing is
    /// changed: a run takes over a version when `chartc run --store` or `store … resume` continues it. Exit code 1 if one is refused.
    Migrate(MigrateArgs),
    /// Delete runs that ended some time ago
    Prune {
        /// Keep the runs that ended in the last N days
        #[arg(long, value_name = "N", default_value_t = 30)]
        days: u32,
    },
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let path = &args.store;
    // Even what only reads makes files beside the store.
    files::check(path)?;
    if let What::Resume { run } = &args.what {
        return run_resume(path, run);
    }
    if let What::Fork(fork) = args.what {
        return run_fork(path, fork);
    }
    let store = match (Store::open(path), &args.what) {
        // The store of a world has no runs, but its progress can be listed, and damage found.
        (Err(StoreError::Kind { found: Kind::World, .. }), What::List { format }) => {
            let world = WorldStore::open(path).map_err(refused)?;
            return crowd::told_of_store(path, &world, format == "json");
        }
        (Err(StoreError::Kind { found: Kind::World, .. }), What::Check) => {
            let world = WorldStore::open(path).map_err(refused)?;
            return tell_damage(path, &world.check().map_err(refused)?);
        }
        (opened, _) => opened.map_err(refused)?,
    };
    match args.what {
        What::Resume { .. } | What::Fork(_) => {}
        What::Migrate(args) => {
            drop(store);
            return run_migrate(path, &args);
        }
        What::List { format } => list(&store, format == "json")?,
        What::Reply { run, question, answer } => {
            check_reply(&store, &run, &question, &answer)?;
            store.post(&run, &Letter::Reply(question, answer)).map_err(refused)?;
            posted(path, &run);
        }
        What::Send { run, event, data } => {
            let data = values_of_event(data.as_deref())?;
            check_send(&store, &run, &event, &data)?;
            store.post(&run, &Letter::Event(event, data)).map_err(refused)?;
            posted(path, &run);
        }
        What::Backup { to } => {
            files::check(&to)?;
            store.backup(&to).map_err(refused)?;
            say(format!("{} is a copy of {}", to.display(), path.display()))?;
        }
        What::Check => return tell_damage(path, &store.check().map_err(refused)?),
        What::Prune { days } => {
            let count = store.prune(days).map_err(refused)?;
            say(format!("{} deleted", counted(count, "run")))?;
        }
    }
    Ok(Exit::Clean)
}

/// Continues a run with the arguments that are stored with it.
fn run_resume(path: &Path, run: &str) -> miette::Result<Exit> {
    let store = Store::open(path).map_err(refused)?;
    let listed = store.list().map_err(refused)?.into_iter().find(|row| row.run == run);
    let Some(listed) = listed else {
        return Err(miette::miette!(
            help = "chartc store FILE list shows the runs",
            "{} has no run `{run}`",
            path.display()
        ));
    };
    let args = stored_args(&listed)?;
    drop(store);
    run::run(run::Args::from_stored(args, path.to_owned(), run.to_owned()))
}

fn tell_damage(path: &Path, faults: &[String]) -> miette::Result<Exit> {
    let mut out = StyledText::default();
    for fault in faults {
        out.block("", &visible::line(fault));
    }
    print(&out)?;
    if !faults.is_empty() {
        return Ok(Exit::Findings);
    }
    say(format!("{}: no damage", path.display()))?;
    Ok(Exit::Clean)
}

fn posted(path: &std::path::Path, run: &str) {
    complain(format!(
        "stored: a process that is running `{run}` takes it at once; otherwise: chartc store {} resume {run}",
        path.display()
    ));
}

/// Prints the runs.
fn list(store: &Store, is_json: bool) -> miette::Result<()> {
    let rows = store.list().map_err(refused)?;
    if is_json {
        let mut all = Vec::new();
        for row in &rows {
            let question = |asked: &Question| json!({"id": asked.id, "step": asked.path(), "question": asked.prompt});
            let mut one = row.json();
            one["questions"] = questions(store, row).iter().map(question).collect();
            all.push(one);
        }
        let text = serde_json::to_string_pretty(&all).unwrap_or_default();
        return print_json(&format!("{text}\n"));
    }
    if rows.is_empty() {
        say("no runs")?;
        return Ok(());
    }
    for row in rows {
        let Listed { run, chart, status, state, turns, calls, waits_for, .. } = &row;
        let calls = counted(*calls, "model call");
        let mut line = format!("{run}: {chart}, {status} in {state}, turn {turns}, {calls}");
        if row.cost > 0 {
            line += &format!(", {:.4} spent", row.cost as f64 / 1e6);
        }
        if !waits_for.is_empty() {
            line += &format!(", waits for {}", waits_for.join(", "));
        }
        if let Some(why) = &row.stopped {
            line += &format!(", cannot go on: {why}");
        }
        line += &format!(", changed {} ago", age(row.age_ms()));
        say(&*visible::line(&line))?;
        for question in questions(store, &row) {
            say(&*visible::line(&format!("  {} asks {}", question.path(), question.line())))?;
        }
    }
    Ok(())
}

/// The open questions of a run to people. If the store is damaged, reports it and returns none, so that the other runs are listed.
fn questions(store: &Store, row: &Listed) -> Vec<Question> {
    if row.waits_for.is_empty() {
        return Vec::new();
    }
    store.asked(&row.run).unwrap_or_else(|damage| {
        complain(damage.to_string());
        Vec::new()
    })
}

/// Formats a time in its largest unit.
fn age(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        7200..=172_799 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

// The command `chartc store S.db fork`: a new run that begins at a line of another run's trace.

/// What `fork` is given.
#[derive(Debug, clap::Args)]
pub(super) struct ForkArgs {
    /// Name of the run
    run: String,
    /// Position in its journal: the `seq` of a line of its trace, from 1
    #[arg(long, value_name = "SEQ")]
    at: u64,
    /// Name of the new run [default: NAME@SEQ]
    #[arg(long = "as", value_name = "NEW")]
    name: Option<String>,
    /// How to print the new run
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text")]
    format: String,
    #[command(flatten)]
    root: Root,
}

/// Forks a run of the store, and prints the new run.
pub(super) fn run_fork(path: &Path, args: ForkArgs) -> miette::Result<Exit> {
    let ForkArgs { run, at, name, format, root } = args;
    let store = Store::open(path).map_err(refused)?;
    let lines = store.lines(&run).map_err(refused)?;
    if lines.is_empty() {
        return Err(miette::miette!(
            help = "chartc store FILE list shows the runs",
            "{} has no run `{run}`: it was never begun there, or it was pruned with its journal",
            path.display()
        ));
    }
    // The first line names the chart and its file, which is all that `recorded` needs.
    let first = lines.iter().take(1).map(|line| serde_json::to_string(line).unwrap_or_default());
    let head = Tape::read(&first.collect::<String>())
        .map_err(|why| miette::miette!("run `{run}`, {why}"))?;
    let recorded = match recorded(&head, (&run, path), None, &root, false)? {
        Ok(recorded) => recorded,
        Err(exit) => return Ok(exit),
    };
    let plans = recorded.plans();
    let name = name.unwrap_or_else(|| format!("{run}@{at}"));
    let given = without_memory(&store, &run)?;
    let forked = store
        .fork((&run, at), (&name, given.as_deref()), |tape| {
            instance(&plans, &recorded.given(tape), tape.host()).map_err(|why| why.to_string())
        })
        .map_err(refused)?;
    let lines = store.lines(&name).map_err(refused)?.len();
    show_fork(path, &forked, (&run, at), lines, format == "json")?;
    Ok(Exit::Clean)
}

/// The arguments of the run without its memory, as JSON; `None` if it has no memory. The memory also holds what the run did after the fork,
/// which the fork must not know.
fn without_memory(store: &Store, run: &str) -> miette::Result<Option<String>> {
    let listed = store.list().map_err(refused)?;
    let Some(row) = listed.into_iter().find(|row| row.run == run) else { return Ok(None) };
    let mut args = stored_args(&row)?;
    let Some(file) = args.memory.take() else { return Ok(None) };
    complain(format!(
        "the fork has no `--memory`: {file} holds what `{run}` did later, too, and the fork would remember it"
    ));
    Ok(Some(serde_json::to_string(&args).unwrap_or_default()))
}

fn show_fork(
    path: &Path,
    forked: &Listed,
    (run, at): (&str, u64),
    lines: usize,
    is_json: bool,
) -> miette::Result<()> {
    let Listed { run: name, status, state, turns, calls, waits_for, .. } = forked;
    if is_json {
        let forked = serde_json::json!({
            "run": name,
            "of": run,
            "at": at,
            "lines": lines,
            "state": state,
            "status": status,
            "turns": turns,
            "calls": calls,
            "waits_for": waits_for,
        });
        let text = serde_json::to_string_pretty(&forked).unwrap_or_default();
        return print_json(&format!("{text}\n"));
    }
    let mut line = format!("{name}: {run} after line {at}, {status} in {state}, turn {turns}");
    if lines as u64 > at {
        line += &format!(", with the rest of its step up to line {lines}");
    }
    if !waits_for.is_empty() {
        line += &format!(", will ask {} anew", waits_for.join(", "));
    }
    say(&*visible::line(&line))?;
    if status == "running" {
        say(&*visible::line(&format!("go on: chartc store {} resume {name}", path.display())))?;
    }
    Ok(())
}

// The command `chartc store FILE migrate --check CHART`: shows which runs of a store can continue in another version of their chart.

/// Which version, and how to print.
#[derive(Debug, clap::Args)]
pub(super) struct MigrateArgs {
    /// File with the other version of the chart; the store is not changed
    #[arg(long, value_name = "FILE", required = true)]
    check: String,
    /// Name of the chart, if the file has several
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,
    /// How to print the results
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text")]
    format: String,
    #[command(flatten)]
    root: Root,
}

/// The result for a run.
enum Fate {
    /// The run has ended.
    Ended,
    /// The run can continue, with these changes.
    Loads(Vec<String>),
    /// The run cannot continue, for these reasons.
    Refused(Vec<String>),
}

impl Fate {
    /// The result as JSON has it.
    fn word(&self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Loads(changes) if changes.is_empty() => "as_it_is",
            Self::Loads(_) => "changed",
            Self::Refused(_) => "refused",
        }
    }
}

pub(super) fn run_migrate(path: &Path, args: &MigrateArgs) -> miette::Result<Exit> {
    // 0 states: `check` lines are not decided, because they have no effect on saved runs.
    let checked = match pick_to_run(&args.check, args.chart.as_deref(), &args.root, 0)? {
        Ok(checked) => checked,
        Err(exit) => return Ok(exit),
    };
    let plans = checked.plans();
    let store = Store::open(path).map_err(refused)?;
    let listed = store.list().map_err(refused)?;
    let name = &checked.chart().name;
    let (own, others): (Vec<_>, Vec<_>) =
        listed.iter().partition(|row| plans[0].tables().is_named(&row.chart));
    let mut fates = Vec::new();
    for row in own {
        fates.push((row.run.as_str(), fate(&store, row, &plans)?));
    }
    let loads = !fates.iter().any(|(_, fate)| matches!(fate, Fate::Refused(_)));
    if args.format == "json" {
        print_json(&json(name, loads, &fates))?;
    } else {
        show_migration(name, &fates)?;
    }
    let others: BTreeSet<&str> = others.iter().map(|row| row.chart.as_str()).collect();
    if fates.is_empty() && !others.is_empty() {
        let others: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
        complain(format!(
            "{} has no run of `{name}`, only of {}: a run goes on in a chart of the same name",
            path.display(),
            others.join(", ")
        ));
    }
    Ok(if loads { Exit::Clean } else { Exit::Findings })
}

/// The result for a run, as `chartc run --store` would find it.
fn fate(store: &Store, row: &Listed, plans: &Arc<[Plan]>) -> miette::Result<Fate> {
    let Some(saved) = store.session(&row.run).map_err(refused)? else {
        // The run has not started, so nothing in it depends on the chart.
        return Ok(Fate::Loads(Vec::new()));
    };
    if saved.status().is_some() {
        return Ok(Fate::Ended);
    }
    Ok(of(&saved, plans))
}

/// The result for a saved session that has not ended.
fn of(saved: &Saved, plans: &Arc<[Plan]>) -> Fate {
    let tables: Vec<&Tables> = plans.iter().map(Plan::tables).collect();
    let Comparison { differences, changes } = saved.compare(&tables);
    if !differences.is_empty() {
        return Fate::Refused(differences.iter().map(ToString::to_string).collect());
    }
    // The comparison covers structure. Whether the values fit shows only when they are loaded.
    match Interpreter::resume(&plans[0], plans.clone(), (), saved.machine()) {
        Ok(_) => Fate::Loads(changes.iter().map(ToString::to_string).collect()),
        Err(Unfit::Differs(all)) => Fate::Refused(all.iter().map(ToString::to_string).collect()),
        Err(why) => Fate::Refused(vec![why.to_string()]),
    }
}

fn show_migration(chart: &str, fates: &[(&str, Fate)]) -> miette::Result<()> {
    let mut out = StyledText::default();
    let (mut going, mut loading) = (0, 0);
    for (run, fate) in fates {
        let (words, lines) = match fate {
            Fate::Ended => ("has ended", &[][..]),
            Fate::Loads(changes) if changes.is_empty() => ("loads as it is", &[][..]),
            Fate::Loads(changes) => ("loads with changes", changes.as_slice()),
            Fate::Refused(reasons) => ("is refused", reasons.as_slice()),
        };
        out.line(visible::line(&format!("{run}: {words}")));
        for line in lines {
            out.line(visible::line(&format!("  {line}")));
        }
        going += usize::from(!matches!(fate, Fate::Ended));
        loading += usize::from(matches!(fate, Fate::Loads(_)));
    }
    print(&out)?;
    let runs = if going == 1 {
        format!("run of `{chart}` loads")
    } else {
        format!("runs of `{chart}` load")
    };
    say(format!("{loading} of {going} {runs} in this version"))
}

fn json(chart: &str, loads: bool, fates: &[(&str, Fate)]) -> String {
    let runs = fates.iter().map(|(run, fate)| {
        let (changes, reasons) = match fate {
            Fate::Ended => (&[][..], &[][..]),
            Fate::Loads(changes) => (changes.as_slice(), &[][..]),
            Fate::Refused(reasons) => (&[][..], reasons.as_slice()),
        };
        serde_json::json!({
            "run": run,
            "result": fate.word(),
            "changes": changes,
            "reasons": reasons,
        })
    });
    let runs: Vec<_> = runs.collect();
    let all = serde_json::json!({ "chart": chart, "loads": loads, "runs": runs });
    format!("{}\n", serde_json::to_string_pretty(&all).unwrap_or_default())
}

// Checks that the run which waits for a person's answer can use it.

/// Refuses an answer to a question that is not open, or that the step cannot use. Such an answer is not stored and costs no attempt. To
/// find out, the answer is given to a copy of the run that calls nobody and is dropped.
pub(super) fn check_reply(store: &Store, run: &str, id: &str, answer: &str) -> miette::Result<()> {
    let listed = store.list().map_err(refused)?;
    let Some(row) = listed.into_iter().find(|row| row.run == run && row.status == "running") else {
        // `Store::post` says why nothing can be sent to this run.
        return Ok(());
    };
    let question = store.question(run, id).map_err(|why| {
        if !matches!(why, StoreError::NotOpen { .. }) {
            return refused(why);
        }
        miette::miette!(
            help = "an answer names its question by the id, which changes when the question is asked again; nothing was stored",
            "{why}"
        )
    })?;
    let Some(why) = objection(store, &row, &question, answer)? else { return Ok(()) };
    let form = question.wanted_of_a_person();
    let expected = match form.as_str() {
        "" => String::new(),
        schema if schema == question.schema => format!("expected: JSON of the schema {schema}; "),
        form => format!("expected: {form}; "),
    };
    Err(miette::miette!(
        help = format!("{expected}nothing was stored"),
        "run `{run}`: the answer to `{}` cannot be used: {why}",
        question.line()
    ))
}

/// The reason why the run cannot use the answer now, if it cannot.
fn objection(
    store: &Store,
    row: &Listed,
    question: &Question,
    answer: &str,
) -> miette::Result<Option<String>> {
    let Some(saved) = store.session(&row.run).map_err(refused)? else { return Ok(None) };
    let args = stored_args(row)?;
    let picked = pick_to_run(&args.file, Some(&row.chart), &Root::default(), 0);
    let Ok(Ok(checked)) = picked else {
        complain(format!(
            "warning: not checked, because the chart `{}` cannot be read from {}; if the answer does not fit, the trace of the run says so",
            row.chart, args.file
        ));
        return Ok(None);
    };
    let plans = checked.plans();
    let given = InitialValues { params: args.params, inputs: Map::new() };
    let nobody = Parts { oracle: Arc::new(Deny), people: None, tools: Arc::new(NoTools) };
    // In real time, time has passed while no process had the run open.
    let first = store.lines_after(&row.run, 0, 1).map_err(refused)?.pop();
    let is_real = first
        .is_some_and(|line| matches!(line.what, trace::What::Run { clock, .. } if clock == "real"));
    let now = store.moment(Some(&row.run), is_real).map_err(refused)?;
    let copy = Stepped::new(
        (&row.run, &row.given),
        Some(&saved),
        saved.now(),
        (Arc::new(Free(nobody)), StoredCalls { known: BTreeMap::new(), missing: Known::NotMade }),
        |making| made(making, &plans, &given, Script::empty(), Origin::default()),
    );
    // A run that does not fit its chart any more reports it when it continues.
    let Ok(mut copy) = copy else { return Ok(None) };
    if !copy.session().asked().any(|open| open.id == question.id) {
        return Ok(None);
    }
    // First let deadlines fire that have passed by now: one of them may have withdrawn the question.
    copy.begin(now);
    copy.step();
    if copy.reply(&question.id, answer.to_owned()).is_err() {
        return Ok(Some("a deadline has passed, and the question is not open any more".into()));
    }
    copy.step();
    Ok(copy.take().lines.iter().find_map(|line| unusable(line, question)))
}

/// The reason in a trace line for which the answer to this question cannot be used.
fn unusable(line: &Line, question: &Question) -> Option<String> {
    let TraceEvent { child, subject, what, .. } = line.event();
    let Happening::CallEnded(call, Outcome::Unusable(why)) = what else { return None };
    let is_it = (subject, child, call.which.element)
        == (&*question.step, &*question.child, question.element);
    is_it.then(|| why.to_owned())
}

// Checks that an event fits the run to which it is sent.

/// Refuses an event that the run's chart does not declare, and data of wrong types. To find out, the event is given to a new run of the
/// chart that calls nobody and is dropped.
pub(super) fn check_send(store: &Store, run: &str, event: &str, data: &Map) -> miette::Result<()> {
    let listed = store.list().map_err(super::durable::refused)?;
    let Some(row) = listed.into_iter().find(|row| row.run == run && row.status == "running") else {
        // `Store::post` says why nothing can be sent to this run.
        return Ok(());
    };
    let args = stored_args(&row)?;
    let picked = pick_to_run(&args.file, Some(&row.chart), &Root::default(), 0);
    let Ok(Ok(checked)) = picked else {
        complain(format!(
            "warning: not checked, because the chart `{}` cannot be read from {}; if the event does not fit, the trace of the run says so",
            row.chart, args.file
        ));
        return Ok(());
    };
    let plans = checked.plans();
    let given = InitialValues { params: args.params, inputs: Map::new() };
    let machine = instance(&plans, &given, Script::empty())?;
    let mut session = Session::new(machine, Arc::new(Deny), Arc::new(VirtualClock::new()), ());
    for (name, value) in args.inputs.iter() {
        // An input that does not fit any more is reported when the run continues.
        drop(session.input(name, value.clone()));
    }
    let event = Event::new("", event).with(data.clone());
    match session.hand_over(&event.name, Cow::Borrowed(&event.data)) {
        Err(why) if why.is_about_input() => Err(miette::miette!("run `{run}`: {why}")),
        // Any other result depends on the state that the stored run is in.
        Ok(_) | Err(_) => Ok(()),
    }
}
