//! What a world allows: the section `resources` of a run file.

use serde::{Deserialize, Serialize};

/// What a world gives its agents, and what it allows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Bytes that the artifacts of an agent may have, unless the world's file says otherwise.
    pub disk: u64,
    /// Units of compute that an agent may use between two renewals.
    pub compute: u64,
    /// Scrip of an agent for which no other amount is given.
    pub starting_scrip: i64,
    /// Artifacts of the whole world, those of the agents themselves among them.
    pub max_artifacts: u64,
    /// Artifacts that one agent has made and nobody has deleted.
    pub max_artifacts_per_agent: u64,
    /// Bytes of one artifact.
    pub max_content_bytes: u64,
    /// Bytes of text that one unit of compute compiles.
    pub compile_bytes_per_unit: u64,
    /// How deep artifacts may invoke artifacts.
    pub max_invocation_depth: u32,
    /// Steps that one invocation of a chart artifact may take.
    pub invocation_fuel: u64,
    /// Events that the world keeps for `genesis_event_log`.
    pub max_events: u64,
    /// Artifacts, other agents and balances that an agent sees in a turn: of each so many.
    pub max_seen: u64,
    /// For agents that agents make.
    pub spawn: SpawnLimits,
}

/// What holds for agents that agents make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpawnLimits {
    /// 0: no agent may spawn agents. 1: only configured agents may. 2: the agents that they spawn may, too; and so on.
    pub max_depth: u32,
    /// Agents of the whole world, the configured ones among them.
    pub max_agents: u64,
    /// Agents that one agent may make.
    pub per_parent: u64,
    /// Scrip that making an agent costs; it leaves circulation.
    pub cost: i64,
    /// Scrip that the new agent gets of its parent's, at least.
    pub min_endowment: i64,
    /// Bytes of disk that it gets of its parent's.
    pub disk: u64,
    /// Units of compute that it gets of its parent's quota.
    pub compute: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            disk: 1_000_000,
            compute: 1_000,
            starting_scrip: 100,
            max_artifacts: 100_000,
            max_artifacts_per_agent: 1_000,
            max_content_bytes: 100_000,
            compile_bytes_per_unit: 256,
            max_invocation_depth: 4,
            invocation_fuel: 100_000,
            max_events: 1_000,
            max_seen: 100,
            spawn: SpawnLimits::default(),
        }
    }
}

impl Default for SpawnLimits {
    fn default() -> Self {
        Self {
            max_depth: 2,
            max_agents: 1_000,
            per_parent: 10,
            cost: 0,
            min_endowment: 1,
            disk: 10_000,
            compute: 50,
        }
    }
}
