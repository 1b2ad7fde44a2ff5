//! A crash at each point of a run where something is kept or paid for.

use std::sync::Arc;

use super::*;
use chartc_runtime::agents::{Engine, Quiet};
use chartc_runtime::replay::{Tape, replay};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

/// What the host does, from the beginning each time.
async fn host(engine: Sqlite) {
    for (id, word) in [("1", "owls"), ("2", "bees")] {
        // A process that was stopped tells nobody.
        drop(engine.fire("ada", go(id, word)).await);
        engine.quiet().await;
        for turn in 1..=4 {
            drop(engine.fire("ada", Event::turn(format!("{id}.{turn}"))).await);
            engine.quiet().await;
        }
    }
}

/// Lines and calls of a run, by so many processes.
#[derive(Debug, PartialEq)]
struct Whole {
    lines: Vec<String>,
    paid: BTreeSet<String>,
}

/// What stops the first process.
#[derive(Debug, Clone, Copy)]
enum Stop {
    /// The commit with this line is done, and nothing after it.
    Shown(u64),
    /// From this call on, what is paid for is not answered.
    Paid(usize),
}

/// Runs it, in the second process to the end if the first one is stopped. `None` if there was nothing to stop.
fn stopped(plans: &Arc<[Plan]>, file: &Path, stop: Option<Stop>, knows: bool) -> Option<Whole> {
    let silent = if let Some(Stop::Paid(nth)) = stop { Some(nth) } else { None };
    let world = Arc::new(World { silent: Mutex::new(silent), knows, ..World::default() });
    let has_stopped = Rc::new(Cell::new(false));
    let (seen, last) = (has_stopped.clone(), stop);
    let show: Show = Box::new(move |_, line| match last {
        Some(Stop::Shown(seq)) if line.seq == seq => {
            seen.set(true);
            Err(io::Error::other("stopped"))
        }
        _ => Ok(()),
    });
    let (handle, mut worker) = engine(plans, file, world.clone(), show).expect("a store");
    wait(async {
        tokio::select! {
            worked = while_worked(&mut worker, host(handle)) => match worked {
                Ok(()) => {}
                Err(StoreError::Shown(_)) => {}
                Err(why) => panic!("{why}"),
            },
            () = world.stuck.notified() => has_stopped.set(true),
        }
    });
    drop(worker);
    if stop.is_some() {
        if !has_stopped.get() {
            return None;
        }
        *world.silent.lock().expect("one thread") = None;
        let driver = world.clone();
        let (handle, mut worker) =
            engine(plans, file, driver, Box::new(|_, _| Ok(()))).expect("a store");
        wait(while_worked(&mut worker, host(handle))).expect("a disk");
    }
    let store = Store::open(file).expect("a store");
    assert_eq!(store.check().expect("it can be read"), [""; 0], "{stop:?}");
    let paid = world.paid();
    let lines = store.lines("ada").expect("as written");
    if let Err(why) = run_again(plans, &lines) {
        panic!("{stop:?}, {knows}: {why}");
    }
    let lines = timeless(&lines);
    let once: BTreeSet<String> = paid.iter().cloned().collect();
    assert_eq!(once.len(), paid.len(), "{stop:?}: paid twice");
    Some(Whole { lines, paid: once })
}

/// Runs it again from its trace, in which no process and no crash is told of but what was in doubt.
fn run_again(plans: &Arc<[Plan]>, lines: &[Line]) -> Result<(), String> {
    let text = lines.iter().map(|line| serde_json::to_string(line).expect("JSON") + "\n");
    let tape = Tape::read(&text.collect::<String>()).expect("a trace");
    let machine = Interpreter::new(&plans[0], tape.host(), Map::new()).expect("no params");
    replay(&tape, machine.with_charts(plans.clone())).map(drop).map_err(|why| why.to_string())
}

fn is_same(ran: &Whole, whole: &Whole, what: &str) {
    let count = ran.lines.len().max(whole.lines.len());
    for nth in 0..count {
        assert_eq!(ran.lines.get(nth), whole.lines.get(nth), "{what}: line {}", nth + 1);
    }
    assert_eq!(ran.paid, whole.paid, "{what}");
}

#[test]
fn a_run_goes_on_after_a_crash_behind_each_commit() {
    let charts = charts(WHOLE);
    let plans = plans(&charts);
    let whole = stopped(&plans, &fresh("crash-whole"), None, true).expect("it ran");
    assert!(whole.paid.len() > 10 && whole.lines.len() > 60, "{whole:#?}");
    for knows in [true, false] {
        let mut stops = 0;
        for seq in 1.. {
            let file = fresh("crash-commit");
            let Some(ran) = stopped(&plans, &file, Some(Stop::Shown(seq)), knows) else { break };
            // Nothing was under way that nobody knows of: plans are made after the lines are shown.
            is_same(&ran, &whole, &format!("a crash after line {seq}"));
            stops += 1;
        }
        assert_eq!(stops, whole.lines.len(), "a crash after each line");
    }
}

#[test]
fn a_run_goes_on_after_a_crash_in_each_call() {
    let charts = charts(WHOLE);
    let plans = plans(&charts);
    let whole = stopped(&plans, &fresh("crash-whole-2"), None, true).expect("it ran");
    for nth in 0..whole.paid.len() {
        let known = stopped(&plans, &fresh("crash-known"), Some(Stop::Paid(nth)), true);
        is_same(&known.expect("it was stopped"), &whole, &format!("a crash in call {nth}"));
    }
    for nth in 0..whole.paid.len() {
        let ran = stopped(&plans, &fresh("crash-doubt"), Some(Stop::Paid(nth)), false);
        let ran = ran.expect("it was stopped");
        let same = ran.lines.iter().zip(&whole.lines).take_while(|(a, b)| a == b).count();
        let note = "it is not known whether its call was made";
        assert!(ran.lines[same].contains(note), "call {nth}: {}", ran.lines[same]);
    }
    assert!(
        stopped(&plans, &fresh("crash-none"), Some(Stop::Paid(whole.paid.len())), true).is_none()
    );
}

/// A question and a tool call, one after the other.
const TWICE: &str = r#"
tool look(at: Text) -> Text IDEMPOTENT
chart Twice {
  event go(word: Text)
  var word: Text = ""
  initial waiting
  state waiting { on go(w) -> asking { word = w } }
  state asking { llm think { prompt "Think {word}."  returns Text into word  retry 2  LINE } -> calling }
  state calling { call seen look(word) { returns Text into word } -> over }
  final over
}
"#;

#[test]
fn calls_in_doubt_are_made_again_where_the_chart_says_so() {
    for (line, idempotent, silent, again, end) in [
        ("doubt retry", "", 0, true, "over"),
        ("", "", 0, false, "asking"),
        ("", "idempotent", 0, false, "asking"),
        ("doubt -> over", "", 0, false, "over"),
        ("", "idempotent", 1, true, "over"),
        ("doubt retry", "", 1, false, "calling"),
    ] {
        let what = format!("{line} {idempotent} {silent}");
        let charts = charts(&TWICE.replace("LINE", line).replace("IDEMPOTENT", idempotent));
        let plans = plans(&charts);
        let file = fresh("twice");
        // Answers to `think` come at once: the driver's errors are of another test.
        let world = Arc::new(Once { silent: Mutex::new(Some(silent)), ..Once::default() });
        let quiet = || -> Show { Box::new(|_, _| Ok(())) };
        let (handle, mut worker) = engine(&plans, &file, world.clone(), quiet()).expect("a store");
        wait(async {
            let host = async move {
                drop(handle.fire("ada", go("1", "owls")).await);
                drop(handle.fire("ada", Event::turn("2")).await);
                handle.quiet().await;
            };
            tokio::select! {
                worked = while_worked(&mut worker, host) => panic!("{what}: it ended: {worked:?}"),
                () = world.stuck.notified() => {}
            }
        });
        drop(worker);
        *world.silent.lock().expect("one thread") = None;
        let (handle, mut worker) = engine(&plans, &file, world.clone(), quiet()).expect("a store");
        wait(while_worked(&mut worker, async move { handle.quiet().await })).expect("a disk");
        let session = worker.session("ada").expect("it goes on");
        assert_eq!(session.configuration(), [end], "{what}");
        let paid = world.paid.lock().expect("one thread").clone();
        let doubted = &paid[silent];
        let count = paid.iter().filter(|id| *id == doubted).count();
        assert_eq!(count, if again { 2 } else { 1 }, "{what}: {paid:?}");
        drop(worker);
        let store = Store::open(&file).expect("a store");
        assert_eq!(store.check().expect("it can be read"), [""; 0], "{what}");
    }
}

/// Pays each call that it is asked for, and answers all before one.
#[derive(Default)]
struct Once {
    paid: Mutex<Vec<String>>,
    silent: Mutex<Option<usize>>,
    stuck: Notify,
}

impl Once {
    fn pays(&self, id: &CallId) -> bool {
        let mut paid = self.paid.lock().expect("one thread");
        paid.push(id.to_string());
        let is_silent = *self.silent.lock().expect("one thread") == Some(paid.len() - 1);
        if is_silent {
            self.stuck.notify_one();
        }
        !is_silent
    }
}

impl Driver for Once {
    fn ask(&self, id: &CallId, _: Arc<Question>) -> Asking {
        if self.pays(id) {
            ready(Ok(Answer::from("\"fine\"".to_owned())))
        } else {
            Box::pin(pending())
        }
    }

    fn call(&self, id: &CallId, _: ToolCall) -> Calling {
        if self.pays(id) { done(Ok(Value::Text("seen".into()))) } else { Box::pin(pending()) }
    }

    fn name(&self) -> String {
        "once".into()
    }
}
