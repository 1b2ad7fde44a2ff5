//! A service on a disk that is full at any moment: it waits, and goes on as if nothing had been.

use super::*;
use chartc_runtime::agents::{AgentState, Engine, EngineError, Quiet};
use chartc_store::{Outage, Service};
use rusqlite::ffi;
use rusqlite::functions::FunctionFlags;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;
use tokio::time::sleep;

/// The world, which takes its time for each answer.
struct Slow(World);

impl Driver for Slow {
    fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking {
        let (asking, pause) = (self.0.ask(id, question), pause(id));
        Box::pin(async move {
            sleep(pause).await;
            asking.await
        })
    }

    fn call(&self, id: &CallId, call: ToolCall) -> Calling {
        let (calling, pause) = (self.0.call(id, call), pause(id));
        Box::pin(async move {
            sleep(pause).await;
            calling.await
        })
    }

    fn probe(&self, id: &CallId) -> Probe {
        panic!("{id}: the process knows what became of its calls")
    }

    fn name(&self) -> String {
        "slow".into()
    }
}

fn pause(id: &CallId) -> Duration {
    Duration::from_millis(number(id) as u64 % 700)
}

/// Fires until the store takes the event.
async fn taken(handle: &Sqlite, event: Event) {
    loop {
        match handle.fire("ada", event.clone()).await {
            Ok(_) => return,
            Err(EngineError::Away { .. }) => sleep(Duration::from_millis(70)).await,
            Err(why) => panic!("{why}"),
        }
    }
}

/// The last state of a run of `WHOLE` whose commits fail `times` times where `fault` says, and how many outages there were.
fn served(
    plans: &Arc<[Plan]>,
    file: &Path,
    world: &Arc<Slow>,
    (fault, times): (&str, i64),
) -> (AgentState, usize) {
    let store = Store::own(file, Safety::Process).expect("a store");
    let left = AtomicI64::new(times);
    let full =
        move |_: &rusqlite::functions::Context<'_>| match left.fetch_sub(1, Ordering::Relaxed) {
            1.. => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), None)),
            _ => Ok(0),
        };
    let connection = store.connection();
    connection
        .create_scalar_function("no_room", 0, FunctionFlags::SQLITE_UTF8, full)
        .expect("a function");
    if !fault.is_empty() {
        let trigger = format!("CREATE TEMP TRIGGER fault {fault} BEGIN SELECT no_room(); END");
        connection.execute_batch(&trigger).expect("a trigger");
    }
    let outages = Arc::new(Mutex::new(Vec::new()));
    let seen = outages.clone();
    let on_outage =
        Box::new(move |outage: Option<Outage>| seen.lock().expect("one thread").push(outage));
    let service = Some(Service { at_rest: 2, on_outage });
    let (show, after): (Show, After<'_>) = (Box::new(|_, _| Ok(())), Box::new(|_, _| Ok(())));
    let opened =
        engine_as(plans, store, VirtualClock::new(), world.clone(), (show, after), service);
    let (handle, mut worker) = opened.expect("a store");
    let is_over = AtomicBool::new(false);
    let reader = handle.clone();
    // Readers restore the run while its calls are under way.
    let reads = async {
        while !is_over.load(Ordering::Relaxed) {
            drop(reader.read("ada").await);
            sleep(Duration::from_millis(30)).await;
        }
        drop(reader);
    };
    let host = async {
        taken(&handle, go("1", "owls")).await;
        handle.quiet().await;
        for turn in 1..=4 {
            taken(&handle, Event::turn(format!("1.{turn}"))).await;
            handle.quiet().await;
        }
        let state = handle.read("ada").await.expect("it can be read").expect("it is there");
        is_over.store(true, Ordering::Relaxed);
        drop(handle);
        state
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let (worked, state, ()) = runtime.expect("a runtime").block_on(async {
        let work = async { worker.work().await };
        tokio::join!(work, host, reads)
    });
    worked.expect("it waits for the disk");
    let outages = outages.lock().expect("one thread");
    assert!(
        outages.iter().all(|outage| matches!(outage, None | Some(Outage::Full))),
        "{outages:?}"
    );
    assert_ne!(outages.last(), Some(&Some(Outage::Full)), "it is over");
    (state, outages.len() / 2)
}

fn outages_at_rows(each: usize) {
    let charts = charts(WHOLE);
    let plans = plans(&charts);
    let new = || Arc::new(Slow(World::default()));
    let (file, world) = (fresh(&format!("outage-none-{each}")), new());
    let (wanted, none) = served(&plans, &file, &world, ("", 0));
    assert_eq!((none, wanted.turns), (0, 4));
    let mut paid = world.0.paid();
    paid.sort();
    let lines = Store::open(&file).and_then(|store| store.lines("ada")).expect("as written").len();
    let mut faults: Vec<String> =
        (1..=lines).map(|seq| format!("BEFORE INSERT ON line WHEN NEW.seq = {seq}")).collect();
    for stage in ["planned", "started", "done"] {
        for nth in 0..paid.len() {
            let count = format!("(SELECT count(*) FROM call WHERE stage = '{stage}') = {nth}");
            faults.push(format!("BEFORE INSERT ON call WHEN NEW.stage = '{stage}' AND {count}"));
            faults.push(format!("BEFORE UPDATE ON call WHEN NEW.stage = '{stage}' AND {count}"));
        }
    }
    let mut count = 0;
    for (nth, fault) in faults.iter().enumerate().step_by(each) {
        let (file, world) = (fresh(&format!("outage-{each}")), new());
        let (state, outages) = served(&plans, &file, &world, (fault, nth as i64 % 5 + 1));
        count += usize::from(outages > 0);
        let mut calls = world.0.paid();
        calls.sort();
        assert_eq!(calls, paid, "{fault}: each is paid for once");
        assert_eq!(state.variables, wanted.variables, "{fault}");
        assert_eq!(state.configuration, wanted.configuration, "{fault}");
        let store = Store::open(&file).expect("a store");
        assert_eq!(store.check().expect("it can be read"), [""; 0], "{fault}");
    }
    let tried = faults.iter().step_by(each).count();
    println!("{count} of {tried} faults were outages");
    assert!(count > tried / 2, "{count} of {tried}");
}

#[test]
fn an_outage_at_a_row_is_waited_for() {
    outages_at_rows(5);
}

#[test]
#[ignore = "it takes half a minute: `.ci/nightly` runs it"]
fn an_outage_at_any_row_is_waited_for() {
    outages_at_rows(1);
}
