//! Calls through a driver: their names, what is known of those that were under way when a run broke off.

use std::sync::Arc;

use super::engine::{Own, machine, wait};
use super::*;
use chartc_core::expr::Map;
use chartc_core::host::Machine as _;
use chartc_runtime::Saved;
use chartc_runtime::driver::{CallId, Driver, Probe};
use chartc_runtime::oracle::{Answer, Asking, First, OracleError, Question, Random, ready};
use chartc_runtime::tools::{Calling, done};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Keeps each paid call by its name, and what came of it; answers nothing until it may.
#[derive(Default)]
struct Ledger {
    paid: Mutex<Vec<String>>,
    known: Mutex<BTreeSet<String>>,
    holds: bool,
}

impl Driver for Ledger {
    fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking {
        self.paid.lock().expect("one thread").push(id.to_string());
        if self.holds {
            return Box::pin(std::future::pending());
        }
        let _ = question;
        ready(Ok(Answer::from("\"fine\"".to_owned())))
    }

    fn call(&self, id: &CallId, _: chartc_core::host::ToolCall) -> Calling {
        self.paid.lock().expect("one thread").push(id.to_string());
        if self.holds {
            return Box::pin(std::future::pending());
        }
        done(Ok(Value::Text("returned".into())))
    }

    fn probe(&self, id: &CallId) -> Probe {
        match (self.known.lock().expect("one thread").contains(&id.to_string()), id.is_tool) {
            (false, _) => Probe::Unknown,
            (true, false) => Probe::Answered(Ok(Answer::from("\"kept\"".to_owned()))),
            (true, true) => Probe::Returned(Ok(Value::Text("kept".into()))),
        }
    }

    fn name(&self) -> String {
        "ledger".into()
    }
}

const CALLS: &str = "
tool look() -> Text
chart Calls {
  var said: Text = \"\"
  initial a
  state a { llm think { prompt \"?\"  returns Text into said  LINES } -> b }
  state b { call seen look() { returns Text into said  LINES } -> end }
  final end
  final unsure : partial
  final failed : error
}";

/// A run that is broken off with its first call under way, or its second, and goes on: the end, and the calls paid for after that.
fn broken_off(lines: &str, second: bool, known: bool) -> (String, Vec<String>) {
    broken_off_in(&CALLS.replace("LINES", lines), second, known)
}

fn broken_off_in(text: &str, second: bool, known: bool) -> (String, Vec<String>) {
    let chart = chart(text);
    let plan = Plan::new(&chart);
    let holding = Arc::new(Ledger { holds: true, ..Ledger::default() });
    let begin = |driver: Arc<dyn Driver>| -> Own<'_> {
        let clock = Arc::new(VirtualClock::new());
        Session::new(machine(&plan, &Map::new()), Arc::new(First), clock, Vec::new())
            .with_run("ada")
            .with_driver(driver)
    };
    let mut session = begin(holding.clone());
    if second {
        session = begin(Arc::new(Ledger::default()));
        wait(session.begin_turn()).expect("it begins");
        // The answer of the first one is there; the second call waits.
        session = session.with_driver(holding.clone());
        wait(session.advance(1)).expect("it goes on");
    } else {
        wait(session.begin_turn()).expect("it begins");
    }
    let saved = session.save().expect("it goes on").text().expect("data");
    let saved = Saved::read(&saved).expect("one");
    let open = holding.paid.lock().expect("one thread").clone();
    assert_eq!(open.len(), 1, "{open:?}");
    let known = if known { open.iter().cloned().collect() } else { BTreeSet::new() };
    let ledger = Arc::new(Ledger { known: Mutex::new(known), ..Ledger::default() });
    let machine = Interpreter::resume(&plan, [], Script::empty(), saved.machine()).expect("of it");
    let clock = Arc::new(VirtualClock::starting_at(saved.now()));
    let mut session: Own<'_> = Session::new(machine, Arc::new(First), clock, Vec::new())
        .with_run("ada")
        .with_driver(ledger.clone());
    session.resume(&saved).expect("it goes on");
    wait(session.settle()).expect("it runs");
    let paid = ledger.paid.lock().expect("one thread").clone();
    let again = paid.iter().filter(|id| open.contains(id)).cloned().collect();
    let said = session.machine().variables().remove(0).1;
    (
        format!(
            "{} {}",
            session.configuration().join(","),
            serde_json::to_string(&said).expect("data")
        ),
        again,
    )
}

#[test]
fn what_is_known_of_a_call_is_not_bought_again() {
    for second in [false, true] {
        for lines in ["", "doubt -> unsure", "doubt retry"] {
            let (end, again) = broken_off(lines, second, true);
            assert_eq!(again, [""; 0], "{lines}");
            let said = if second { "kept" } else { "returned" };
            assert_eq!(end, format!("end \"{said}\""), "{lines}");
        }
    }
}

#[test]
fn a_call_in_doubt_is_for_the_chart_to_decide() {
    for second in [false, true] {
        let run = |lines| broken_off(lines, second, false);
        let (end, again) = run("doubt -> unsure");
        assert!(end.starts_with("unsure") && again.is_empty(), "{end} {again:?}");
        let (end, again) = run("doubt retry");
        assert!(end.starts_with("end") && again.len() == 1, "{end} {again:?}");
        let (end, again) = run("");
        assert!(
            end.starts_with(if second { "b" } else { "a" }) && again.is_empty(),
            "{end} {again:?}"
        );
        let (end, again) = run("error -> failed");
        assert!(end.starts_with("failed") && again.is_empty(), "{end} {again:?}");
        let (end, again) = run("retry 3 then fail");
        assert!(
            end.starts_with(if second { "b" } else { "a" }) && again.is_empty(),
            "{end} {again:?}"
        );
    }
}

#[test]
fn a_tool_that_may_be_called_twice_is_called_again() {
    let text = CALLS.replace("LINES", "retry 0").replace("-> Text\n", "-> Text idempotent\n");
    let (end, again) = broken_off_in(&text, true, false);
    assert!(end.starts_with("end") && again.len() == 1, "{end} {again:?}");
    let (end, again) = broken_off_in(&text, false, false);
    assert!(
        end.starts_with('a') && again.is_empty(),
        "it is a model that was asked: {end} {again:?}"
    );
}

#[test]
fn every_call_has_a_name_of_its_own() {
    let chart = chart(
        "tool look(at: Text) -> Json
        chart T {
          initial a
          state a {
            llm plan { prompt \"?\"  tools look calls 3  retry 1 then skip }
            ask next on turn always else stay { prompt \"{options}\"  retry 2 }
            may call look
            may rest \"\" -> b
          }
          state b { call seen look(\"x\") -> a }
        }",
    );
    let plan = Plan::new(&chart);
    let params = Map::new();
    struct Names(Random, Mutex<Vec<CallId>>);
    impl Driver for Names {
        fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking {
            self.1.lock().expect("one thread").push(id.clone());
            self.0.ask(question)
        }
        fn call(&self, id: &CallId, call: chartc_core::host::ToolCall) -> Calling {
            self.1.lock().expect("one thread").push(id.clone());
            chartc_runtime::tools::Tools::call(&self.0, call)
        }
        fn name(&self) -> String {
            "names".into()
        }
    }
    let mut most = 0;
    for seed in 0..20 {
        let names = Arc::new(Names(Random::new(seed), Mutex::default()));
        let clock = Arc::new(VirtualClock::new());
        let mut session: Own<'_> =
            Session::new(machine(&plan, &params), Arc::new(First), clock, Vec::new())
                .with_driver(names.clone());
        wait(session.run_turns(20)).expect("it runs");
        let all = names.1.lock().expect("one thread").clone();
        let texts: BTreeSet<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), all.len(), "seed {seed}: {all:?}");
        most = most.max(all.iter().filter(|id| id.is_tool).count().min(all.len()));
    }
    assert!(most > 2, "{most} tools at most");
}

/// An oracle's error is one of the driver's, too.
#[test]
fn a_driver_may_fail() {
    struct Down;
    impl Driver for Down {
        fn ask(&self, _: &CallId, _: Arc<Question>) -> Asking {
            ready(Err(OracleError::Connection("down".into())))
        }
        fn call(&self, _: &CallId, _: chartc_core::host::ToolCall) -> Calling {
            done(Err(OracleError::Connection("down".into())))
        }
        fn name(&self) -> String {
            "down".into()
        }
    }
    let chart = chart(&CALLS.replace("LINES", "error -> failed"));
    let plan = Plan::new(&chart);
    let clock = Arc::new(VirtualClock::new());
    let mut session: Own<'_> =
        Session::new(machine(&plan, &Map::new()), Arc::new(First), clock, Vec::new())
            .with_driver(Arc::new(Down));
    wait(session.turn()).expect("it runs");
    assert_eq!(session.configuration(), ["failed"]);
}
