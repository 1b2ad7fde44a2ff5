//! The state of an agent in the server's key-value store.

use chartc_core::machine::Instant;
use chartc_runtime::Saved;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The run of an agent between two steps.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct StoredAgent {
    /// The wall-clock time at which the run's clock showed 0, in milliseconds since 1970.
    pub(crate) epoch: i64,
    pub(crate) saved: Option<Saved>,
    /// The reason why the run can never continue, if it cannot.
    pub(crate) stopped: Option<String>,
    /// The time of the run for which the current timer is set. Timers for other times were replaced, and are ignored when they fire.
    pub(crate) wake: Option<Instant>,
    /// The calls under way, by their ids, each with the number of its plan.
    pub(crate) open: BTreeMap<String, u64>,
    /// The number of calls planned so far, from which plans are numbered.
    pub(crate) plans: u64,
    /// The number of steps so far that wrote lines of the trace.
    pub(crate) parts: u64,
    /// The number of events applied so far.
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

    /// Converts a wall-clock time in milliseconds since 1970 to a time of the run.
    pub(crate) fn time(&self, at: i64) -> Instant {
        u64::try_from(at.saturating_sub(self.epoch)).unwrap_or(0)
    }
}

// The keys of an agent's state in the store.

/// The key of its [`StoredAgent`].
pub(crate) const RUN: &str = "run";
/// The key of its [`AgentState`](chartc_runtime::agents::AgentState), which hosts read.
pub(crate) const STATE: &str = "state";

/// The key of the reply to the event `id`.
pub(crate) fn event(id: &str) -> String {
    format!("event:{id}")
}

/// The key of a slot in the ring of the last `most` event ids. The `nth` event takes the slot of the event that is then forgotten.
pub(crate) fn oldest(nth: u64, most: u64) -> String {
    format!("nth:{}", nth % most)
}

/// The key of the lines of the trace that the `nth` step with lines wrote.
pub(crate) fn part(nth: u64) -> String {
    format!("lines:{nth}")
}
