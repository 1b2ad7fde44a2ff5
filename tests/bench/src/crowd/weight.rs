//! Measures the resident memory of idle agents, in a separate process.

use super::charts::{self, Which};
use super::hand;
use super::wait;
use chartc_core::expr::Map;
use chartc_core::host::Machine;
use chartc_runtime::Session;
use chartc_runtime::agents::{Engine, Event, Memory};
use chartc_runtime::clock::{Clock, VirtualClock};
use std::hint::black_box;
use std::sync::Arc;

/// The forms of an agent, from the smallest to the largest.
pub(super) const KINDS: [(&str, &str); 7] = [
    ("hand", "a struct by hand"),
    ("machine", "the generated machine"),
    ("bare", "a Session of it that remembers no transitions"),
    ("session", "a Session of it"),
    ("bare-interpreted", "a Session of the interpreter that remembers none"),
    ("interpreted", "a Session of the interpreter"),
    ("engine", "an agent of agents::Memory, with its name"),
];

/// Prints the bytes for each of this many agents.
pub(super) fn report(kind: &str, which: Which, agents: usize) {
    let bytes = match (kind, which) {
        ("hand", Which::Social) => of(agents, |nth| {
            let (name, interests, personality) = charts::person(nth);
            let mut agent = hand::Social::new(name, interests, personality);
            agent.start_browsing();
            agent
        }),
        ("hand", Which::Tiny) => of(agents, |_| {
            let mut agent = hand::Tiny::default();
            agent.go();
            agent
        }),
        ("machine", Which::Social) => of(agents, |nth| {
            let mut machine = charts::social(nth);
            machine.start(0, &mut ());
            machine.send(charts::social::Event::StartBrowsing, 0, &mut ());
            machine
        }),
        ("machine", Which::Tiny) => of(agents, |_| {
            let mut machine = charts::tiny();
            machine.start(0, &mut ());
            machine.send(charts::tiny::Event::Go, 0, &mut ());
            machine
        }),
        ("bare" | "session", Which::Social) => {
            sessions(which, agents, kind == "bare", charts::social)
        }
        ("bare" | "session", Which::Tiny) => {
            sessions(which, agents, kind == "bare", |_| charts::tiny())
        }
        ("bare-interpreted" | "interpreted", _) => {
            let (plan, is_bare) = (which.plan(), kind == "bare-interpreted");
            sessions(which, agents, is_bare, |nth| charts::interpreted(which, &plan, nth))
        }
        ("engine", Which::Social) => engine(which, agents, charts::social),
        ("engine", Which::Tiny) => engine(which, agents, |_| charts::tiny()),
        _ => None,
    };
    if let Some(bytes) = bytes {
        println!("{bytes}");
    }
}

/// Resident bytes for each of this many values.
fn of<T>(agents: usize, mut make: impl FnMut(usize) -> T) -> Option<u64> {
    // The first one allocates what all of them share.
    black_box(make(0));
    let before = resident()?;
    let all: Vec<T> = (0..agents).map(&mut make).collect();
    let after = resident()?;
    drop(black_box(all));
    Some(each(before, after, agents))
}

fn each(before: u64, after: u64, agents: usize) -> u64 {
    after.saturating_sub(before) / agents.max(1) as u64
}

fn sessions<M: Machine>(
    which: Which,
    agents: usize,
    is_bare: bool,
    machine: impl Fn(usize) -> M,
) -> Option<u64> {
    let oracle = Arc::new(charts::Same);
    let clock: Arc<dyn Clock> = Arc::new(VirtualClock::new());
    let first: Session<M, ()> = charts::session(machine(0), &oracle, clock);
    let first = if is_bare { first.with_history(0) } else { first };
    of(agents, |nth| {
        let mut session = first.another(machine(nth), ());
        session.enter().expect("it starts");
        wait(session.post(which.event(), Map::new())).expect("it has the event");
        session
    })
}

fn engine<M: Machine + Send>(
    which: Which,
    agents: usize,
    machine: impl Fn(usize) -> M + Send + Sync,
) -> Option<u64> {
    let engine = Memory::new(Arc::new(VirtualClock::new()), charts::made(machine));
    let fire = |nth: usize| {
        let name = format!("agent-{nth}");
        wait(engine.fire(&name, Event::new("1", which.event()))).expect("it has the event");
    };
    fire(agents);
    let before = resident()?;
    (0..agents).for_each(fire);
    let after = resident()?;
    drop(black_box(engine));
    Some(each(before, after, agents))
}

/// The resident memory of this process in bytes.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}
