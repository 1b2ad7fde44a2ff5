//! The saved form of an agent.

use super::TurnOutcome;
use crate::world::{Record, WorkingMemory};
use chartc_core::expr::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The saved form of an agent without its run: configuration, record, memory, and the state of its world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedAgent {
    pub(crate) version: u32,
    pub(crate) working_memory: WorkingMemory,
    pub(crate) record: Record,
    pub(crate) given: BTreeSet<String>,
    pub(crate) is_open: bool,
    pub(crate) heard: TurnOutcome,
    pub(crate) section: String,
    pub(crate) world: Value,
}

impl SavedAgent {
    /// The version of the format. A snapshot with another version cannot be read.
    pub const VERSION: u32 = 1;

    /// The name of the agent in its world.
    pub fn name(&self) -> &str {
        &self.record.agent
    }
}
