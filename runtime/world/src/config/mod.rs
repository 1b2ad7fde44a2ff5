//! The run file: which agents run, for how long, and what each of them may use.
//!
//! ```
//! use chartc_world::RunFile;
//!
//! let file = RunFile::parse("
//! execution: {ticks: 10, seed: 7}
//! agents:
//!   - {file: trader.chart, id: trader, count: 3, params: {risk: 0.2}}
//! ").unwrap();
//! assert_eq!(file.execution.ticks, Some(10));
//! assert_eq!(file.agents[0].names("trader"), ["trader_1", "trader_2", "trader_3"]);
//!
//! let fault = RunFile::parse("execution: {tick: 10}").unwrap_err();
//! assert!(fault.to_string().starts_with("line 1: `execution.tick` is unknown"));
//! ```

mod read;
#[cfg(test)]
mod tests;
mod tree;

use chartc_core::expr::Map;
use chartc_runtime::agent::WorkingMemory;
use std::collections::BTreeMap;
use std::fmt;

/// What a window can bound: of a provider, only the first two.
pub const RESOURCES: [&str; 5] = ["llm_calls", "llm_tokens", "tool_calls", "actions", "spawns"];

/// A run file that cannot be read: where, why, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFileError {
    /// From 1, where it is known.
    pub line: Option<u64>,
    /// The keys that lead there; empty for the file.
    pub place: String,
    /// What is wrong.
    pub why: String,
    /// A word that there is not, and those that there are.
    pub stranger: Option<(String, Vec<String>)>,
}

impl fmt::Display for RunFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line.filter(|line| *line > 0) {
            write!(f, "line {line}: ")?;
        }
        if !self.place.is_empty() {
            write!(f, "`{}` ", self.place)?;
        }
        f.write_str(&self.why)
    }
}

impl std::error::Error for RunFileError {}

/// A run file. Times are in milliseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunFile {
    /// How the agents run.
    pub execution: Execution,
    /// What agents may use in a window of time.
    pub rate_limiting: RateLimiting,
    /// Settings of all charts.
    pub statechart: StatechartConfig,
    /// Auctions of the mint; without it, there are none.
    pub auction: Option<AuctionConfig>,
    /// What agents may have.
    pub resources: Resources,
    /// Of agents that say nothing of theirs.
    pub working_memory: Option<WorkingMemory>,
    /// Scrip at the beginning, by agent.
    pub balances: BTreeMap<String, i64>,
    /// Who runs; empty where the folder says so.
    pub agents: Vec<AgentEntry>,
}

impl RunFile {
    /// Reads the text of a run file.
    ///
    /// # Errors
    /// The first thing that is wrong: its line, its keys, and what would be right.
    pub fn parse(text: &str) -> Result<Self, RunFileError> {
        read::parse(text)
    }
}

/// How the agents run: `execution`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// Each agent has a loop of its own; `None` where the file does not say.
    pub use_autonomous_loops: Option<bool>,
    /// What an agent does that has used up something: `resource_exhaustion_policy`.
    pub exhaustion: Exhaustion,
    /// How many ticks there are.
    pub ticks: Option<u64>,
    /// How long the run takes.
    pub duration: Option<u64>,
    /// From tick to tick; also called `rate_limit_delay` [default: 15 seconds].
    pub delay: u64,
    /// Between the turns of an autonomous agent [default: 1 second].
    pub interval: u64,
    /// The longest time that an autonomous agent sleeps after errors [default: 1 minute].
    pub max_backoff: u64,
    /// So many errors one after the other pause an agent [default: 5].
    pub max_consecutive_errors: u32,
    /// Agents are kept in a store, and workers take them from there.
    pub use_worker_pool: bool,
    /// Those workers.
    pub worker_pool: WorkerPool,
    /// Threads; `None` for as many as there are cores.
    pub workers: Option<u32>,
    /// Of everything random.
    pub seed: Option<u64>,
}

impl Default for Execution {
    fn default() -> Self {
        Self {
            use_autonomous_loops: None,
            exhaustion: Exhaustion::Skip,
            ticks: None,
            duration: None,
            delay: 15_000,
            interval: 1000,
            max_backoff: 60_000,
            max_consecutive_errors: 5,
            use_worker_pool: false,
            worker_pool: WorkerPool::default(),
            workers: None,
            seed: None,
        }
    }
}

impl Execution {
    /// The number of threads, if the file says it.
    pub fn workers(&self) -> Option<usize> {
        let pool = self.use_worker_pool.then_some(self.worker_pool.num_workers);
        self.workers.or(pool).map(|count| count as usize)
    }

    /// Whether each agent has a loop of its own: the file says so, or it names no number of ticks.
    pub fn is_autonomous(&self) -> bool {
        self.use_autonomous_loops.unwrap_or(self.ticks.is_none())
    }
}

/// What an agent does that has used up something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Exhaustion {
    /// It leaves out this turn.
    #[default]
    Skip,
    /// It waits until there is room.
    Block,
}

/// Workers that take agents from a store: `execution.worker_pool`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerPool {
    /// How many.
    pub num_workers: u32,
    /// The file of the store.
    pub state_db_path: Option<String>,
}

impl Default for WorkerPool {
    fn default() -> Self {
        Self { num_workers: 4, state_db_path: None }
    }
}

/// What agents may use in a window of time: `rate_limiting`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimiting {
    /// Whether it counts.
    pub enabled: bool,
    /// How long a window is [default: 1 minute].
    pub window: u64,
    /// The most that each agent may use in a window, by the names of [`RESOURCES`].
    pub resources: BTreeMap<String, u64>,
    /// What all agents together may use of a provider; `*` stands for each that is not named.
    pub providers: BTreeMap<String, Provider>,
}

impl Default for RateLimiting {
    fn default() -> Self {
        Self {
            enabled: false,
            window: 60_000,
            resources: BTreeMap::new(),
            providers: BTreeMap::new(),
        }
    }
}

/// What all agents together may use of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// How long a window is.
    pub window: u64,
    /// The most in a window, by the names of [`RESOURCES`].
    pub resources: BTreeMap<String, u64>,
}

/// Settings of all charts: `statechart`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatechartConfig {
    /// Turns after which a state without a limit of its own times out.
    pub default_timeout_ticks: Option<u32>,
    /// Transitions that an agent remembers.
    pub max_history_depth: Option<u32>,
    /// Whether models are asked.
    pub oracle_enabled: bool,
}

impl Default for StatechartConfig {
    fn default() -> Self {
        Self { default_timeout_ticks: None, max_history_depth: None, oracle_enabled: true }
    }
}

/// Auctions of the mint: `auction`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuctionConfig {
    /// From the beginning of one auction to that of the next [default: 1 minute].
    pub period: u64,
    /// How long bids are taken [default: 30 seconds].
    pub bidding_window: u64,
    /// Before the first auction [default: 30 seconds].
    pub first_delay: u64,
    /// In scrip [default: 1].
    pub minimum_bid: i64,
    /// Scrip that is minted for each point of the score [default: 1].
    pub scrip_per_point: i64,
    /// Who scores, as for `--llm`.
    pub scoring: Option<String>,
    /// The longest time for the score; `None` is what is left of the period, at most 20 seconds.
    pub scoring_time: Option<u64>,
    /// The score where nobody gives one, from 0 to 100.
    pub default_score: Option<u64>,
    /// Submissions that can wait at a time.
    pub max_submissions: Option<u64>,
    /// Auctions that the history keeps.
    pub max_history: Option<u64>,
}

impl Default for AuctionConfig {
    fn default() -> Self {
        Self {
            period: 60_000,
            bidding_window: 30_000,
            first_delay: 30_000,
            minimum_bid: 1,
            scrip_per_point: 1,
            scoring: None,
            scoring_time: None,
            default_score: None,
            max_submissions: None,
            max_history: None,
        }
    }
}

/// What agents may have: `resources`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resources {
    /// Bytes of their artifacts.
    pub disk: Most,
    /// Compute.
    pub compute: Most,
    /// Scrip of an agent that `balances` does not name.
    pub starting_scrip: Option<i64>,
    /// Artifacts in the world.
    pub max_artifacts: Option<u64>,
    /// Artifacts that one agent has made.
    pub max_artifacts_per_agent: Option<u64>,
    /// Bytes of one artifact.
    pub max_content_bytes: Option<u64>,
    /// Bytes of text that a unit of compute compiles.
    pub compile_bytes_per_unit: Option<u64>,
    /// How deep artifacts invoke artifacts.
    pub max_invocation_depth: Option<u32>,
    /// Steps of one invocation of a chart.
    pub invocation_fuel: Option<u64>,
    /// Events that the world's log keeps.
    pub max_events: Option<u64>,
    /// Artifacts, other agents and balances that an agent sees in a turn.
    pub max_seen: Option<u64>,
    /// Agents that agents make.
    pub spawn: MostSpawned,
}

/// The most of something: the same for everybody, or by agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Most {
    /// For everybody.
    pub everybody: Option<u64>,
    /// By agent.
    pub each: BTreeMap<String, u64>,
}

impl Most {
    /// Of one agent; `None` is no bound.
    pub fn of(&self, agent: &str) -> Option<u64> {
        self.each.get(agent).copied().or(self.everybody)
    }
}

/// Agents that agents make: `resources.spawn`. `None` is no bound of the file's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MostSpawned {
    /// Generations below a configured agent.
    pub max_depth: Option<u32>,
    /// Agents at the same time.
    pub max_agents: Option<u32>,
    /// Agents of one parent.
    pub per_parent: Option<u32>,
    /// Scrip that making an agent costs.
    pub cost: Option<i64>,
    /// Scrip that a new agent gets at least.
    pub min_endowment: Option<i64>,
    /// Bytes of disk that it gets.
    pub disk: Option<u64>,
    /// Units of compute that it gets.
    pub compute: Option<u64>,
}

/// Agents of one kind: an entry of `agents`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentEntry {
    /// A chart or an `agent.yaml`, relative to the run file.
    pub file: String,
    /// The name of a chart in the file; `None` for its first.
    pub chart: Option<String>,
    /// How many there are.
    pub count: u32,
    /// Their name; `None` for what the file says.
    pub id: Option<String>,
    /// Values for the params of the chart.
    pub params: Map,
    /// Values for its inputs.
    pub inputs: Map,
    /// Who answers, as for `--llm`, which it overrides.
    pub llm: Option<String>,
    /// What each of them may spend in the run.
    pub budget: LlmBudget,
}

impl AgentEntry {
    /// The names of the agents: the `id`, or else `default`; with numbers from 1 where there are several.
    pub fn names(&self, default: &str) -> Vec<String> {
        let id = self.id.as_deref().unwrap_or(default);
        match self.count {
            0 | 1 => vec![id.to_owned()],
            count => (1..=count).map(|n| format!("{id}_{n}")).collect(),
        }
    }
}

/// What an agent may spend on models in a run; `None` is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LlmBudget {
    /// Calls.
    pub llm_calls: Option<u64>,
    /// Tokens, in and out.
    pub llm_tokens: Option<u64>,
    /// Millionths of the unit that prices are in.
    pub cost: Option<u64>,
}
