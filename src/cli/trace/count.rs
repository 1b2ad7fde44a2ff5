//! What is counted of tools, states and lines.

use serde::Serialize;

/// How often a tool was called.
#[derive(Debug, Default, Serialize)]
pub(super) struct Tool {
    pub(super) calls: u64,
    pub(super) failed: u64,
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
