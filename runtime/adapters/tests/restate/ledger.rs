//! The server and the service are killed at random moments: no call is paid twice, and none is lost.

use crate::node::{Node, Serving, root};
use crate::worlds::until;
use chartc_adapters::restate::Restate;
use chartc_core::expr::Value;
use chartc_core::machine::Receipt;
use chartc_runtime::agents::{AgentState, Engine, Event};
use std::collections::BTreeMap;
use std::time::Duration;

const AGENTS: usize = 60;
const CALLS: i64 = 6;

/// Numbers that look like chance, the same for each seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

fn int(state: &AgentState, name: &str) -> i64 {
    match state.variables.get(name) {
        Some(Value::Int(number)) => *number,
        other => panic!("{name}: {other:?}"),
    }
}

/// Sends turns to an agent until its run has ended.
async fn driven(engine: &Restate, agent: &str) -> AgentState {
    let mut turn = 0;
    loop {
        turn += 1;
        let reply =
            engine.fire(agent, Event::turn(turn.to_string())).await.expect("it is taken in");
        assert_eq!(reply.receipt, Receipt::Handled, "{agent}, turn {turn}");
        until(engine, agent, |state| state.open == 0).await;
        let state = engine.read(agent).await.expect("it can be read").expect("it is there");
        if state.status.is_some() {
            return state;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_at_random_moments_buy_nothing_twice_and_lose_nothing() {
    let Some(mut node) = Node::start("ledger") else { return };
    let path = node.folder().join("ledger");
    let file =
        |name: &str| root().join("runtime/adapters/tests/restate").join(name).display().to_string();
    let mut serving = Serving::start(&[
        &file("paid.chart"),
        &file("paid.script.yaml"),
        "--ledger",
        &path.display().to_string(),
    ]);
    let engine = Restate::new(&node.ingress());
    engine.register(&node.admin(), &serving.address()).await.expect("the server takes it");
    let seed = std::env::var("CHARTC_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut chance = Chance(seed);
    let fires = (0..AGENTS).map(|agent| {
        let engine = engine.clone();
        tokio::spawn(async move { driven(&engine, &agent.to_string()).await })
    });
    let fires: Vec<_> = fires.collect();
    let (mut server, mut service) = (0, 0);
    while server < 3 || service < 6 {
        tokio::time::sleep(Duration::from_millis(50 + chance.below(400))).await;
        if chance.below(3) == 0 {
            node.kill();
            node.begin();
            server += 1;
        } else {
            serving.kill();
            serving.begin();
            service += 1;
        }
    }
    let mut all = Vec::new();
    for fire in fires {
        all.push(fire.await.expect("no agent stands still"));
    }
    let sum = |name: &str| all.iter().map(|state| int(state, name)).sum::<i64>();
    let (answers, doubts) = (sum("answers"), sum("doubts"));
    let calls: i64 = all.iter().map(|state| i64::from(state.calls)).sum();
    let ledger = std::fs::read_to_string(&path).expect("a ledger");
    let mut paid: BTreeMap<&str, usize> = BTreeMap::new();
    ledger.lines().for_each(|id| *paid.entry(id).or_default() += 1);
    let twice: Vec<_> = paid.iter().filter(|(_, times)| **times > 1).collect();
    println!(
        "{server} kills of the server, {service} of the service: {calls} calls = {answers} answers + {doubts} doubts, {} paid",
        paid.len()
    );
    assert!(twice.is_empty(), "paid twice: {twice:#?}");
    assert_eq!((answers + doubts, calls), (CALLS * AGENTS as i64, CALLS * AGENTS as i64));
    // What was answered was paid for, and what was paid for was answered or is in doubt.
    let count = paid.len() as i64;
    assert!((answers..=answers + doubts).contains(&count), "{answers} ≤ {count} ≤ {calls}");
    assert!(doubts > 0, "no kill has hit a call: it proves nothing");
}
