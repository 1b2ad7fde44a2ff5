//! Whatever is killed, each event is applied exactly once, and in the order of its agent.

use crate::agents::{engine, plan};
use crate::ledger::{AGENTS, Chance, EACH, add, chart, drained, is_exact};
use crate::order::ledger;
use crate::server::{GROUP, PATIENCE, Process, Server};
use chartc_adapters::redis::{Intake, Options};
use chartc_core::expr::Value;
use chartc_runtime::agents::{Engine, Event};
use std::future::pending;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The example `intake`, built.
fn program() -> PathBuf {
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "-q",
            "-p",
            "chartc-adapters",
            "--features",
            "redis",
            "--example",
            "intake",
            "--locked",
        ])
        .status();
    assert!(built.expect("cargo runs").success(), "the example is built");
    let own = std::env::current_exe().expect("a path");
    own.ancestors().nth(2).expect("a folder").join("examples/intake")
}

fn worker(program: &Path, server: &Server, store: &Path) -> Process {
    let log = server.folder().join("intake.log");
    let log = std::fs::File::options().create(true).append(true).open(log).expect("a log");
    let child = Command::new(program)
        .args([&chart(), &store.display().to_string(), "events", GROUP])
        .args(["--redis", &server.url(), "--idle", "1000"])
        .stdout(Stdio::null())
        .stderr(log)
        .spawn();
    Process(child.expect("the worker starts"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_of_the_process_and_of_the_server_lose_nothing_and_double_nothing() {
    let Some(mut server) = Server::start("kills", &[]) else { return };
    let program = program();
    let store = server.folder().join("agents.db");
    let url = server.url();
    let adding = std::thread::spawn(move || add(&url, 1, 1, EACH, Duration::from_millis(60)));
    let mut chance = Chance::seeded();
    let mut running = worker(&program, &server, &store);
    let (mut kills, mut restarts) = (0, 0);
    while kills < 14 {
        // The moments are by chance; nothing waits for them.
        tokio::time::sleep(Duration::from_millis(60 + chance.below(260))).await;
        if kills % 5 == 4 && restarts < kills / 5 + 1 {
            server.kill();
            server.begin();
            restarts += 1;
        } else {
            drop(running);
            running = worker(&program, &server, &store);
            kills += 1;
        }
    }
    adding.join().expect("all is added");
    drained(&server, 1).await;
    drop(running);
    let (engine, mut worker) =
        engine(&plan(&chart()).expect("a chart"), &store, None).expect("a store");
    tokio::select! {
        () = is_exact(&engine) => {}
        over = worker.work() => panic!("{over:?}"),
    }
    println!("{kills} kills, {restarts} restarts: {} events, each once", AGENTS as i64 * EACH);
}

#[tokio::test]
async fn an_intake_that_is_dropped_at_any_moment_has_lost_nothing() {
    let Some(mut server) = Server::start("drops", &[]) else { return };
    let engine = ledger();
    let url = server.url();
    let adding = std::thread::spawn(move || add(&url, 4, 1, EACH, Duration::from_millis(70)));
    let mut chance = Chance::seeded();
    let mut drops = 0;
    let run = |name: &'static str| {
        let options = Options::new(&server.url(), "events", GROUP).with_shards(4);
        let options = options.with_consumer(name).with_idle(Duration::from_millis(300));
        Intake::new(options).expect("an address")
    };
    let intakes: Vec<Intake> =
        (0..30).map(|nth| run(if nth % 5 == 4 { "two" } else { "one" })).collect();
    let mut intakes = intakes.into_iter();
    while drops < 20 {
        // Another one has to wait until the streams are free.
        let longer = if drops % 5 == 4 { 500_000 } else { 2_000 };
        let some = Duration::from_micros(longer + chance.below(80_000));
        let intake = intakes.next().expect("enough of them");
        let dropped = tokio::time::timeout(some, intake.run(&engine, pending(), |_| {})).await;
        assert!(dropped.is_err(), "{dropped:?}");
        drops += 1;
        if drops == 10 {
            server.kill();
            server.begin();
        }
    }
    // The last one is told to stop.
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let last = intakes.next().expect("enough of them");
    let last = last.run(&engine, async { drop(stopped.await) }, |_| {});
    let rest = async {
        tokio::task::spawn_blocking(|| adding.join().expect("all is added"))
            .await
            .expect("it ends");
        drained(&server, 4).await;
        drop(stop);
    };
    let (counts, ()) = tokio::join!(last, rest);
    let counts = counts.expect("it ends well");
    let repeated = engine.repeated.load(Ordering::Relaxed);
    println!("{drops} drops: {repeated} events came again; then: {counts:?}");
    assert!(repeated > 0, "no drop has hit an event: it proves nothing");
    is_exact(&engine).await;
}

#[tokio::test]
async fn ids_past_the_horizon_are_forgotten_and_others_are_not() {
    let Some(server) = Server::start("horizon", &[]) else { return };
    let (engine, mut worker) =
        engine(&plan(&chart()).expect("a chart"), &server.folder().join("s.db"), None)
            .expect("a store");
    let options = Options::new(&server.url(), "events", GROUP);
    let intake = Intake::new(options.with_horizon(Duration::from_secs(1))).expect("an address");
    let data = [("n".to_owned(), Value::Int(1))];
    let rest = async {
        let own = Event::new("own", "add").with(data.into_iter().collect());
        engine.fire("ada", own).await.expect("it fits");
        let fields = [("agent", "ada"), ("event", "add"), ("data", "{\"n\": 2}"), ("id", "x")];
        server.add("events", &fields);
        server.drained("events").await;
        let id = "redis:events:id:x";
        assert!(engine.has("ada", id).await.expect("it works"));
        let limit = tokio::time::Instant::now() + PATIENCE;
        while engine.has("ada", id).await.expect("it works") {
            assert!(tokio::time::Instant::now() < limit, "it is not forgotten");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(engine.has("ada", "own").await.expect("it works"));
    };
    tokio::select! {
        () = rest => {}
        over = intake.run(&engine, pending(), |_| {}) => panic!("{over:?}"),
        over = worker.work() => panic!("{over:?}"),
    }
}

/// How long the engine needs for many events of so many agents.
async fn measured(server: &Server, engine: &(impl Engine + Sync), what: &str) {
    const EVENTS: usize = 50_000;
    for from in (0..EVENTS).step_by(1_000) {
        let mut many = redis::pipe();
        for nth in from..from + 1_000 {
            let add = many.cmd("XADD").arg("events").arg("*").arg("event").arg("add");
            add.arg("data").arg("{\"n\": 1}").arg("agent").arg(format!("agent-{}", nth % 1_000));
        }
        let mut connection = server.connect().expect("a connection");
        let _: redis::Value = many.query(&mut connection).expect("they are added");
    }
    let intake = Intake::new(Options::new(&server.url(), "events", GROUP)).expect("an address");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let begun = std::time::Instant::now();
    let rest = async {
        drained(server, 1).await;
        drop(stop);
    };
    let run = intake.run(engine, async { drop(stopped.await) }, |_| {});
    let (counts, ()) = tokio::join!(run, rest);
    let passed = begun.elapsed();
    let counts = counts.expect("it ends well");
    assert_eq!(counts.applied, EVENTS as u64);
    let rate = counts.applied as f64 / passed.as_secs_f64();
    println!("{what}: {EVENTS} events of 1000 agents in {passed:?}, {rate:.0} a second");
}

#[tokio::test]
#[ignore = "it measures: cargo test --release -p chartc-adapters --test redis -- --ignored --nocapture"]
async fn events_a_second() {
    let counter = plan(&format!("{}/tests/redis/counter.chart", env!("CARGO_MANIFEST_DIR")));
    let counter = counter.expect("a chart");
    let Some(server) = Server::start("rate-memory", &[]) else { return };
    let clock = std::sync::Arc::new(chartc_runtime::clock::VirtualClock::new());
    let memory = chartc_runtime::agents::Memory::new(clock, |_: &str, clock| {
        crate::agents::session(&counter, None, clock, ()).map_err(chartc_runtime::RunError::Start)
    });
    measured(&server, &memory, "in memory").await;
    let server = Server::start("rate-sqlite", &[]).expect("as before");
    let (engine, mut worker) =
        engine(&counter, &server.folder().join("s.db"), None).expect("a store");
    tokio::select! {
        () = measured(&server, &engine, "in an SQLite file, each commit on the disk") => {}
        over = worker.work() => panic!("{over:?}"),
    }
}
