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

#[cfg(test)]
mod tests;
mod yaml;

use crate::config::yaml::{At, Fields, Node, Read};
use chartc_core::expr::Map;
use chartc_runtime::agent::WorkingMemory;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The resources that a window can bound. For a provider, only the first two have a meaning.
pub const RESOURCES: [&str; 5] = ["llm_calls", "llm_tokens", "tool_calls", "actions", "spawns"];

/// The error of a run file, with its place and, for an unknown word, the known ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFileError {
    /// The line, from 1, if it is known.
    pub line: Option<u64>,
    /// The dotted keys of the place; empty for the whole file.
    pub place: String,
    /// A description of the error.
    pub why: String,
    /// An unknown word, and the words that are known at its place.
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

/// The content of a run file. Times are in milliseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunFile {
    /// The way in which the agents run.
    pub execution: Execution,
    /// The limits of what agents may use in a window of time.
    pub rate_limiting: RateLimiting,
    /// The models that agents may choose in their records, beside those of their charts.
    pub models: Vec<String>,
    /// The settings of all charts.
    pub statechart: StatechartConfig,
    /// The auctions of the mint; without this section there are none.
    pub auction: Option<AuctionConfig>,
    /// The quotas of agents and the limits of the world.
    pub resources: Resources,
    /// The working memory of agents whose own file does not configure it.
    pub working_memory: Option<WorkingMemory>,
    /// The initial scrip of agents, by name.
    pub balances: BTreeMap<String, i64>,
    /// The agents to run; empty if they are those of the folder.
    pub agents: Vec<AgentEntry>,
}

impl RunFile {
    /// Reads the text of a run file.
    ///
    /// # Errors
    /// The first error in the file.
    pub fn parse(text: &str) -> Result<Self, RunFileError> {
        parse(text)
    }
}

/// The way in which the agents run: `execution`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// Whether each agent has a loop of its own; `None` if the file does not say.
    pub use_autonomous_loops: Option<bool>,
    /// The behaviour of an agent that has used up a limit: `resource_exhaustion_policy`.
    pub exhaustion: Exhaustion,
    /// The number of ticks of the run.
    pub ticks: Option<u64>,
    /// The duration of the run.
    pub duration: Option<u64>,
    /// The time from tick to tick; also called `rate_limit_delay` [default: 15 seconds].
    pub delay: u64,
    /// The time between the turns of an autonomous agent [default: 1 second].
    pub interval: u64,
    /// The maximum time that an autonomous agent sleeps after failed turns [default: 1 minute].
    pub max_backoff: u64,
    /// The number of consecutive failed turns after which an agent is paused [default: 5].
    pub max_consecutive_errors: u32,
    /// Whether the run file asks for a pool of workers.
    pub use_worker_pool: bool,
    /// The pool of workers.
    pub worker_pool: WorkerPool,
    /// The number of threads; `None` for one per processor.
    pub workers: Option<u32>,
    /// The seed of all random decisions.
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
    /// The number of threads, if the file sets it.
    pub fn workers(&self) -> Option<usize> {
        let pool = self.use_worker_pool.then_some(self.worker_pool.num_workers);
        self.workers.or(pool).map(|count| count as usize)
    }

    /// Whether each agent has a loop of its own. If the file does not say, agents have loops unless it sets a number of ticks.
    pub fn is_autonomous(&self) -> bool {
        self.use_autonomous_loops.unwrap_or(self.ticks.is_none())
    }
}

/// The behaviour of an agent that has used up a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Exhaustion {
    /// It skips this turn.
    #[default]
    Skip,
    /// It waits until the limit has room again.
    Block,
}

/// The pool of workers: `execution.worker_pool`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerPool {
    /// The number of workers.
    pub num_workers: u32,
    /// The path of the store.
    pub state_db_path: Option<String>,
}

impl Default for WorkerPool {
    fn default() -> Self {
        Self { num_workers: 4, state_db_path: None }
    }
}

/// The limits of what agents may use in a window of time: `rate_limiting`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimiting {
    /// Whether the limits apply.
    pub enabled: bool,
    /// The length of a window [default: 1 minute].
    pub window: u64,
    /// The limits of each agent in a window, by the names in [`RESOURCES`].
    pub resources: BTreeMap<String, u64>,
    /// The limits that all agents share, by provider. `*` stands for each provider that has no entry.
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

/// The limits that all agents share for a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// The length of a window.
    pub window: u64,
    /// The limits in a window, by the names in [`RESOURCES`].
    pub resources: BTreeMap<String, u64>,
}

/// The settings of all charts: `statechart`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatechartConfig {
    /// The number of turns after which a state without a limit of its own times out.
    pub default_timeout_ticks: Option<u32>,
    /// The number of transitions in an agent's history.
    pub max_history_depth: Option<u32>,
    /// Whether models are asked.
    pub oracle_enabled: bool,
}

impl Default for StatechartConfig {
    fn default() -> Self {
        Self { default_timeout_ticks: None, max_history_depth: None, oracle_enabled: true }
    }
}

/// The auctions of the mint: `auction`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuctionConfig {
    /// The time from the opening of one auction to that of the next [default: 1 minute].
    pub period: u64,
    /// The time for which an auction is open [default: 30 seconds].
    pub bidding_window: u64,
    /// The time before the first auction opens [default: 30 seconds].
    pub first_delay: u64,
    /// The minimum bid, in scrip [default: 1].
    pub minimum_bid: i64,
    /// The scrip that is minted for each point of the score [default: 1].
    pub scrip_per_point: i64,
    /// The model or script that gives the scores, in the form of `--llm`.
    pub scoring: Option<String>,
    /// The maximum time for a score; `None` for the rest of the period, but at most 20 seconds.
    pub scoring_time: Option<u64>,
    /// The score if no model gives one, from 0 to 100.
    pub default_score: Option<u64>,
    /// The maximum number of submissions at a time.
    pub max_submissions: Option<u64>,
    /// The maximum number of auctions in the history.
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

/// The quotas of agents and the limits of the world: `resources`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resources {
    /// The disk quotas, in bytes.
    pub disk: Most,
    /// The quotas of compute at each renewal, in units.
    pub compute: Most,
    /// The initial scrip of an agent that `balances` does not name.
    pub starting_scrip: Option<i64>,
    /// The maximum number of artifacts in the world.
    pub max_artifacts: Option<u64>,
    /// The maximum number of existing artifacts that one agent has made.
    pub max_artifacts_per_agent: Option<u64>,
    /// The maximum size of an artifact's content, in bytes.
    pub max_content_bytes: Option<u64>,
    /// The number of bytes of text that can be compiled for one unit of compute.
    pub compile_bytes_per_unit: Option<u64>,
    /// The maximum depth of invocations that artifacts make of other artifacts.
    pub max_invocation_depth: Option<u32>,
    /// The maximum number of units of evaluation in one invocation of a chart.
    pub invocation_fuel: Option<u64>,
    /// The maximum number of events that the world's log keeps.
    pub max_events: Option<u64>,
    /// The maximum number of artifacts, of other agents, and of balances that an agent sees in a turn.
    pub max_seen: Option<u64>,
    /// The maximum size of the data of an agent's run, in bytes.
    pub max_data_bytes: Option<u64>,
    /// The maximum number of lines that one input makes an agent write.
    pub max_lines: Option<u64>,
    /// Whether agents can read the working memories of others.
    pub shared_working_memory: bool,
    /// The limits for agents that other agents spawn.
    pub spawn: MostSpawned,
}

/// A limit: the same for all agents, or one for each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Most {
    /// The limit for all agents without one of their own.
    pub everybody: Option<u64>,
    /// The limits of single agents, by name.
    pub each: BTreeMap<String, u64>,
}

impl Most {
    /// The limit of an agent; `None` for no limit.
    pub fn of(&self, agent: &str) -> Option<u64> {
        self.each.get(agent).copied().or(self.everybody)
    }
}

/// The limits for agents that other agents spawn: `resources.spawn`. `None` means that the file sets no limit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MostSpawned {
    /// The maximum number of generations below a configured agent.
    pub max_depth: Option<u32>,
    /// The maximum number of agents in the world.
    pub max_agents: Option<u32>,
    /// The maximum number of agents that one agent spawns.
    pub per_parent: Option<u32>,
    /// The scrip that spawning an agent costs.
    pub cost: Option<i64>,
    /// The minimum scrip that the spawner gives to the new agent.
    pub min_endowment: Option<i64>,
    /// The disk quota of the new agent, in bytes.
    pub disk: Option<u64>,
    /// The units of compute of the new agent at each renewal.
    pub compute: Option<u64>,
}

/// One or more equal agents: an entry of `agents`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentEntry {
    /// The path of a chart or an `agent.yaml`, relative to the run file.
    pub file: String,
    /// The name of a chart in the file; `None` for the first one.
    pub chart: Option<String>,
    /// The number of agents.
    pub count: u32,
    /// The name of the agent, or the prefix of the names of several; `None` for the name in the file.
    pub id: Option<String>,
    /// The values of the chart's params.
    pub params: Map,
    /// The values of the chart's inputs.
    pub inputs: Map,
    /// The oracle that answers the agent, in the form of `--llm`, which it overrides.
    pub llm: Option<String>,
    /// The budget for model calls of each of these agents in the run.
    pub budget: LlmBudget,
}

impl AgentEntry {
    /// The names of the agents: the `id`, or else `default`; if there are several, followed by a number from 1.
    pub fn names(&self, default: &str) -> Vec<String> {
        let id = self.id.as_deref().unwrap_or(default);
        match self.count {
            0 | 1 => vec![id.to_owned()],
            count => (1..=count).map(|n| format!("{id}_{n}")).collect(),
        }
    }
}

/// The budget of an agent for model calls in a run; `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LlmBudget {
    /// The number of calls.
    pub llm_calls: Option<u64>,
    /// The number of tokens, input and output together.
    pub llm_tokens: Option<u64>,
    /// The cost, in millionths of the currency in which prices are given.
    pub cost: Option<u64>,
}

// Reads the sections of a run file into their types.

/// The maximum number of agents that a run file may define, counting each copy.
const MOST_AGENTS: u64 = 100_000;

fn parse(text: &str) -> Read<RunFile> {
    let node = Node::parse(text)?;
    let mut file = RunFile::default();
    let mut top = At::top(&node).fields();
    let mut is_delay_said = false;
    top.set(&mut file.execution, "execution", |at| execution(at, &mut is_delay_said))?;
    top.get("llm", |at| {
        let mut llm = at.fields();
        let delay = llm.get("rate_limit_delay", |at| {
            if is_delay_said {
                return at
                    .fault("says again what `execution.delay` has said: leave one of them out");
            }
            at.time()
        })?;
        file.execution.delay = delay.unwrap_or(file.execution.delay);
        llm.set(&mut file.models, "models", |at| {
            let what = "is a list of models such as `provider/model`";
            at.list(what)?.iter().map(|at| at.text(what)).collect()
        })?;
        llm.end()
    })?;
    top.set(&mut file.rate_limiting, "rate_limiting", rate_limiting)?;
    top.set(&mut file.statechart, "statechart", statechart)?;
    top.some(&mut file.auction, "auction", auction)?;
    top.set(&mut file.resources, "resources", resources)?;
    top.some(&mut file.working_memory, "working_memory", working_memory)?;
    top.set(&mut file.balances, "balances", |at| {
        at.by_name("is a mapping of agents to scrip", At::scrip)
    })?;
    top.set(&mut file.agents, "agents", agents)?;
    top.end()?;
    Ok(file)
}

fn execution(at: At<'_>, is_delay_said: &mut bool) -> Read<Execution> {
    let mut made = Execution::default();
    let mut f = at.fields();
    f.some(&mut made.use_autonomous_loops, "use_autonomous_loops", |at| at.flag())?;
    let policies = [("skip", Exhaustion::Skip), ("block", Exhaustion::Block)];
    f.set(&mut made.exhaustion, "resource_exhaustion_policy", |at| at.word(&policies))?;
    f.some(&mut made.ticks, "ticks", |at| at.count(1, "ticks"))?;
    f.some(&mut made.duration, "duration", |at| at.span())?;
    let delay = f.get("delay", |at| at.time())?;
    let alias = f.get("rate_limit_delay", |at| match delay {
        None => at.time(),
        Some(_) => at.fault("says again what `delay` has said: leave one of them out"),
    })?;
    if let Some(delay) = delay.or(alias) {
        (made.delay, *is_delay_said) = (delay, true);
    }
    f.set(&mut made.interval, "interval", |at| at.time())?;
    f.set(&mut made.max_backoff, "max_backoff", |at| at.time())?;
    f.set(&mut made.max_consecutive_errors, "max_consecutive_errors", |at| at.small(1, "errors"))?;
    f.set(&mut made.use_worker_pool, "use_worker_pool", |at| at.flag())?;
    f.set(&mut made.worker_pool, "worker_pool", |at| {
        let mut pool = WorkerPool::default();
        let mut f = at.fields();
        f.set(&mut pool.num_workers, "num_workers", |at| at.small(1, "workers"))?;
        let what = "the path of a store, such as agent_state.db";
        f.some(&mut pool.state_db_path, "state_db_path", |at| at.text(what))?;
        f.end()?;
        Ok(pool)
    })?;
    f.some(&mut made.workers, "workers", |at| at.small(1, "workers"))?;
    f.some(&mut made.seed, "seed", |at| at.count(0, "any kind"))?;
    f.end()?;
    Ok(made)
}

fn rate_limiting(at: At<'_>) -> Read<RateLimiting> {
    let mut made = RateLimiting { enabled: true, ..RateLimiting::default() };
    let mut f = at.fields();
    f.set(&mut made.enabled, "enabled", |at| at.flag())?;
    window(&mut f, &mut made.window, &mut made.resources)?;
    let shared = made.window;
    f.set(&mut made.providers, "providers", |at| {
        at.by_name("is a mapping of providers to their windows", |at| {
            let mut made = Provider { window: shared, resources: BTreeMap::new() };
            let mut f = at.clone().fields();
            window(&mut f, &mut made.window, &mut made.resources)?;
            f.end()?;
            Ok(made)
        })
    })?;
    f.end()?;
    Ok(made)
}

fn window(f: &mut Fields<'_>, length: &mut u64, most: &mut BTreeMap<String, u64>) -> Read<()> {
    f.set(length, "window_seconds", |at| at.span())?;
    f.set(most, "resources", |at| {
        let mut made = BTreeMap::new();
        let mut f = at.fields();
        for resource in RESOURCES {
            let limit = f.get(resource, |at| {
                let mut f = at.fields();
                let most = f.get("max_per_window", |at| at.count(1, resource))?;
                f.end()?;
                Ok(most)
            })?;
            // Only resources with a limit are entered; without an entry, a resource is unlimited.
            made.extend(limit.flatten().map(|most| (resource.to_owned(), most)));
        }
        f.end()?;
        Ok(made)
    })
}

fn statechart(at: At<'_>) -> Read<StatechartConfig> {
    let mut made = StatechartConfig::default();
    let mut f = at.fields();
    f.some(&mut made.default_timeout_ticks, "default_timeout_ticks", |at| at.small(1, "ticks"))?;
    f.some(&mut made.max_history_depth, "max_history_depth", |at| at.small(0, "transitions"))?;
    f.set(&mut made.oracle_enabled, "oracle_enabled", |at| at.flag())?;
    f.end()?;
    Ok(made)
}

fn auction(at: At<'_>) -> Read<AuctionConfig> {
    let mut made = AuctionConfig::default();
    let mut f = at.fields();
    f.set(&mut made.period, "period_seconds", |at| at.span())?;
    f.set(&mut made.bidding_window, "bidding_window_seconds", |at| at.span())?;
    f.set(&mut made.first_delay, "first_auction_delay_seconds", |at| at.time())?;
    f.set(&mut made.minimum_bid, "minimum_bid", |at| at.scrip())?;
    f.set(&mut made.scrip_per_point, "scrip_per_point", |at| at.scrip())?;
    f.some(&mut made.scoring, "scoring", |at| at.text("who scores, such as script:scores.yaml"))?;
    f.some(&mut made.scoring_time, "scoring_seconds", |at| at.time())?;
    f.some(&mut made.default_score, "default_score", |at| at.count(0, "points"))?;
    f.some(&mut made.max_submissions, "max_submissions", |at| at.count(1, "submissions"))?;
    f.some(&mut made.max_history, "max_history", |at| at.count(1, "auctions"))?;
    if made.bidding_window > made.period {
        return f
            .place()
            .fault("has a bidding_window_seconds that is longer than its period_seconds");
    }
    f.end()?;
    Ok(made)
}

fn resources(at: At<'_>) -> Read<Resources> {
    let mut made = Resources::default();
    let mut f = at.fields();
    f.set(&mut made.disk, "disk", |at| most(&at, "bytes"))?;
    f.set(&mut made.compute, "compute", |at| most(&at, "units"))?;
    f.some(&mut made.starting_scrip, "starting_scrip", |at| at.scrip())?;
    f.some(&mut made.max_artifacts, "max_artifacts", |at| at.count(1, "artifacts"))?;
    let of = "artifacts";
    f.some(&mut made.max_artifacts_per_agent, "max_artifacts_per_agent", |at| at.count(1, of))?;
    f.some(&mut made.max_content_bytes, "max_content_bytes", |at| at.count(1, "bytes"))?;
    let of = "bytes";
    f.some(&mut made.compile_bytes_per_unit, "compile_bytes_per_unit", |at| at.count(1, of))?;
    let of = "invocations";
    f.some(&mut made.max_invocation_depth, "max_invocation_depth", |at| at.small(0, of))?;
    f.some(&mut made.invocation_fuel, "invocation_fuel", |at| at.count(0, "steps"))?;
    f.some(&mut made.max_events, "max_events", |at| at.count(0, "events"))?;
    f.some(&mut made.max_seen, "max_seen", |at| at.count(0, "entries"))?;
    f.some(&mut made.max_data_bytes, "max_data_bytes", |at| at.count(1, "bytes"))?;
    f.some(&mut made.max_lines, "max_lines", |at| at.count(1, "lines"))?;
    f.set(&mut made.shared_working_memory, "shared_working_memory", |at| at.flag())?;
    f.set(&mut made.spawn, "spawn", |at| {
        let mut made = MostSpawned::default();
        let mut f = at.fields();
        f.some(&mut made.max_depth, "max_depth", |at| at.small(0, "generations"))?;
        f.some(&mut made.max_agents, "max_agents", |at| at.small(1, "agents"))?;
        f.some(&mut made.per_parent, "per_parent", |at| at.small(0, "agents"))?;
        f.some(&mut made.cost, "cost", |at| at.scrip())?;
        f.some(&mut made.min_endowment, "min_endowment", |at| at.scrip())?;
        f.some(&mut made.disk, "disk", |at| at.count(0, "bytes"))?;
        f.some(&mut made.compute, "compute", |at| at.count(0, "units"))?;
        f.end()?;
        Ok(made)
    })?;
    f.end()?;
    Ok(made)
}

/// Reads one number for all agents, or a mapping with a number for each agent.
fn most(at: &At<'_>, of: &str) -> Read<Most> {
    if at.is_map() {
        let why = format!("is a whole number of {of}, or a mapping of agents to such");
        let each = at.by_name(&why, |at| at.count(0, of))?;
        return Ok(Most { everybody: None, each });
    }
    Ok(Most { everybody: Some(at.count(0, of)?), each: BTreeMap::new() })
}

fn working_memory(at: At<'_>) -> Read<WorkingMemory> {
    // A file that has this section wants the memory in prompts, unless it says otherwise.
    let mut made = WorkingMemory { auto_inject: true, ..WorkingMemory::default() };
    let mut f = at.fields();
    f.set(&mut made.enabled, "enabled", |at| at.flag())?;
    f.set(&mut made.auto_inject, "auto_inject", |at| at.flag())?;
    f.set(&mut made.max_size_bytes, "max_size_bytes", |at| at.count(0, "bytes"))?;
    f.set(&mut made.include_in_rag, "include_in_rag", |at| at.flag())?;
    f.set(&mut made.structured_format, "structured_format", |at| at.flag())?;
    f.set(&mut made.warn_on_missing, "warn_on_missing", |at| at.flag())?;
    f.end()?;
    Ok(made)
}

fn agents(at: At<'_>) -> Read<Vec<AgentEntry>> {
    let (mut made, mut ids, mut count) = (Vec::new(), BTreeSet::new(), 0);
    for at in at.list("is a list of agents, each with a `file`")? {
        let entry = agent(at.clone())?;
        count += u64::from(entry.count);
        if count > MOST_AGENTS {
            return at.fault(format!("makes more than {MOST_AGENTS} agents"));
        }
        for id in entry.id.iter().flat_map(|id| entry.names(id)) {
            if ids.contains(&id) {
                return at.fault(format!(
                    "has the id `{id}`, which another agent has: give it an `id` of its own"
                ));
            }
            ids.insert(id);
        }
        made.push(entry);
    }
    Ok(made)
}

fn agent(at: At<'_>) -> Read<AgentEntry> {
    let mut made = AgentEntry { count: 1, ..AgentEntry::default() };
    let mut f = at.fields();
    let file = f.get("file", |at| at.text("the path of a chart or of an agent.yaml"))?;
    f.some(&mut made.chart, "chart", |at| at.text("the name of a chart in the file"))?;
    f.set(&mut made.count, "count", |at| at.small(1, "agents"))?;
    f.some(&mut made.id, "id", |at| at.text("a name"))?;
    f.set(&mut made.params, "params", |at| at.values("is a mapping of params to values"))?;
    f.set(&mut made.inputs, "inputs", |at| at.values("is a mapping of inputs to values"))?;
    f.some(&mut made.llm, "llm", |at| {
        at.text("who answers, as for --llm: script:FILE, for example")
    })?;
    f.set(&mut made.budget, "budget", |at| {
        let mut made = LlmBudget::default();
        let mut f = at.fields();
        f.some(&mut made.llm_calls, "llm_calls", |at| at.count(0, "calls"))?;
        f.some(&mut made.llm_tokens, "llm_tokens", |at| at.count(0, "tokens"))?;
        f.some(&mut made.cost, "cost", |at| at.money())?;
        f.end()?;
        Ok(made)
    })?;
    match file {
        Some(file) => made.file = file,
        // If a key is misspelled, that error explains best why there is no `file`, so it goes first.
        None => {
            let at = f.place();
            f.end()?;
            return at.fault("has no `file`: name the chart or the agent.yaml");
        }
    }
    f.end()?;
    Ok(made)
}

// The limits of a world: the section `resources` of a run file.

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
    /// The maximum size of the data of an agent's run, in bytes: its variables, answers and events on their way, with its child charts.
    pub max_data_bytes: u64,
    /// The number of lines that one input makes an agent write, after which it is stopped as in a livelock.
    pub max_lines: u64,
    /// Whether agents can read the working memories of others, which are part of their records.
    pub shared_working_memory: bool,
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

impl Settings {
    /// A disk without a limit.
    pub const UNLIMITED: u64 = i64::MAX as u64;
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
            max_data_bytes: 4_000_000,
            max_lines: 10_000,
            shared_working_memory: false,
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

impl From<&Resources> for Settings {
    /// The settings that the resources of a run file mean. What they do not name keeps its default.
    fn from(resources: &Resources) -> Self {
        let mut all = Self::default();
        let set = |to: &mut u64, from: Option<u64>| *to = from.unwrap_or(*to);
        set(&mut all.disk, resources.disk.everybody);
        set(&mut all.compute, resources.compute.everybody);
        set(&mut all.max_artifacts, resources.max_artifacts);
        set(&mut all.max_artifacts_per_agent, resources.max_artifacts_per_agent);
        set(&mut all.max_content_bytes, resources.max_content_bytes);
        set(&mut all.compile_bytes_per_unit, resources.compile_bytes_per_unit);
        set(&mut all.invocation_fuel, resources.invocation_fuel);
        set(&mut all.max_events, resources.max_events);
        set(&mut all.max_seen, resources.max_seen);
        set(&mut all.max_data_bytes, resources.max_data_bytes);
        set(&mut all.max_lines, resources.max_lines);
        set(&mut all.spawn.disk, resources.spawn.disk);
        set(&mut all.spawn.compute, resources.spawn.compute);
        set(&mut all.spawn.max_agents, resources.spawn.max_agents.map(u64::from));
        set(&mut all.spawn.per_parent, resources.spawn.per_parent.map(u64::from));
        all.spawn.max_depth = resources.spawn.max_depth.unwrap_or(all.spawn.max_depth);
        all.spawn.cost = resources.spawn.cost.unwrap_or(all.spawn.cost);
        all.spawn.min_endowment = resources.spawn.min_endowment.unwrap_or(all.spawn.min_endowment);
        all.max_invocation_depth =
            resources.max_invocation_depth.unwrap_or(all.max_invocation_depth);
        all.starting_scrip = resources.starting_scrip.unwrap_or(all.starting_scrip);
        all.shared_working_memory = resources.shared_working_memory;
        all
    }
}
