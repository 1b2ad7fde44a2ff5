//! Generated code that goes on with runs of earlier versions of its chart.

use chartc_core::expr::Map;
use chartc_core::host::{Machine, ToolCall};
use chartc_core::interpreter::Interpreter;
use chartc_core::plan::Plan;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::driver::{CallId, Driver, Probe};
use chartc_runtime::oracle::{Answer, Asking, Deny, Question, Script};
use chartc_runtime::tools::Calling;
use chartc_runtime::trace::Line;
use chartc_runtime::{Saved, Session};
use generated_charts::{grown, model};
use std::future::pending;
use std::sync::{Arc, Mutex};

const NOW: &str = include_str!("../charts/grown.chart");

/// Answers nothing, and knows what it was asked.
#[derive(Default)]
struct World(Mutex<Vec<String>>);

impl Driver for World {
    fn ask(&self, id: &CallId, _: Arc<Question>) -> Asking {
        self.0.lock().expect("one thread").push(id.to_string());
        Box::pin(pending())
    }

    fn call(&self, _: &CallId, _: ToolCall) -> Calling {
        Box::pin(pending())
    }

    fn probe(&self, id: &CallId) -> Probe {
        if self.0.lock().expect("one thread").contains(&id.to_string()) {
            return Probe::Answered(Ok(Answer::from("\"kept\"".to_owned())));
        }
        Probe::NotMade
    }

    fn name(&self) -> String {
        "world".into()
    }
}

/// The chart before these changes.
fn before(changes: &[(&str, &str)]) -> String {
    let mut text = NOW.to_owned();
    for (now, then) in changes {
        assert!(text.contains(now), "`{now}` is not in the chart");
        text = text.replace(now, then);
    }
    text
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(work)
}

/// A run of an earlier version, five minutes after it began.
fn saved(text: &str, event: Option<&str>, world: &Arc<World>) -> Saved {
    let chart = model("grown.chart", text);
    let plan = Plan::new(&chart);
    let machine = Interpreter::new(&plan, Script::empty(), []).expect("params have defaults");
    let clock = Arc::new(VirtualClock::new());
    let mut session = Session::new(machine, Arc::new(Deny), clock, Vec::<Line>::new())
        .with_run("ada")
        .with_driver(world.clone());
    wait(async {
        session.start().await.expect("it starts");
        if let Some(event) = event {
            session.send(event, Map::new()).await.expect("it is taken");
            session.begin_turn().await.expect("it begins");
        }
        session.advance(5 * 60_000).await.expect("time passes");
    });
    let text = session.save().expect("it goes on").text().expect("data");
    Saved::read(&text).expect("as written")
}

/// Where it comes to after so many minutes, with its variables; or why it does not go on.
fn goes_on<M: Machine>(
    machine: M,
    saved: &Saved,
    minutes: u64,
    world: &Arc<World>,
) -> Result<String, String> {
    let clock = Arc::new(VirtualClock::starting_at(saved.now()));
    let mut session = Session::new(machine, Arc::new(Deny), clock, Vec::<Line>::new())
        .with_run("ada")
        .with_driver(world.clone());
    session.resume(saved).map_err(|why| why.to_string())?;
    wait(session.advance(minutes * 60_000)).expect("time passes");
    let variables = session.machine().variables();
    let variables = variables
        .iter()
        .map(|(name, value)| format!("{name}={}", serde_json::to_string(value).expect("data")));
    let variables = variables.collect::<Vec<_>>().join(" ");
    Ok(format!("{} {variables}", session.configuration().join(",")))
}

/// Words of this version, and what stood in their place before.
type Changes = &'static [(&'static str, &'static str)];

const RENAMED: Changes = &[
    ("param bound renamed_from most", "param most"),
    ("+ bound", "+ most"),
    ("var topic renamed_from word, subject", "var word"),
    ("{topic}", "{word}"),
    ("into topic", "into word"),
    ("  var tries: Int = 7\n", ""),
    (", {tries}", ""),
    ("initial idle", "initial waiting"),
    ("state idle renamed_from waiting", "state waiting"),
    ("    after 15m -> soon\n", ""),
    ("job.thinking", "work.thinking"),
    ("state job renamed_from work", "state work"),
    ("llm muse renamed_from think", "llm think"),
];

#[test]
fn generated_code_goes_on_with_runs_of_earlier_versions() {
    let chart = model("grown.chart", NOW);
    let plan = Plan::new(&chart);
    let loads: [(Changes, Option<&str>, u64, &str); 6] = [
        (&[], None, 4, "idle bound=3 topic=\"owls\" tries=7 count=0"),
        (RENAMED, None, 4, "idle bound=3 topic=\"owls\" tries=7 count=0"),
        (RENAMED, None, 9, "idle bound=3 topic=\"owls\" tries=7 count=3"),
        (RENAMED, None, 10, "soon bound=3 topic=\"owls\" tries=7 count=3"),
        (RENAMED, Some("go"), 1, "job.thought bound=3 topic=\"kept\" tries=7 count=11"),
        (
            &[("  state soon {}\n", ""), ("    after 15m -> soon\n", "")],
            Some("part"),
            1,
            "apart.left.a,apart.right.c bound=3 topic=\"owls\" tries=7 count=0",
        ),
    ];
    for (changes, event, minutes, end) in loads {
        for kind in ["interpreted", "generated"] {
            let world = Arc::new(World::default());
            let saved = saved(&before(changes), event, &world);
            let asked = world.0.lock().expect("one thread").len();
            let came = if kind == "generated" {
                let machine = grown::Machine::new(grown::Params::default(), ()).expect("defaults");
                goes_on(machine, &saved, minutes, &world)
            } else {
                let machine = Interpreter::new(&plan, Script::empty(), []).expect("defaults");
                goes_on(machine, &saved, minutes, &world)
            };
            assert_eq!(came.as_deref(), Ok(end), "{kind}: {changes:?} {event:?}");
            let again = world.0.lock().expect("one thread").len();
            assert_eq!(again, asked, "{kind}: nothing is asked twice");
        }
    }
    let refused: [(Changes, Option<&str>, &str); 5] = [
        (
            &[("count: Int = 0", "count: Float = 0.0")],
            None,
            "`count` was of type Float and is of type Int",
        ),
        (
            &[("state right", "state east")],
            Some("part"),
            "the state `apart.east`, which is active, is gone",
        ),
        (
            &[("    state right { initial c  state c { on go -> d }  state d {} }\n", "")],
            Some("part"),
            "`apart.right` is a region of `apart`, which is active without it",
        ),
        (
            &[("llm muse renamed_from think", "llm ponder")],
            Some("go"),
            "the step `ponder`, which is under way, is gone",
        ),
        (
            &[
                ("      code before { count = count + 1 }\n", ""),
                ("code behind", "code before { count = count + 1 }\n      code behind"),
            ],
            Some("go"),
            "have changed places",
        ),
    ];
    for (changes, event, why) in refused {
        let world = Arc::new(World::default());
        let saved = saved(&before(changes), event, &world);
        let machine = grown::Machine::new(grown::Params::default(), ()).expect("defaults");
        let generated = goes_on(machine, &saved, 0, &world);
        let machine = Interpreter::new(&plan, Script::empty(), []).expect("defaults");
        let interpreted = goes_on(machine, &saved, 0, &world);
        assert_eq!(generated, interpreted, "{changes:?}");
        assert!(generated.as_ref().is_err_and(|said| said.contains(why)), "{generated:?}");
    }
}
