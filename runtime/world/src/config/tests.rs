//! Literal fragments of configurations, and what is said of wrong ones.

use super::*;

fn read(text: &str) -> RunFile {
    RunFile::parse(text).unwrap_or_else(|fault| panic!("{text}\n{fault}"))
}

#[test]
fn auctions_by_seconds() {
    let file = read(
        "auction:
  period_seconds: 60.0           # Seconds between auction starts
  bidding_window_seconds: 20.5   # Duration of bidding phase (seconds)
  first_auction_delay_seconds: 30.0  # Delay before first auction starts
",
    );
    let auction = file.auction.expect("an auction");
    assert_eq!((auction.period, auction.bidding_window), (60_000, 20_500));
    assert_eq!((auction.first_delay, auction.minimum_bid), (30_000, 1));
    assert_eq!(read("execution:").auction, None);
}

#[test]
fn rates_and_loops() {
    let file = read(
        "execution:
  use_autonomous_loops: false  # Enable via --duration or --autonomous CLI flags
rate_limiting:
  enabled: false  # Enable RateTracker
  window_seconds: 60.0
  resources:
    llm_calls:
      max_per_window: 100
",
    );
    assert!(!file.execution.is_autonomous());
    assert!(!file.rate_limiting.enabled);
    assert_eq!(file.rate_limiting.window, 60_000);
    assert_eq!(file.rate_limiting.resources["llm_calls"], 100);
    assert!(
        read("rate_limiting: {resources: {actions: {max_per_window: 5}}}").rate_limiting.enabled
    );
    assert!(RunFile::default().execution.is_autonomous());
    assert!(!read("execution: {ticks: 4}").execution.is_autonomous());
}

#[test]
fn a_provider_has_the_common_window_unless_it_says_otherwise() {
    let file = read(
        "rate_limiting:
  window_seconds: 10
  providers:
    openai: {resources: {llm_tokens: {max_per_window: 5000}}}
    '*': {window_seconds: 1m, resources: {llm_calls: {max_per_window: 3}}}
",
    );
    let providers = file.rate_limiting.providers;
    assert_eq!(providers["openai"].window, 10_000);
    assert_eq!(providers["*"].window, 60_000);
    assert_eq!(providers["openai"].resources["llm_tokens"], 5000);
}

#[test]
fn exhaustion_and_workers() {
    let file = read(
        "execution:
  resource_exhaustion_policy: skip  # or \"block\"
",
    );
    assert_eq!(file.execution.exhaustion, Exhaustion::Skip);
    let file = read(
        "execution:
  resource_exhaustion_policy: block
  use_worker_pool: true  # Enable worker pool mode
  worker_pool:
    num_workers: 6       # Number of parallel workers
    state_db_path: \"agent_state.db\"  # SQLite database path
",
    );
    assert_eq!(file.execution.exhaustion, Exhaustion::Block);
    let pool = WorkerPool { num_workers: 6, state_db_path: Some("agent_state.db".into()) };
    assert!(file.execution.use_worker_pool);
    assert_eq!(file.execution.worker_pool, pool);
}

#[test]
fn settings_of_charts_and_of_what_agents_keep_in_mind() {
    let file = read(
        "# configs/default.yaml additions
statechart:
  default_timeout_ticks: 5
  max_history_depth: 50
  oracle_enabled: true

# Agent-specific thresholds (set at construction)
",
    );
    assert_eq!(file.statechart.default_timeout_ticks, Some(5));
    assert_eq!(file.statechart.max_history_depth, Some(50));
    assert!(!read("statechart: {oracle_enabled: false}").statechart.oracle_enabled);
    let file = read(
        "working_memory:
  enabled: false          # Master switch (off by default)
  auto_inject: true       # Inject into prompt when enabled
  max_size_bytes: 1500    # Truncate to prevent prompt bloat
  include_in_rag: false   # Also include in semantic search
  structured_format: true # Enforce schema vs freeform
  warn_on_missing: false  # Log warning if no working memory
",
    );
    let memory = file.working_memory.expect("a working memory");
    assert!(!memory.enabled && memory.auto_inject && memory.structured_format);
    assert_eq!(memory.max_size_bytes, 1500);
    let memory = read("working_memory:\n  enabled: true\n").working_memory;
    assert!(memory.is_some_and(|memory| memory.enabled && memory.auto_inject));
}

#[test]
fn delays() {
    assert_eq!(read("").execution.delay, 15_000);
    assert_eq!(read("llm: {rate_limit_delay: 2.5}").execution.delay, 2500);
    assert_eq!(read("execution: {rate_limit_delay: 3}").execution.delay, 3000);
    assert_eq!(read("execution: {delay: 0, duration: 2m}").execution.delay, 0);
    assert_eq!(read("execution: {duration: 60}").execution.duration, Some(60_000));
}

#[test]
fn what_agents_have_and_who_they_are() {
    let file = read(
        "resources:
  disk: {ada: 500}
  compute: 1000
  starting_scrip: 100
  max_artifacts_per_agent: 20
  max_events: 9
  max_seen: 12
  spawn: {max_depth: 2, max_agents: 50, per_parent: 3, cost: 1, min_endowment: 5, disk: 10, compute: 0}
balances: {ada: 20}
agents:
  - file: agents/ada/agent.yaml
    params: {tools: [a, {b: 1.5}], on: true}
    inputs: {goal: win}
    budget: {llm_calls: 10, cost: 0.25}
  - {file: trader.chart, chart: Trader, id: trader, count: 2, llm: 'script:trader.yaml'}
",
    );
    assert_eq!(file.resources.disk.of("ada"), Some(500));
    assert_eq!(file.resources.disk.of("bob"), None);
    assert_eq!(file.resources.compute.of("bob"), Some(1000));
    assert_eq!(file.resources.max_artifacts_per_agent, Some(20));
    assert_eq!(file.resources.max_events, Some(9));
    assert_eq!(file.resources.max_seen, Some(12));
    let spawn = &file.resources.spawn;
    assert_eq!((spawn.per_parent, spawn.min_endowment, spawn.compute), (Some(3), Some(5), Some(0)));
    assert_eq!(file.balances["ada"], 20);
    let ada = &file.agents[0];
    let params = serde_json::to_string(&ada.params).expect("JSON");
    assert_eq!(params, r#"{"tools":["a",{"b":1.5}],"on":true}"#);
    assert_eq!(ada.budget.cost, Some(250_000));
    assert_eq!(ada.names("agent"), ["agent"]);
    assert_eq!(file.agents[1].names("x"), ["trader_1", "trader_2"]);
    assert_eq!(file.agents[1].llm.as_deref(), Some("script:trader.yaml"));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let table = [
        (
            "[]",
            "line 1: is a mapping of execution, llm, rate_limiting, statechart, auction, resources, working_memory, balances, agents",
        ),
        (
            "\nexecutoin: {}",
            "line 2: `executoin` is unknown; there are execution, llm, rate_limiting, statechart, auction, resources, working_memory, balances, agents",
        ),
        (
            "execution:\n  ticks: ten",
            "line 2: `execution.ticks` is a whole number of ticks, 1 or more",
        ),
        (
            "execution: {ticks: 0}",
            "line 1: `execution.ticks` is a whole number of ticks, 1 or more",
        ),
        (
            "execution: {duration: 5 minutes}",
            "line 1: `execution.duration` is a number of seconds, 0 or more, or a duration such as 90s or 5m",
        ),
        (
            "execution: {duration: 0}",
            "line 1: `execution.duration` is a time of more than 0 seconds",
        ),
        (
            "execution: {duration: 1e300}",
            "line 1: `execution.duration` is a number of seconds, 0 or more, or a duration such as 90s or 5m",
        ),
        (
            "execution: {interval: -1}",
            "line 1: `execution.interval` is a number of seconds, 0 or more, or a duration such as 90s or 5m",
        ),
        ("execution: {use_worker_pool: 1}", "line 1: `execution.use_worker_pool` is true or false"),
        (
            "execution: {max_consecutive_errors: 4294967296}",
            "line 1: `execution.max_consecutive_errors` is at most 4294967295 errors",
        ),
        (
            "execution: {resource_exhaustion_policy: wait}",
            "line 1: `execution.resource_exhaustion_policy` is one of skip, block",
        ),
        (
            "execution:\n  worker_pool:\n    workers: 3",
            "line 3: `execution.worker_pool.workers` is unknown; there are num_workers, state_db_path",
        ),
        (
            "execution: {delay: 1, rate_limit_delay: 2}",
            "line 1: `execution.rate_limit_delay` says again what `delay` has said: leave one of them out",
        ),
        (
            "llm: {rate_limit_delay: 2}\nexecution: {delay: 1}",
            "line 1: `llm.rate_limit_delay` says again what `execution.delay` has said: leave one of them out",
        ),
        (
            "rate_limiting: {resources: {llm_calls: 5}}",
            "line 1: `rate_limiting.resources.llm_calls` is a mapping of max_per_window",
        ),
        (
            "rate_limiting: {resources: {llm_call: {max_per_window: 5}}}",
            "line 1: `rate_limiting.resources.llm_call` is unknown; there are llm_calls, llm_tokens, tool_calls, actions, spawns",
        ),
        (
            "rate_limiting: {providers: {x: {window: 5}}}",
            "line 1: `rate_limiting.providers.x.window` is unknown; there are window_seconds, resources",
        ),
        (
            "rate_limiting: {window_seconds: 0}",
            "line 1: `rate_limiting.window_seconds` is a time of more than 0 seconds",
        ),
        (
            "auction: {period_seconds: 10}",
            "line 1: `auction` has a bidding_window_seconds that is longer than its period_seconds",
        ),
        (
            "working_memory: {max_size: 1}",
            "line 1: `working_memory.max_size` is unknown; there are enabled, auto_inject, max_size_bytes, include_in_rag, structured_format, warn_on_missing",
        ),
        (
            "resources: {disk: [1]}",
            "line 1: `resources.disk` is a whole number of bytes, 0 or more",
        ),
        ("balances: {ada: 1.5}", "line 1: `balances.ada` is a whole number of scrip, 0 or more"),
        ("balances: 5", "line 1: `balances` is a mapping of agents to scrip"),
        ("agents: {ada: x}", "line 1: `agents` is a list of agents, each with a `file`"),
        (
            "agents:\n  - {file: a.chart}\n  - {chart: B}",
            "line 3: `agents[2]` has no `file`: name the chart or the agent.yaml",
        ),
        (
            "agents: [{fil: a.chart}]",
            "line 1: `agents[1].fil` is unknown; there are file, chart, count, id, params, inputs, llm, budget",
        ),
        (
            "agents: [{file: a, params: [1]}]",
            "line 1: `agents[1].params` is a mapping of params to values",
        ),
        (
            "agents: [{file: a, budget: {cost: free}}]",
            "line 1: `agents[1].budget.cost` is an amount of money, 0 or more, such as 0.25",
        ),
        ("agents: [{file: a, count: 100001}]", "line 1: `agents[1]` makes more than 100000 agents"),
        (
            "agents:\n  - {file: a, id: x, count: 2}\n  - {file: b, id: x_2}",
            "line 3: `agents[2]` has the id `x_2`, which another agent has: give it an `id` of its own",
        ),
    ];
    for (text, said) in table {
        let fault = RunFile::parse(text).expect_err(text);
        assert_eq!(fault.to_string(), said, "{text}");
    }
    let fault = RunFile::parse("execution: {tick: 1}").expect_err("no such key");
    let (key, known) = fault.stranger.expect("a stranger");
    assert!(key == "tick" && known.contains(&"ticks".to_owned()));
    let fault = RunFile::parse("execution: {ticks: 1, ticks: 2}").expect_err("said twice");
    assert!(fault.to_string().contains("ticks"), "{fault}");
    assert!(RunFile::parse("execution: {ticks: 1").is_err());
}

#[test]
fn hostile_texts_end_in_a_message() {
    let mut bomb = "agents:\n  - &a0 {file: x}\n".to_owned();
    for n in 1..40 {
        bomb += &format!("  - &a{n} {{params: [*a{0}, *a{0}, *a{0}, *a{0}]}}\n", n - 1);
    }
    for text in [
        "[".repeat(30_000),
        "{a: ".repeat(15_000),
        format!("agents: [{{file: a, params: {{p: {}1{}}}}}]", "[".repeat(40), "]".repeat(40)),
        format!("agents: [{{file: a, params: {{p: {}1{}}}}}]", "[".repeat(5000), "]".repeat(5000)),
        format!("a:\n{}", (1..1000).map(|n| " ".repeat(n) + "a:\n").collect::<String>()),
        bomb,
        "? [a, b]\n: 1".to_owned(),
        "1: {}".to_owned(),
        "- !!binary x".to_owned(),
        "execution: &a {ticks: *a}".to_owned(),
        "execution: {ticks: 18446744073709551615, seed: 99999999999999999999}".to_owned(),
        "\0".to_owned(),
    ] {
        // No matter which message: there is one, and the stack is large enough.
        assert!(RunFile::parse(&text).is_err(), "{}", &text[..text.len().min(40)]);
    }
    let nested =
        format!("agents: [{{file: a, params: {{p: {}1{}}}}}]", "[".repeat(30), "]".repeat(30));
    assert!(RunFile::parse(&nested).is_ok());
}

proptest::proptest! {
    #[test]
    fn no_text_is_too_strange(parts in proptest::collection::vec(proptest::sample::select(vec![
        "execution:", "agents:", "rate_limiting:", "resources:", "providers:", "llm_calls:", "max_per_window:",
        "file:", "count:", "ticks:", "\n", "\n  ", "\n    ", "- ", "{", "}", "[", "]", ",", " ", ": ", "1", "-1",
        "1.5", "x", "true", "null", "~", "'", "\"", "&a ", "*a", "<<: ", "60s", "#", "|\n", "!!str ", "%", "@",
    ]), 0..40)) {
        drop(RunFile::parse(&parts.concat()));
    }
}
