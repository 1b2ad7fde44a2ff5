//! Runs over hours: people who answer later, deadlines while nobody is there, others at the same store.

use super::*;
use crate::run::command::chartc;
use chartc_runtime::agents::Engine;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

const ASKS: &str = "chart Asks {
  event more(m: Int)
  var n: Int = 0
  initial a
  state a {
    human approve \"Fine?\"
    on more(m) { n = m }
    on done(approve) as it -> b
    after 1500ms -> late
  }
  state b { on more -> c }
  final c
  final late : partial
}
";

fn asks(name: &str, text: &str) -> PathBuf {
    let folder = folder(&format!("store-{name}"));
    std::fs::write(folder.join("asks.chart"), text).expect("a file");
    folder
}

/// The id of the question of `ada`, and what is said of it.
const ID: &str = "qrtjqq7fe";
const WAITS: &str = "`ada` waits for approve\n  approve asks qrtjqq7fe: Fine?\nanswer with: chartc store s.db reply ada qrtjqq7fe ANSWER\n";

const RUN: [&str; 9] =
    ["run", "asks.chart", "--human", "later", "--store", "s.db", "--run", "ada", "--llm=first"];

#[test]
fn a_person_answers_when_no_process_is_there() {
    let folder = asks("reply", &ASKS.replace("1500ms", "8h"));
    let (code, out, err) = chartc(&folder, &RUN);
    assert_eq!((code, err.as_str()), (0, WAITS), "{out}");
    let lines = Store::open(&folder.join("s.db")).and_then(|s| s.lines("ada")).expect("a run");
    assert!(!timeless(&lines).concat().contains("busy"), "a run that waits is given no turns");
    // The same command again asks nobody twice.
    let (code, out, err) = chartc(&folder, &RUN);
    assert_eq!((code, out.contains("->"), err.as_str()), (0, false, WAITS));
    let store = |arguments: &[&str]| chartc(&folder, &[&["store", "s.db"], arguments].concat());
    let (_, out, _) = store(&["list"]);
    assert!(
        out.starts_with("ada: Asks, running in a") && out.contains("waits for approve"),
        "{out}"
    );
    assert!(out.ends_with(&format!("\n  approve asks {ID}: Fine?\n")), "{out}");
    let (_, out, _) = store(&["list", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let question = serde_json::json!({"id": ID, "step": "approve", "question": "Fine?"});
    assert_eq!(json[0]["questions"], serde_json::json!([question]));
    for other in ["approve", "aprove", "", "q0000000z"] {
        let (code, _, err) = store(&["reply", "ada", other, "yes"]);
        let said = err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(code == 2 && said.contains(&format!("; open is {ID}: Fine?")), "{other}: {err}");
    }
    let (code, _, err) = store(&["send", "ada", "more", "{\"k\": 1}"]);
    assert!(code == 2 && err.contains("event `more`: it declares no `k`, only `m`"), "{err}");
    let (code, _, err) = store(&["send", "ada", "more", "{\"m\": \"many\"}"]);
    assert!(code == 2 && err.contains("event `more`"), "{err}");
    let (code, _, err) = store(&["send", "ada", "less"]);
    assert!(code == 2 && err.contains("no event `less`"), "{err}");
    let (code, _, err) = store(&["send", "eva", "more", "{\"m\": 4}"]);
    assert!(code == 2 && err.contains("run `eva`: there is no such run"), "{err}");
    assert_eq!(store(&["send", "ada", "more", "{\"m\": 4}"]).0, 0);
    assert_eq!(store(&["reply", "ada", ID, "yes"]).0, 0);
    let again = || {
        let (code, _, err) = store(&["reply", "ada", ID, "no"]);
        let said = err.split_whitespace().collect::<Vec<_>>().join(" ");
        let why = format!("question `{ID}` is not open, it was answered: yes; no question is open");
        assert!(code == 2 && said.contains(&why), "{err}");
    };
    // A second answer is refused while the first one is not taken yet, and afterwards.
    again();
    let (code, out, err) = store(&["resume", "ada"]);
    assert!(code == 0 && out.contains("a -> b"), "{out}{err}");
    again();
}

/// An answer that the step cannot use is not stored and costs no attempt, in a child chart, too.
#[test]
fn an_answer_that_cannot_be_used_is_refused() {
    let text = "enum Verdict { pay refuse }
type Offer { price: Int  note: Text }
chart Asks { initial a  state a { run inner Inner() { done -> b  error -> c } }  final b  final c : error }
chart Inner {
  var n: Int = 1
  initial q
  state q { human verdict \"Pay?\" { returns Verdict  done if verdict == Verdict.pay -> r  done -> t } }
  state r { human amount \"How much?\" { returns Int into n } -> s }
  state s { human offer \"What?\" { returns Offer } -> t }
  final t
}
";
    let folder = asks("unusable", text);
    let (code, out, err) =
        chartc(&folder, &[&RUN[..], &["--chart", "Asks", "--turns", "1"]].concat());
    assert_eq!(code, 0, "{out}{err}");
    assert!(err.starts_with("`ada` waits for inner/verdict\n  inner/verdict asks q"), "{err}");
    let file = folder.join("s.db");
    let store = |arguments: &[&str]| chartc(&folder, &[&["store", "s.db"], arguments].concat());
    let refused = |step: &str, answer: &str, why: &str| {
        let id = open_question(&file, "ada");
        let (code, _, err) = store(&["reply", "ada", &id, answer]);
        assert_eq!(code, 2, "{step}, {answer}: {err}");
        assert!(err.contains(why) && err.contains("nothing was stored"), "{answer}: {err}");
    };
    let taken = |step: &str, answer: &str, line: &str| {
        let id = open_question(&file, "ada");
        let (code, _, err) = store(&["reply", "ada", &id, answer]);
        assert_eq!(code, 0, "{step}, {answer}: {err}");
        let (_, out, err) = store(&["resume", "ada"]);
        assert!(out.contains(line) && !out.contains("no usable answer"), "{out}{err}");
    };
    // The next question of the child is asked in its next turn.
    let turn = || {
        assert_eq!(store(&["send", "ada", "turn"]).0, 0);
        assert_eq!(store(&["resume", "ada"]).0, 0);
    };
    refused("inner/verdict", "pay or refuse, I am not sure", "the answer is pay or refuse");
    taken("inner/verdict", "Pay.", "q -> r");
    turn();
    refused("inner/amount", "many", "the answer is a whole number");
    refused("inner/amount", "3.5", "the answer is a whole number");
    taken("inner/amount", "9", "r -> s");
    turn();
    refused("inner/offer", "a lot", "there is no JSON in the answer");
    refused("inner/offer", "{\"price\": \"low\"}", "expected Int, found Text");
    taken("inner/offer", "{\"price\": 3, \"note\": \"\"}", "a -> b");
}

#[test]
fn a_deadline_that_came_while_nobody_was_there_fires_at_its_time() {
    let folder = asks("deadline", ASKS);
    let real = [&RUN[..], &["--clock", "real"]].concat();
    let (code, out, err) = chartc(&folder, &real);
    assert_eq!((code, err.as_str()), (0, WAITS), "{out}");
    let file = folder.join("s.db");
    let is_due =
        || Store::open(&file).and_then(|s| s.moment(Some("ada"), true)).expect("it") > 1600;
    while !is_due() {
        std::thread::yield_now();
    }
    let (code, out, err) = chartc(&folder, &["store", "s.db", "resume", "ada"]);
    assert!(code == 0 && out.contains("a -> late"), "{code} {out}{err}");
}

/// The computer's clock was set back by a day while no process had the store: no time has passed, and none is missing.
#[test]
fn a_clock_that_was_set_back_adds_nothing_and_takes_nothing() {
    let folder = asks("clock-back", &ASKS.replace("1500ms", "1h"));
    let real = [&RUN[..], &["--clock", "real"]].concat();
    let (code, out, err) = chartc(&folder, &real);
    assert_eq!((code, err.as_str()), (0, WAITS), "{out}");
    let file = folder.join("s.db");
    let later = "UPDATE run SET updated_ms = updated_ms + 86400000, made_ms = made_ms + 86400000";
    assert_eq!(row::changed(&file, later), 1);
    row::sealed(&file, "run", "name = 'ada'");
    let now = || Store::open(&file).and_then(|store| store.moment(Some("ada"), true)).expect("it");
    let before = now();
    let store = |arguments: &[&str]| chartc(&folder, &[&["store", "s.db"], arguments].concat());
    let (code, out, err) = store(&["list"]);
    assert!(code == 0 && out.contains("changed 0 s ago"), "{out}{err}");
    assert_eq!(store(&["reply", "ada", ID, "yes"]).0, 0);
    let (code, out, err) = store(&["resume", "ada"]);
    assert!(code == 0 && out.contains("a -> b") && !out.contains("late"), "{code} {out}{err}");
    let lines = Store::open(&file).and_then(|store| store.lines("ada")).expect("as written");
    let times: Vec<u64> = lines.iter().map(|line| line.at_ms).collect();
    assert!(
        times.is_sorted() && times.last().is_some_and(|last| *last < before + 600_000),
        "{times:?}"
    );
    assert_eq!(store(&["check"]).0, 0);
    let (code, out, err) = chartc(&folder, &["replay", "--store", "s.db", "ada"]);
    assert_eq!(code, 0, "{out}{err}");
}

/// Whoever removes the file of the lock lets a second process in: the first one notices before it writes anything.
#[test]
fn a_process_whose_store_was_taken_over_writes_nothing() {
    let charts = charts(WHOLE);
    let plans = plans(&charts);
    let file = fresh("taken");
    let world = Arc::new(World::default());
    let begun = engine(&plans, &file, world.clone(), Box::new(|_, _| Ok(())));
    let (handle, mut worker) = begun.expect("a store");
    let mut second = None;
    let host = async {
        let handle = handle;
        handle.fire("ada", Event::turn("1")).await.expect("a turn");
        std::fs::remove_file(file.with_file_name("s.db.lock")).expect("a lock");
        second = Some(Store::own(&file, Safety::Process).expect("it is free"));
        handle.fire("ada", go("2", "owls")).await.expect_err("it is another's");
    };
    let fault = wait(while_worked(&mut worker, host)).expect_err("it was taken over");
    assert!(matches!(fault, StoreError::Taken(_)), "{fault}");
    // What it has in memory is not what is in the file.
    assert!(matches!(worker.load("ada"), Err(StoreError::Closed)));
    let lines = second.expect("a store").lines("ada").expect("as written");
    assert!(!timeless(&lines).concat().contains("owls"));
    assert_eq!(world.paid(), [""; 0]);
}

#[test]
fn ten_thousand_deadlines_fire_each_at_its_time() {
    let charts = charts(
        "chart T { event go(of: Int)  var s: Int = 0  initial a
        state a { on go(of) -> b { s = of } }  state b { after s * 1s -> c }  final c }",
    );
    let plans = plans(&charts);
    let file = fresh("many");
    let world = Arc::new(World::default());
    let begun = engine(&plans, &file, world.clone(), Box::new(|_, _| Ok(())));
    let (handle, mut worker) = begun.expect("a store");
    let host = async {
        let handle = handle;
        // Many at a time, so that they share commits.
        let mut all = Vec::new();
        for agent in 0..10_000_i64 {
            let data = [("of".to_owned(), Value::Int(agent % 1000 + 1))].into_iter().collect();
            let (handle, event) = (handle.clone(), Event::new("1", "go").with(data));
            all.push(Box::pin(
                async move { handle.fire(&agent.to_string(), event).await.map(drop) },
            ));
        }
        for fired in all_of(all).await {
            fired.expect("it fits");
        }
    };
    wait(while_worked(&mut worker, host)).expect("a disk");
    drop(worker);
    let (handle, mut worker) =
        engine(&plans, &file, world, Box::new(|_, _| Ok(()))).expect("a store");
    let host = async {
        let handle = handle;
        handle.advance(500_000).await.expect("it works");
        handle.advance(499_999).await.expect("it works");
    };
    wait(while_worked(&mut worker, host)).expect("a disk");
    drop(worker);
    let store = Store::open(&file).expect("a store");
    let listed = store.list().expect("it can be read");
    let running = listed.iter().filter(|row| row.status == "running").count();
    assert_eq!((listed.len(), running), (10_000, 10), "those of the last second");
    for agent in [0, 1, 998, 4321, 9998] {
        let lines = store.lines(&agent.to_string()).expect("as written");
        let last = lines.last().expect("a line").at_ms;
        assert_eq!(last, (agent % 1000 + 1) * 1000, "agent {agent}");
    }
}

/// Waits for all of them at once.
async fn all_of<R>(all: Vec<std::pin::Pin<Box<impl Future<Output = R>>>>) -> Vec<R> {
    let mut open: Vec<_> = all.into_iter().map(Some).collect();
    let mut told = Vec::new();
    std::future::poll_fn(move |cx| {
        for one in &mut open {
            if let Some(work) = one
                && let std::task::Poll::Ready(result) = work.as_mut().poll(cx)
            {
                told.push(result);
                *one = None;
            }
        }
        if open.iter().all(Option::is_none) {
            return std::task::Poll::Ready(std::mem::take(&mut told));
        }
        std::task::Poll::Pending
    })
    .await
}

/// A process that has the store and waits in real time; and a line that it prints.
fn live(folder: &Path) -> (Child, BufReader<std::process::ChildStdout>) {
    std::fs::write(folder.join("long.json"), "[{\"event\": \"turn\"}, {\"after_ms\": 3600000}]")
        .expect("a file");
    let mut child = Command::new(env!("CARGO_BIN_EXE_chartc"))
        .current_dir(folder)
        .args(RUN)
        .args(["--clock", "real", "--events", "long.json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("chartc runs");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    until(&mut out, "-> a");
    (child, out)
}

fn until(out: &mut impl BufRead, words: &str) {
    let mut line = String::new();
    while !line.contains(words) {
        line.clear();
        assert!(out.read_line(&mut line).expect("text") > 0, "it ended before `{words}`");
    }
}

#[test]
fn others_may_put_something_in_but_not_go_on() {
    let folder = asks("live", &ASKS.replace("1500ms", "8h"));
    let (mut child, mut out) = live(&folder);
    let (code, _, err) = chartc(&folder, &RUN);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("another process goes on with the runs of s.db: stop it first"), "{err}");
    let (code, _, err) = chartc(&folder, &["store", "s.db", "resume", "ada"]);
    assert!(code == 2 && err.contains("another process"), "{err}");
    let store = |arguments: &[&str]| chartc(&folder, &[&["store", "s.db"], arguments].concat());
    assert_eq!(store(&["send", "ada", "more", "{\"m\": 4}"]).0, 0);
    until(&mut out, "more");
    assert_eq!(store(&["reply", "ada", ID, "yes"]).0, 0);
    until(&mut out, "a -> b");
    assert_eq!(store(&["backup", "copy.db"]).0, 0);
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    let (_, copied, _) = chartc(&folder, &["store", "copy.db", "list"]);
    assert!(copied.contains("running in b"), "{copied}");
    assert_eq!(store(&["check"]).0, 0);
}
