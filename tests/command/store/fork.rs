//! Runs that begin where another one was at a line of its trace.

use std::sync::Arc;

use super::*;
use crate::run::command::chartc;
use chartc_runtime::agents::{Engine, INPUTS, Quiet, TURN};
use chartc_runtime::replay::Tape;
use chartc_runtime::trace::What;
use chartc_store::Listed;
use std::collections::BTreeSet;
use test_support::project::root;

/// A world that gives the calls of all runs the same answers.
struct Alike(Arc<World>);

fn nameless(id: &CallId) -> CallId {
    CallId { run: "".into(), ..id.clone() }
}

impl Driver for Alike {
    fn ask(&self, id: &CallId, _: Arc<Question>) -> Asking {
        self.0.pays(id);
        ready(World::answer(&nameless(id)))
    }

    fn call(&self, id: &CallId, _: ToolCall) -> Calling {
        self.0.pays(id);
        done(Ok(World::result(&nameless(id))))
    }

    fn name(&self) -> String {
        "world".into()
    }
}

/// Does what a host does with a run, from the beginning each time. Returns what was paid for.
fn played(plans: &Arc<[Plan]>, file: &Path, run: &str, events: &[Event]) -> Vec<String> {
    let world = Arc::new(World::default());
    let driver = Arc::new(Alike(world.clone()));
    let store = Store::own(file, Safety::Process).expect("a store");
    // Its own time: all runs of an engine share a clock, and others were further.
    let clock = VirtualClock::starting_at(store.moment(Some(run), false).expect("it is read"));
    let begun = engine_at(plans, store, clock, driver, Box::new(|_, _| Ok(())));
    let (handle, mut worker) = begun.expect("a store");
    let host = async {
        let handle = handle;
        // A fork may have calls to make before anything is sent to it.
        handle.read(run).await.expect("it runs");
        handle.quiet().await;
        for event in events {
            handle.fire(run, event.clone()).await.expect("it fits");
            handle.quiet().await;
        }
        handle.advance(1_000_000).await.expect("it works");
    };
    wait(while_worked(&mut worker, host)).expect("a disk");
    world.paid()
}

fn forked(
    plans: &Arc<[Plan]>,
    file: &Path,
    (run, at): (&str, usize),
    name: &str,
) -> Result<Listed, StoreError> {
    let store = Store::open(file)?;
    store.fork((run, at as u64), (name, None), |tape: &Tape| {
        Interpreter::new(&plans[0], tape.host(), Map::new())
            .map(|machine| machine.with_charts(plans.clone()))
            .map_err(|why| why.to_string())
    })
}

/// Names of calls without that of their run.
fn within(calls: &[String]) -> BTreeSet<String> {
    calls.iter().map(|id| id.split_once('/').expect("a run").1.to_owned()).collect()
}

fn ends_a_call(line: &Line) -> bool {
    matches!(
        line.what,
        What::Answer { .. }
            | What::Unusable { .. }
            | What::CallFailed { .. }
            | What::ToolResult { .. }
            | What::ToolFailed { .. }
    )
}

/// Forks the run `ada` at each line of its trace, and lets each fork do what the run did. Returns how many lines there were.
fn at_each_line(text: &str, name: &str, events: &[Event]) -> usize {
    let charts = charts(text);
    let plans = plans(&charts);
    let file = fresh(name);
    let paid = played(&plans, &file, "ada", events);
    let read = || {
        let store = Store::open(&file).expect("a store");
        let row = store.list().expect("it is").into_iter().find(|row| row.run == "ada");
        (row, store.lines("ada").expect("as written"), store.made("ada").expect("as written"))
    };
    let before = read();
    let lines = &before.1;
    for at in 1..=lines.len() {
        let name = format!("fork {at}");
        let listed = forked(&plans, &file, ("ada", at), &name).expect("it was as it is");
        let store = Store::open(&file).expect("a store");
        let begun = store.lines(&name).expect("as written");
        assert!(begun.len() >= at, "{name}: {listed:?}");
        assert_eq!(begun, lines[..begun.len()], "{name}: its past is that of the run");
        assert_eq!(store.check().expect("it can be read"), [""; 0], "{name}");
        drop(store);
        let had = begun.iter().filter(|line| ends_a_call(line)).count();
        let more = played(&plans, &file, &name, events);
        let store = Store::open(&file).expect("a store");
        let whole = store.lines(&name).expect("as written");
        for (nth, (here, there)) in whole.iter().zip(lines).enumerate() {
            assert_eq!(here, there, "{name}: line {}", nth + 1);
        }
        assert_eq!(whole.len(), lines.len(), "{name}");
        assert!(more.iter().all(|id| id.starts_with("fork%20")), "{name}: {more:?}");
        assert_eq!(more.len(), paid.len() - had, "{name}: only the calls after line {at}");
        assert!(within(&more).is_subset(&within(&paid)), "{name}: {more:?}");
        let calls = (store.made(&name).expect("as written"), &before.2);
        assert_eq!(calls.0.len(), calls.1.len(), "{name}: those before it are known");
    }
    assert_eq!(read(), before, "the run itself is as it was");
    lines.len()
}

fn turns(id: &str, count: u32) -> impl Iterator<Item = Event> {
    (1..=count).map(move |turn| Event::turn(format!("{id}.{turn}")))
}

#[test]
fn a_fork_at_each_line_goes_on_to_the_same_end() {
    let mut events = vec![go("1", "owls")];
    events.extend(turns("1", 4));
    events.push(go("2", "bees"));
    events.extend(turns("2", 3));
    let lines = at_each_line(WHOLE, "fork-each", &events);
    assert!(lines > 60, "{lines}");
}

/// A line for each input, and one for the turn: a fork has all of them, or none.
#[test]
fn a_fork_does_not_split_an_event() {
    let text = "chart T {
      input a: Int = 0
      input b: Int = 0
      var sum: Int = 0
      initial adding
      state adding {
        on turn if a + b == 7 -> end
        llm think {
          prompt \"{a} {b} {sum}\"
          returns Text
          done -> adding { sum = sum + a + b }
        }
      }
      final end
    }";
    let data = |a: i64, b: i64| {
        [("a".to_owned(), Value::Int(a)), ("b".to_owned(), Value::Int(b))].into_iter().collect()
    };
    let event = |id: &str, name: &str, data| Event::new(id, name).with(data);
    let events = [
        event("1", INPUTS, data(1, 2)),
        event("2", TURN, data(2, 3)),
        event("3", TURN, data(5, 8)),
        event("4", INPUTS, data(3, 4)),
        event("5", TURN, Map::new()),
    ];
    let lines = at_each_line(text, "fork-inputs", &events);
    assert!(lines > 20, "{lines}");
}

#[test]
fn a_fork_of_a_fork_knows_what_was_paid_before_it() {
    let charts = charts(WHOLE);
    let plans = plans(&charts);
    let file = fresh("fork-fork");
    let mut events = vec![go("1", "owls")];
    events.extend(turns("1", 4));
    let paid = played(&plans, &file, "ada", &events);
    let lines = Store::open(&file).and_then(|s| s.lines("ada")).expect("as written");
    let (first, second) = (lines.len() / 3, lines.len() / 2);
    forked(&plans, &file, ("ada", first), "bob").expect("it was as it is");
    let of_bob = played(&plans, &file, "bob", &events);
    forked(&plans, &file, ("bob", second), "eve").expect("it was as it is");
    let of_eve = played(&plans, &file, "eve", &events);
    assert!(!of_eve.is_empty() && of_eve.len() < of_bob.len() && of_bob.len() < paid.len());
    let store = Store::open(&file).expect("a store");
    assert_eq!(store.lines("eve").expect("as written"), lines);
    assert_eq!(store.made("eve").expect("it").len(), paid.len());
}

#[test]
fn a_fork_of_the_command_line_goes_on_with_the_same_script() {
    let folder = folder("store-fork-cli");
    for file in ["builder.chart", "builder.script.yaml"] {
        std::fs::copy(root().join("charts").join(file), folder.join(file)).expect("a chart");
    }
    let run = "run builder.chart --llm script:builder.script.yaml --param agent_id=ada --store s.db --run ada";
    let (code, out, err) = chartc(&folder, &run.split(' ').collect::<Vec<_>>());
    assert_eq!(code, 0, "{out}{err}");
    let store = |line: &str| {
        let arguments: Vec<&str> = ["store", "s.db"].into_iter().chain(line.split(' ')).collect();
        chartc(&folder, &arguments)
    };
    let lines = |name: &str| {
        let lines = Store::open(&folder.join("s.db")).and_then(|store| store.lines(name));
        timeless(&lines.expect("a run"))
    };
    let whole = lines("ada");
    for at in (1..=whole.len()).step_by(7) {
        let (code, out, err) = store(&format!("fork ada --at {at}"));
        assert_eq!(code, 0, "{out}{err}");
        assert!(out.starts_with(&format!("ada@{at}: ada after line {at}, ")), "{out}");
        let (code, out, err) = store(&format!("resume ada@{at}"));
        assert_eq!(code, 0, "{at}: {out}{err}");
        assert_eq!(lines(&format!("ada@{at}")), whole, "{at}");
        let (code, out, err) =
            chartc(&folder, &["replay", "--store", "s.db", &format!("ada@{at}")]);
        assert!(code == 0 && out.contains("0 model calls"), "{at}: {out}{err}");
    }
    let (code, out, err) = store("fork ada --at 9 --as eva --format json");
    assert_eq!(code, 0, "{err}");
    let one: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&one["run"], &one["of"], &one["at"]), (&"eva".into(), &"ada".into(), &9.into()));
    assert!(one["lines"].as_u64() >= Some(9) && one["status"] == "running", "{out}");
    let refused = [
        ("fork ada --at 9 --as eva", "`eva` cannot be the name of a fork"),
        ("fork ada --at 0", "its journal has no position 0: give one from 1 to"),
        ("fork ada --at 99999", "its journal has no position 99999: give one from 1 to"),
        ("fork nobody --at 1", "it was never begun there, or it was pruned with its journal"),
    ];
    for (line, why) in refused {
        let (code, out, err) = store(line);
        assert!(code == 2 && err.replace("\n  │ ", " ").contains(why), "{line}: {code} {out}{err}");
    }
    // A changed chart does something else.
    let chart = std::fs::read_to_string(folder.join("builder.chart")).expect("a chart");
    let changed = chart
        .replacen("state observing", "state watching", 1)
        .replace("-> observing", "-> watching");
    std::fs::write(
        folder.join("builder.chart"),
        changed.replace("initial observing", "initial watching"),
    )
    .expect("a file");
    let (code, out, err) = store("fork ada --at 9 --as tom");
    assert!(code != 0, "{out}{err}");
}
