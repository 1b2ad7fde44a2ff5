//! Who sent the events that charts of a run have handled.

use chartc_runtime::trace::{Line, What};
use std::collections::{BTreeMap, BTreeSet};

/// The origin of an event that a chart handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From<'t> {
    Host,
    /// The chart with this path.
    Chart(&'t str),
}

/// The senders of events.
pub(super) struct Letters<'t> {
    /// By the `seq` of an `event` line.
    from: BTreeMap<u64, From<'t>>,
    /// The `posted` lines with an event that nobody has handled by the end of the trace.
    lost: BTreeSet<u64>,
}

/// An event under way.
struct Letter<'t> {
    seq: u64,
    from: &'t str,
    to: String,
    event: &'t str,
    /// Whether one of several charts has handled it.
    is_heard: bool,
}

impl<'t> Letters<'t> {
    /// Matches posted and passed on events with the `event` lines that they became: events for one chart are handled in the order in
    /// which they were posted.
    pub(super) fn new(lines: &'t [Line]) -> Self {
        let mut from = BTreeMap::new();
        let mut under_way: Vec<Letter<'t>> = Vec::new();
        // An event that was passed on goes to its takers before anything that was posted.
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
                // Another taker is offered it only if this one refuses it.
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
                    // A copy, for a chart that gets all events.
                    From::Chart(above(&line.child))
                };
                from.insert(line.seq, sender);
            }
        }
        under_way.retain(|letter| !letter.is_heard);
        Self { from, lost: under_way.into_iter().map(|letter| letter.seq).collect() }
    }

    /// Who sent the event of a line.
    pub(super) fn from(&self, line: &Line) -> From<'t> {
        self.from.get(&line.seq).copied().unwrap_or(From::Host)
    }

    /// Whether an event was posted that nobody has handled by the end of the trace.
    pub(super) fn is_lost(&self, line: &Line) -> bool {
        self.lost.contains(&line.seq)
    }
}

/// The path of the chart to which another one sends an event; `None` for the parent of the outermost one.
pub(super) fn receiver(from: &str, to: &str) -> Option<String> {
    match (from, to) {
        ("", "parent") => None,
        (_, "parent") => Some(above(from).to_owned()),
        (_, "") => Some(from.to_owned()),
        ("", step) => Some(step.to_owned()),
        (_, step) => Some(format!("{from}/{step}")),
    }
}

/// The path of the chart that runs another one.
pub(super) fn above(child: &str) -> &str {
    child.rsplit_once('/').map_or("", |(above, _)| above)
}

/// Whether a chart is that of an element of a step: `dig[2]` of `dig`.
fn is_element(child: &str, step: &str) -> bool {
    child.strip_prefix(step).is_some_and(|rest| rest.starts_with('[') && !rest.contains('/'))
}

fn is_below(child: &str, above: &str) -> bool {
    match above {
        "" => !child.is_empty(),
        above => child.strip_prefix(above).is_some_and(|rest| rest.starts_with('/')),
    }
}
