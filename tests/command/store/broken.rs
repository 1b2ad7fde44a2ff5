//! Runs that cannot go on beside runs that do, and letters that fit no run.

use super::*;
use crate::run::command::chartc;
use chartc_core::machine::Receipt;
use chartc_runtime::agents::{Engine, EngineError, Quiet};
use chartc_runtime::trace::What;
use chartc_store::{Letter, Listed};

const OTHER: &str = "chart Other { event hop  initial x  state x { on hop -> y }  state y {} }";

fn one_is_changed(file: &Path, sql: &str) {
    assert_eq!(row::changed(file, sql), 1, "{sql}");
}

fn listed(file: &Path, run: &str) -> Listed {
    let all = Store::open(file).and_then(|store| store.list()).expect("it can be read");
    all.into_iter().find(|row| row.run == run).expect("it is listed")
}

fn silent(file: &Path, plans: &Arc<[Plan]>, begun: impl AsyncFnOnce(Sqlite)) -> Vec<String> {
    let world = Arc::new(World::default());
    let opened = engine(plans, file, world, Box::new(|_, _| Ok(())));
    let (handle, mut worker) = opened.expect("one run does not keep the store from being opened");
    wait(while_worked(&mut worker, begun(handle))).expect("a disk");
    worker.broken().map(|(run, why)| format!("{run}: {why}")).collect()
}

fn is_stopped(fired: Result<impl std::fmt::Debug, EngineError>, why: &str) {
    match fired {
        Err(EngineError::Stopped { why: said, .. }) => assert!(said.contains(why), "{said}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_that_cannot_be_restored_does_not_stop_the_others() {
    let (whole, other) = (charts(WHOLE), charts(OTHER));
    let (whole, other) = (plans(&whole), plans(&other));
    let file = fresh("broken");
    let none = silent(&file, &whole, async |handle| {
        for run in ["ada", "bob", "tom"] {
            handle.fire(run, go("go", "owls")).await.expect("it fits");
            handle.fire(run, Event::turn("1")).await.expect("a turn");
            handle.quiet().await;
        }
    });
    assert_eq!(none, [""; 0]);
    silent(&file, &other, async |handle| {
        handle.fire("eve", Event::new("1", "hop")).await.expect("it fits");
    });
    one_is_changed(&file, "UPDATE run SET now = now + 1000000000000 WHERE name = 'bob'");
    one_is_changed(
        &file,
        "UPDATE call SET outcome = '{}' WHERE rowid = (SELECT min(rowid) FROM call WHERE run = 'tom')",
    );
    let before = listed(&file, "bob");
    assert_eq!(before.status, "broken");
    let now = Store::open(&file).and_then(|store| store.moment(None, false)).expect("it is read");
    assert!(now < 1_000_000, "a damaged row does not move the clock of all: {now}");
    let broken = silent(&file, &whole, async |handle| {
        let turn = |nth: &str| Event::turn(nth.to_owned());
        is_stopped(handle.fire("eve", turn("2")).await, "Other");
        is_stopped(handle.fire("bob", turn("2")).await, "is not as it was written");
        is_stopped(handle.fire("tom", turn("2")).await, "its call");
        is_stopped(handle.read("tom").await, "its call");
        let reply = handle.fire("ada", turn("2")).await.expect("it goes on");
        assert_eq!(reply.receipt, Receipt::Handled);
        handle.quiet().await;
        handle.fire("new", go("go", "bees")).await.expect("it begins");
    });
    assert_eq!(broken.len(), 3, "{broken:?}");
    assert_eq!(listed(&file, "ada").status, "running");
    for (run, why) in
        [("bob", "its row is not as it was written"), ("eve", "Other"), ("tom", "its call")]
    {
        let row = listed(&file, run);
        assert_eq!(row.status, "broken", "{row:?}");
        assert!(row.stopped.as_ref().is_some_and(|said| said.contains(why)), "{row:?}");
    }
    let folder = file.parent().expect("a folder");
    let (code, out, _) = chartc(folder, &["store", "s.db", "list"]);
    assert!(
        code == 0 && out.contains("eve: Other, broken in y") && out.contains("cannot go on: "),
        "{out}"
    );
    let (code, out, _) = chartc(folder, &["store", "s.db", "list", "--format", "json"]);
    let all: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let bob = all.as_array().expect("rows").iter().find(|row| row["run"] == "bob").expect("it");
    assert!(code == 0 && bob["status"] == "broken" && bob["stopped"].is_string(), "{out}");
    let (code, out, _) = chartc(folder, &["store", "s.db", "check"]);
    assert!(code == 1 && out.contains("run `bob`") && out.contains("run `tom`"), "{out}");
    let (code, _, err) = chartc(folder, &["store", "s.db", "send", "bob", "go"]);
    assert!(code == 2 && err.contains("cannot go on"), "{err}");
    // With its own chart it goes on as if nothing had been.
    silent(&file, &other, async |handle| {
        let reply = handle.fire("eve", Event::new("1", "hop")).await.expect("it goes on");
        assert!(reply.is_repeated);
        handle.fire("eve", Event::new("3", "hop")).await.expect("it fits");
    });
    assert_eq!(
        (listed(&file, "eve").status.as_str(), listed(&file, "eve").stopped),
        ("running", None)
    );
}

#[test]
fn a_letter_that_does_not_fit_holds_no_other_up() {
    let charts = charts(OTHER);
    let plans = plans(&charts);
    let file = fresh("letters");
    silent(&file, &plans, async |handle| {
        handle.fire("ada", Event::turn("1")).await.expect("a turn");
    });
    let store = Store::open(&file).expect("a store");
    let data = |value: &str| [("k".to_owned(), Value::Text(value.into()))].into_iter().collect();
    for letter in [
        Letter::Event("jump".into(), Map::new()),
        Letter::Event("hop".into(), data("v")),
        Letter::Event("turn".into(), data("v")),
        Letter::Event("hop".into(), data("damaged")),
    ] {
        store.post("ada", &letter).expect("it is there");
    }
    let none = |run: &str| store.post(run, &Letter::Event("hop".into(), Map::new()));
    let why = none("nobody").expect_err("it is not there").to_string();
    assert_eq!(why, "run `nobody`: there is no such run");
    let why = store.post("ada", &Letter::Reply("ask".into(), "yes".into())).expect_err("not asked");
    assert!(why.to_string().contains("question `ask` is not open; no question is open"), "{why}");
    none("ada").expect("it is there");
    one_is_changed(&file, "UPDATE inbox SET data = '{}' WHERE data LIKE '%damaged%'");
    drop(store);
    silent(&file, &plans, async |handle| {
        handle.read("ada").await.expect("it runs");
        handle.quiet().await;
        // The inbox is read with the first commit.
        handle.fire("ada", Event::turn("2")).await.expect("a turn");
    });
    let lines = Store::open(&file).and_then(|store| store.lines("ada")).expect("as written");
    let notes: Vec<String> = lines
        .iter()
        .filter_map(|line| match &line.what {
            What::HostNote { about, text } => Some(format!("{about}: {text}")),
            _ => None,
        })
        .collect();
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(notes[0].starts_with("jump: an event was not taken: no event `jump`"), "{notes:?}");
    assert!(notes[1].starts_with("hop: an event was not taken: event `hop`"), "{notes:?}");
    assert!(notes[2].starts_with("turn: an event was not taken: input `k`"), "{notes:?}");
    assert_eq!(listed(&file, "ada").state, "y", "the last one is taken");
    let faults = Store::open(&file).and_then(|store| store.check()).expect("it can be read");
    assert_eq!(faults, ["run `ada`: a letter in its inbox"], "the damaged one is still there");
}
