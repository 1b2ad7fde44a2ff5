//! Reads a trace: its lines, the events that charts send each other, and how states and times are written.

use crate::cli::instance;
use chartc_runtime::Saved;
use chartc_runtime::trace::view::{EventFate, Fate, Happening, MessageFate};
use chartc_runtime::trace::{self, Line, TraceEvent};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The selection of lines to show; `None` selects all.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Filter<'a> {
    pub(super) turn: Option<u32>,
    pub(super) step: Option<&'a str>,
}

/// The content of a trace.
pub(super) struct Read {
    /// The path of the file.
    pub(super) name: String,
    pub(super) lines: Vec<Line>,
    /// For each line, the turn of the outermost chart that it belongs to; `None` outside of turns.
    pub(super) turns: Vec<Option<u32>>,
    /// The errors found while reading, as text.
    pub(super) faults: Vec<String>,
}

impl Read {
    /// The lines, each with its turn.
    pub(super) fn told(&self) -> impl Iterator<Item = (&Line, Option<u32>)> {
        self.lines.iter().zip(self.turns.iter().copied())
    }

    /// The names of the charts, by path.
    pub(super) fn charts<'s>(&'s self) -> BTreeMap<&'s str, &'s str> {
        let chart = |line: &'s Line| {
            let Happening::Begun { chart, .. } = line.event().what else { return None };
            Some((line.child.as_str(), chart))
        };
        let runs = self.lines.iter().filter_map(chart);
        runs.collect()
    }

    /// The time of the last line, in milliseconds.
    pub(super) fn end(&self) -> u64 {
        self.lines.last().map_or(0, |line| line.at_ms)
    }
}

/// Reads a snapshot. Returns `None` for any other file, which may be a trace.
pub(super) fn snapshot(path: &Path) -> miette::Result<Option<Saved>> {
    #[derive(serde::Deserialize)]
    struct Head {
        #[serde(rename = "format")]
        _format: u32,
    }
    let text = instance::read_made(path)?;
    if serde_json::from_str::<Head>(&text).is_err() {
        return Ok(None);
    }
    let name = path.display();
    Saved::read(&text).map(Some).map_err(|why| miette::miette!("{name}: {why}"))
}

/// Reads a trace. Lines that cannot be parsed are skipped and reported.
pub(super) fn read(path: &Path) -> miette::Result<Read> {
    let name = path.display().to_string();
    let text = instance::read_made(path)?;
    if let Some(nth) = text.lines().position(|line| names_agent(line) == Some(true)) {
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
pub(super) fn of_lines(name: String, lines: Vec<Line>, mut faults: Vec<String>) -> Read {
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
        let TraceEvent { child, what, .. } = line.event();
        match what {
            Happening::Turn(nth) if child.is_empty() => {
                turn = Some(nth);
                last = turn;
            }
            Happening::Turn(_) => drop(below.insert(child)),
            _ => {}
        }
        // An agent's action is performed after the turn that chose it.
        let is_action = matches!(what, Happening::Action { .. });
        let of = if is_action || !below.is_empty() { last } else { turn };
        if matches!(what, Happening::TurnEnded | Happening::Ended { .. }) {
            below.remove(child);
        }
        if matches!(what, Happening::TurnEnded) && child.is_empty() {
            turn = None;
        }
        of
    });
    let turns = turns.collect();
    Read { name, lines, turns, faults }
}

/// The sender of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From<'t> {
    Host,
    /// The chart with this path.
    Chart(&'t str),
}

/// The senders of the events of a trace.
pub(super) struct Letters<'t> {
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
    pub(super) fn new(lines: &'t [Line]) -> Self {
        let mut from = BTreeMap::new();
        let mut under_way: Vec<Letter<'t>> = Vec::new();
        // An event that was passed on reaches its receivers before any that was posted: the sender and the event.
        let mut passed: Option<(&str, &str)> = None;
        for line in lines {
            let TraceEvent { child, what, .. } = line.event();
            match what {
                Happening::Message { event, to, fate: MessageFate::Posted } => {
                    let (seq, to) = (line.seq, receiver(child, to).unwrap_or_default());
                    under_way.push(Letter { seq, from: child, to, event, is_heard: false });
                }
                Happening::Message { event, to, fate: MessageFate::Undelivered } => {
                    let to = receiver(child, to).unwrap_or_default();
                    let is_it = |letter: &Letter<'_>| {
                        (letter.from, letter.event, &letter.to) == (child, event, &to)
                    };
                    // The line follows the post that it is about, so search from the end.
                    if let Some(at) = under_way.iter().rposition(is_it) {
                        under_way.remove(at);
                    }
                }
                Happening::Event { event, fate: EventFate::PassedOn } => {
                    passed = Some((child, event));
                }
                // The next child is offered the event only if this one does not take it.
                Happening::Transition(_, Fate::Taken(_)) => passed = None,
                Happening::Event { event, fate: EventFate::Handled(_) } => {
                    passed = passed.filter(|(by, what)| *what == event && is_below(child, by));
                    let sender = match passed {
                        Some((by, _)) => From::Chart(by),
                        None => sender(&mut under_way, child, event),
                    };
                    from.insert(line.seq, sender);
                }
                _ => {}
            }
        }
        under_way.retain(|letter| !letter.is_heard);
        Self { from, lost: under_way.into_iter().map(|letter| letter.seq).collect() }
    }

    /// The sender of the event of a line.
    pub(super) fn from(&self, line: &Line) -> From<'t> {
        self.from.get(&line.seq).copied().unwrap_or(From::Host)
    }

    /// Whether the event of a `posted` line had not been handled by the end of the trace.
    pub(super) fn is_lost(&self, line: &Line) -> bool {
        self.lost.contains(&line.seq)
    }
}

/// The sender of an event that a chart handles and that nobody has passed on.
fn sender<'t>(under_way: &mut Vec<Letter<'t>>, child: &'t str, event: &str) -> From<'t> {
    let is_it = |letter: &Letter<'_>| {
        letter.event == event && (letter.to == child || is_element(child, &letter.to))
    };
    let Some(at) = under_way.iter().position(is_it) else {
        // Nobody posted it, so for a child it is the copy of an event that all children of its parent receive.
        return if child.is_empty() { From::Host } else { From::Chart(above(child)) };
    };
    let from = under_way[at].from;
    if under_way[at].to == child {
        under_way.remove(at);
    } else {
        under_way[at].is_heard = true;
    }
    From::Chart(from)
}

/// The path of the chart to which `from` sends an event; `None` if that is the parent of the outermost chart.
pub(super) fn receiver(from: &str, to: &str) -> Option<String> {
    match (from, to) {
        ("", "parent") => None,
        (_, "parent") => Some(above(from).to_owned()),
        (_, "") => Some(from.to_owned()),
        ("", step) => Some(step.to_owned()),
        (_, step) => Some(format!("{from}/{step}")),
    }
}

/// The path of the chart that runs `child`.
pub(super) fn above(child: &str) -> &str {
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

/// The maximum number of errors that are reported one by one.
const TOLD: usize = 5;

/// Whether a line of a trace names an agent, as those of a log do; `None` if it is not a line of a trace.
pub(super) fn names_agent(line: &str) -> Option<bool> {
    let head: LogHead<'_> = serde_json::from_str(line).ok()?;
    Some(head.agent.is_some())
}

/// The fields that every line of a log has.
#[derive(Deserialize)]
pub(super) struct LogHead<'t> {
    pub(super) v: u32,
    #[serde(borrow)]
    pub(super) agent: Option<Cow<'t, str>>,
    pub(super) at_ms: u64,
    #[serde(borrow)]
    pub(super) kind: Cow<'t, str>,
}
