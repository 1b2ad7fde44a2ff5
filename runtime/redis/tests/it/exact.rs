//! Whatever is killed, each event is applied exactly once, and in the order of its agent.

use crate::agents::{engine, plan};
use crate::ledger::{AGENTS, Chance, EACH, add, chart, drained, is_exact};
use crate::order::ledger;
use crate::server::{GROUP, Process, Server};
use chartc_redis::{Intake, Options};
use std::future::pending;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The example `intake`, built.
fn program() -> PathBuf {
    let built = Command::new(env!("CARGO"))
        .args(["build", "-q", "-p", "chartc-redis", "--example", "intake", "--locked"])
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
        engine(plan(&chart()).expect("a chart"), &store, None).expect("a store");
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
