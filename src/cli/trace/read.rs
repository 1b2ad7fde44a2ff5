//! Reads a trace as far as possible, and assigns each line to a turn.

use super::super::instance;
use super::world;
use chartc_runtime::Saved;
use chartc_runtime::trace::{self, Line, What};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The maximum number of errors that are reported one by one.
const TOLD: usize = 5;

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
            let What::Run { chart, .. } = &line.what else { return None };
            Some((line.child.as_str(), chart.as_str()))
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
    let text = instance::read(path)?;
    if serde_json::from_str::<Head>(&text).is_err() {
        return Ok(None);
    }
    let name = path.display();
    Saved::read(&text).map(Some).map_err(|why| miette::miette!("{name}: {why}"))
}

/// Reads a trace. Lines that cannot be parsed are skipped and reported.
pub(super) fn read(path: &Path) -> miette::Result<Read> {
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
