//! What a store of runs takes in: events with one client and with many, over few agents and many, beside a plain loop of upserts on the
//! same disk.

use chartc::load::Memory;
use chartc_core::expr::{Map, Value};
use chartc_core::host::{Host, ToolCall};
use chartc_core::interpreter::Interpreter;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::agents::{Engine, Event};
use chartc_runtime::clock::{Clock, RealClock};
use chartc_runtime::driver::{CallId, Driver};
use chartc_runtime::oracle::{Asking, Deny, Oracle, Question};
use chartc_runtime::tools::{Calling, NoTools, Tools};
use chartc_store::{Options, Safety, Service, Sqlite, Store, Worker};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::LocalSet;

const CHART: &str = "
chart Ticket {
  event said(text: Text)
  event solved
  var last: Text = \"\"
  var times: Int = 0
  initial open
  state open { on said(text) { last = text  times = times + 1 }  on solved -> closed  after 30d -> closed }
  final closed
}
";

const CLIENTS: [usize; 2] = [1, 64];
/// How long each measurement lasts.
const LASTS: Duration = Duration::from_secs(3);

struct Deaf;

impl Host for Deaf {
    fn call(&mut self, function: &str, _: &[Value]) -> Result<Value, String> {
        Err(format!("no host function `{function}`"))
    }
}

/// Nobody is called.
struct Nobody;

impl Driver for Nobody {
    fn ask(&self, _: &CallId, question: Arc<Question>) -> Asking {
        Deny.ask(question)
    }

    fn call(&self, _: &CallId, call: ToolCall) -> Calling {
        NoTools.call(call)
    }

    fn name(&self) -> String {
        "nobody".into()
    }
}

pub(crate) fn run(sizes: &[usize]) {
    let folder = PathBuf::from("target/store-bench");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let done = chartc::check_within(&["t.chart".to_owned()], &Memory::of("t.chart", CHART), 0);
    let chart = done.charts[0].chart().clone();
    println!(
        "{:<8} {:>8} {:>8} {:>10} {:>10}",
        "safety", "agents", "clients", "events/s", "ms each"
    );
    for (safety, word) in [(Safety::Full, "full"), (Safety::Process, "process")] {
        for agents in sizes {
            one(&chart, &folder.join("s.db"), (safety, word), *agents);
        }
        for rows in CLIENTS {
            let rate = upserts(&folder.join("plain.db"), safety, rows);
            println!("{word:<8} plain upserts of 1 KB, {rows} in a commit: {rate:.0} rows/s");
        }
    }
    std::fs::remove_dir_all(folder).expect("it is this program's own");
}

fn fresh(file: &Path) {
    for end in ["", "-wal", "-shm", ".lock"] {
        let mut name = file.as_os_str().to_owned();
        name.push(end);
        drop(std::fs::remove_file(name));
    }
}

fn worker<'p>(
    plan: &'p Plan,
    file: &Path,
    safety: Safety,
) -> (Sqlite, Worker<'p, Interpreter<Deaf>>) {
    let store = Store::own(file, safety).expect("it can be written");
    let now = store.moment(None, true).expect("it can be read");
    let clock: Arc<dyn Clock> = Arc::new(RealClock::starting_at(now));
    let options = Options {
        make: Box::new(move |making| {
            let machine = match making.saved {
                Some(saved) => Interpreter::resume(plan, [], Deaf, saved.machine())
                    .map_err(|why| why.to_string())?,
                None => Interpreter::new(plan, Deaf, Map::new()).map_err(|why| why.to_string())?,
            };
            let session = Session::new(machine, Arc::new(Deny), making.clock, making.journal);
            Ok(session.with_driver(making.driver).with_run(making.run))
        }),
        driver: Arc::new(Nobody),
        clock,
        is_real: true,
        replies: false,
        workers: 64,
        show: Box::new(|_, _| Ok(())),
        after: Box::new(|_, _| Ok(())),
        given: String::new(),
        service: Some(Service { at_rest: 4096, on_outage: Box::new(|_| {}) }),
    };
    Worker::new(store, options)
}

fn event(id: String) -> Event {
    let text = Value::Text("My order has not arrived, and I have asked twice before.".into());
    Event::new(id, "said").with([("text".to_owned(), text)].into_iter().collect())
}

/// Fires at the agents in turn, from so many clients, until the time is over or each agent had one. Returns events and seconds.
fn fire(
    engine: Sqlite,
    worker: &mut Worker<'_, Interpreter<Deaf>>,
    agents: usize,
    clients: usize,
    round: &str,
) -> (usize, f64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let local = LocalSet::new();
    let next = Rc::new(Cell::new(0));
    let is_first = round == "first";
    let start = Instant::now();
    for _ in 0..clients {
        let (engine, next, round) = (engine.clone(), next.clone(), round.to_owned());
        local.spawn_local(async move {
            while if is_first { next.get() < agents } else { start.elapsed() < LASTS } {
                let nth = next.replace(next.get() + 1);
                // A stride, so that neighbours in the file are not neighbours in time.
                let agent = format!("agent-{}", nth.wrapping_mul(7919) % agents);
                let fired = engine.fire(&agent, event(format!("{round}:{nth}"))).await;
                fired.expect("it fits the chart");
            }
        });
    }
    drop(engine);
    runtime.expect("a runtime").block_on(local.run_until(worker.work())).expect("a disk");
    (next.get(), start.elapsed().as_secs_f64())
}

fn one(chart: &Arc<Chart>, file: &Path, (safety, word): (Safety, &str), agents: usize) {
    fresh(file);
    let plan = Plan::new(chart);
    let before = resident();
    let (engine, mut first) = worker(&plan, file, safety);
    let (made, seconds) = fire(engine, &mut first, agents, 64, "first");
    let memory = resident().saturating_sub(before);
    drop(first);
    for clients in CLIENTS {
        let start = Instant::now();
        let (engine, mut worker) = worker(&plan, file, safety);
        worker.load_all().expect("as it was written");
        let loaded = start.elapsed().as_secs_f64();
        let (events, seconds) = fire(engine, &mut worker, agents, clients, &format!("{clients}"));
        let rate = events as f64 / seconds;
        let each = seconds * 1e3 * clients as f64 / events as f64;
        println!(
            "{word:<8} {agents:>8} {clients:>8} {rate:>10.0} {each:>10.2}   start-up {loaded:.2} s"
        );
    }
    let size = std::fs::metadata(file).map_or(0, |file| file.len());
    println!(
        "{word:<8} {agents:>8} agents made in {seconds:.2} s ({:.0}/s), {} MiB of memory, {} MiB of disk at the end",
        made as f64 / seconds,
        memory >> 20,
        size >> 20,
    );
}

/// Rows that a loop writes a second which knows nothing of charts, so many in a commit.
fn upserts(file: &Path, safety: Safety, rows: usize) -> f64 {
    fresh(file);
    let db = rusqlite::Connection::open(file).expect("it can be written");
    let synchronous = if safety == Safety::Full { "FULL" } else { "NORMAL" };
    db.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous};
         CREATE TABLE agent (name TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;"
    ))
    .expect("it can be written");
    let (mut nth, start) = (0_usize, Instant::now());
    while start.elapsed() < LASTS {
        let tx = db.unchecked_transaction().expect("a transaction");
        for _ in 0..rows {
            let name = format!("agent-{}", nth.wrapping_mul(7919) % 1000);
            // SQLite hardly writes a row that is as before.
            let state = format!("{nth:01000}");
            let mut put = tx
                .prepare_cached(
                    "INSERT INTO agent VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET state = ?2",
                )
                .expect("a statement");
            put.execute(rusqlite::params![name, state]).expect("a row");
            nth += 1;
        }
        tx.commit().expect("a commit");
    }
    nth as f64 / start.elapsed().as_secs_f64()
}

/// The resident bytes of this process; 0 where nothing tells.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) * 1024
}
