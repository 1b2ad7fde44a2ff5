//! Who is in which state, by the names of states and by their enum.

use chartc::load::Memory as Files;
use chartc_core::expr::Map;
use chartc_core::interpreter::Interpreter;
use chartc_core::plan::Plan;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::Deny;
use chartc_runtime::{Population, Session};
use crowd_example::chance;
use std::sync::Arc;

const CHART: &str = "
chart Pair {
  event left
  event right
  event stop
  initial both
  parallel both {
    state one { initial a  state a { on left -> b }  state b { on left -> a } }
    state two { initial c  state c { on right -> d }  state d { on right -> c } }
    on stop -> over
  }
  final over
}
";

/// More than one block.
const AGENTS: usize = 5000;

fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(work)
}

#[test]
fn agents_of_an_interpreted_chart_are_counted_by_the_paths_of_states() {
    let done = chartc::check_within(&["pair.chart".to_owned()], &Files::of("pair.chart", CHART), 0);
    let chart = done.charts[0].chart().clone();
    let plan = Plan::new(&chart);
    let population = Population::new();
    assert_eq!((population.count_at("both"), population.distribution()), (None, vec![]));
    let clock = Arc::new(VirtualClock::new());
    let mut sessions: Vec<_> = (0..AGENTS)
        .map(|_| {
            let machine = Interpreter::new(&plan, (), []).expect("it has no params");
            Session::new(machine, Arc::new(Deny), clock.clone(), ())
        })
        .collect();
    for (nth, session) in sessions.iter_mut().enumerate() {
        assert_eq!(population.join(session), nth);
        wait(session.start()).expect("it starts");
        for step in 0..4 {
            let event = ["left", "right", "left", "right", "stop"]
                [chance::number(&[nth as u64, step]) as usize % 5];
            wait(session.send(event, Map::new())).expect("it has the event");
        }
    }
    let paths: Vec<String> = population.distribution().into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["both.one.a", "both.one.b", "both.two.c", "both.two.d", "over"]);
    let check = |sessions: &[Option<Session<Interpreter<()>, ()>>]| {
        let mut all = 0;
        for (path, count) in population.distribution() {
            let found: Vec<usize> = (0..sessions.len())
                .filter(|nth| {
                    let configuration = sessions[*nth].as_ref().map(Session::configuration);
                    configuration.is_some_and(|states| states.contains(&path))
                })
                .collect();
            assert_eq!(population.agents_at(&path).expect("it is a state"), found, "{path}");
            assert_eq!((population.count_at(&path), count), (Some(found.len()), found.len()));
            all += count * if path == "over" { 2 } else { 1 };
        }
        let around = population.count_at("both").expect("a state")
            + population.count_at("over").expect("a state");
        assert_eq!((all, around), (2 * around, sessions.iter().flatten().count()));
    };
    let mut sessions: Vec<Option<_>> = sessions.into_iter().map(Some).collect();
    check(&sessions);
    for nth in (0..AGENTS).step_by(7) {
        sessions[nth] = None;
    }
    check(&sessions);
    assert_eq!(population.agents_at("nowhere"), None);
    // One that joins under its own number again is where it was.
    let session = sessions[1].as_mut().expect("it lives");
    population.join_as(1, session);
    check(&sessions);
    let other = Population::new();
    other.join_as(4_000_000_000, sessions[1].as_mut().expect("it lives"));
    assert_eq!(other.distribution().iter().map(|(_, n)| n).filter(|n| **n > 0).count().min(1), 1);
    assert!(!population.agents_at("over").expect("a state").contains(&1));
}
