//! Regions of generated machines that wait at the same time, in sessions.

use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::plan::Plan;
use chartc_runtime::clock::{Clock, RealClock, VirtualClock};
use chartc_runtime::oracle::{Answer, Asking, Oracle, OracleError, Question, Script};
use chartc_runtime::trace::{Line, What};
use chartc_runtime::{Saved, Session};
use generated_charts::{many, model, walks};
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

const CHART: &str = include_str!("../charts/walks.chart");

/// `read` takes 5 s, and is `late` behind what the other regions wait for.
const SCRIPT: &str = "
answers:
  read: [{text: owls, after: 5s}]
  write: [{text: written, after: 3s}]
  check: [{text: 'false', after: 2s}]
  sum: [{answer: 7, after: 1s}]
  sure: [{answer: false}]
  close: [{text: closed, after: 1s}]
tools:
  shop.price: [{answer: 3, after: 1s}]
  shop.rate: [{answer: 0.5, after: 4s}]
";

fn steps() -> walks::Machine<()> {
    walks::Machine::new(walks::Params::default(), ()).expect("every param has a default")
}

/// One turn of a machine in virtual time.
fn turn(machine: impl Machine) -> Vec<Line> {
    let clock = Arc::new(VirtualClock::new());
    let script = Script::parse("walks", SCRIPT, clock.clone()).expect("a script");
    let tools = Arc::new(script.clone());
    let mut session = Session::new(machine, Arc::new(script), clock, Vec::new()).with_tools(tools);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async { session.turn().await.expect("it is walked") });
    session.into_parts().1
}

#[test]
fn a_turn_takes_as_long_as_its_longest_region() {
    let generated = turn(steps());
    let at = |step: &str, is_answer: bool| {
        let found = generated.iter().find(|line| match &line.what {
            What::Question { step: of, .. } => of == step && !is_answer,
            What::Answer { step: of, .. } => of == step && is_answer,
            _ => false,
        });
        found.map(|line| line.at_ms)
    };
    let times = |step| (at(step, false), at(step, true));
    // The left region reads, asks for the price and checks it; the right one forks, and sums up what both have done.
    assert_eq!(times("read"), (Some(0), Some(5000)));
    assert_eq!(times("write"), (Some(0), Some(3000)));
    assert_eq!(times("sum"), (Some(4000), Some(5000)));
    assert_eq!(times("check"), (Some(6000), Some(8000)));
    assert_eq!(times("close"), (Some(8000), Some(9000)));

    let chart = model("walks.chart", CHART);
    let plan = Plan::new(&chart);
    let interpreted = turn(Interpreter::new(&plan, Script::empty(), []).expect("no params"));
    assert_eq!(interpreted, generated);
}

/// Answers nobody before `wanted` questions are open.
struct Crowd {
    wanted: usize,
    waiting: Arc<Mutex<(usize, Vec<Waker>)>>,
}

impl Oracle for Crowd {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let (wanted, waiting) = (self.wanted, self.waiting.clone());
        let mut is_counted = false;
        Box::pin(async move {
            poll_fn(move |cx| {
                let mut waiting = waiting.lock().expect("one thread");
                waiting.0 += usize::from(!is_counted);
                is_counted = true;
                if waiting.0 < wanted {
                    waiting.1.push(cx.waker().clone());
                    return Poll::Pending;
                }
                for waker in waiting.1.drain(..) {
                    waker.wake();
                }
                Poll::Ready(())
            })
            .await;
            match &*question.step {
                "check" => Ok(Answer::from("false".to_owned())),
                "sum" => Ok(Answer::from("7".to_owned())),
                "read" | "write" | "close" => Ok(Answer::from("text".to_owned())),
                other => Err(OracleError::Other(format!("nobody answers {other}"))),
            }
        })
    }

    fn name(&self) -> String {
        "crowd".into()
    }
}

#[test]
fn on_a_real_clock_both_calls_are_open_at_once() {
    let crowd = Arc::new(Crowd { wanted: 2, waiting: Arc::default() });
    let clock: Arc<dyn Clock> = Arc::new(RealClock::new());
    let tools = "tools: {shop.price: [3], shop.rate: [0.5]}";
    let tools = Script::parse("tools", tools, clock.clone()).expect("a script");
    let mut session =
        Session::new(steps(), crowd, clock, Vec::<Line>::new()).with_tools(Arc::new(tools));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        // A call that is made after the other one has ended is never made.
        let turn = tokio::time::timeout(Duration::from_secs(20), session.turn()).await;
        turn.expect("both are asked at once").expect("it is walked");
    });
    let answered = session.into_parts().1.into_iter().filter_map(|line| match line.what {
        What::Answer { step, .. } => Some(step),
        _ => None,
    });
    let mut answered: Vec<String> = answered.collect();
    answered.sort_unstable();
    assert_eq!(answered, ["check", "close", "read", "sum", "write"]);
}

/// Searches of many.chart in virtual time, two at a time: the second fails once, the third for good.
fn searched(machine: impl Machine) -> Vec<Line> {
    let clock = Arc::new(VirtualClock::new());
    let script = "
answers:
  grade:
    - {answer: {good: true, why: short}, after: 4s}
    - {answer: {good: true, why: long}, after: 2s}
  rate: [{error: timeout}, {answer: 7}, {answer: 5}]
  approve: [{answer: true}]
tools:
  docs.search:
    - {answer: [owls], after: 3s}
    - {error: it is closed, after: 1s}
    - {answer: [bats, more bats], after: 1s}
    - {error: it is closed, after: 1s}
    - {error: it is closed, after: 1s}
";
    let script = Script::parse("many", script, clock.clone()).expect("a script");
    let tools = Arc::new(script.clone());
    let mut session = Session::new(machine, Arc::new(script), clock, Vec::new()).with_tools(tools);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        for _ in 0..3 {
            session.turn().await.expect("it is walked");
        }
    });
    session.into_parts().1
}

#[test]
fn elements_of_generated_steps_are_answered_as_interpreted_ones() {
    let machine = many::Machine::new(many::Params::default(), ()).expect("params have defaults");
    let generated = searched(machine);
    let chart = model("many.chart", include_str!("../charts/many.chart"));
    let plan = Plan::new(&chart);
    let interpreted =
        searched(Interpreter::new(&plan, Script::empty(), []).expect("params have defaults"));
    assert_eq!(interpreted, generated);
    let answered = generated.iter().filter_map(|line| match &line.what {
        What::Answer { step, which, .. } | What::ToolResult { step, which, .. } => {
            Some((step.as_str(), which.element?))
        }
        _ => None,
    });
    let answered: Vec<_> = answered.collect();
    for wanted in [("search", 0), ("search", 1), ("grade", 1), ("grade", 0), ("rate", 1)] {
        assert!(answered.contains(&wanted), "{wanted:?} is not in {answered:?}");
    }
}

/// Answers of each call, and the time that they take.
struct Steady(Arc<dyn Clock>);

impl Oracle for Steady {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let clock = self.0.clone();
        Box::pin(async move {
            clock.sleep_until(clock.now() + 2000).await;
            Ok(Answer::from(
                match &*question.step {
                    "grade" => r#"{"good": true, "why": "it fits"}"#,
                    "rate" => "7",
                    _ => "true",
                }
                .to_owned(),
            ))
        })
    }

    fn name(&self) -> String {
        "steady".into()
    }
}

/// Goes on with a run for one turn, or begins it, and is cut off a second into it; what the other kind of machine goes on from.
fn one_turn(machine: impl Machine, saved: Option<&Saved>) -> (String, Option<Saved>) {
    let clock: Arc<dyn Clock> = Arc::new(VirtualClock::starting_at(saved.map_or(0, Saved::now)));
    let tools =
        "tools: {docs.search: [{answer: [owls]}, {answer: [bats]}, {answer: [owls, owls]}]}";
    let tools = Script::parse("tools", tools, clock.clone()).expect("a script");
    let steady = Arc::new(Steady(clock.clone()));
    let mut session =
        Session::new(machine, steady, clock, Vec::<Line>::new()).with_tools(Arc::new(tools));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        match saved {
            Some(saved) => session.resume(saved).expect("it goes on"),
            None => session.start().await.expect("it starts"),
        }
        session.settle().await.expect("it is answered");
        session.begin_turn().await.expect("it begins");
        session.advance(1000).await.expect("time passes");
    });
    let text = session.save().map(|saved| saved.text().expect("it is data"));
    let saved = text.map(|text| Saved::read(&text).expect("it is read as written"));
    (session.configuration().join(","), saved)
}

#[test]
fn interpreted_and_generated_machines_go_on_from_each_other() {
    let chart = model("many.chart", include_str!("../charts/many.chart"));
    let plan = Plan::new(&chart);
    let interpreted =
        || Interpreter::new(&plan, Script::empty(), []).expect("params have defaults");
    let generated = || many::Machine::new(many::Params::default(), ()).expect("of defaults");
    let mut alone = Vec::new();
    let mut saved: Option<Saved> = None;
    for _ in 0..7 {
        let (states, next) = one_turn(interpreted(), saved.as_ref());
        alone.push(states);
        saved = next;
    }
    assert!(alone.contains(&"rating".to_owned()), "{alone:?}");
    let mut in_turn = Vec::new();
    let mut saved: Option<Saved> = None;
    for nth in 0..7 {
        let (states, next) = if nth % 2 == 0 {
            one_turn(generated(), saved.as_ref())
        } else {
            one_turn(interpreted(), saved.as_ref())
        };
        in_turn.push(states);
        saved = next;
    }
    assert_eq!(in_turn, alone);
}
