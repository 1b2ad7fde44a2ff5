//! A store with a few runs: makes it, reads it, and continues its runs.

use chartc_core::expr::{Map, Value as ChartValue};
use chartc_core::machine::Receipt;
use chartc_core::plan::Plan;
use chartc_runtime::RunSetup;
use chartc_runtime::agents::{Engine, Event, Quiet};
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::driver::Parts;
use chartc_runtime::oracle::{Answer, Asking, Oracle, Question, Script, ready};
use chartc_runtime::trace::Origin;
use chartc_store::{Letter, Options, Safety, Service, Sqlite, Store, Worker};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A child chart, a model, a tool that nobody has, a person, and a deadline.
const CHART: &str = include_str!("keep.chart");

/// One waits for a person, one has ended, one waits for a model, one for an event, with a letter.
pub(super) const RUNS: [&str; 4] = ["ada", "bob", "eve", "tom"];
/// The turns until a person is asked.
const TURNS: u32 = 4;

/// By run: the receipt of the event, or the error.
pub(super) type Told = BTreeMap<&'static str, Result<Receipt, String>>;

/// Reads all that `chartc store` and a server read.
pub(super) fn look(store: &Store) {
    let now =
        (store.check(), store.list_unfinished(), store.unfinished(), store.moment(None, true));
    drop(now);
    let listed = store.list().unwrap_or_default();
    let names = listed.iter().map(|row| row.run.as_str()).chain(RUNS);
    for run in names {
        let lines = (store.lines(run), store.lines_after(run, 3, 10), store.last_line(run));
        let rest = (store.made(run), store.session(run), store.ending(run));
        drop((lines, rest, store.question(run, "q"), store.moment(Some(run), true)));
        for question in store.asked(run).unwrap_or_default() {
            drop(store.question(run, &question.id));
        }
    }
    drop(listed.iter().map(|row| row.json()).collect::<Vec<_>>());
}

/// Answers each question but one, which takes for ever.
struct Model;

impl Oracle for Model {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let is_slow = question.prompt.contains("slow");
        if is_slow {
            Box::pin(std::future::pending())
        } else {
            ready(Ok(Answer::from("\"gold\"".to_owned())))
        }
    }

    fn name(&self) -> String {
        "model".into()
    }
}

/// Opens the store for writing and runs `host` beside its worker.
fn owned<R>(
    file: &Path,
    is_service: bool,
    host: impl AsyncFnOnce(Sqlite) -> R,
) -> Result<R, chartc_store::StoreError> {
    static PLANS: OnceLock<Arc<[Plan]>> = OnceLock::new();
    let plans = PLANS.get_or_init(|| {
        let done = chartc::check(&["a.chart".into()], &chartc::load::Memory::of("a.chart", CHART));
        done.charts.last().unwrap_or_else(|| panic!("{:?}", done.diagnostics)).plans()
    });
    let store = Store::own(file, Safety::Process)?;
    look(&store);
    let options = Options {
        make: Box::new(|making| {
            let setup = RunSetup {
                plans,
                params: &Map::new(),
                inputs: &Map::new(),
                host: Script::empty(),
                driver: making.driver,
                clock: making.clock,
                run: making.run,
                origin: Origin::default(),
                saved: making.saved,
            };
            setup.session(making.journal)
        }),
        driver: Arc::new(Parts::of(Arc::new(Model))),
        clock: Arc::new(VirtualClock::starting_at(store.moment(None, false)?)),
        is_real: false,
        replies: true,
        workers: 8,
        show: Box::new(|_, _| Ok(())),
        after: Box::new(|_, _| Ok(())),
        given: String::new(),
        service: is_service.then(|| Service { at_rest: 1, on_outage: Box::new(|_| {}) }),
    };
    let (engine, mut worker) = Worker::new(store, options);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(async {
        worker.load_all()?;
        let patient = tokio::time::timeout(Duration::from_hours(1), host(engine));
        tokio::select! {
            done = patient => Ok(done.expect("nothing takes an hour")),
            worked = worker.work() => Err(worked.expect_err("the host is there")),
        }
    })
}

fn go(word: &str) -> Event {
    let word = [("word".to_owned(), ChartValue::Text(word.into()))];
    Event { id: "go".into(), name: "go".into(), data: word.into_iter().collect() }
}

/// Makes a new store, with the runs.
pub(super) fn begin(file: &Path) {
    let done = owned(file, false, async |engine: Sqlite| {
        for run in ["ada", "bob"] {
            engine.fire(run, go("gold")).await.expect("it fits");
            for turn in 1..=TURNS {
                engine.fire(run, Event::turn(turn.to_string())).await.expect("a turn");
                engine.quiet().await;
            }
        }
        let asked = engine.look(|store| store.asked("bob")).await.expect("it works");
        let id = asked.expect("it can be read")[0].id.clone();
        engine.reply("bob", &id, "yes".into()).await.expect("it is open");
        engine.fire("tom", Event::turn("1")).await.expect("it fits");
        engine.fire("eve", go("slow")).await.expect("it fits");
        engine.fire("eve", Event::turn("1")).await.expect("a turn");
    });
    done.expect("a store");
    let store = Store::open(file).expect("a store");
    store.post("tom", &Letter::Event("go".into(), go("gold").data)).expect("it runs");
}

/// Loads all runs and sends each of them an event.
pub(super) fn resume(file: &Path, is_service: bool) -> Result<Told, chartc_store::StoreError> {
    owned(file, is_service, async |engine: Sqlite| {
        let mut told = Told::new();
        for run in RUNS {
            let end = Event { id: "end".into(), name: "end".into(), data: Map::new() };
            let fired = engine.fire(run, end).await;
            told.insert(run, fired.map(|reply| reply.receipt).map_err(|why| why.to_string()));
            drop(engine.read(run).await);
        }
        told
    })
}
