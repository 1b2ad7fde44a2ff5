//! What is counted of tools, states and lines.

use serde::Serialize;
use std::collections::BTreeMap;

/// How often a tool was called.
#[derive(Debug, Default, Serialize)]
pub(super) struct Tool {
    pub(super) calls: u64,
    pub(super) failed: u64,
}

impl Tool {
    /// One more call.
    pub(super) fn add(&mut self, is_good: bool) {
        self.calls += 1;
        self.failed += u64::from(!is_good);
    }

    /// All of them on a line.
    pub(super) fn list(all: &BTreeMap<String, Self>) -> String {
        let each = all.iter().map(|(tool, row)| match row.failed {
            0 => format!("{tool} {}", row.calls),
            failed => format!("{tool} {} ({failed} failed)", row.calls),
        });
        each.collect::<Vec<_>>().join(", ")
    }
}

/// What a state cost: itself and all below it for the time, its own leaf for calls.
#[derive(Debug, Default, Clone, Serialize)]
pub(super) struct State {
    pub(super) visits: u64,
    pub(super) time_ms: u64,
    pub(super) questions: u64,
    pub(super) failed: u64,
    pub(super) tokens: u64,
    pub(super) cost: f64,
}

/// How often a line was taken.
#[derive(Debug, Default, Clone, Serialize)]
pub(super) struct Transition {
    pub(super) state: String,
    pub(super) nth: u32,
    pub(super) trigger: String,
    pub(super) targets: Vec<String>,
    pub(super) taken: u64,
}
