//! The order of one stream: an agent's events one after another, those of different agents side by side.

use crate::entry::{Entry, EntryId};
use std::collections::{BTreeMap, VecDeque};

/// What waits and what is under way, by agent.
#[derive(Default)]
pub(crate) struct Lanes {
    by_agent: BTreeMap<String, Lane>,
    /// Entries that are here, with those under way.
    count: usize,
    /// Entries that wait behind a turn that waits.
    parked: usize,
}

#[derive(Default)]
struct Lane {
    /// In the order of the stream.
    waiting: VecDeque<Entry>,
    flying: Option<EntryId>,
    /// The agent is busy with the turn before: its next one is tried again later, and events go past it. They may be what it waits for.
    is_parked: bool,
}

impl Lane {
    fn parked(&self) -> usize {
        if self.is_parked {
            self.waiting.iter().filter(|entry| entry.is_of_turns()).count()
        } else {
            0
        }
    }

    /// Takes the next entry.
    fn next(&mut self) -> Option<Entry> {
        if self.flying.is_some() {
            return None;
        }
        let nth = if self.is_parked {
            self.waiting.iter().position(|entry| !entry.is_of_turns())?
        } else {
            0
        };
        let entry = self.waiting.remove(nth)?;
        self.flying = Some(entry.id);
        Some(entry)
    }
}

impl Lanes {
    /// Takes an entry in. Returns the one to fire at, if the agent is free.
    pub(crate) fn push(&mut self, entry: Entry) -> Option<Entry> {
        let agent = entry.agent.clone();
        self.count += 1;
        self.with(&agent, |lane| {
            lane.waiting.push_back(entry);
            lane.next()
        })
    }

    /// The entry under way is done with. Returns the agent's next one.
    pub(crate) fn done(&mut self, agent: &str) -> Option<Entry> {
        self.count -= 1;
        self.with(agent, |lane| {
            lane.flying = None;
            lane.next()
        })
    }

    /// The turn under way has to wait. Returns an event that may go past it.
    pub(crate) fn park(&mut self, entry: Entry) -> Option<Entry> {
        let agent = entry.agent.clone();
        self.with(&agent, |lane| {
            lane.flying = None;
            lane.is_parked = true;
            lane.waiting.push_front(entry);
            lane.next()
        })
    }

    /// The time to try again has come. Returns what to fire, unless an event of the agent is under way: then the turn comes behind it.
    pub(crate) fn unpark(&mut self, agent: &str) -> Option<Entry> {
        self.with(agent, |lane| {
            lane.is_parked = false;
            lane.next()
        })
    }

    fn with<R>(&mut self, agent: &str, work: impl FnOnce(&mut Lane) -> R) -> R {
        let lane = self.by_agent.entry(agent.to_owned()).or_default();
        let before = lane.parked();
        let result = work(lane);
        self.parked = self.parked + lane.parked() - before;
        if lane.waiting.is_empty() && lane.flying.is_none() {
            self.by_agent.remove(agent);
        }
        result
    }

    /// Entries that are here and not parked.
    pub(crate) fn active(&self) -> usize {
        self.count - self.parked
    }

    /// Entries that wait behind a turn that waits.
    pub(crate) fn parked(&self) -> usize {
        self.parked
    }

    /// The oldest entry that is here.
    pub(crate) fn oldest(&self) -> Option<EntryId> {
        let of = |lane: &Lane| {
            lane.waiting.front().map(|entry| entry.id).into_iter().chain(lane.flying).min()
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
        let mut lanes = Lanes::default();
        assert_eq!(id(lanes.push(entry(1, "a", "x"))), Some(1));
        assert_eq!(id(lanes.push(entry(2, "a", "x"))), None);
        assert_eq!(id(lanes.push(entry(3, "b", "x"))), Some(3));
        assert_eq!(lanes.oldest(), Some(EntryId(1, 0)));
        assert_eq!(id(lanes.done("a")), Some(2));
        assert_eq!((id(lanes.done("b")), id(lanes.done("a"))), (None, None));
        assert_eq!((lanes.active(), lanes.oldest()), (0, None));
        assert!(lanes.by_agent.is_empty());
    }

    #[test]
    fn events_go_past_a_turn_that_waits_and_turns_do_not() {
        let mut lanes = Lanes::default();
        let first = lanes.push(entry(1, "a", "turn")).expect("it is free");
        assert_eq!(id(lanes.push(entry(2, "a", "turn"))), None);
        assert_eq!(id(lanes.push(entry(3, "a", "x"))), None);
        assert_eq!(id(lanes.push(entry(4, "a", "x"))), None);
        assert_eq!(id(lanes.park(first)), Some(3));
        assert_eq!((lanes.active(), lanes.parked()), (2, 2));
        // Behind the event that is under way.
        assert_eq!(id(lanes.unpark("a")), None);
        let first = lanes.done("a").expect("the turn");
        assert_eq!(first.id.0, 1);
        assert_eq!(id(lanes.park(first)), Some(4));
        assert_eq!(id(lanes.done("a")), None);
        assert_eq!(id(lanes.push(entry(5, "a", "turn"))), None);
        assert_eq!(id(lanes.unpark("a")), Some(1));
        assert_eq!((id(lanes.done("a")), id(lanes.done("a"))), (Some(2), Some(5)));
        assert_eq!((id(lanes.done("a")), lanes.active(), lanes.parked()), (None, 0, 0));
    }
}
