//! What the server keeps of an agent.

use chartc_core::machine::Instant;
use chartc_runtime::Saved;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The run of an agent between two events.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct StoredAgent {
    /// When its clock showed 0, in milliseconds since 1970.
    pub(crate) epoch: i64,
    pub(crate) saved: Option<Saved>,
    /// Why it cannot go on.
    pub(crate) stopped: Option<String>,
    /// The timer that counts: the others were set for something that is over.
    pub(crate) wake: Option<Instant>,
    /// The plans of the calls under way.
    pub(crate) open: BTreeMap<String, u64>,
    /// Calls planned so far.
    pub(crate) plans: u64,
    /// Steps with lines so far.
    pub(crate) parts: u64,
    /// Events taken in so far.
    pub(crate) events: u64,
}

impl StoredAgent {
    pub(crate) fn new(epoch: i64) -> Self {
        Self {
            epoch,
            saved: None,
            stopped: None,
            wake: None,
            open: BTreeMap::new(),
            plans: 0,
            parts: 0,
            events: 0,
        }
    }

    /// The time of the run at this time of the computer.
    pub(crate) fn time(&self, at: i64) -> Instant {
        u64::try_from(at.saturating_sub(self.epoch)).unwrap_or(0)
    }
}

// The names under which the server keeps what belongs to an agent.

/// Its [`StoredAgent`].
pub(crate) const RUN: &str = "run";
/// What it shows of itself.
pub(crate) const STATE: &str = "state";

/// The reply to an event.
pub(crate) fn event(id: &str) -> String {
    format!("event:{id}")
}

/// The id of the event that is forgotten next.
pub(crate) fn oldest(nth: u64, most: u64) -> String {
    format!("nth:{}", nth % most)
}

/// Lines of its trace.
pub(crate) fn part(nth: u64) -> String {
    format!("lines:{nth}")
}
