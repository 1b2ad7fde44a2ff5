//! Measures how long events, turns and the passing of time take, in a separate process.

use super::charts::{self, Which};
use super::events::{
    TINY, best, event_dyn, event_hand, event_machine, event_session, fire_all, fired, names,
    sessions, social_dyn, social_engine, social_events, social_session, tiny_engine,
};
use super::{hand, wait};
use chartc_core::expr::Map;
use chartc_core::host::Machine;
use chartc_runtime::agents::{Event, Memory, Quiet};
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::{Saved, Session};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// The measurements, each with its unit: `ns` for each item, or `µs` in total.
pub(super) const TIMES: [(&str, &str, &str); 26] = [
    ("event-hand", "one event: a struct by hand", "ns"),
    ("event-machine", "  the generated machine, `send`", "ns"),
    ("event-dyn", "one event, `tiny`: the machine, `dyn handle`", "ns"),
    ("event-session", "  a Session of it, `post`", "ns"),
    ("event-engine", "  agents::Memory, `fire` from one thread", "ns"),
    ("event-engine-2", "  agents::Memory, `fire` from two threads", "ns"),
    ("social-dyn", "one event, `social`: the machine, `dyn handle`", "ns"),
    ("social-session", "  a Session of it, `post`", "ns"),
    ("social-engine", "  agents::Memory, `fire` from one thread", "ns"),
    ("social-engine-2", "  agents::Memory, `fire` from two threads", "ns"),
    ("turn-hand", "one turn with a question: by hand", "ns"),
    ("turn-hand-2", "  by hand, on two threads", "ns"),
    ("turn-session", "  a Session of the generated machine", "ns"),
    ("turn-session-2", "  Sessions of it on two threads", "ns"),
    ("turn-interpreted", "  a Session of the interpreter", "ns"),
    ("turn-engine", "  agents::Memory: `fire` all, then `quiet`", "ns"),
    ("turn-at-once", "  agents::Memory, `with_work_at_once`", "ns"),
    ("turn-engine-2", "  a Memory on each of two threads", "ns"),
    ("second", "turns in a second: Sessions on two threads", "thousands"),
    ("second-engine-2", "  a Memory on each of two threads", "thousands"),
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
        "event-engine" => fired(&tiny_engine(), &TINY, agents, 1),
        "event-engine-2" => fired(&tiny_engine(), &TINY, agents, 2),
        "social-dyn" => social_dyn(agents),
        "social-session" => social_session(agents),
        "social-engine" => fired(&social_engine(), &social_events(), agents, 1),
        "social-engine-2" => fired(&social_engine(), &social_events(), agents, 2),
        "turn-hand" => turn_hand(agents, 1),
        "turn-hand-2" => turn_hand(agents, 2),
        "turn-session" => turn_session(agents, 1, |_| charts::asking()),
        "turn-session-2" => turn_session(agents, 2, |_| charts::asking()),
        "turn-interpreted" => {
            let plan = Which::Asking.plan();
            turn_session(agents, 1, |nth| charts::interpreted(Which::Asking, &plan, nth))
        }
        "turn-engine" => turn_engine(agents, 1, |engine| engine),
        "turn-at-once" => turn_engine(agents, 1, Memory::with_work_at_once),
        "turn-engine-2" => turn_engine(agents, 2, |engine| engine),
        "second" => thousands(turn_session(agents, 2, |_| charts::asking())),
        "second-engine-2" => thousands(turn_engine(agents, 2, |engine| engine)),
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

/// The rate per second, in thousands, of items that take this number of nanoseconds each.
fn thousands(nanoseconds: f64) -> f64 {
    1e6 / nanoseconds
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

/// The sessions are divided among the threads.
fn turn_session<M: Machine + Send>(
    agents: usize,
    threads: usize,
    machine: impl Fn(usize) -> M,
) -> f64 {
    let mut parts: Vec<_> =
        (0..threads).map(|_| sessions(agents.div_ceil(threads), &machine)).collect();
    let turns = |all: &mut Vec<Session<M, ()>>| {
        for session in all {
            black_box(wait(session.turn()).expect("a turn"));
        }
    };
    let pieces = parts.iter().map(Vec::len).sum();
    best(pieces, || {
        std::thread::scope(|scope| {
            let (own, others) = parts.split_at_mut(1);
            for part in others {
                scope.spawn(|| turns(part));
            }
            own.iter_mut().for_each(turns);
        });
    })
}

type Askers = Memory<'static, charts::asking::Machine<()>, ()>;

/// Fires a turn at each agent of these engines, each of them on a thread, and waits until all turns are done.
fn turn_engine(agents: usize, engines: usize, with: impl Fn(Askers) -> Askers) -> f64 {
    let engines: Vec<_> = (0..engines)
        .map(|_| {
            let made = charts::made(|_| charts::asking());
            with(Memory::new(Arc::new(VirtualClock::new()), made))
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
                    fire_all(engine, names, &|| Event::turn(nth.to_string()));
                    wait(engine.quiet());
                });
            }
        });
    })
}

/// Microseconds that an operation takes when all agents are idle.
fn idle(agents: usize, work: impl Fn(&Memory<'static, charts::tiny::Machine<()>, ()>)) -> f64 {
    let engine = tiny_engine();
    fire_all(&engine, &names(agents), &|| Event::new("1", "go"));
    best(1, || work(&engine)) / 1000.0
}

/// Microseconds to advance time by a second in which the deadline of exactly one agent is due.
fn due(agents: usize) -> f64 {
    let made = charts::made(|_| charts::waiting());
    let engine = Memory::new(Arc::new(VirtualClock::new()), made);
    let names = names(agents);
    fire_all(&engine, &names[1..], &|| Event::new("1", "long"));
    fire_all(&engine, &names[..1], &|| Event::new("1", "short"));
    wait(engine.quiet());
    let start = Instant::now();
    wait(engine.advance(1000));
    start.elapsed().as_nanos() as f64 / 1000.0
}

/// Nanoseconds to save and to restore an agent of the social chart, and the size of its snapshot in bytes.
fn saved(agents: usize) -> (f64, f64, f64) {
    let plan = Which::Social.plan();
    let mut all = sessions(agents, |nth| charts::interpreted(Which::Social, &plan, nth));
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
            let machine = charts::interpreted(Which::Social, &plan, nth);
            let mut session = charts::session(machine, &oracle, clock.clone());
            session.restore(&Saved::read(text).expect("it was written")).expect("it fits");
            session
        })
        .collect();
    let restore = each(start);
    drop(again);
    (snapshot, restore, bytes)
}
