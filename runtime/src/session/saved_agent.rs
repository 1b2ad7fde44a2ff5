//! What a saved run keeps of its agent.

use super::TurnOutcome;
use crate::world::{Record, WorkingMemory};
use chartc_core::expr::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What an agent is besides its run: configuration, record, memory, and where its world stands.
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
    /// Version of the layout. A snapshot with another one cannot be read.
    pub const VERSION: u32 = 1;

    /// The agent's name in its world.
    pub fn name(&self) -> &str {
        &self.record.agent
    }
}
