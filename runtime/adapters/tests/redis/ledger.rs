//! Who adds events, and what became of them.

use crate::server::{PATIENCE, Server};
use chartc_adapters::redis::shard;
use chartc_core::expr::Value;
use chartc_runtime::agents::Engine;
use redis::{RedisResult, cmd};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

pub(crate) const AGENTS: usize = 50;
pub(crate) const EACH: i64 = 40;

pub(crate) fn chart() -> String {
    format!("{}/tests/redis/ledger.chart", env!("CARGO_MANIFEST_DIR"))
}

/// Numbers that look like chance, the same for each seed.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn seeded() -> Self {
        let seed = std::env::var("CHARTC_SEED").ok().and_then(|seed| seed.parse().ok());
        Self(seed.unwrap_or(1))
    }

    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// The stream of an agent.
fn stream(agent: &str, shards: usize) -> String {
    if shards == 1 { "events".into() } else { format!("events:{}", shard(agent, shards)) }
}

/// Adds the events `from` to `to` of each agent, in order. One whose addition was not confirmed is added again, under its `id`.
pub(crate) fn add(url: &str, shards: usize, from: i64, to: i64, pause: Duration) {
    let until = Instant::now() + PATIENCE;
    let client = redis::Client::open(url).expect("an address");
    let mut connection = client.get_connection().ok();
    for n in from..=to {
        for agent in 0..AGENTS {
            let agent = format!("agent-{agent}");
            let mut put = cmd("XADD");
            put.arg(stream(&agent, shards)).arg("*").arg("agent").arg(&agent);
            put.arg("event").arg("add").arg("data").arg(format!("{{\"n\": {n}}}"));
            put.arg("id").arg(format!("{agent}/{n}"));
            loop {
                let added: Option<RedisResult<String>> =
                    connection.as_mut().map(|connection| put.query(connection));
                if let Some(Ok(_)) = added {
                    break;
                }
                assert!(Instant::now() < until, "the server is away: {added:?}");
                std::thread::sleep(Duration::from_millis(5));
                connection = client.get_connection().ok();
            }
        }
        std::thread::sleep(pause);
    }
}

/// Each agent has each of its events once, in order.
pub(crate) async fn is_exact(engine: &impl Engine) {
    let wanted: Vec<Value> = (1..=EACH).map(Value::Int).collect();
    let mut faults = BTreeMap::new();
    for agent in 0..AGENTS {
        let agent = format!("agent-{agent}");
        let state = engine.read(&agent).await.expect("it can be read");
        let all = state.and_then(|state| state.variables.get("all").cloned());
        let is_whole = matches!(&all, Some(Value::List(all)) if all.iter().eq(&wanted));
        if !is_whole {
            faults.insert(agent, all);
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Waits until all streams are read.
pub(crate) async fn drained(server: &Server, shards: usize) {
    for nth in 0..shards {
        let one = if shards == 1 { "events".into() } else { format!("events:{nth}") };
        server.drained(&one).await;
    }
}
