//! Finds the senders of the events that the charts of a run handled.
//!
//! A trace says that an event was posted, and later that one was handled, but not that these are the same. Events for one chart are
//! handled in the order in which they were posted, so they can be matched. The chart `""` runs the child `sub`:
//!
//! ```text
//! seq 7   child ""      posted  go to sub    under way: 7
//! seq 8   child ""      posted  go to sub    under way: 7, 8
//! seq 9   child "sub"   event   go           from the chart "", which is 7; under way: 8
//! (the end)                                  8 is lost: nobody has handled it
//! ```

use chartc_runtime::trace::{Line, What};
use std::collections::{BTreeMap, BTreeSet};

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
    pub(super) fn from(&self, line: &Line) -> From<'t> {
        self.from.get(&line.seq).copied().unwrap_or(From::Host)
    }

    /// Whether the event of a `posted` line had not been handled by the end of the trace.
    pub(super) fn is_lost(&self, line: &Line) -> bool {
        self.lost.contains(&line.seq)
    }
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
