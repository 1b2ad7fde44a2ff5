//! The order of delivery in one stream: the events of one agent one after another, those of different agents side by side.
//!
//! One [`KeyQueues`] per stream holds a [`KeyQueue`] per agent. For example, with the entries 1 (`turn`), 2 (`turn`) and 3 (`order`) for
//! one agent:
//!
//! ```text
//! push 1 -> deliver 1     nothing else is under way
//! push 2, push 3 -> none  they wait behind 1
//! defer 1 -> deliver 3    the agent is busy; 3 is no turn and overtakes 1 and 2
//! undefer -> none         time to retry, but 3 is still under way
//! done -> deliver 1       then 2
//! ```

use crate::entry::{Entry, EntryId};
use std::collections::{BTreeMap, VecDeque};

/// The entries of a stream that wait or are under way, by agent.
#[derive(Default)]
pub(crate) struct KeyQueues {
    by_agent: BTreeMap<String, KeyQueue>,
    /// The number of entries that wait or are under way.
    count: usize,
    /// The number of entries that wait behind a deferred turn, deferred turns included.
    deferred: usize,
}

#[derive(Default)]
struct KeyQueue {
    /// The waiting entries, in the order of the stream.
    waiting: VecDeque<Entry>,
    in_flight: Option<EntryId>,
    /// The agent is busy with an earlier turn, so its next turn is tried again later. Events overtake that turn, since the agent may be
    /// waiting for them.
    is_deferred: bool,
}

impl KeyQueue {
    fn deferred(&self) -> usize {
        if self.is_deferred {
            self.waiting.iter().filter(|entry| entry.is_of_turns()).count()
        } else {
            0
        }
    }

    /// Takes the next entry to deliver, if none is under way.
    fn next(&mut self) -> Option<Entry> {
        if self.in_flight.is_some() {
            return None;
        }
        let nth = if self.is_deferred {
            self.waiting.iter().position(|entry| !entry.is_of_turns())?
        } else {
            0
        };
        let entry = self.waiting.remove(nth)?;
        self.in_flight = Some(entry.id);
        Some(entry)
    }
}

impl KeyQueues {
    /// Adds an entry. Returns the one to deliver, if the agent is free.
    pub(crate) fn push(&mut self, entry: Entry) -> Option<Entry> {
        let agent = entry.agent.clone();
        self.count += 1;
        self.with(&agent, |queue| {
            queue.waiting.push_back(entry);
            queue.next()
        })
    }

    /// Ends the delivery under way. Returns the agent's next entry to deliver.
    pub(crate) fn done(&mut self, agent: &str) -> Option<Entry> {
        self.count -= 1;
        self.with(agent, |queue| {
            queue.in_flight = None;
            queue.next()
        })
    }

    /// Puts the turn under way back to the front, because the agent is busy. Returns an event that may overtake it.
    pub(crate) fn defer(&mut self, entry: Entry) -> Option<Entry> {
        let agent = entry.agent.clone();
        self.with(&agent, |queue| {
            queue.in_flight = None;
            queue.is_deferred = true;
            queue.waiting.push_front(entry);
            queue.next()
        })
    }

    /// Ends the deferral, because it is time to try the turn again. Returns the entry to deliver; none if an event of the agent is still
    /// under way, since the turn then follows it.
    pub(crate) fn undefer(&mut self, agent: &str) -> Option<Entry> {
        self.with(agent, |queue| {
            queue.is_deferred = false;
            queue.next()
        })
    }

    fn with<R>(&mut self, agent: &str, work: impl FnOnce(&mut KeyQueue) -> R) -> R {
        let queue = self.by_agent.entry(agent.to_owned()).or_default();
        let before = queue.deferred();
        let result = work(queue);
        // Underflow is impossible: `self.deferred` contains `before` of this queue. The sum comes first, because the difference may be
        // negative.
        self.deferred = self.deferred + queue.deferred() - before;
        if queue.waiting.is_empty() && queue.in_flight.is_none() {
            self.by_agent.remove(agent);
        }
        result
    }

    /// The number of entries that are not deferred.
    pub(crate) fn active(&self) -> usize {
        self.count - self.deferred
    }

    /// The number of entries that wait behind a deferred turn.
    pub(crate) fn deferred(&self) -> usize {
        self.deferred
    }

    /// The id of the oldest entry that waits or is under way.
    pub(crate) fn oldest(&self) -> Option<EntryId> {
        let of = |queue: &KeyQueue| {
            queue.waiting.front().map(|entry| entry.id).into_iter().chain(queue.in_flight).min()
        };
        self.by_agent.values().filter_map(of).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chartc_runtime::agents::Event;

    fn entry(id: u64, agent: &str, event: &str) -> Entry {
        let event = Event::new(id.to_string(), event);
        Entry { id: EntryId(id, 0), agent: agent.into(), event, fields: Vec::new() }
    }

    fn id(entry: Option<Entry>) -> Option<u64> {
        entry.map(|entry| entry.id.0)
    }

    #[test]
    fn an_agent_has_one_at_a_time_and_others_go_on() {
        let mut queues = KeyQueues::default();
        assert_eq!(id(queues.push(entry(1, "a", "x"))), Some(1));
        assert_eq!(id(queues.push(entry(2, "a", "x"))), None);
        assert_eq!(id(queues.push(entry(3, "b", "x"))), Some(3));
        assert_eq!(queues.oldest(), Some(EntryId(1, 0)));
        assert_eq!(id(queues.done("a")), Some(2));
        assert_eq!((id(queues.done("b")), id(queues.done("a"))), (None, None));
        assert_eq!((queues.active(), queues.oldest()), (0, None));
        assert!(queues.by_agent.is_empty());
    }

    #[test]
    fn events_go_past_a_turn_that_waits_and_turns_do_not() {
        let mut queues = KeyQueues::default();
        let first = queues.push(entry(1, "a", "turn")).expect("it is free");
        assert_eq!(id(queues.push(entry(2, "a", "turn"))), None);
        assert_eq!(id(queues.push(entry(3, "a", "x"))), None);
        assert_eq!(id(queues.push(entry(4, "a", "x"))), None);
        assert_eq!(id(queues.defer(first)), Some(3));
        assert_eq!((queues.active(), queues.deferred()), (2, 2));
        // Behind the event that is under way.
        assert_eq!(id(queues.undefer("a")), None);
        let first = queues.done("a").expect("the turn");
        assert_eq!(first.id.0, 1);
        assert_eq!(id(queues.defer(first)), Some(4));
        assert_eq!(id(queues.done("a")), None);
        assert_eq!(id(queues.push(entry(5, "a", "turn"))), None);
        assert_eq!(id(queues.undefer("a")), Some(1));
        assert_eq!((id(queues.done("a")), id(queues.done("a"))), (Some(2), Some(5)));
        assert_eq!((id(queues.done("a")), queues.active(), queues.deferred()), (None, 0, 0));
    }
}
