//! Runs of generated machines in a store: the same lines as interpreted, process by process, also where each process has the other machine;
//! and each stored run again from its trace, by both.
#![allow(clippy::disallowed_methods, reason = "stores are files")]

use chartc_core::expr::{Map, Value};
use chartc_core::host::{Host, Machine, ToolCall};
use chartc_core::interpreter::Interpreter;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::agents::{Engine, Event, Quiet};
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::driver::{CallId, Driver};
use chartc_runtime::host::{HostLog, Watched};
use chartc_runtime::oracle::{Asking, Deny, Oracle, Question, Random};
use chartc_runtime::replay::{ReplayHost, Tape, replay};
use chartc_runtime::tools::{Calling, Tools};
use chartc_runtime::trace::Line;
use chartc_store::{Options, Safety, Store, Worker};
use generated_charts::{model, phases, researcher, walks};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs of each chart.
const SEEDS: u64 = 8;
const TURNS: u32 = 6;

struct Nobody;

impl Host for Nobody {
    fn call(&mut self, function: &str, _: &[Value]) -> Result<Value, String> {
        Err(format!("there is no `{function}`"))
    }
}

/// Answers by chance and by the name of the call, whichever process asks.
struct Chance(u64);

impl Chance {
    fn of(&self, id: &CallId) -> Random {
        let name = id.to_string();
        Random::new(name.bytes().fold(self.0, |all, byte| all.wrapping_mul(31) + u64::from(byte)))
    }
}

impl Driver for Chance {
    fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking {
        self.of(id).ask(question)
    }

    fn call(&self, id: &CallId, call: ToolCall) -> Calling {
        Tools::call(&self.of(id), call)
    }

    fn name(&self) -> String {
        "chance".into()
    }
}

/// One process, which sends one event to the run.
fn process<M: Machine>(
    file: &Path,
    seed: u64,
    event: Event,
    machine: impl Fn(Watched<Nobody>) -> Result<M, String>,
) {
    let store = Store::own(file, Safety::Process).expect("a store");
    let clock = VirtualClock::starting_at(store.moment(None, false).expect("it is read"));
    let options = Options {
        make: Box::new(|making| {
            let log = HostLog::default();
            let machine = machine(Watched::new(Nobody, log.clone()))?;
            let session = Session::new(machine, Arc::new(Deny), making.clock, making.journal);
            Ok(session.with_driver(making.driver).with_run(making.run).with_host_log(log))
        }),
        driver: Arc::new(Chance(seed)),
        clock: Arc::new(clock),
        is_real: false,
        replies: false,
        workers: 64,
        show: Box::new(|_, _| Ok(())),
        after: Box::new(|_, _| Ok(())),
        given: String::new(),
        service: None,
    };
    let (handle, mut worker) = Worker::new(store, options);
    worker.load_all().expect("as it was written");
    let host = async {
        let handle = handle;
        handle.fire("ada", event).await.expect("it is a turn");
        handle.quiet().await;
        handle.advance(500).await.expect("it works");
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let (worked, ()) =
        runtime.expect("a runtime").block_on(async { tokio::join!(worker.work(), host) });
    worked.expect("a disk");
    assert_eq!(worker.broken().count(), 0);
}

fn fresh(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("stored-{name}"));
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join("s.db")
}

/// The machines of a chart: generated, with a host of each kind, and interpreted.
struct Both<G, R> {
    generated: G,
    recalled: R,
    params: &'static [(&'static str, &'static str)],
}

/// Whether a turn is the generated machine's.
type IsGenerated = fn(u32) -> bool;

fn compare<M: Machine, N: Machine>(
    (name, text): (&str, &str),
    both: &Both<
        impl Fn(Watched<Nobody>) -> Result<M, String>,
        impl Fn(ReplayHost) -> Result<N, String>,
    >,
) {
    let chart = model(&format!("{name}.chart"), text);
    let plan = Plan::new(&chart);
    let params: Map = (both.params.iter())
        .map(|(name, value)| ((*name).to_owned(), Value::Text((*value).to_owned())))
        .collect();
    let interpreted =
        |host| Interpreter::new(&plan, host, params.clone()).map_err(|why| why.to_string());
    let mut count = 0;
    for seed in 0..SEEDS {
        let ways: [(&str, IsGenerated); 3] = [
            ("interpreted", |_| false),
            ("generated", |_| true),
            ("in turns", |turn| turn % 2 == 0),
        ];
        let mut first: Option<Vec<Line>> = None;
        for (way, is_generated) in ways {
            let file = fresh(&format!("{name}-{seed}"));
            for turn in 1..=TURNS {
                let event = Event::turn(turn.to_string());
                if is_generated(turn) {
                    process(&file, seed, event, &both.generated);
                } else {
                    process(&file, seed, event, interpreted);
                }
            }
            let store = Store::open(&file).expect("a store");
            assert_eq!(store.check().expect("it can be read"), [""; 0], "{name}, {seed}, {way}");
            let lines = store.lines("ada").expect("as written");
            let whole = first.get_or_insert_with(|| lines.clone());
            for (nth, (here, there)) in lines.iter().zip(whole.iter()).enumerate() {
                assert_eq!(here, there, "{name}, {seed}, {way}: line {}", nth + 1);
            }
            assert_eq!(lines.len(), whole.len(), "{name}, {seed}, {way}");
            let text = lines.iter().map(|line| serde_json::to_string(line).expect("JSON") + "\n");
            let text: String = text.collect();
            let tape = || Tape::read(&text).expect("a trace");
            let by = tape();
            let machine =
                Interpreter::new(&plan, by.host(), params.clone()).expect("params that fit");
            replay(&by, machine).unwrap_or_else(|why| panic!("{name}, {seed}, {way}: {why}"));
            let by = tape();
            let machine = (both.recalled)(by.host()).expect("params that fit");
            replay(&by, machine).unwrap_or_else(|why| panic!("{name}, {seed}, {way}: {why}"));
            count += lines.len();
        }
    }
    println!("{name}: {count} lines of {} runs", 3 * SEEDS);
    assert!(count > 20 * 3 * SEEDS as usize, "{count}");
}

#[test]
fn walks_in_a_store() {
    let both = Both {
        generated: |host| {
            walks::Machine::new(walks::Params::default(), walks::ByName(host))
                .map_err(|why| why.to_string())
        },
        recalled: |host| {
            walks::Machine::new(walks::Params::default(), walks::ByName(host))
                .map_err(|why| why.to_string())
        },
        params: &[],
    };
    compare(("walks", include_str!("../charts/walks.chart")), &both);
}

#[test]
fn phases_in_a_store() {
    let params = || phases::Params::new("owls".to_owned());
    let both = Both {
        generated: |host| {
            phases::Machine::new(params(), phases::ByName(host)).map_err(|why| why.to_string())
        },
        recalled: |host| {
            phases::Machine::new(params(), phases::ByName(host)).map_err(|why| why.to_string())
        },
        params: &[("goal", "owls")],
    };
    compare(("phases", include_str!("../../../charts/phases.chart")), &both);
}

#[test]
fn a_researcher_in_a_store() {
    let params = || researcher::Params::new("why?".to_owned());
    let both = Both {
        generated: |host| {
            researcher::Machine::new(params(), researcher::ByName(host))
                .map_err(|why| why.to_string())
        },
        recalled: |host| {
            researcher::Machine::new(params(), researcher::ByName(host))
                .map_err(|why| why.to_string())
        },
        params: &[("question", "why?")],
    };
    compare(("researcher", include_str!("../../../charts/researcher.chart")), &both);
}
