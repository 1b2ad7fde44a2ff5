//! The calls that wait for one provider.

use std::collections::BTreeMap;

/// The position of a ticket: its round, and its order of arrival.
pub(super) type QueuePosition = (u64, u64);

/// A queue that is served in rounds, with one ticket of each agent in a round.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: BTreeMap<QueuePosition, (String, u64)>,
    /// The round that is being served.
    round: u64,
    arrived: u64,
    /// The last round in which each agent has a ticket.
    last: BTreeMap<String, u64>,
}

impl Queue {
    /// Adds a ticket at the end of the first round in which the agent has none.
    pub(super) fn push(&mut self, agent: &str, ticket: u64) -> QueuePosition {
        let own = self.last.get(agent).map_or(0, |last| last + 1);
        let place = (self.round.max(own), self.arrived);
        self.arrived += 1;
        self.last.insert(agent.to_owned(), place.0);
        self.waiting.insert(place, (agent.to_owned(), ticket));
        place
    }

    /// The first ticket after a position.
    pub(super) fn next(&self, after: Option<QueuePosition>) -> Option<(QueuePosition, u64)> {
        let from = after.map_or((0, 0), |(round, arrived)| (round, arrived + 1));
        self.waiting.range(from..).next().map(|(place, (_, ticket))| (*place, *ticket))
    }

    /// Removes a ticket that was granted or refused.
    pub(super) fn served(&mut self, place: QueuePosition) {
        self.remove(place);
        self.round = self.round.max(place.0);
        // Agents without tickets in the current or later rounds need no entry. They are removed rarely, so the cost per ticket is constant.
        if self.last.len() > 2 * self.waiting.len() + 64 {
            let round = self.round;
            self.last.retain(|_, last| *last >= round);
        }
    }

    pub(super) fn remove(&mut self, place: QueuePosition) {
        self.waiting.remove(&place);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
