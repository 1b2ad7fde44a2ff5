//! Agents in an engine: as alone, beside each other, in time.

use super::*;
use chartc_core::expr::{Map, Value};
use chartc_core::machine::Receipt;
use chartc_runtime::agents::{Engine, EngineError, Event, Memory, Quiet, SEEN};
use chartc_runtime::clock::Clock;
use chartc_runtime::oracle::Random;

pub(super) fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(work)
}

pub(super) type Own<'p> = Session<Interpreter<Script>, Vec<Line>>;

pub(super) fn machine(plan: &Plan, params: &Map) -> Interpreter<Script> {
    Interpreter::new(plan, Script::empty(), params.clone()).expect("params that fit")
}

/// Each agent under a script of its own.
fn scripted<'p>(
    plan: &'p Plan,
    script: &'static str,
) -> Memory<'p, Interpreter<Script>, Vec<Line>> {
    Memory::new(Arc::new(VirtualClock::new()), move |_, clock| {
        let script = Arc::new(Script::parse("s", script, clock.clone()).expect("a script"));
        let session = Session::new(machine(plan, &Map::new()), script.clone(), clock, Vec::new());
        Ok(session.with_tools(script))
    })
}

/// What an engine does with a chart is what a session does with it: the same lines, for every agent, whoever else is there.
#[test]
fn an_agent_in_an_engine_runs_as_one_alone() {
    let text = |s: &str| Value::Text(s.into());
    let cases = [
        ("builder.agent.yaml", vec![]),
        ("phases.chart", vec![("goal", text("owls"))]),
        ("support.chart", vec![("signature", text("Ada"))]),
        ("researcher.chart", vec![("question", text("why?"))]),
    ];
    let mut lines = 0;
    let both = cases.into_iter().flat_map(|case| [(case.clone(), false), (case, true)]);
    for ((name, params), at_once) in both {
        let chart = shipped(name);
        let plan = Plan::new(&chart);
        let params: Map = params.into_iter().map(|(n, v)| (n.to_owned(), v)).collect();
        let given = params.clone();
        let engine = Memory::new(Arc::new(VirtualClock::new()), |agent: &str, clock| {
            let seed = agent.parse().expect("a number");
            let random = Arc::new(Random::new(seed));
            let session = Session::new(machine(&plan, &given), random.clone(), clock, Vec::new());
            Ok(session.with_tools(random))
        });
        let engine = if at_once { engine.with_work_at_once() } else { engine };
        let turns = 12;
        wait(async {
            for turn in 0..turns {
                for agent in 0..5 {
                    let event = Event::turn(format!("{turn}"));
                    let reply = engine.fire(&agent.to_string(), event).await;
                    reply.unwrap_or_else(|why| panic!("{name}: {why}"));
                }
                if !at_once {
                    engine.quiet().await;
                }
            }
        });
        for (agent, session) in engine.into_sessions() {
            let random = Arc::new(Random::new(agent.parse().expect("a number")));
            let clock = Arc::new(VirtualClock::new());
            let mut alone: Own<'_> =
                Session::new(machine(&plan, &params), random.clone(), clock, Vec::new())
                    .with_tools(random);
            wait(async {
                for _ in 0..turns {
                    alone.turn().await.expect("it runs");
                }
            });
            let (there, here) = (session.into_parts().1, alone.into_parts().1);
            let what = |all: &[Line]| -> Vec<What> { all.iter().map(|l| l.what.clone()).collect() };
            assert_eq!(what(&there), what(&here), "{name}, agent {agent}");
            lines += here.len();
        }
    }
    assert!(lines > 1000, "{lines} lines");
}

const SLOW: &str = "
chart Slow {
  event stop(why: Text)
  var said: Text = \"\"
  var times: Int = 0
  initial open
  state open {
    llm think { prompt \"?\"  returns Text into said } -> done
    on stop(why) { times = times + 1  said = why }
    after 1h -> late
  }
  final done
  final late : stuck
}";
const LATER: &str = "answers: {think: [{answer: fine, after: 5s}]}";

#[test]
fn a_slow_model_holds_no_event_up() {
    let chart = chart(SLOW);
    let plan = Plan::new(&chart);
    let engine = scripted(&plan, LATER);
    wait(async {
        let reply = engine.fire("ada", Event::turn("1")).await.expect("a turn");
        assert_eq!((reply.receipt, reply.at), (Receipt::Handled, 0));
        assert_eq!(engine.read("ada").await.expect("she is there").expect("she is").open, 1);
        let data: Map = [("why".to_owned(), Value::Text("now".into()))].into_iter().collect();
        let stop = Event::new("2", "stop").with(data);
        assert_eq!(
            engine.fire("ada", stop.clone()).await.expect("it fits").receipt,
            Receipt::Handled
        );
        let again = engine.fire("ada", stop).await.expect("it was there");
        assert!(again.is_repeated);
        let busy = engine.fire("ada", Event::turn("3")).await.expect("a reply");
        assert_eq!((busy.receipt, busy.is_repeated), (Receipt::Busy, false));
        let ada = engine.read("ada").await.expect("she is there").expect("she is");
        assert_eq!(ada.variables.get("times"), Some(&Value::Int(1)), "the same event counts once");
        assert_eq!(ada.variables.get("said"), Some(&Value::Text("now".into())));
        engine.quiet().await;
        let ada = engine.read("ada").await.expect("she is there").expect("she is");
        assert_eq!(ada.configuration, ["done"]);
        // It was refused, not taken in: now it has another reply.
        let closed = engine.fire("ada", Event::turn("3")).await.expect("a reply");
        assert_eq!((closed.receipt, closed.at), (Receipt::Closed, 5000));
    });
}

#[test]
fn events_that_come_while_others_are_waited_for_are_waited_for_too() {
    let chart = chart(SLOW);
    let plan = Plan::new(&chart);
    let engine = scripted(&plan, LATER);
    wait(async {
        engine.fire("ada", Event::turn("1")).await.expect("a turn");
        engine.advance(2000).await;
        engine.fire("bob", Event::turn("1")).await.expect("a turn");
        engine.advance(3000).await;
        let seen = async |name: &str| engine.read(name).await.expect("fine").expect("there");
        assert_eq!(seen("ada").await.configuration, ["done"]);
        assert_eq!(seen("bob").await.configuration, ["open"]);
        assert_eq!(engine.read("eve").await.expect("fine"), None);
        engine.quiet().await;
        assert_eq!(seen("bob").await.configuration, ["done"]);
    });
    let ends: Vec<u64> = engine
        .into_sessions()
        .into_values()
        .map(|session| session.into_parts().1.last().expect("a line").at_ms)
        .collect();
    assert_eq!(ends, [5000, 7000]);
}

#[test]
fn a_question_that_failed_is_put_again_in_time() {
    let chart = chart(&SLOW.replace("into said }", "into said  retry 2 }"));
    let plan = Plan::new(&chart);
    let engine = scripted(&plan, "answers: {think: [{fail: connection}, fine]}");
    wait(async {
        engine.fire("ada", Event::turn("1")).await.expect("a turn");
        engine.quiet().await;
        let ada = engine.read("ada").await.expect("fine").expect("there");
        assert_eq!((ada.configuration, ada.calls), (vec!["done".into()], 2));
    });
}

#[test]
fn deadlines_fire_without_events() {
    let chart = chart(SLOW);
    let plan = Plan::new(&chart);
    let engine = scripted(&plan, LATER);
    wait(async {
        let data = [("why".to_owned(), Value::Text("x".into()))].into_iter().collect();
        engine.fire("ada", Event::new("1", "stop").with(data)).await.expect("it fits");
        engine.advance(3_600_000).await;
        let ada = engine.read("ada").await.expect("fine").expect("there");
        assert_eq!(
            (ada.configuration, ada.status.map(|s| s.word())),
            (vec!["late".into()], Some("stuck"))
        );
    });
}

#[test]
fn one_agent_that_stops_holds_no_other_up_and_says_why() {
    let chart = chart(SLOW);
    let plan = Plan::new(&chart);
    let engine = Memory::new(Arc::new(VirtualClock::new()), |name: &str, clock: Arc<dyn Clock>| {
        let script = if name == "bad" { "answers: {}" } else { LATER };
        let script = Arc::new(Script::parse("s", script, clock.clone()).expect("a script"));
        Ok(Session::new(machine(&plan, &Map::new()), script, clock, Vec::new()))
    });
    wait(async {
        engine.fire("bad", Event::turn("1")).await.expect("it begins");
        engine.fire("good", Event::turn("1")).await.expect("it begins");
        engine.quiet().await;
        let good = engine.read("good").await.expect("fine").expect("there");
        assert_eq!(good.configuration, ["done"]);
        let data = [("why".to_owned(), Value::Text("x".into()))].into_iter().collect();
        let error = engine.fire("bad", Event::new("2", "stop").with(data)).await.expect_err("over");
        assert!(matches!(error, EngineError::Stopped { .. }), "{error}");
        assert!(error.to_string().contains("think"), "{error}");
        // What does not fit is the sender's fault: the agent goes on.
        let error = engine.fire("new", Event::new("1", "stpo")).await.expect_err("no such event");
        assert!(matches!(error, EngineError::Event { .. }), "{error}");
        engine.fire("new", Event::turn("1")).await.expect("it goes on");
    });
}

#[test]
fn ids_are_remembered_up_to_a_number() {
    let chart =
        chart("chart T { event go  var n: Int = 0  initial a  state a { on go { n = n + 1 } } }");
    let plan = Plan::new(&chart);
    let engine = scripted(&plan, "answers: {}");
    wait(async {
        for id in 0..=SEEN {
            engine.fire("ada", Event::new(id.to_string(), "go")).await.expect("fine");
        }
        let repeated = async |id: usize| {
            engine.fire("ada", Event::new(id.to_string(), "go")).await.expect("fine").is_repeated
        };
        assert!(repeated(SEEN).await && repeated(1).await);
        assert!(!repeated(0).await, "the oldest is forgotten");
    });
}

#[test]
fn the_content_of_an_event_is_its_name_and_its_data_in_any_order() {
    let of = |name: &str, data: &[(&str, Value)]| {
        let data = data.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Event::new("1", name).with(data).content()
    };
    let text = |text: &str| Value::Text(text.into());
    let (a, b) = (("a", Value::Int(1)), ("b", text("x")));
    // The same on other machines and in later versions.
    assert_eq!(of("go", &[a.clone(), b.clone()]), WANTED);
    assert_eq!(of("go", &[b.clone(), a.clone()]), WANTED);
    let list = |items: &[Value]| Value::List(items.to_vec());
    let others = [
        of("on", &[a.clone(), b.clone()]),
        of("go", std::slice::from_ref(&a)),
        of("go", &[("a", text("x")), ("b", Value::Int(1))]),
        of("go", &[("a", Value::Float(1.0)), b.clone()]),
        of("go", &[("a", Value::Bool(true)), b.clone()]),
        of("go", &[("a", Value::Duration(1)), b.clone()]),
        of("go", &[("a", list(&[Value::Int(1)])), b.clone()]),
        of("go", &[("a", list(&[])), b.clone()]),
        of("go", &[("a", Value::None), b.clone()]),
        of("go", &[("a", Value::Map([("a".to_owned(), Value::Int(1))].into_iter().collect())), b]),
    ];
    let all: std::collections::BTreeSet<u64> = others.into_iter().chain([WANTED]).collect();
    assert_eq!(all.len(), 11);
}

const WANTED: u64 = 18_371_822_462_607_397_856;
