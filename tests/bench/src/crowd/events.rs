//! Measures how long events take in a machine alone, in a session, and in an engine.

use super::charts;
use super::{hand, wait};
use chartc_core::expr::{Map, Value};
use chartc_core::host::Machine;
use chartc_core::machine::{Effect, Input, Record, Sink};
use chartc_runtime::Session;
use chartc_runtime::agents::{Engine, Event, Memory};
use chartc_runtime::clock::{Clock, VirtualClock};
use chartc_runtime::data::payload;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// Nanoseconds for each item: the best of several rounds with at least half a million items in total.
pub(super) fn best(pieces: usize, mut round: impl FnMut()) -> f64 {
    best_after(pieces, || (), |()| round())
}

/// Like [`best`], for rounds with an input. Making the input is not measured.
pub(super) fn best_after<I>(
    pieces: usize,
    mut make: impl FnMut() -> I,
    mut round: impl FnMut(I),
) -> f64 {
    let rounds = (1_000_000 / pieces.max(1)).clamp(3, 200);
    let mut one = || {
        let made = make();
        let start = Instant::now();
        round(made);
        start.elapsed().as_nanos() as f64 / pieces as f64
    };
    (0..rounds).map(|_| one()).fold(f64::INFINITY, f64::min)
}

pub(super) fn event_hand(agents: usize) -> f64 {
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

pub(super) fn tinies(agents: usize) -> Vec<charts::tiny::Machine<()>> {
    let made = (0..agents).map(|_| {
        let mut machine = charts::tiny();
        machine.start(0, &mut ());
        machine
    });
    made.collect()
}

pub(super) fn event_machine(agents: usize) -> f64 {
    let mut all = tinies(agents);
    best(2 * agents, || {
        for event in [charts::tiny::Event::Go, charts::tiny::Event::Back] {
            for machine in black_box(&mut all) {
                machine.send(event.clone(), 0, &mut ());
            }
        }
    })
}

pub(super) fn event_dyn(agents: usize) -> f64 {
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

pub(super) fn sessions<M: Machine>(
    agents: usize,
    machine: impl Fn(usize) -> M,
) -> Vec<Session<M, ()>> {
    let oracle = Arc::new(charts::Same);
    let clock: Arc<dyn Clock> = Arc::new(VirtualClock::new());
    let made = (0..agents).map(|nth| {
        let mut session = charts::session(machine(nth), &oracle, clock.clone());
        session.enter().expect("it starts");
        session
    });
    made.collect()
}

pub(super) fn event_session(agents: usize) -> f64 {
    let mut all = sessions(agents, |_| charts::tiny());
    best(2 * agents, || {
        for event in ["go", "back"] {
            for session in &mut all {
                wait(session.post(event, Map::new())).expect("it has the event");
            }
        }
    })
}

pub(super) fn names(agents: usize) -> Vec<String> {
    (0..agents).map(|nth| format!("agent-{nth}")).collect()
}

/// Events with their data that lead an agent back to the state in which it was.
pub(super) type Events = [(&'static str, Map)];

pub(super) const TINY: [(&str, Map); 2] = [("go", Map::new()), ("back", Map::new())];

/// Events that show a dull post, then an empty page.
pub(super) fn social_events() -> [(&'static str, Map); 5] {
    let text = |text: &str| Value::Text(text.to_owned());
    let post = [("id", text("7")), ("text", text("a post")), ("velocity", Value::Float(0.5))];
    let post: Map = post.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let sees: Map = [("post".to_owned(), Value::Map(post))].into_iter().collect();
    let none = Map::new;
    [
        ("start_browsing", none()),
        ("sees_post", sees),
        ("decides", none()),
        ("feed_empty", none()),
        ("rested", none()),
    ]
}

/// A host that performs nothing, records nothing and takes no notes.
struct Nobody;

impl Sink for Nobody {
    fn effect(&mut self, _: Effect) {}

    fn record(&mut self, _: Record) {}

    fn takes_notes(&self) -> bool {
        false
    }
}

/// The data of the social chart's events is made in advance, and its time is not measured.
pub(super) fn social_dyn(agents: usize) -> f64 {
    let made = (0..agents).map(|nth| {
        let mut machine = charts::social(nth);
        machine.start(0, &mut ());
        machine
    });
    let mut all: Vec<_> = made.collect();
    let (events, tables) = (social_events(), charts::social(0));
    let make = || {
        let inputs = events.iter().map(|(name, data)| {
            let made = payload(tables.tables(), name, data).expect("it has the event");
            vec![made; agents]
        });
        inputs.collect::<Vec<_>>()
    };
    best_after(events.len() * agents, make, |inputs| {
        for inputs in inputs {
            for (machine, (id, payload)) in black_box(&mut all).iter_mut().zip(inputs) {
                let machine: &mut dyn Machine = machine;
                let receipt = machine.handle(Input::Event(id, payload), 0, &mut Nobody);
                black_box(receipt.expect("it fits"));
            }
        }
    })
}

pub(super) fn social_session(agents: usize) -> f64 {
    let mut all = sessions(agents, charts::social);
    let events = social_events();
    let make = || {
        let of_all = events.iter().map(|(name, data)| (*name, vec![data.clone(); agents]));
        of_all.collect::<Vec<_>>()
    };
    best_after(events.len() * agents, make, |events| {
        for (event, data) in events {
            for (session, data) in all.iter_mut().zip(data) {
                wait(session.post(event, data)).expect("it has the event");
            }
        }
    })
}

pub(super) fn tiny_engine() -> Memory<'static, charts::tiny::Machine<()>, ()> {
    let made = charts::made(|_| charts::tiny());
    Memory::new(Arc::new(VirtualClock::new()), made)
}

pub(super) fn social_engine() -> Memory<'static, charts::social::Machine<charts::Reader>, ()> {
    let made = charts::made(charts::social);
    Memory::new(Arc::new(VirtualClock::new()), made)
}

/// Fires an event at every agent.
pub(super) fn fire_all<M: Machine + Send>(
    engine: &Memory<'_, M, ()>,
    names: &[String],
    event: &impl Fn() -> Event,
) {
    for name in names {
        wait(engine.fire(name, event())).expect("it is taken");
    }
}

/// Each event once for every agent, with a new id.
pub(super) fn fresh<'a>(
    names: &'a [String],
    events: &Events,
    nth: &mut usize,
) -> Vec<Vec<(&'a String, Event)>> {
    let made = events.iter().map(|(name, data)| {
        *nth += 1;
        let event = |agent| (agent, Event::new(nth.to_string(), *name).with(data.clone()));
        names.iter().map(event).collect()
    });
    made.collect()
}

/// Fires events that were made in advance. Each thread has its own share of the agents.
pub(super) fn fired<M: Machine + Send>(
    engine: &Memory<'_, M, ()>,
    events: &Events,
    agents: usize,
    threads: usize,
) -> f64 {
    let (names, mut nth) = (names(agents), 0);
    fire_all(engine, &names, &|| Event::new("0", ""));
    let make = || {
        let mut made = fresh(&names, events, &mut nth);
        let share = agents.div_ceil(threads);
        let mut shares = Vec::new();
        while made.first().is_some_and(|events| !events.is_empty()) {
            let cut = |all: &mut Vec<(_, Event)>| all.split_off(all.len().saturating_sub(share));
            shares.push(made.iter_mut().map(cut).collect::<Vec<_>>());
        }
        shares
    };
    best_after(events.len() * agents, make, |shares| {
        std::thread::scope(|scope| {
            for share in shares {
                scope.spawn(move || {
                    for (name, event) in share.into_iter().flatten() {
                        wait(engine.fire(name, event)).expect("it is taken");
                    }
                });
            }
        });
    })
}
