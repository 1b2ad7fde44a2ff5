//! Measures how long events, turns and the passing of time take, in a separate process.

use super::charts::{self, Which};
use super::{hand, wait};
use chartc_core::expr::Map;
use chartc_core::host::Machine;
use chartc_core::machine::Input;
use chartc_runtime::agents::{Engine, Event, Memory, Quiet};
use chartc_runtime::clock::{Clock, VirtualClock};
use chartc_runtime::{Saved, Session};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// What is measured, with its unit: `ns` for each item, or `µs` in total.
pub(super) const TIMES: [(&str, &str, &str); 21] = [
    ("event-hand", "one event: a struct by hand", "ns"),
    ("event-machine", "  the generated machine, `send`", "ns"),
    ("event-dyn", "  the generated machine, `dyn handle`", "ns"),
    ("event-session", "  a Session of it, `post`", "ns"),
    ("event-engine", "  agents::Memory, `fire` from one thread", "ns"),
    ("event-engine-2", "  agents::Memory, `fire` from two threads", "ns"),
    ("event-many", "  agents::Memory, `fire_many`", "ns"),
    ("event-many-2", "  agents::Memory, `fire_many`, `with_threads(2)`", "ns"),
    ("turn-hand", "one turn with a question: by hand", "ns"),
    ("turn-hand-2", "  by hand, on two threads", "ns"),
    ("turn-session", "  a Session of the generated machine", "ns"),
    ("turn-interpreted", "  a Session of the interpreter", "ns"),
    ("turn-engine", "  agents::Memory: `fire` all, then `quiet`", "ns"),
    ("turn-engine-2", "  a Memory on each of two threads", "ns"),
    ("turn-threads", "  agents::Memory, `with_threads(2)`", "ns"),
    ("quiet", "`quiet()` of idle agents, in all", "µs"),
    ("advance", "`advance(1)` of idle agents, in all", "µs"),
    ("advance-due", "`advance(1000)`, one of all that wait is due", "µs"),
    ("snapshot", "a snapshot, for each agent", "ns"),
    ("restore", "  and back again", "ns"),
    ("bytes", "  its length, for each agent", "bytes"),
];

/// Prints a measurement with this many agents.
pub(super) fn report(what: &str, agents: usize) {
    let made = match what {
        "event-hand" => event_hand(agents),
        "event-machine" => event_machine(agents),
        "event-dyn" => event_dyn(agents),
        "event-session" => event_session(agents),
        "event-engine" => event_engine(agents, 1),
        "event-engine-2" => event_engine(agents, 2),
        "event-many" => event_many(agents, 1),
        "event-many-2" => event_many(agents, 2),
        "turn-hand" => turn_hand(agents, 1),
        "turn-hand-2" => turn_hand(agents, 2),
        "turn-session" => turn_session(agents, |_| charts::asking()),
        "turn-interpreted" => {
            let plan = Which::Asking.plan();
            turn_session(agents, |nth| charts::interpreted(Which::Asking, plan, nth))
        }
        "turn-engine" => turn_engine(agents, 1, 1),
        "turn-engine-2" => turn_engine(agents, 2, 1),
        "turn-threads" => turn_engine(agents, 1, 2),
        "quiet" => idle(agents, |engine| wait(engine.quiet())),
        "advance" => idle(agents, |engine| wait(engine.advance(1))),
        "advance-due" => due(agents),
        "snapshot" => saved(agents).0,
        "restore" => saved(agents).1,
        "bytes" => saved(agents).2,
        _ => return,
    };
    println!("{made}");
}

/// Nanoseconds for each item: the best of several rounds with at least half a million items in total.
fn best(pieces: usize, mut round: impl FnMut()) -> f64 {
    let rounds = (1_000_000 / pieces.max(1)).clamp(3, 200);
    let one = |round: &mut dyn FnMut()| {
        let start = Instant::now();
        round();
        start.elapsed().as_nanos() as f64 / pieces as f64
    };
    (0..rounds).map(|_| one(&mut round)).fold(f64::INFINITY, f64::min)
}

fn event_hand(agents: usize) -> f64 {
    let mut all = vec![hand::Tiny::default(); agents];
    best(2 * agents, || {
        for agent in black_box(&mut all) {
            agent.go();
        }
        for agent in black_box(&mut all) {
            agent.back();
        }
    })
}

fn tinies(agents: usize) -> Vec<charts::tiny::Machine<()>> {
    let made = (0..agents).map(|_| {
        let mut machine = charts::tiny();
        machine.start(0, &mut ());
        machine
    });
    made.collect()
}

fn event_machine(agents: usize) -> f64 {
    let mut all = tinies(agents);
    best(2 * agents, || {
        for event in [charts::tiny::Event::Go, charts::tiny::Event::Back] {
            for machine in black_box(&mut all) {
                machine.send(event.clone(), 0, &mut ());
            }
        }
    })
}

fn event_dyn(agents: usize) -> f64 {
    let mut all = tinies(agents);
    best(2 * agents, || {
        for event in [charts::tiny::EventName::Go, charts::tiny::EventName::Back] {
            for machine in black_box(&mut all) {
                let machine: &mut dyn Machine = machine;
                let receipt = machine.handle(Input::Event(event.id(), Vec::new()), 0, &mut ());
                black_box(receipt.expect("it has no data"));
            }
        }
    })
}

fn sessions<M: Machine>(agents: usize, machine: impl Fn(usize) -> M) -> Vec<Session<M, ()>> {
    let oracle = Arc::new(charts::Same);
    let clock: Arc<dyn Clock> = Arc::new(VirtualClock::new());
    let made = (0..agents).map(|nth| {
        let mut session = charts::session(machine(nth), &oracle, clock.clone());
        session.enter().expect("it starts");
        session
    });
    made.collect()
}

fn event_session(agents: usize) -> f64 {
    let mut all = sessions(agents, |_| charts::tiny());
    best(2 * agents, || {
        for event in ["go", "back"] {
            for session in &mut all {
                wait(session.post(event, Map::new())).expect("it has the event");
            }
        }
    })
}

fn names(agents: usize) -> Vec<String> {
    (0..agents).map(|nth| format!("agent-{nth}")).collect()
}

fn tiny_engine() -> Memory<'static, charts::tiny::Machine<()>, ()> {
    Memory::new(Arc::new(VirtualClock::new()), charts::made(|_| charts::tiny()))
}

/// Fires an event at every agent. Each of the threads has its own share of the agents.
fn fire_all<M: Machine + Send>(
    engine: &Memory<'_, M, ()>,
    names: &[String],
    threads: usize,
    event: &(impl Fn() -> Event + Sync),
) {
    std::thread::scope(|scope| {
        for names in names.chunks(names.len().div_ceil(threads)) {
            scope.spawn(move || {
                for name in names {
                    wait(engine.fire(name, event())).expect("it is taken");
                }
            });
        }
    });
}

fn event_engine(agents: usize, threads: usize) -> f64 {
    let engine = tiny_engine();
    let names = names(agents);
    fire_all(&engine, &names, 1, &|| Event::new("0", "go"));
    let mut nth = 0;
    best(2 * agents, || {
        for name in ["go", "back"] {
            nth += 1;
            fire_all(&engine, &names, threads, &|| Event::new(nth.to_string(), name));
        }
    })
}

fn event_many(agents: usize, threads: usize) -> f64 {
    let engine = tiny_engine().with_threads(threads);
    let names = names(agents);
    let mut nth = 0;
    best(2 * agents, || {
        for name in ["go", "back"] {
            nth += 1;
            let events: Vec<(&String, Event)> =
                names.iter().map(|agent| (agent, Event::new(nth.to_string(), name))).collect();
            for reply in engine.fire_many(&events) {
                reply.expect("it is taken");
            }
        }
    })
}

fn turn_hand(agents: usize, threads: usize) -> f64 {
    let mut all = vec![hand::Asking::default(); agents];
    let ask = |prompt: String| {
        black_box(prompt);
        "left".to_owned()
    };
    best(agents, || {
        std::thread::scope(|scope| {
            for part in all.chunks_mut(agents.div_ceil(threads)) {
                scope.spawn(|| part.iter_mut().for_each(|agent| agent.turn(black_box(&ask))));
            }
        });
    })
}

fn turn_session<M: Machine>(agents: usize, machine: impl Fn(usize) -> M) -> f64 {
    let mut all = sessions(agents, machine);
    best(agents, || {
        for session in &mut all {
            black_box(wait(session.turn()).expect("a turn"));
        }
    })
}

/// Fires a turn at each agent, from as many threads as work on it, and waits until all are done.
fn turn_engine(agents: usize, engines: usize, threads: usize) -> f64 {
    let engines: Vec<_> = (0..engines)
        .map(|_| {
            let made = charts::made(|_| charts::asking());
            Memory::new(Arc::new(VirtualClock::new()), made).with_threads(threads)
        })
        .collect();
    let names = names(agents / engines.len());
    let mut nth = 0;
    best(names.len() * engines.len(), || {
        nth += 1;
        std::thread::scope(|scope| {
            for engine in &engines {
                let names = &names;
                scope.spawn(move || {
                    fire_all(engine, names, threads, &|| Event::turn(nth.to_string()));
                    wait(engine.quiet());
                });
            }
        });
    })
}

/// Microseconds that an operation takes when all agents are idle.
fn idle(agents: usize, work: impl Fn(&Memory<'static, charts::tiny::Machine<()>, ()>)) -> f64 {
    let engine = tiny_engine();
    fire_all(&engine, &names(agents), 1, &|| Event::new("1", "go"));
    best(1, || work(&engine)) / 1000.0
}

/// Microseconds to advance time by a second in which the deadline of exactly one agent is due.
fn due(agents: usize) -> f64 {
    let made = charts::made(|_| charts::waiting());
    let engine = Memory::new(Arc::new(VirtualClock::new()), made);
    let names = names(agents);
    fire_all(&engine, &names[1..], 1, &|| Event::new("1", "long"));
    fire_all(&engine, &names[..1], 1, &|| Event::new("1", "short"));
    wait(engine.quiet());
    let start = Instant::now();
    wait(engine.advance(1000));
    start.elapsed().as_nanos() as f64 / 1000.0
}

/// Nanoseconds to save and to restore an agent of the social chart, and the size of its snapshot in bytes.
fn saved(agents: usize) -> (f64, f64, f64) {
    let plan = Which::Social.plan();
    let mut all = sessions(agents, |nth| charts::interpreted(Which::Social, plan, nth));
    for session in &mut all {
        wait(session.post("start_browsing", Map::new())).expect("it has the event");
    }
    let each = |start: Instant| start.elapsed().as_nanos() as f64 / agents as f64;
    let start = Instant::now();
    let texts: Vec<String> = all
        .iter()
        .map(|session| session.save().expect("it runs").text().expect("it can be written"))
        .collect();
    let snapshot = each(start);
    drop(all);
    let bytes = texts.iter().map(String::len).sum::<usize>() as f64 / agents as f64;
    let (oracle, clock) = (Arc::new(charts::Same), Arc::new(VirtualClock::new()));
    let start = Instant::now();
    let again: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(nth, text)| {
            let machine = charts::interpreted(Which::Social, plan, nth);
            let mut session = charts::session(machine, &oracle, clock.clone());
            session.take_over(&Saved::read(text).expect("it was written")).expect("it fits");
            session
        })
        .collect();
    let restore = each(start);
    drop(again);
    (snapshot, restore, bytes)
}
