//! One rolling window of one resource.

use chartc_core::machine::Instant;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The uses within the last window's length. A use counts from its time until exactly that length later, when it no longer counts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Window {
    uses: VecDeque<Use>,
    sum: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Use {
    at: Instant,
    /// The number of the admission. The uses are in ascending order of it.
    ticket: u64,
    amount: u64,
}

impl Window {
    /// Removes uses that are no longer within the window.
    pub(super) fn roll(&mut self, length: u64, now: Instant) {
        while let Some(first) = self.uses.front()
            && first.at.saturating_add(length) <= now
        {
            self.sum -= first.amount;
            self.uses.pop_front();
        }
    }

    /// The earliest time at which `amount` will fit below `most`; `None` if it fits now. The window must have been rolled to the current
    /// time.
    pub(super) fn fits_at(&self, amount: u64, most: u64, length: u64) -> Option<Instant> {
        let mut over = self.sum.saturating_add(amount).saturating_sub(most);
        if over == 0 {
            return None;
        }
        let last = self.uses.back().map_or(0, |last| last.at);
        // Uses leave the window in order, so the answer is the end of the use with which enough has left.
        let mut until = last;
        for row in &self.uses {
            until = row.at;
            if row.amount >= over {
                break;
            }
            over -= row.amount;
        }
        Some(until.saturating_add(length))
    }

    /// Records a use.
    pub(super) fn take(&mut self, at: Instant, ticket: u64, amount: u64) {
        if amount > 0 {
            self.sum = self.sum.saturating_add(amount);
            self.uses.push_back(Use { at, ticket, amount });
        }
    }

    /// Corrects the amount of a use, if it is still within the window.
    pub(super) fn settle(&mut self, ticket: u64, actual: u64) {
        if let Ok(index) = self.uses.binary_search_by_key(&ticket, |row| row.ticket) {
            let row = &mut self.uses[index];
            self.sum = (self.sum - row.amount).saturating_add(actual);
            row.amount = actual;
            if actual == 0 {
                self.uses.remove(index);
            }
        }
    }

    pub(super) fn used(&self) -> u64 {
        self.sum
    }
}
