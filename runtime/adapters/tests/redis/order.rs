//! Processes that share streams.

use crate::agents::{plan, session};
use crate::ledger::{AGENTS, Chance, EACH, add, chart, drained, is_exact};
use crate::server::{GROUP, Server, until_async};
use chartc_adapters::redis::{Intake, IntakeError, Notice, Options};
use chartc_runtime::RunError;
use chartc_runtime::agents::{AgentState, Engine, EngineError, Event, Memory, Reply};
use chartc_runtime::clock::VirtualClock;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::pending;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An engine that commits after some time and answers some time after it, and counts what comes again.
pub(crate) struct Slow<E> {
    pub(crate) engine: E,
    pub(crate) repeated: AtomicU64,
    chance: Mutex<Chance>,
}

impl<E> Slow<E> {
    pub(crate) fn new(engine: E) -> Self {
        Self { engine, repeated: AtomicU64::new(0), chance: Mutex::new(Chance::seeded()) }
    }
}

impl<E: Engine + Sync> Engine for Slow<E> {
    async fn fire(&self, agent: &str, event: Event) -> Result<Reply, EngineError> {
        let some = || Duration::from_millis(self.chance.lock().expect("no panic").below(5));
        tokio::time::sleep(some()).await;
        let reply = self.engine.fire(agent, event).await;
        tokio::time::sleep(some()).await;
        let is_repeated = reply.as_ref().is_ok_and(|reply| reply.is_repeated);
        self.repeated.fetch_add(u64::from(is_repeated), Ordering::Relaxed);
        reply
    }

    async fn read(&self, agent: &str) -> Result<Option<AgentState>, EngineError> {
        self.engine.read(agent).await
    }
}

/// The chart of the ledger, in memory.
pub(crate) fn ledger() -> Slow<impl Engine + Sync> {
    let plan = plan(&chart()).expect("a chart");
    Slow::new(Memory::new(Arc::new(VirtualClock::new()), move |_: &str, clock| {
        session(&plan, None, clock, ()).map_err(RunError::Start)
    }))
}

fn intake(server: &Server, name: &str) -> Intake {
    let options = Options::new(&server.url(), "events", GROUP).with_shards(5);
    let options = options.with_consumer(name).with_idle(Duration::from_millis(600));
    Intake::new(options).expect("an address")
}

#[tokio::test]
async fn two_share_the_streams_and_the_one_that_stays_has_all() {
    let Some(server) = Server::start("shares", &[]) else { return };
    let engine = ledger();
    // Who reads which stream.
    let reads = RefCell::new(BTreeMap::<&str, Vec<String>>::new());
    let tell = |name: &'static str| {
        let reads = &reads;
        move |notice: Notice| {
            let mut reads = reads.borrow_mut();
            let mine = reads.entry(name).or_default();
            match notice {
                Notice::Reads(stream) => mine.push(stream),
                Notice::Leaves(stream) => mine.retain(|held| *held != stream),
                Notice::Connected { .. } | Notice::Lost { .. } => {}
                Notice::Dead { .. } | Notice::EngineAway(_) => panic!("{notice:?}"),
            }
        }
    };
    let has = |one: usize, two: usize| {
        let reads = reads.borrow();
        let count = |name| reads.get(name).map_or(0, Vec::len);
        (count("one"), count("two")) == (one, two)
    };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let one = intake(&server, "one").run(&engine, async { drop(stopped.await) }, tell("one"));
    let two = async {
        until_async("one has all", || has(5, 0)).await;
        let two = intake(&server, "two").run(&engine, pending(), tell("two"));
        let shared = async {
            until_async("they share", || has(3, 2)).await;
            let url = server.url();
            let half = EACH / 2;
            let adding = move || add(&url, 5, 1, half, Duration::from_millis(10));
            tokio::task::spawn_blocking(adding).await.expect("it ends");
        };
        // Then the second one dies, in the middle of it.
        tokio::select! {
            over = two => panic!("{over:?}"),
            () = shared => {}
        }
        let url = server.url();
        let adding = move || add(&url, 5, EACH / 2 + 1, EACH, Duration::from_millis(10));
        tokio::task::spawn_blocking(adding).await.expect("it ends");
        until_async("one has all again", || has(5, 2)).await;
        drained(&server, 5).await;
        drop(stop);
    };
    let (counts, ()) = tokio::join!(one, two);
    let counts = counts.expect("it ends well");
    let all = AGENTS as u64 * EACH as u64;
    assert!(counts.applied > all / 2 && counts.applied < all, "both have worked: {counts:?}");
    is_exact(&engine).await;
}

#[tokio::test]
async fn a_process_that_leaves_is_followed_at_once_and_one_with_its_name_replaces_it() {
    let Some(server) = Server::start("follows", &[]) else { return };
    let engine = ledger();
    let options =
        || Options::new(&server.url(), "events", GROUP).with_idle(Duration::from_hours(1));
    let holds = |options: Options| {
        let (engine, (stop, stopped)) = (&engine, tokio::sync::oneshot::channel::<()>());
        let mut stop = Some(stop);
        async move {
            let tell = |notice| {
                if matches!(notice, Notice::Reads(_)) {
                    stop.take();
                }
            };
            let stopped = async { drop(stopped.await) };
            Intake::new(options).expect("good").run(engine, stopped, tell).await
        }
    };
    // None of these waits for an hour.
    holds(options().with_consumer("one")).await.expect("it ends well");
    holds(options().with_consumer("two")).await.expect("it ends well");
    let long = options().with_consumer("two").with_idle(Duration::from_millis(900));
    let old = Intake::new(long).expect("good").run(&engine, pending(), |_| {});
    let new = async {
        until_async("the first one is there", || {
            let key = redis::cmd("EXISTS").arg(format!("events:{GROUP}:owner")).clone();
            server.ask::<u64>(&key) == 1
        })
        .await;
        let next = Intake::new(options().with_consumer("two")).expect("good");
        tokio::select! {
            over = next.run(&engine, pending(), |_| {}) => panic!("{over:?}"),
            () = pending() => {}
        }
    };
    let replaced = tokio::select! {
        replaced = old => replaced,
        () = new => unreachable!("it waits"),
    };
    assert!(matches!(replaced, Err(IntakeError::Taken(name)) if name == "two"));
}

#[tokio::test]
async fn a_process_that_was_held_up_reads_nothing_that_another_one_has() {
    let Some(server) = Server::start("fence", &[]) else { return };
    let engine = ledger();
    let options = Options::new(&server.url(), "events", GROUP).with_idle(Duration::from_hours(1));
    let said = RefCell::new(Vec::new());
    let tell = |notice: Notice| said.borrow_mut().push(notice);
    let old = Intake::new(options).expect("good").run(&engine, pending(), tell);
    let stream = "events".to_owned();
    let rest = async {
        until_async("it reads", || said.borrow().contains(&Notice::Reads(stream.clone()))).await;
        // As if its time had run out while it did not notice.
        let _: () = server.ask(redis::cmd("SET").arg(format!("events:{GROUP}:owner")).arg("other"));
        server.add("events", &[("agent", "ada"), ("event", "add"), ("data", "{\"n\": 1}")]);
        until_async("it leaves", || said.borrow().contains(&Notice::Leaves(stream.clone()))).await;
    };
    tokio::select! {
        over = old => panic!("{over:?}"),
        () = rest => {}
    }
    assert_eq!(server.pending("events"), 0, "it was delivered");
    assert!(engine.read("ada").await.expect("it works").is_none());
}

#[tokio::test]
async fn a_stream_that_was_lost_and_found_is_taken_over_again() {
    let Some(server) = Server::start("found", &[]) else { return };
    let engine = ledger();
    let options =
        Options::new(&server.url(), "events", GROUP).with_idle(Duration::from_millis(600));
    let run = Intake::new(options).expect("good").run(&engine, pending(), |_| {});
    let rest = async {
        let one = server.add("events", &[("agent", "a"), ("event", "add"), ("data", "{\"n\": 1}")]);
        server.drained("events").await;
        // Another process has had the stream and has died, while this one slept.
        let mut both = redis::pipe();
        both.atomic().cmd("DEL").arg(format!("events:{GROUP}:owner"));
        both.cmd("XCLAIM").arg("events").arg(GROUP).arg("other").arg(0).arg(&one).arg("FORCE");
        let mut connection = server.connect().expect("a connection");
        let _: redis::Value = both.query(&mut connection).expect("it works");
        assert_eq!(server.pending("events"), 1);
        server.drained("events").await;
    };
    tokio::select! {
        over = run => panic!("{over:?}"),
        () = rest => {}
    }
    assert_eq!(engine.repeated.load(Ordering::Relaxed), 1);
}
