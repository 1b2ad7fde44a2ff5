//! `chartc trace`: shows what a run did, from its trace or snapshot, and what many agents did, from the log of their world.
//!
//! A trace has a line for everything that happened; a person wants the decisions and their reasons. From these lines, shortened:
//!
//! ```text
//! {"seq":4,"at_ms":0,"kind":"turn","turn":1}
//! {"seq":6,"at_ms":0,"kind":"question","step":"triage","options":["close","wait"]}
//! {"seq":7,"at_ms":900,"kind":"answer","step":"triage","option":"close"}
//! {"seq":9,"at_ms":900,"kind":"taken","line":{"state":"open","trigger":"may close","targets":["solved"]}}
//! ```
//!
//! 1. [`read`](mod@read) parses the lines, and assigns each to turn 1.
//! 2. [`story`] makes a row of the answer; the transition at the same time becomes its result: `close`, `open -> solved`.
//! 3. [`table`](mod@table) prints the row. [`why`](mod@why) instead lists inputs without effect, [`sequence`](mod@sequence) draws a
//!    diagram, and [`summary`] counts.

mod sequence;
mod story;
mod summary;
pub(super) mod world;

pub(super) use summary::taken;

use super::files::Root;
use super::output::{
    Colour, StyledText, align_columns, complain, print, print_json, print_made, terminal,
};
use super::screen::trigger;
use super::{Exit, instance, pick, replay};
use chartc_core::expr::Duration;
use chartc_core::model::StepKind;
use chartc_runtime::Saved;
use chartc_runtime::trace::{self, Line, What};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use story::way;
use summary::Summary;
use world::{Log, Views};

/// Show the trace of a run: what was decided, when and why, and what each state cost.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc trace run.jsonl                     one row per decision, then the cost of each state
  chartc trace run.jsonl --turn 3            only one turn
  chartc trace run.jsonl --step observe      only the decisions of one step
  chartc trace run.jsonl --why               why inputs had no effect
  chartc trace --summary runs/*.jsonl        totals of many runs
  chartc trace --summary --format json run.jsonl
  chartc trace run.jsonl --format mermaid    a sequence diagram, for a ```mermaid block in Markdown
  chartc trace run.json                      the last transitions in a snapshot

Logs of worlds with many agents, by `chartc run DIR --log FILE`:
  chartc trace world.jsonl                   an overview: agents, states, actions, money, influence
  chartc trace world.jsonl --plot            how many agents were in each state over time
  chartc trace world.jsonl --distribution --at 40
                                             where all agents were at the end of tick 40
  chartc trace world.jsonl --agents-in Trader.bidding
  chartc trace world.jsonl --cascade ada     what followed from the actions of ada
  chartc trace world.jsonl --agent ada --why any view of one agent's trace
  chartc trace world.jsonl --summary         totals of all ticks and all agents

Exit codes: 0 shown, 1 some lines cannot be read (the rest is shown), 2 wrong usage,
3 internal error")]
pub(super) struct Args {
    /// Traces written by `chartc run --trace`, a snapshot by --snapshot, or the log of a world by --log
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// For each input without effect, show the transitions that could have been taken, and why each was not
    #[arg(long, conflicts_with = "summary")]
    why: bool,
    /// Show totals instead of decisions, added up over several traces
    #[arg(long)]
    summary: bool,
    /// Output format; for a trace, json only with --summary; mermaid only for one trace
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json", "mermaid"], default_value = "text")]
    format: String,
    /// Show only this turn
    #[arg(long, value_name = "N")]
    turn: Option<u32>,
    /// Show only this step; a step of a child chart is `step/its_step`
    #[arg(long, value_name = "STEP")]
    step: Option<String>,
    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Colour::Auto)]
    color: Colour,
    #[command(flatten)]
    views: Views,
}

/// The steps that ask people, by chart. Empty unless the chart's file is still where the trace says.
fn people(path: &Path, trace: &Read) -> sequence::People {
    let mut people = sequence::People::new();
    let Some(What::Run { file, .. }) = trace.lines.first().map(|line| &line.what) else {
        return people;
    };
    let root = Root::default();
    let found = replay::find(&trace.name, path, file, &root);
    let Ok(done) = found.and_then(|file| pick::check(&file, &root, 0)) else { return people };
    for chart in done.lowered.iter().map(|one| &one.chart) {
        let human = chart.steps.iter().filter(|step| matches!(step.kind, StepKind::Human(_)));
        people.extend(human.map(|step| (chart.name.clone(), step.name.clone())));
    }
    people
}

/// The selection of lines to show; `None` selects all.
#[derive(Debug, Clone, Copy, Default)]
struct Filter<'a> {
    turn: Option<u32>,
    step: Option<&'a str>,
}

/// Opens the log of a world, if the only file is one.
fn log(args: &Args) -> miette::Result<Option<Log>> {
    let mut logs =
        args.files.iter().map(|path| Log::open(path)).collect::<miette::Result<Vec<_>>>()?;
    if logs.len() > 1 && logs.iter().any(Option::is_some) {
        return Err(miette::miette!(
            help = "show each by itself",
            "the log of a world cannot be combined with other files"
        ));
    }
    let log = logs.pop().flatten();
    if let (None, Some(option)) = (&log, args.views.given()) {
        return Err(miette::miette!(
            help = "`chartc run DIR --log FILE` writes the log of a world",
            "{option} is for the log of a world with many agents; {} is the trace of one run",
            args.files[0].display()
        ));
    }
    Ok(log)
}

/// Shows the log of a world.
fn many(args: &Args, log: Log) -> miette::Result<Exit> {
    if args.format == "mermaid" || args.why || args.turn.is_some() || args.step.is_some() {
        return Err(miette::miette!(
            help = "add --agent NAME",
            "--why, --turn, --step and --format mermaid show one run, and {} is the log of many agents",
            args.files[0].display()
        ));
    }
    let is_json = args.format == "json";
    world::run(log, &args.views, args.summary, is_json, terminal(args.color))
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let traces = match (log(&args)?, args.views.agent()) {
        (Some(log), Some(agent)) => vec![world::trace_of(log, agent)?],
        (Some(log), None) => return many(&args, log),
        (None, _) => {
            if let [path] = args.files.as_slice()
                && let Some(saved) = self::snapshot(path)?
            {
                let is_filtered = args.turn.is_some() || args.step.is_some();
                if args.why || args.summary || args.format != "text" || is_filtered {
                    return Err(miette::miette!(
                        help = "`chartc run --trace FILE` writes a complete trace",
                        "{} is a snapshot: it contains only the last transitions",
                        path.display()
                    ));
                }
                print(&kept(&saved))?;
                return Ok(Exit::Clean);
            }
            args.files.iter().map(|path| read(path)).collect::<miette::Result<Vec<Read>>>()?
        }
    };
    for fault in traces.iter().flat_map(|trace| &trace.faults) {
        complain(format!("warning: {fault}"));
    }
    let filter = Filter { turn: args.turn, step: args.step.as_deref() };
    if args.summary && (args.turn.is_some() || args.step.is_some()) {
        return Err(miette::miette!(
            help = "omit --summary to see single decisions",
            "--summary covers whole runs, and cannot be combined with --turn or --step"
        ));
    }
    let terminal = terminal(args.color);
    match (args.format.as_str(), args.summary) {
        ("json", true) => print_json(&Summary::from_traces(&traces).json())?,
        ("json", false) => {
            return Err(miette::miette!(
                help = "each line of a trace is a JSON object already; for totals: --summary --format json",
                "--format json needs --summary"
            ));
        }
        ("mermaid", true) => {
            return Err(miette::miette!(
                "--format mermaid draws one run, and cannot be combined with --summary"
            ));
        }
        ("mermaid", false) => match traces.as_slice() {
            [one] => print_made(&sequence::sequence(one, filter, &people(&args.files[0], one)))?,
            several => {
                return Err(miette::miette!(
                    "--format mermaid draws one run; there are {} traces",
                    several.len()
                ));
            }
        },
        (_, true) => print(&Summary::from_traces(&traces).text())?,
        (_, false) => {
            let tell = if args.why { story::why } else { story::table };
            let mut out = StyledText::on(terminal);
            for trace in &traces {
                if !out.is_empty() {
                    out.line("");
                }
                out.add(&tell(trace, filter, terminal));
            }
            print(&out)?;
        }
    }
    let is_whole = traces.iter().all(|trace| trace.faults.is_empty());
    Ok(if is_whole { Exit::Clean } else { Exit::Findings })
}

// Reads a trace as far as possible, and assigns each line to a turn.

/// The maximum number of errors that are reported one by one.
const TOLD: usize = 5;

/// The content of a trace.
struct Read {
    /// The path of the file.
    name: String,
    lines: Vec<Line>,
    /// For each line, the turn of the outermost chart that it belongs to; `None` outside of turns.
    turns: Vec<Option<u32>>,
    /// The errors found while reading, as text.
    faults: Vec<String>,
}

impl Read {
    /// The lines, each with its turn.
    fn told(&self) -> impl Iterator<Item = (&Line, Option<u32>)> {
        self.lines.iter().zip(self.turns.iter().copied())
    }

    /// The names of the charts, by path.
    fn charts<'s>(&'s self) -> BTreeMap<&'s str, &'s str> {
        let chart = |line: &'s Line| {
            let What::Run { chart, .. } = &line.what else { return None };
            Some((line.child.as_str(), chart.as_str()))
        };
        let runs = self.lines.iter().filter_map(chart);
        runs.collect()
    }

    /// The time of the last line, in milliseconds.
    fn end(&self) -> u64 {
        self.lines.last().map_or(0, |line| line.at_ms)
    }
}

/// Reads a snapshot. Returns `None` for any other file, which may be a trace.
fn snapshot(path: &Path) -> miette::Result<Option<Saved>> {
    #[derive(serde::Deserialize)]
    struct Head {
        #[serde(rename = "format")]
        _format: u32,
    }
    let text = instance::read(path)?;
    if serde_json::from_str::<Head>(&text).is_err() {
        return Ok(None);
    }
    let name = path.display();
    Saved::read(&text).map(Some).map_err(|why| miette::miette!("{name}: {why}"))
}

/// Reads a trace. Lines that cannot be parsed are skipped and reported.
fn read(path: &Path) -> miette::Result<Read> {
    let name = path.display().to_string();
    let text = instance::read(path)?;
    if let Some(nth) = text.lines().position(|line| world::names_agent(line) == Some(true)) {
        return Err(miette::miette!(
            help = "`chartc trace LOG` shows the log of a world, and with --agent NAME the trace of one agent; the log must be a file, not a pipe",
            "{name}, line {} names an agent, as the log of a world does; a trace is of one run",
            nth + 1
        ));
    }
    let (mut lines, mut faults, mut unread) = (Vec::new(), Vec::new(), 0);
    for line in trace::lines(&text) {
        match line {
            Ok(line) => lines.push(line),
            Err(_) if faults.len() == TOLD => unread += 1,
            Err(fault) => faults.push(format!("{name}, {fault}; the rest is shown")),
        }
    }
    if unread > 0 {
        faults.push(format!("{name}: {unread} further lines cannot be read"));
    }
    if lines.is_empty() {
        return Err(miette::miette!(
            help = "`chartc run --trace FILE` writes one",
            "{name} contains no line of a trace{}",
            faults.first().map(|fault| format!(": {fault}")).unwrap_or_default()
        ));
    }
    Ok(of_lines(name, lines, faults))
}

/// Makes a trace of `lines`, of which there must be at least one.
fn of_lines(name: String, lines: Vec<Line>, mut faults: Vec<String>) -> Read {
    let gaps = lines.windows(2).filter(|pair| pair[1].seq != pair[0].seq + 1);
    let gap = gaps.map(|pair| (pair[0].seq, pair[1].seq)).next();
    // A line that cannot be parsed leaves a gap, too, and has been reported already.
    if let (Some((before, behind)), true) = (gap, faults.is_empty()) {
        faults.push(format!("{name}: line {before} of the run is followed by line {behind}"));
    } else if lines[0].seq != 1 && faults.is_empty() {
        faults.push(format!("{name} begins with line {} of the run", lines[0].seq));
    }
    let (mut turn, mut last) = (None, None);
    // The charts whose turns are under way. Children have their turns after that of the outermost chart has ended, and as part of it.
    let mut below: BTreeSet<&str> = BTreeSet::new();
    let turns = lines.iter().map(|line| {
        if matches!(line.what, What::Turn { .. }) && !line.child.is_empty() {
            below.insert(&line.child);
        }
        if let (What::Turn { turn: nth }, "") = (&line.what, line.child.as_str()) {
            turn = Some(*nth);
            last = turn;
        }
        // An agent's action is performed after the turn that chose it.
        let is_action = matches!(line.what, What::Acted { .. } | What::NotActed { .. });
        let of = if is_action || !below.is_empty() { last } else { turn };
        if matches!(line.what, What::TurnEnded { .. } | What::Ended { .. }) {
            below.remove(line.child.as_str());
        }
        if let (What::TurnEnded { .. }, "") = (&line.what, line.child.as_str()) {
            turn = None;
        }
        of
    });
    let turns = turns.collect();
    Read { name, lines, turns, faults }
}

// Formats the history in a snapshot.

/// Formats the last transitions of a saved run, the oldest first.
fn kept(saved: &Saved) -> StyledText {
    let chart = saved.machine().chart();
    let at = time(saved.now());
    let mut out = StyledText::default();
    let has_others = saved.history().any(|line| !line.child.is_empty());
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in saved.history() {
        let What::Taken { line: taken, held } = &line.what else { continue };
        let mut row = vec![time(line.at_ms)];
        row.extend(has_others.then(|| line.child.clone()));
        row.extend([way(taken), trigger(&taken.trigger, held)]);
        rows.push(row);
    }
    if rows.is_empty() {
        out.line(format!("{chart}: kept at {at}, with no transitions"));
        return out;
    }
    let count = number(rows.len() as u64, "transition");
    let head: &[&str] = if has_others {
        &["time", "chart", "from -> to", "taken by"]
    } else {
        &["time", "from -> to", "taken by"]
    };
    out.line(format!("{chart}: kept at {at}, with its last {count}"));
    out.line("");
    out.add(&align_columns(head, &rows, &[]));
    out
}

// Finds the senders of the events that the charts of a run handled.
//
// A trace says that an event was posted, and later that one was handled, but not that these are the same. Events for one chart are
// handled in the order in which they were posted, so they can be matched. The chart `""` runs the child `sub`:
//
// ```text
// seq 7   child ""      posted  go to sub    under way: 7
// seq 8   child ""      posted  go to sub    under way: 7, 8
// seq 9   child "sub"   event   go           from the chart "", which is 7; under way: 8
// (the end)                                  8 is lost: nobody has handled it
// ```

/// The sender of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From<'t> {
    Host,
    /// The chart with this path.
    Chart(&'t str),
}

/// The senders of the events of a trace.
struct Letters<'t> {
    /// The sender of each `event` line, by its `seq`.
    from: BTreeMap<u64, From<'t>>,
    /// The `seq` of each `posted` line whose event nobody handled by the end of the trace.
    lost: BTreeSet<u64>,
}

/// An event that was posted and not handled yet.
struct Letter<'t> {
    seq: u64,
    from: &'t str,
    to: String,
    event: &'t str,
    /// Whether one of several receivers has handled it. It stays for the others.
    is_heard: bool,
}

impl<'t> Letters<'t> {
    /// Matches each posted or passed on event with the `event` lines that it became.
    fn new(lines: &'t [Line]) -> Self {
        let mut from = BTreeMap::new();
        let mut under_way: Vec<Letter<'t>> = Vec::new();
        // An event that was passed on reaches its receivers before any that was posted: the sender and the event.
        let mut passed: Option<(&str, &str)> = None;
        for line in lines {
            if let What::Posted { event, to } = &line.what {
                let (seq, to) = (line.seq, receiver(&line.child, to).unwrap_or_default());
                under_way.push(Letter { seq, from: &line.child, to, event, is_heard: false });
            } else if let What::Undelivered { event, to } = &line.what {
                let to = receiver(&line.child, to).unwrap_or_default();
                let is_it = |letter: &Letter<'_>| {
                    (letter.from, letter.event, &letter.to) == (&line.child, event, &to)
                };
                // The line follows the post that it is about, so search from the end.
                if let Some(at) = under_way.iter().rposition(is_it) {
                    under_way.remove(at);
                }
            } else if let What::PassedOn { event } = &line.what {
                passed = Some((&line.child, event));
            } else if let What::Taken { .. } = &line.what {
                passed = None;
            } else if let What::Event { event, .. } = &line.what {
                let is_it = |letter: &Letter<'_>| {
                    letter.event == event
                        && (letter.to == line.child || is_element(&line.child, &letter.to))
                };
                // The next child is offered the event only if this one does not take it: a `taken` line ends the passing on.
                passed = passed.filter(|(by, what)| what == event && is_below(&line.child, by));
                let sender = if let Some((by, _)) = passed {
                    From::Chart(by)
                } else if let Some(at) = under_way.iter().position(is_it) {
                    let from = under_way[at].from;
                    if under_way[at].to == line.child {
                        under_way.remove(at);
                    } else {
                        under_way[at].is_heard = true;
                    }
                    From::Chart(from)
                } else if line.child.is_empty() {
                    From::Host
                } else {
                    // Nobody posted it, so it is the copy for a child that receives all events of its parent.
                    From::Chart(above(&line.child))
                };
                from.insert(line.seq, sender);
            }
        }
        under_way.retain(|letter| !letter.is_heard);
        Self { from, lost: under_way.into_iter().map(|letter| letter.seq).collect() }
    }

    /// The sender of the event of a line.
    fn from(&self, line: &Line) -> From<'t> {
        self.from.get(&line.seq).copied().unwrap_or(From::Host)
    }

    /// Whether the event of a `posted` line had not been handled by the end of the trace.
    fn is_lost(&self, line: &Line) -> bool {
        self.lost.contains(&line.seq)
    }
}

/// The path of the chart to which `from` sends an event; `None` if that is the parent of the outermost chart.
fn receiver(from: &str, to: &str) -> Option<String> {
    match (from, to) {
        ("", "parent") => None,
        (_, "parent") => Some(above(from).to_owned()),
        (_, "") => Some(from.to_owned()),
        ("", step) => Some(step.to_owned()),
        (_, step) => Some(format!("{from}/{step}")),
    }
}

/// The path of the chart that runs `child`.
fn above(child: &str) -> &str {
    child.rsplit_once('/').map_or("", |(above, _)| above)
}

/// Whether a chart belongs to an element of a step, as `dig[2]` to `dig`.
fn is_element(child: &str, step: &str) -> bool {
    child.strip_prefix(step).is_some_and(|rest| rest.starts_with('[') && !rest.contains('/'))
}

fn is_below(child: &str, above: &str) -> bool {
    match above {
        "" => !child.is_empty(),
        above => child.strip_prefix(above).is_some_and(|rest| rest.starts_with('/')),
    }
}

/// The name of a state; `*` for the chart itself.
fn state(path: &str) -> &str {
    if path.is_empty() { "*" } else { path }
}

/// Formats a time on the run's clock, or a duration, in at most two units.
fn time(ms: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000)];
    if ms < 60_000 && !ms.is_multiple_of(1000) {
        return if ms < 1000 { format!("{ms}ms") } else { format!("{:.1}s", ms as f64 / 1000.0) };
    }
    if ms < 60_000 {
        return Duration(ms).to_string();
    }
    // Two units are precise enough.
    let mut parts = Vec::new();
    let mut rest = ms;
    for (unit, millis) in UNITS {
        if rest >= millis || !parts.is_empty() {
            parts.push(format!("{}{unit}", rest / millis));
            rest %= millis;
        }
    }
    parts.push(format!("{}s", rest / 1000));
    parts.truncate(2);
    parts.concat()
}

fn number(count: u64, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
