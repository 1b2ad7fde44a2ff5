//! The limits of a world: the section `resources` of a run file.

use serde::{Deserialize, Serialize};

/// The initial quotas of agents, and the limits of the world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The disk quota of an agent in bytes, unless the world's file sets another.
    pub disk: u64,
    /// The units of compute that an agent gets at each renewal.
    pub compute: u64,
    /// The initial scrip of an agent for which no other amount is given.
    pub starting_scrip: i64,
    /// The maximum number of artifacts in the world, agents included.
    pub max_artifacts: u64,
    /// The maximum number of existing artifacts that one agent has made.
    pub max_artifacts_per_agent: u64,
    /// The maximum size of an artifact's content, in bytes.
    pub max_content_bytes: u64,
    /// The number of bytes of text that can be compiled for one unit of compute.
    pub compile_bytes_per_unit: u64,
    /// The maximum depth of invocations that artifacts make of other artifacts.
    pub max_invocation_depth: u32,
    /// The maximum number of units of evaluation in one invocation of a chart artifact.
    pub invocation_fuel: u64,
    /// The maximum number of events that `genesis_event_log` keeps.
    pub max_events: u64,
    /// The maximum number of artifacts, of other agents, and of balances that an agent sees in a turn.
    pub max_seen: u64,
    /// The limits for agents that other agents spawn.
    pub spawn: SpawnLimits,
}

/// The limits for agents that other agents spawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpawnLimits {
    /// The maximum generation of an agent. With 0 no agent may spawn, with 1 only configured agents may, with 2 also those that they have
    /// spawned, and so on.
    pub max_depth: u32,
    /// The maximum number of agents in the world, configured ones included.
    pub max_agents: u64,
    /// The maximum number of agents that one agent may spawn.
    pub per_parent: u64,
    /// The scrip that spawning an agent costs. It leaves circulation.
    pub cost: i64,
    /// The minimum scrip that the spawner has to give to the new agent.
    pub min_endowment: i64,
    /// The disk quota in bytes that the spawner gives to the new agent.
    pub disk: u64,
    /// The units of compute at each renewal that the spawner gives to the new agent.
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
