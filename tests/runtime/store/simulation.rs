//! A simulation of a store in virtual time. Each seed gives a story of clients and people, a model and a tool that lie, are slow or never
//! answer, commits that fail, clocks that jump, and processes that crash at any moment.
//!
//! After each crash and at the end, the test checks that
//! - no call was made twice, and each payment was approved by a person;
//! - each acknowledged order is in the trace, and each order that was sent again is in it once;
//! - each answer was applied to the question that the person saw;
//! - the store is undamaged, and a replay of each trace gives the same trace.
//!
//! `CHARTC_STORIES` sets the number of stories. If a story fails, the test reports its seed and the smallest number of steps that fails.

use super::*;
use chartc_runtime::agents::{Engine, EngineError, Quiet};
use chartc_runtime::replay::{Tape, replay};
use chartc_runtime::trace::What;
use chartc_store::Outage;
use rusqlite::ffi;
use rusqlite::functions::FunctionFlags;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use test_support::chance::Chance;
use test_support::project::number as setting;
use tokio::time::{sleep, timeout};

const SHOP: &str = r#"
tool pay(amount: Int) -> Bool

chart Shop {
  event order(n: Int)
  event cancel
  event later
  var amount: Int = 0
  var orders: Int = 0
  var said: Text = ""
  var opinion: Text = ""
  initial idle
  on order(n) -> asking { amount = n  orders = orders + 1 }
  on cancel -> idle
  state idle { after 30d -> idle }
  state asking {
    human approve "Pay {amount}?" {
      returns Text into said
      done if said == "yes" -> thinking
      done -> idle
    }
    after 8h -> idle
  }
  state thinking {
    enter { send later after 20m }
    llm think { prompt "Is {amount} much?"  returns Text into opinion  retry 2 then -> paying } -> paying
    on later -> paying
  }
  state paying { call sent pay(amount) { done -> idle  error -> idle  doubt -> idle } }
}
"#;

/// Stories, unless `CHARTC_STORIES` says otherwise.
const STORIES: u64 = 30;
const STEPS: usize = 80;
const RUNS: [&str; 2] = ["ada", "bob"];

// The peers: a model and a tool. Their behaviour depends only on the id of the call, so a story is the same each time.

/// A payment by the tool: the run, the call, and the amount.
type Payment = (String, String, i64);

#[derive(Default)]
struct Peers {
    paid: Mutex<Vec<Payment>>,
    asked: Mutex<Vec<String>>,
}

impl Peers {
    fn fate(id: &CallId) -> (u64, Duration) {
        let mut chance = Chance(number(id) as u64);
        let pause = [0, 5, 300, 20_000][chance.below(4) as usize];
        (chance.below(10), Duration::from_millis(pause))
    }
}

impl Driver for Peers {
    fn ask(&self, id: &CallId, _: Arc<Question>) -> Asking {
        self.asked.lock().expect("one thread").push(id.to_string());
        let (fate, pause) = Self::fate(id);
        Box::pin(async move {
            sleep(pause).await;
            match fate {
                0 => std::future::pending().await,
                1 => Err(OracleError::Connection("dropped".into())),
                2 => Ok(Answer::from("{\"not\": \"what was asked\"".to_owned())),
                3 => Ok(Answer::from("x".repeat(200_000))),
                _ => Ok(Answer::from("\"a little\"".to_owned())),
            }
        })
    }

    fn call(&self, id: &CallId, call: ToolCall) -> Calling {
        let Some((_, Value::Int(amount))) = call.arguments.first() else { panic!("{call:?}") };
        let (fate, pause) = Self::fate(id);
        if fate != 9 {
            let payment = (id.run.to_string(), id.to_string(), *amount);
            self.paid.lock().expect("one thread").push(payment);
        }
        Box::pin(async move {
            sleep(pause).await;
            match fate {
                0 => std::future::pending().await,
                // The payment is made, but its result is lost.
                1 => Err(OracleError::Connection("it broke".into())),
                9 => Err(OracleError::Unreachable("it is closed".into())),
                _ => Ok(Value::Bool(true)),
            }
        })
    }

    fn probe(&self, _: &CallId) -> Probe {
        Probe::Unknown
    }

    fn name(&self) -> String {
        "peers".into()
    }
}

// The story.

#[derive(Debug, Clone, PartialEq)]
struct Seen {
    id: String,
    text: String,
}

#[derive(Default)]
struct Story {
    steps: usize,
    /// The orders that clients have sent, by run: the id, the amount, and whether it was acknowledged.
    orders: BTreeMap<&'static str, Vec<(String, i64, bool)>>,
    /// The question that people have seen last, by run.
    seen: BTreeMap<&'static str, Seen>,
    /// The answers that were accepted: the run, what was seen, and what was said.
    accepted: Vec<(&'static str, Seen, String)>,
    /// The answers that were being given when the process crashed. They may have been accepted.
    open: Vec<(&'static str, Seen, String)>,
    crashes: usize,
    outages: usize,
    milliseconds: u64,
}

impl Story {
    /// Takes steps until all are done or the process crashes.
    async fn goes_on(
        &mut self,
        engine: &Sqlite,
        beside: &Store,
        chance: &mut Chance,
        steps: usize,
    ) {
        while self.steps < steps {
            self.steps += 1;
            let run = *chance.of(&RUNS);
            let id = format!("{}", self.steps);
            match chance.below(24) {
                0..=1 => {
                    let amount = self.steps as i64;
                    self.orders.entry(run).or_default().push((id, amount, false));
                    self.send_orders(engine, run).await;
                }
                2 => {
                    // An event with a known id and other content is refused and changes nothing.
                    let known = self.orders.get(run).and_then(|all| all.last().cloned());
                    if let Some((id, amount, true)) = known {
                        let event = order(&id, amount + 1000);
                        let content = event.content();
                        if let Ok(reply) = engine.fire(run, event).await {
                            assert!(reply.is_of_other(content), "an id is taken twice");
                        }
                    }
                }
                3 => drop(engine.fire(run, Event::new(id, "cancel")).await),
                4..=13 => {
                    drop(engine.fire(run, Event::turn(id)).await);
                    sleep(Duration::from_millis(chance.below(25_000))).await;
                }
                14..=20 => {
                    // Sometimes a person answers without looking again, so the question may have been replaced.
                    if let Some(seen) = look(beside, run).filter(|_| chance.below(4) > 0) {
                        self.seen.insert(run, seen);
                    }
                    self.answer(engine, run, chance).await;
                }
                21 => {
                    let jump =
                        [1_000, 1_200_000, 30_000_000, 700_000_000][chance.below(4) as usize];
                    if engine.advance(jump).await.is_ok() {
                        self.milliseconds += jump;
                    }
                }
                22 => {
                    // A read restores the run, even while its calls are under way.
                    for _ in 0..chance.below(40) {
                        sleep(Duration::from_millis(chance.below(900))).await;
                        drop(engine.read(run).await);
                    }
                }
                // The process crashes, whatever is under way.
                _ => return,
            }
        }
    }

    /// Sends the orders that were not acknowledged, like a client that retries.
    async fn send_orders(&mut self, engine: &Sqlite, run: &'static str) {
        for nth in 0..self.orders.get(run).map_or(0, Vec::len) {
            let (id, amount, is_acknowledged) = self.orders[run][nth].clone();
            if is_acknowledged {
                continue;
            }
            match engine.fire(run, order(&id, amount)).await {
                Ok(_) => self.orders.entry(run).or_default()[nth].2 = true,
                Err(EngineError::Away { .. }) => {}
                Err(why) => panic!("{why}"),
            }
        }
    }

    async fn answer(&mut self, engine: &Sqlite, run: &'static str, chance: &mut Chance) {
        let Some(seen) = self.seen.get(run).cloned() else { return };
        let text = *chance.of(&["yes", "yes", "no", "perhaps"]);
        let answer = (run, seen.clone(), text.to_owned());
        self.open.push(answer.clone());
        match engine.reply(run, &seen.id, text.to_owned()).await {
            Ok(()) => self.accepted.push(answer),
            Err(StoreError::NotOpen { .. } | StoreError::Outage(_) | StoreError::Run { .. }) => {}
            Err(why) => panic!("{why}"),
        }
        self.open.pop();
    }

    /// Checks the promises against the store and the payments.
    fn check(&mut self, plans: &Arc<[Plan]>, store: &Store, peers: &Peers, is_end: bool) {
        assert_eq!(store.check().expect("it can be read"), [""; 0], "the store is damaged");
        let paid = peers.paid.lock().expect("one thread").clone();
        for calls in [
            paid.iter().map(|(_, id, _)| id.clone()).collect(),
            peers.asked.lock().expect("one thread").clone(),
        ] {
            let calls: Vec<String> = calls;
            let once: BTreeSet<&String> = calls.iter().collect();
            assert_eq!(once.len(), calls.len(), "a call was made twice: {calls:?}");
        }
        for run in RUNS {
            if store.find(run).expect("it can be read").is_none() {
                assert!(!self.orders.get(run).is_some_and(|all| all.iter().any(|one| one.2)));
                continue;
            }
            let lines = store.lines(run).expect("as written");
            self.check_answers(run, &lines);
            let agreed = self.accepted.iter().filter(|(of, _, text)| *of == run && text == "yes");
            let agreed = agreed.map(|(_, seen, _)| seen.text.as_str());
            let mut agreed = agreed.map(|text| {
                let amount = text.trim_start_matches("Pay ").trim_end_matches('?');
                amount.parse::<i64>().expect("an amount")
            });
            for (_, id, amount) in paid.iter().filter(|(of, ..)| of == run) {
                assert!(agreed.any(|one| one == *amount), "{run}: {id} paid {amount} unagreed");
            }
            let taken = lines
                .iter()
                .filter(|line| matches!(&line.what, What::Event { event, .. } if event == "order"));
            let taken = taken.count();
            let orders = self.orders.get(run).map_or(&[][..], Vec::as_slice);
            let acknowledged = orders.iter().filter(|one| one.2).count();
            assert!((acknowledged..=orders.len()).contains(&taken), "{run}: {taken} {orders:?}");
            if is_end {
                assert_eq!(taken, orders.len(), "{run}: all were acknowledged at last");
            }
            run_again(plans, &lines);
        }
    }

    fn check_answers(&mut self, run: &'static str, lines: &[Line]) {
        let mut open: BTreeMap<String, Seen> = BTreeMap::new();
        let mut heard = Vec::new();
        for line in lines {
            match &line.what {
                What::Question { id, step, prompt, .. } if step == "approve" => {
                    open.insert(step.clone(), Seen { id: id.clone(), text: prompt.clone() });
                }
                What::Answer { id, step, text, .. } | What::Unusable { id, step, text, .. }
                    if step == "approve" =>
                {
                    let asked = open.remove(step).expect("there was a question");
                    assert_eq!(asked.id, *id, "{run}: the answer is for another question");
                    heard.push((asked, text.clone()));
                }
                _ => {}
            }
        }
        let said = |all: &[(&'static str, Seen, String)]| {
            let own = all.iter().filter(|(of, ..)| *of == run);
            own.map(|(_, seen, text)| (seen.clone(), text.clone())).collect::<Vec<_>>()
        };
        // An answer that was being given during the crash may be in the trace.
        if heard.len() == said(&self.accepted).len() + 1 {
            let last = heard.last().cloned();
            let at = self.open.iter().position(|(of, seen, text)| {
                *of == run && last.as_ref() == Some(&(seen.clone(), text.clone()))
            });
            self.accepted.push(self.open.remove(at.expect("nobody has said that")));
        }
        assert_eq!(heard, said(&self.accepted), "{run}: what was heard is what was accepted");
    }
}

fn order(id: &str, amount: i64) -> Event {
    let data = [("n".to_owned(), Value::Int(amount))].into_iter().collect();
    Event::new(format!("order:{id}"), "order").with(data)
}

fn look(beside: &Store, run: &str) -> Option<Seen> {
    let asked = beside.asked(run).ok()?.into_iter().next()?;
    Some(Seen { id: asked.id, text: asked.prompt })
}

fn run_again(plans: &Arc<[Plan]>, lines: &[Line]) {
    let text = lines.iter().map(|line| serde_json::to_string(line).expect("JSON") + "\n");
    let tape = Tape::read(&text.collect::<String>()).expect("a trace");
    let machine = Interpreter::new(&plans[0], tape.host(), Map::new()).expect("no params");
    if let Err(why) = replay(&tape, machine.with_charts(plans.clone())) {
        panic!("the trace does not run again: {why}");
    }
}

// Processes, one after the other.

/// Makes the commits of a store fail now and then, up to four times in a row.
fn make_flaky(store: &Store, chance: Chance) {
    let state = Mutex::new((chance, 0_u64));
    let flaky = move |_: &rusqlite::functions::Context<'_>| {
        let (chance, failures) = &mut *state.lock().expect("one thread");
        if *failures == 0 && chance.below(40) == 0 {
            *failures = 1 + chance.below(4);
        }
        if *failures == 0 {
            return Ok(0);
        }
        *failures -= 1;
        let code = *chance.of(&[ffi::SQLITE_FULL, ffi::SQLITE_BUSY, ffi::SQLITE_IOERR]);
        Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
    };
    let connection = store.connection();
    connection
        .create_scalar_function("flaky", 0, FunctionFlags::SQLITE_UTF8, flaky)
        .expect("a function");
    for table in ["line", "call", "event", "run"] {
        let trigger = format!(
            "CREATE TEMP TRIGGER flaky_{table} BEFORE INSERT ON {table} BEGIN SELECT flaky(); END"
        );
        connection.execute_batch(&trigger).expect("a trigger");
    }
}

/// The files of a store as a crash at this moment leaves them.
fn files_of(file: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let names = ["", "-wal", "-shm", ".lock"].map(|end| format!("{}{end}", file.display()));
    names.into_iter().map(|name| (PathBuf::from(&name), std::fs::read(&name).ok())).collect()
}

fn put_back(files: Vec<(PathBuf, Option<Vec<u8>>)>, chance: &mut Chance) {
    for (path, bytes) in files {
        let name = path.to_string_lossy().into_owned();
        match bytes {
            // The shared memory is lost with the process.
            Some(_) if name.ends_with("-shm") => drop(std::fs::remove_file(&path)),
            Some(mut bytes) => {
                if name.ends_with("-wal") && chance.below(3) == 0 {
                    // A page that was written only in part.
                    let torn = chance.below(5_000) as usize;
                    bytes.extend((0..torn).map(|_| chance.below(256) as u8));
                }
                std::fs::write(&path, bytes).expect("a file");
            }
            None => drop(std::fs::remove_file(&path)),
        }
    }
}

/// Plays a story. Returns its virtual milliseconds, crashes, outages and payments.
fn play(plans: &Arc<[Plan]>, file: &Path, seed: u64, steps: usize) -> (u64, usize, usize, usize) {
    let (mut chance, mut story) = (Chance(seed), Story::default());
    let peers = Arc::new(Peers::default());
    loop {
        let is_last = story.steps >= steps;
        let store = Store::own(file, Safety::Process).expect("a store");
        if !is_last {
            make_flaky(&store, Chance(chance.below(u64::MAX)));
        }
        let clock = VirtualClock::starting_at(store.moment(None, false).expect("a store"));
        let outages = Arc::new(Mutex::new(0));
        let count = outages.clone();
        let on_outage = Box::new(move |outage: Option<Outage>| {
            *count.lock().expect("one thread") += usize::from(outage.is_some());
        });
        let service = Some(Service { at_rest: 1, on_outage });
        let told: (Show, After<'_>) = (Box::new(|_, _| Ok(())), Box::new(|_, _| Ok(())));
        let opened = engine_as(plans, store, clock, peers.clone(), told, service);
        let (engine, mut worker) = opened.expect("a store");
        let beside = Store::open(file).expect("a store");
        let patience = Duration::from_millis(chance.below(200_000));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let host = async {
                if is_last {
                    for run in RUNS {
                        story.send_orders(&engine, run).await;
                    }
                    // Some calls never return.
                    drop(timeout(Duration::from_secs(100), engine.quiet()).await);
                } else {
                    let goes_on = story.goes_on(&engine, &beside, &mut chance, steps);
                    drop(timeout(patience, goes_on).await);
                }
            };
            tokio::select! {
                () = host => {}
                worked = worker.work() => worked.expect("it waits for the disk"),
            }
        });
        story.outages += *outages.lock().expect("one thread");
        let left = files_of(file);
        drop((engine, worker, beside));
        put_back(left, &mut chance);
        let store = Store::own(file, Safety::Process).expect("a store after a crash");
        story.check(plans, &store, &peers, is_last);
        story.open.clear();
        if is_last {
            let paid = peers.paid.lock().expect("one thread").len();
            return (story.milliseconds, story.crashes, story.outages, paid);
        }
        story.crashes += 1;
    }
}

#[test]
fn whatever_happens_what_was_promised_holds() {
    let charts = charts(SHOP);
    let plans = plans(&charts);
    let file = fresh("simulation");
    let clean = || {
        for end in ["", "-wal", "-shm", ".lock"] {
            drop(std::fs::remove_file(format!("{}{end}", file.display())));
        }
    };
    let stories = setting("CHARTC_STORIES", STORIES);
    let first = setting("CHARTC_STORY", 0);
    let (mut hours, mut crashes, mut outages, mut paid) = (0, 0, 0, 0);
    for seed in first..first + stories {
        clean();
        let played = |steps| {
            let play = || play(&plans, &file, seed, steps);
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(play))
        };
        match played(STEPS) {
            Ok((milliseconds, ended, out, sums)) => {
                hours += milliseconds / 3_600_000;
                (crashes, outages, paid) = (crashes + ended, outages + out, paid + sums);
            }
            Err(_) => {
                let fewest = (1..STEPS).find(|steps| {
                    clean();
                    played(*steps).is_err()
                });
                panic!(
                    "story {seed} fails, with {} steps: CHARTC_STORY={seed} CHARTC_STORIES=1",
                    fewest.unwrap_or(STEPS)
                );
            }
        }
    }
    println!(
        "{stories} stories, {hours} hours: {crashes} crashes, {outages} outages, {paid} payments"
    );
    let least = stories as usize;
    assert!(
        crashes > least && outages > least / 2 && paid > least / 4,
        "{crashes} {outages} {paid}"
    );
}
