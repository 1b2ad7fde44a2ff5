//! Agents in one engine, many and fired at from several threads, beside each of them alone.

use chartc::load::Memory as Files;
use chartc_core::expr::{Map, Value};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::Receipt;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::agents::{Engine, EngineError, Event, Memory, Quiet, Reply, SnapshotError};
use chartc_runtime::clock::{Clock, VirtualClock};
use chartc_runtime::oracle::{Answer, Asking, Kind, Oracle, Question};
use chartc_runtime::trace::Line;
use chartc_runtime::{RunError, Session};
use crowd_example::chance;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

const CHART: &str = r#"
chart Busy {
  event poke(n: Int)
  event tired
  var sum: Int = 0
  var said: Text = ""
  initial idle
  state idle {
    on poke(n) { sum = sum + n }
    on tired -> resting
    after 700ms -> resting
    ask go on turn always else stay { prompt "{sum}, now? {options}" }
    may up "work" -> busy
    may down "rest" -> resting
  }
  state busy {
    llm think { prompt "{sum}: what?"  returns Text into said } -> idle
    on poke(n) { sum = sum + 2 * n }
    on tired -> resting
    after 400ms -> idle
  }
  state resting {
    on poke(n) -> busy { sum = sum + 1 }
    after 1500ms -> idle
  }
}
"#;

const AGENTS: usize = 150;
const ROUNDS: u64 = 14;

fn chart() -> Arc<Chart> {
    let done = chartc::check_within(&["busy.chart".to_owned()], &Files::of("busy.chart", CHART), 0);
    assert_eq!(done.charts.len(), 1, "{:?}", done.diagnostics);
    done.charts[0].chart().clone()
}

/// Answers after a while that depends on the question. Never at a full second, when events come.
struct Slow(Arc<dyn Clock>, u64);

impl Oracle for Slow {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let dice = chance::number(&[self.1, chance::text(&question.prompt)]);
        let at = self.0.now() + dice % 900;
        let sleep = self.0.sleep_until(at + u64::from(at.is_multiple_of(1000)));
        let text = match question.kind {
            Kind::Ask => {
                let nth = dice as usize / 900 % question.options.len().max(1);
                question.options[nth].offer.name.to_string()
            }
            Kind::Llm | Kind::Human => format!("answer {dice}"),
        };
        Box::pin(async move {
            sleep.await;
            Ok(Answer::from(text))
        })
    }

    fn name(&self) -> String {
        "slow".into()
    }
}

type One<'p> = Session<Interpreter<()>, Vec<Line>>;

fn one<'p>(plan: &'p Plan, name: &str, clock: Arc<dyn Clock>) -> Result<One<'p>, RunError> {
    let machine = Interpreter::new(plan, (), []).map_err(|why| RunError::Start(why.0))?;
    let oracle = Arc::new(Slow(clock.clone(), chance::text(name)));
    Ok(Session::new(machine, oracle, clock, Vec::new()))
}

fn engine(plan: &Plan) -> Memory<'_, Interpreter<()>, Vec<Line>> {
    Memory::new(Arc::new(VirtualClock::new()), move |name: &str, clock| one(plan, name, clock))
}

fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(work)
}

fn name(agent: usize) -> String {
    format!("a name that is longer than its first bytes: {agent}")
}

/// What comes to an agent in a round: some of it under an id that was there before.
fn events(agent: usize, round: u64) -> Vec<Event> {
    let dice = |what: u64| chance::number(&[agent as u64, round, what]);
    let count = dice(0) % 5;
    let event = |nth: u64| {
        let back = if dice(4 * nth + 1).is_multiple_of(4) { round.min(2) } else { 0 };
        let id = format!("an id that is not short {}.{nth}", round - back);
        match dice(4 * nth + 2) % 4 {
            0 => Event::new(id, "tired"),
            1 => Event::turn(id),
            _ => {
                let n = Value::Int((dice(4 * nth + 3) % 10) as i64);
                Event::new(id, "poke").with(Map::from_iter([("n".to_owned(), n)]))
            }
        }
    };
    (0..count).map(event).collect()
}

type Replies = Vec<Vec<(Receipt, u64, bool)>>;

fn told(reply: &Reply) -> (Receipt, u64, bool) {
    (reply.receipt, reply.at, reply.is_repeated)
}

/// An agent by itself, without an engine: its replies and its trace.
fn alone(plan: &Plan, agent: usize) -> (Vec<(Receipt, u64, bool)>, String) {
    let clock = Arc::new(VirtualClock::new());
    let mut session = one(plan, &name(agent), clock.clone()).expect("it is made");
    let (mut replies, mut seen) = (Vec::new(), std::collections::BTreeMap::new());
    for round in 0..ROUNDS {
        for event in events(agent, round) {
            if let Some((receipt, at)) = seen.get(&event.id) {
                replies.push((*receipt, *at, true));
                continue;
            }
            let receipt =
                session.hand_over(&event.name, Cow::Borrowed(&event.data)).expect("it fits");
            if receipt != Receipt::Busy {
                seen.insert(event.id, (receipt, clock.now()));
            }
            replies.push((receipt, clock.now(), false));
        }
        if session.turns() > 0 || session.seq() > 0 {
            wait(session.advance(1000)).expect("it runs");
        } else {
            clock.move_to(1000 * (round + 1));
        }
    }
    (replies, text(session))
}

fn text(session: One<'_>) -> String {
    session.into_parts().1.iter().map(|line| format!("{line:?}\n")).collect()
}

#[derive(Debug, Clone, Copy)]
enum How {
    OneByOne,
    FromThreads(usize),
}

fn together(plan: &Plan, how: How) -> (Replies, Vec<String>) {
    let engine = engine(plan);
    // It is there from the beginning, so that time passes for the others.
    wait(engine.fire("first", Event::new("0", "tired"))).expect("it is taken");
    let mut replies: Replies = vec![Vec::new(); AGENTS];
    for round in 0..ROUNDS {
        match how {
            How::OneByOne => {
                for (agent, replies) in replies.iter_mut().enumerate() {
                    for event in events(agent, round) {
                        let reply = wait(engine.fire(&name(agent), event)).expect("it is taken");
                        replies.push(told(&reply));
                    }
                }
            }
            How::FromThreads(count) => std::thread::scope(|scope| {
                for (nth, part) in replies.chunks_mut(AGENTS.div_ceil(count)).enumerate() {
                    let engine = &engine;
                    scope.spawn(move || {
                        for (place, replies) in part.iter_mut().enumerate() {
                            let agent = nth * AGENTS.div_ceil(count) + place;
                            for event in events(agent, round) {
                                let reply = wait(engine.fire(&name(agent), event));
                                replies.push(told(&reply.expect("it is taken")));
                            }
                        }
                    });
                }
            }),
        }
        wait(engine.advance(1000));
    }
    let mut sessions = engine.into_sessions();
    let traces =
        (0..AGENTS).map(|agent| sessions.remove(&name(agent)).map_or_else(String::new, text));
    (replies, traces.collect())
}

/// Every event once, none twice, and nothing of it depends on who else is there or from where it was fired.
#[test]
fn each_agent_runs_as_it_would_alone() {
    let chart = chart();
    let plan = Plan::new(&chart);
    let wanted: Vec<_> = (0..AGENTS).map(|agent| alone(&plan, agent)).collect();
    let all: String = wanted.iter().map(|(_, trace)| trace.as_str()).collect();
    for part in ["Question", "Answer", "Cancelled", "NotTaken"] {
        assert!(all.contains(part), "no {part} in\n{}", wanted[0].1);
    }
    assert!(wanted.iter().flat_map(|(replies, _)| replies).any(|(.., repeated)| *repeated));
    for how in [How::OneByOne, How::FromThreads(4)] {
        let (replies, traces) = together(&plan, how);
        for (agent, (wanted_replies, wanted_trace)) in wanted.iter().enumerate() {
            let what = format!("agent {agent}, {how:?}");
            assert_eq!(&replies[agent], wanted_replies, "{what}");
            assert_eq!(&traces[agent], wanted_trace, "{what}");
        }
    }
}

/// Agents act in the order of their names, whatever they share.
#[test]
fn agents_are_visited_in_the_order_of_their_names() {
    let chart = chart();
    let plan = Plan::new(&chart);
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    struct Listed(Arc<std::sync::Mutex<Vec<String>>>, String);
    impl Oracle for Listed {
        fn ask(&self, _: Arc<Question>) -> Asking {
            let (order, name) = (self.0.clone(), self.1.clone());
            Box::pin(async move {
                order.lock().expect("one thread").push(name);
                Ok(Answer::from("down".to_owned()))
            })
        }

        fn name(&self) -> String {
            "listed".into()
        }
    }
    let to = order.clone();
    let engine = Memory::new(Arc::new(VirtualClock::new()), |name: &str, clock| {
        let machine = Interpreter::new(&plan, (), []).map_err(|why| RunError::Start(why.0))?;
        Ok(Session::new(machine, Arc::new(Listed(to.clone(), name.to_owned())), clock, ()))
    });
    let names: BTreeSet<String> =
        (0..AGENTS).map(name).chain((0..AGENTS).map(|n| n.to_string())).collect();
    for name in names.iter().rev() {
        wait(engine.fire(name, Event::turn("1"))).expect("a turn");
    }
    wait(engine.quiet());
    assert_eq!(*order.lock().expect("one thread"), names.into_iter().collect::<Vec<_>>());
}

#[test]
fn a_restored_population_goes_on_as_the_original() {
    let chart = chart();
    let plan = Plan::new(&chart);
    let first = engine(&plan);
    let fire = |engine: &Memory<'_, Interpreter<()>, Vec<Line>>, rounds: std::ops::Range<u64>| {
        let mut replies = Vec::new();
        for round in rounds {
            for agent in 0..AGENTS {
                for event in events(agent, round) {
                    replies
                        .push(told(&wait(engine.fire(&name(agent), event)).expect("it is taken")));
                }
            }
            wait(engine.advance(1000));
        }
        replies
    };
    fire(&first, 0..ROUNDS / 2);
    wait(first.quiet());
    let mut saved = Vec::new();
    first.save(&mut saved).expect("all can be saved");
    let made = |name: &str, clock: Arc<dyn Clock>| one(&plan, name, clock);
    let at = |now| -> Arc<dyn Clock> { Arc::new(VirtualClock::starting_at(now)) };
    let second = Memory::restore(saved.as_slice(), at, made).expect("it was written so");
    assert_eq!(second.count(), first.count());
    let replies = fire(&first, ROUNDS / 2..ROUNDS);
    assert_eq!(replies, fire(&second, ROUNDS / 2..ROUNDS));
    assert!(replies.iter().any(|(_, at, repeated)| *repeated && *at < 1000 * (ROUNDS / 2)));
    let (mut first, mut second) = (first.into_sessions(), second.into_sessions());
    let mut compared = 0;
    for name in (0..AGENTS).map(name) {
        let (Some(one), Some(other)) = (first.remove(&name), second.remove(&name)) else {
            continue;
        };
        let (one, other) = (one.into_parts().1, other.into_parts().1);
        let new = one.len() - other.len();
        assert_eq!(one[new..], other, "{name}");
        compared += other.len();
    }
    assert!(first.is_empty() && second.is_empty() && compared > 1000, "{compared} lines");
}

#[test]
fn a_snapshot_that_is_not_whole_is_refused() {
    let chart = chart();
    let plan = Plan::new(&chart);
    let engine = engine(&plan);
    for agent in 0..3 {
        wait(engine.fire(&name(agent), Event::turn("1"))).expect("a turn");
    }
    wait(engine.quiet());
    let mut saved = Vec::new();
    engine.save(&mut saved).expect("all can be saved");
    let saved = String::from_utf8(saved).expect("it is text");
    let lines: Vec<&str> = saved.lines().collect();
    let refused = |text: &str| -> String {
        let made = |name: &str, clock: Arc<dyn Clock>| one(&plan, name, clock);
        let at = |now| -> Arc<dyn Clock> { Arc::new(VirtualClock::starting_at(now)) };
        match Memory::restore(text.as_bytes(), at, made) {
            Ok(_) => panic!("it is not whole: {text}"),
            Err(why) => why.to_string(),
        }
    };
    assert!(refused("").starts_with("line 1 of the snapshot: "));
    assert!(refused("{\"engine\":7,\"now\":0,\"agents\":0,\"key\":[1,2]}").contains("version 7"));
    assert!(refused(&lines[..3].join("\n")).contains("2 agents of 3"));
    assert!(refused(&saved[..saved.len() - 30]).starts_with("line 4 of the snapshot: "));
    let twice = [lines[0], lines[1], lines[1], lines[2]].join("\n");
    assert!(refused(&twice).contains("is there already"), "{}", refused(&twice));
}

#[test]
fn an_agent_that_cannot_be_saved_is_named() {
    let done = Arc::<crowd_example::person::Done>::default();
    let engine = Memory::new(Arc::new(VirtualClock::new()), |_: &str, clock| {
        let person = crowd_example::person::Person::new(7, 1, done.clone());
        let params = crowd_example::person::params(7, 1);
        let machine = crowd_example::social::Machine::new(params, person);
        let machine = machine.map_err(|why| RunError::Start(why.to_string()))?;
        let oracle = Arc::new(crowd_example::stand_in::StandIn::new(7));
        Ok(Session::new(machine, oracle, clock, ()))
    });
    wait(engine.fire("ada", Event::turn("1"))).expect("a turn");
    match engine.save(&mut Vec::new()) {
        // A machine that can be saved is as good.
        Ok(()) => {}
        Err(SnapshotError::NotSaved(agent)) => assert_eq!(agent, "ada"),
        Err(why) => panic!("{why}"),
    }
}

#[test]
fn fewer_ids_are_remembered_where_an_engine_is_told_so() {
    let chart = chart();
    let plan = Plan::new(&chart);
    let engine = engine(&plan).with_seen(2);
    let repeated = |id: &str| -> Result<bool, EngineError> {
        Ok(wait(engine.fire("ada", Event::new(id, "tired")))?.is_repeated)
    };
    for (id, wanted) in
        [("1", false), ("1", true), ("2", false), ("3", false), ("2", true), ("1", false)]
    {
        assert_eq!(repeated(id).expect("it is taken"), wanted, "{id}");
    }
}
