//! Reads the sections of a run file into their types.

use super::tree::{At, Fields, Node, Read};
use super::{
    AgentEntry, AuctionConfig, Execution, Exhaustion, LlmBudget, Most, MostSpawned, Provider,
    RateLimiting, Resources, RunFile, StatechartConfig, WorkerPool,
};
use chartc_runtime::agent::WorkingMemory;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of agents that a run file may define, counting each copy.
const MOST_AGENTS: u64 = 100_000;

pub(super) fn parse(text: &str) -> Read<RunFile> {
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
        for resource in super::RESOURCES {
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
