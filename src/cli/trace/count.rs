//! Counts of tool calls, states and transitions.

use serde::Serialize;
use std::collections::BTreeMap;

/// The number of calls of a tool, and of those that failed.
#[derive(Debug, Default, Serialize)]
pub(super) struct Tool {
    pub(super) calls: u64,
    pub(super) failed: u64,
}

impl Tool {
    /// Counts one more call.
    pub(super) fn add(&mut self, is_good: bool) {
        self.calls += 1;
        self.failed += u64::from(!is_good);
    }

    /// All counts on one line.
    pub(super) fn list(all: &BTreeMap<String, Self>) -> String {
        let each = all.iter().map(|(tool, row)| match row.failed {
            0 => format!("{tool} {}", row.calls),
            failed => format!("{tool} {} ({failed} failed)", row.calls),
        });
        each.collect::<Vec<_>>().join(", ")
    }
}

/// The cost of a state. Its time includes that of its descendants; its questions, tokens and money are only those asked with this state as
/// the leaf.
#[derive(Debug, Default, Clone, Serialize)]
pub(super) struct StateCost {
    pub(super) visits: u64,
    pub(super) time_ms: u64,
    pub(super) questions: u64,
    pub(super) failed: u64,
    pub(super) tokens: u64,
    pub(super) cost: f64,
}

/// The number of times that a transition was taken.
#[derive(Debug, Default, Clone, Serialize)]
pub(super) struct Transition {
    pub(super) state: String,
    pub(super) nth: u32,
    pub(super) trigger: String,
    pub(super) targets: Vec<String>,
    pub(super) taken: u64,
}
