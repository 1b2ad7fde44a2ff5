//! One chart, one script: the same replies, the same last state and the same trace, whichever engine keeps the agent.

use crate::cases::{Case, cases};
use crate::node::Node;
use crate::redis_server::Server;
use crate::worlds::{InFile, InMemory, OnServer, OnStream, Played, in_world, played};
use std::path::Path;
use std::sync::Arc;

async fn in_memory(cases: &Arc<Vec<Case>>) -> Vec<Played> {
    let mut all = Vec::new();
    for case in cases.iter() {
        // A world for each: in virtual time, one agent's waiting is another one's.
        all.push(played(&InMemory::new(cases), case).await);
    }
    all
}

fn compare(cases: &[Case], one: &[Played], other: &[Played]) {
    let mut lines = 0;
    for ((case, one), other) in cases.iter().zip(one).zip(other) {
        let name = case.name;
        assert_eq!(other.said, one.said, "{name}");
        for (other, one) in other.lines.iter().zip(&one.lines) {
            assert_eq!(other, one, "{name}");
        }
        assert_eq!(other, one, "{name}");
        lines += one.lines.len();
    }
    assert!(lines > 200, "{lines} lines");
}

#[tokio::test]
async fn a_file_does_what_memory_does() {
    let cases = Arc::new(cases());
    let mut all = Vec::new();
    for case in cases.iter() {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("engines.db");
        let (world, mut worker) = InFile::new(&cases, &file);
        tokio::select! {
            one = played(&world, case) => all.push(one),
            over = worker.work() => panic!("{over:?}"),
        }
    }
    compare(&cases, &in_memory(&cases).await, &all);
}

#[tokio::test]
async fn a_server_does_what_memory_does() {
    let Some(node) = Node::start("engines") else { return };
    let cases = Arc::new(cases());
    let world = OnServer::new(&cases, &node).await;
    let mut all = Vec::new();
    for case in cases.iter() {
        all.push(played(&world, case).await);
    }
    compare(&cases, &in_memory(&cases).await, &all);
}

#[tokio::test]
async fn a_stream_does_what_memory_does() {
    let Some(server) = Server::start("engines", &[]) else { return };
    // A turn for which the agent is busy is held back by the intake, and comes later.
    let cases = cases().into_iter().filter(|case| case.name != "slow");
    let cases: Arc<Vec<Case>> = Arc::new(cases.collect());
    let mut all = Vec::new();
    for (nth, case) in cases.iter().enumerate() {
        let world = OnStream::new(&cases, &server, format!("events{nth}"));
        tokio::select! {
            one = played(&world, case) => all.push(one),
            () = world.take_in() => panic!("the intake does not end by itself"),
        }
    }
    compare(&cases, &in_memory(&cases).await, &all);
}

#[tokio::test]
async fn a_world_does_what_memory_does() {
    let cases = cases().into_iter().filter(|case| ["builder", "phases"].contains(&case.name));
    let cases: Arc<Vec<Case>> = Arc::new(cases.collect());
    let mut lines = 0;
    for (case, memory) in cases.iter().zip(in_memory(&cases).await) {
        let (configuration, told) = in_world(&cases, case).await;
        for (line, one) in told.iter().zip(&memory.lines) {
            assert_eq!(line, one, "{}", case.name);
        }
        // A world gives an agent that has ended no further turn; memory says that it takes none.
        let refused = |line: &(u64, String, String)| line.2.contains("\"kind\":\"not_taken\"");
        assert!(memory.lines[told.len()..].iter().all(refused), "{}: {memory:?}", case.name);
        assert_eq!(Some(configuration), memory.state.map(|state| state.configuration));
        lines += told.len();
    }
    assert!(lines > 150, "{lines} lines");
}
