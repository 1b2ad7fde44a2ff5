//! Events that are taken whole or not at all: faults in the middle of one.

use super::*;
use chartc_core::host::Host;
use chartc_core::machine::Receipt;
use chartc_runtime::agents::{Engine, EngineError, Quiet};
use chartc_store::Letter;
use std::sync::atomic::{AtomicU32, Ordering};

/// Changes the file past the store.
fn change(file: &Path, sql: &str) {
    rusqlite::Connection::open(file).and_then(|all| all.execute_batch(sql)).expect("a database");
}

/// An event that does three things, the second of them outside.
const CHART: &str = "
fn price(n: Int) -> Int
chart Shop {
  event buy(n: Int)
  var bought: Int = 0
  var paid: Int = 0
  initial open
  state open { on buy(n) -> open { bought = bought + 1  paid = paid + price(n)  bought = bought + 10 } }
}
";

/// What a host function does with one that is not sold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Fails,
    Panics,
}

#[derive(Clone)]
struct Prices(Fault, Arc<AtomicU32>);

impl Host for Prices {
    fn call(&mut self, _: &str, arguments: &[Value]) -> Result<Value, String> {
        self.1.fetch_add(1, Ordering::Relaxed);
        match (self.0, arguments) {
            (Fault::Fails, [Value::Int(7)]) => Err("not sold".into()),
            (Fault::Panics, [Value::Int(7)]) => panic!("the price of 7"),
            (_, [Value::Int(n)]) => Ok(Value::Int(n * 2)),
            _ => Err("a price of what?".into()),
        }
    }
}

type Shop<'p> = Worker<'p, Interpreter<Prices>>;

fn opened<'p>(plans: &'p Arc<[Plan]>, file: &Path, host: &Prices) -> (Sqlite, Shop<'p>) {
    let store = Store::own(file, Safety::Process).expect("a store");
    let host = host.clone();
    let options = Options {
        make: Box::new(move |making| {
            let host = host.clone();
            let machine = match making.saved {
                Some(saved) => Interpreter::resume(&plans[0], plans.clone(), host, saved.machine())
                    .map_err(|why| why.to_string())?,
                None => {
                    Interpreter::new(&plans[0], host, Map::new()).map_err(|why| why.to_string())?
                }
            };
            let session = Session::new(machine, Arc::new(Deny), making.clock, making.journal);
            Ok(session.with_driver(making.driver).with_run(making.run))
        }),
        driver: Arc::new(World::default()),
        clock: Arc::new(VirtualClock::new()),
        is_real: false,
        replies: false,
        workers: 64,
        show: Box::new(|_, _| Ok(())),
        after: Box::new(|_, _| Ok(())),
        given: String::new(),
        service: None,
    };
    let (handle, mut worker) = Worker::new(store, options);
    worker.load_all().expect("it can be read");
    (handle, worker)
}

fn served<R>(worker: &mut Shop<'_>, host: impl Future<Output = R>) -> R {
    let (worked, told) = wait(async { tokio::join!(worker.work(), host) });
    worked.expect("a disk");
    told
}

fn buy(id: &str, n: i64) -> Event {
    Event::new(id, "buy").with([("n".to_owned(), Value::Int(n))].into_iter().collect())
}

fn sums(state: &chartc_runtime::agents::AgentState) -> (i64, i64) {
    let of = |name: &str| match state.variables.get(name) {
        Some(Value::Int(n)) => *n,
        other => panic!("{other:?}"),
    };
    (of("bought"), of("paid"))
}

/// Two agents buy in one commit; the function of the host panics for one of them, in the middle of its event.
#[test]
fn a_panic_leaves_the_run_as_it_was_and_the_others_go_on() {
    let charts = charts(CHART);
    let plans = plans(&charts);
    let file = fresh("panic");
    let calls = Arc::new(AtomicU32::new(0));
    let (handle, mut worker) = opened(&plans, &file, &Prices(Fault::Panics, calls.clone()));
    served(&mut worker, async {
        let handle = handle;
        handle.fire("ada", buy("1", 1)).await.expect("it fits");
        handle.fire("bob", buy("1", 1)).await.expect("it fits");
        let (mut ada, mut bob) =
            (Box::pin(handle.fire("ada", buy("2", 7))), Box::pin(handle.fire("bob", buy("2", 2))));
        let (ada, bob) = tokio::join!(&mut ada, &mut bob);
        match ada {
            Err(EngineError::Stopped { why, .. }) => {
                assert_eq!(why, "it has panicked: the price of 7");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(bob.expect("it goes on").receipt, Receipt::Handled);
        assert!(!handle.has("ada", "2").await.expect("it works"), "it was not taken");
        handle.fire("ada", buy("3", 1)).await.expect_err("it is not known how it stands");
        assert_eq!(
            handle.fire("bob", buy("3", 3)).await.expect("it fits").receipt,
            Receipt::Handled
        );
    });
    assert_eq!(worker.broken().map(|(run, _)| run).collect::<Vec<_>>(), ["ada"]);
    assert_eq!(worker.stopped("ada"), Some("it has panicked: the price of 7"));
    drop(worker);
    let store = Store::open(&file).expect("a store");
    assert_eq!(store.check().expect("it can be read"), [""; 0]);
    let lines = |run: &str| store.lines(run).expect("as written");
    assert_eq!(lines("ada"), lines("bob")[..lines("ada").len()], "nothing of the event is left");
    drop(store);
    // The next process, whose host has been mended.
    let (handle, mut worker) = opened(&plans, &file, &Prices(Fault::None, calls));
    served(&mut worker, async {
        let handle = handle;
        let state = handle.read("ada").await.expect("it runs").expect("it is there");
        assert_eq!(sums(&state), (11, 2), "as before the event");
        for is_repeated in [false, true] {
            let reply = handle.fire("ada", buy("2", 7)).await.expect("it fits");
            assert_eq!(reply.is_repeated, is_repeated);
        }
        let state = handle.read("ada").await.expect("it runs").expect("it is there");
        assert_eq!(sums(&state), (22, 16), "it is taken once");
        let state = handle.read("bob").await.expect("it runs").expect("it is there");
        assert_eq!(sums(&state), (33, 12));
    });
}

/// What the event leads to at once, after it was taken.
const LATE: &str = "
fn price(n: Int) -> Int
chart Late {
  event buy(n: Int)
  var bought: Int = 0
  var paid: Int = 0
  initial open
  state open { on buy(n) -> paying { bought = n } }
  state paying { after 0s -> open { paid = paid + price(bought) } }
}
";

/// A letter was handed over, and the step that follows panics: the letter is still in the inbox, and is taken by the next process.
#[test]
fn a_letter_whose_step_panics_was_not_taken() {
    let charts = charts(LATE);
    let plans = plans(&charts);
    let file = fresh("panic-letter");
    let calls = Arc::new(AtomicU32::new(0));
    let began = |fault| opened(&plans, &file, &Prices(fault, calls.clone()));
    let (handle, mut worker) = began(Fault::Panics);
    served(&mut worker, async {
        let handle = handle;
        handle.fire("ada", buy("1", 1)).await.expect("it fits");
    });
    drop(worker);
    let before = Store::open(&file).and_then(|store| store.lines("ada")).expect("as written");
    let store = Store::open(&file).expect("a store");
    store.post("ada", &Letter::Event("buy".into(), buy("", 7).data)).expect("it runs");
    drop(store);
    let (handle, mut worker) = began(Fault::Panics);
    let had = served(&mut worker, async {
        let handle = handle;
        // The inbox is read with the first commit.
        drop(handle.fire("bob", buy("1", 2)).await);
        handle.fire("ada", buy("3", 3)).await.expect_err("it has panicked");
        handle.has("ada", "inbox:1").await.expect("it works")
    });
    assert!(!had, "it was not taken");
    drop(worker);
    let store = Store::open(&file).expect("a store");
    assert_eq!(store.lines("ada").expect("as written"), before);
    assert_eq!(store.check().expect("it can be read"), [""; 0]);
    drop(store);
    for _ in 0..2 {
        let (handle, mut worker) = began(Fault::None);
        let (state, had) = served(&mut worker, async {
            let handle = handle;
            drop(handle.read("ada").await);
            handle.fire("bob", buy("2", 2)).await.expect("it fits");
            let had = handle.has("ada", "inbox:1").await.expect("it works");
            (handle.read("ada").await.expect("it runs").expect("it is there"), had)
        });
        assert_eq!((sums(&state), had), ((7, 16), true), "it is taken once");
    }
}

/// What a process does with the run of `WHOLE`, from the beginning each time; and what was paid for.
fn played(plans: &Arc<[Plan]>, file: &Path, world: &Arc<World>) -> Result<(), StoreError> {
    let driver = world.clone();
    let (handle, mut worker) = engine(plans, file, driver, Box::new(|_, _| Ok(())))?;
    let host = async {
        let handle = handle;
        // A process that has stopped tells nobody.
        drop(handle.fire("ada", go("1", "owls")).await);
        handle.quiet().await;
        for turn in 1..=4 {
            drop(handle.fire("ada", Event::turn(format!("1.{turn}"))).await);
            handle.quiet().await;
        }
    };
    wait(while_worked(&mut worker, host))
}

#[test]
fn a_commit_that_fails_at_a_row_has_not_been() {
    fails_at_rows(7);
}

#[test]
#[ignore = "it takes half a minute: `.ci/nightly` runs it"]
fn a_commit_that_fails_at_any_row_has_not_been() {
    fails_at_rows(1);
}

/// SQLite cannot write a row in the middle of a commit, as on a full disk: nothing of the commit is there, the process stops, and the next
/// one takes what was not taken. A row of each kind, of each moment; of all these faults one in `each`.
fn fails_at_rows(each: usize) {
    let charts = charts(WHOLE);
    let plans = plans(&charts);
    let file = fresh("row-whole");
    let world = Arc::new(World { knows: true, ..World::default() });
    played(&plans, &file, &world).expect("a disk");
    let whole = timeless(&Store::open(&file).and_then(|s| s.lines("ada")).expect("as written"));
    let paid = world.paid().len();
    let mut faults: Vec<String> = (1..=whole.len())
        .map(|seq| format!("BEFORE INSERT ON line WHEN NEW.seq = {seq}"))
        .collect();
    for stage in ["planned", "started", "done"] {
        for nth in 0..paid {
            let count = format!("(SELECT count(*) FROM call WHERE stage = '{stage}') = {nth}");
            for what in ["INSERT", "UPDATE"] {
                faults
                    .push(format!("BEFORE {what} ON call WHEN NEW.stage = '{stage}' AND {count}"));
            }
        }
    }
    for nth in 0..5 {
        faults.push(format!("BEFORE INSERT ON event WHEN (SELECT count(*) FROM event) = {nth}"));
        faults.push(format!("BEFORE UPDATE ON run WHEN OLD.turns = {nth}"));
    }
    let mut stops = 0;
    for fault in faults.iter().step_by(each) {
        let file = fresh("row-fault");
        drop(Store::own(&file, Safety::Process).expect("a store"));
        let fails = "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END";
        change(&file, &format!("CREATE TRIGGER fault {fault} {fails};"));
        let world = Arc::new(World { knows: true, ..World::default() });
        match played(&plans, &file, &world) {
            Ok(()) => {}
            Err(StoreError::Sqlite { why, .. }) if why.to_string().contains("is full") => {
                stops += 1;
            }
            Err(why) => panic!("{fault}: {why}"),
        }
        let store = Store::open(&file).expect("a store");
        assert_eq!(store.check().expect("it can be read"), [""; 0], "{fault}");
        let begun = timeless(&store.lines("ada").expect("as written"));
        assert_eq!(begun, whole[..begun.len()], "{fault}");
        drop(store);
        change(&file, "DROP TRIGGER fault");
        played(&plans, &file, &world).expect("a disk with room");
        let store = Store::open(&file).expect("a store");
        assert_eq!(timeless(&store.lines("ada").expect("as written")), whole, "{fault}");
        let mut calls = world.paid();
        calls.sort();
        calls.dedup();
        assert_eq!((calls.len(), world.paid().len()), (paid, paid), "{fault}: each is paid once");
    }
    let count = faults.len() / each;
    println!("{stops} of {count} faults have stopped a process");
    assert!(stops > count / 2, "{stops} of {count}");
}

/// A function that fails is the chart's to handle: the event is taken, with what the chart makes of it, and not again.
#[test]
fn an_event_whose_function_fails_is_taken_once() {
    let charts = charts(CHART);
    let plans = plans(&charts);
    let file = fresh("fails");
    let calls = Arc::new(AtomicU32::new(0));
    let mut stood = Vec::new();
    for round in 0..3 {
        let (handle, mut worker) = opened(&plans, &file, &Prices(Fault::Fails, calls.clone()));
        served(&mut worker, async {
            let handle = handle;
            let reply = handle.fire("ada", buy("1", 7)).await.expect("it fits");
            assert_eq!(reply.is_repeated, round > 0);
            handle.quiet().await;
            let state = handle.read("ada").await.expect("it runs").expect("it is there");
            stood.push((sums(&state), state.status));
        });
    }
    assert_eq!(calls.load(Ordering::Relaxed), 1, "it is called once");
    assert!(stood.iter().all(|one| *one == stood[0]), "{stood:?}");
}
