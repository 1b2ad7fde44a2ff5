//! Turns for which an agent is busy, and engines that are away.

use crate::server::{GROUP, Server, until_async};
use chartc_adapters::redis::{Counts, Intake, Notice, Options};
use chartc_core::machine::Receipt;
use chartc_runtime::agents::{AgentState, Engine, EngineError, Event, Reply, TURN};
use std::sync::Mutex;

/// An engine whose agents are busy with a turn until an event `done` comes, and that is away as often as it is told.
#[derive(Default)]
struct Walks {
    taken: Mutex<Vec<String>>,
    is_walking: Mutex<bool>,
    asked: Mutex<u32>,
    away: Mutex<u32>,
}

impl Engine for Walks {
    async fn fire(&self, agent: &str, event: Event) -> Result<Reply, EngineError> {
        *self.asked.lock().expect("no panic") += 1;
        let mut away = self.away.lock().expect("no panic");
        if *away > 0 {
            *away -= 1;
            return Err(EngineError::Away { agent: agent.into(), why: "gone".into() });
        }
        let mut is_walking = self.is_walking.lock().expect("no panic");
        let mut receipt = Receipt::Handled;
        if event.name == TURN && *is_walking {
            receipt = Receipt::Busy;
        } else {
            if event.name == TURN || event.name == "done" {
                *is_walking = event.name == TURN;
            }
            let what = event.id.rsplit(':').next().unwrap_or_default().to_owned();
            self.taken.lock().expect("no panic").push(what);
        }
        Ok(Reply { receipt, at: 0, is_repeated: false, content: None })
    }

    async fn read(&self, _: &str) -> Result<Option<AgentState>, EngineError> {
        Ok(None)
    }
}

impl Walks {
    fn taken(&self) -> String {
        self.taken.lock().expect("no panic").join(" ")
    }
}

/// Takes events in while something is done.
async fn while_taken(
    server: &Server,
    engine: &Walks,
    rest: impl Future<Output = ()>,
) -> (Counts, Vec<Notice>) {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let intake = Intake::new(Options::new(&server.url(), "s", GROUP)).expect("an address");
    let mut notices = Vec::new();
    let run = intake.run(engine, async { drop(stopped.await) }, |notice| notices.push(notice));
    let rest = async {
        rest.await;
        drop(stop);
    };
    let (counts, ()) = tokio::join!(run, rest);
    (counts.expect("it ends well"), notices)
}

#[tokio::test]
async fn a_turn_waits_for_the_one_before_and_events_go_past_it() {
    let Some(server) = Server::start("busy", &[]) else { return };
    let add = |agent: &str, event: &str, id: &str| {
        server.add("s", &[("agent", agent), ("event", event), ("id", id)]);
    };
    for (event, id) in [("turn", "t1"), ("turn", "t2"), ("turn", "t3"), ("look", "e1")] {
        add("ada", event, id);
    }
    let engine = Walks::default();
    let (counts, _) = while_taken(&server, &engine, async {
        until_async("the event is there", || engine.taken() == "t1 e1").await;
        let asked = || *engine.asked.lock().expect("no panic");
        let before = asked();
        until_async("the turn is tried again", || asked() > before + 1).await;
        assert_eq!((engine.taken().as_str(), server.pending("s")), ("t1 e1", 2));
    })
    .await;
    // What waited is pending, and the next process has it.
    assert!(counts.busy >= 2 && counts.applied == 2, "{counts:?}");
    assert_eq!(server.pending("s"), 2);
    add("ada", "done", "d1");
    let (counts, _) = while_taken(&server, &engine, async {
        until_async("the second turn", || engine.taken() == "t1 e1 d1 t2").await;
        add("ada", "done", "d2");
        server.drained("s").await;
    })
    .await;
    assert_eq!(engine.taken(), "t1 e1 d1 t2 d2 t3");
    assert_eq!(counts.applied, 4);
}

#[tokio::test]
async fn an_engine_that_is_away_gets_events_later_and_in_order() {
    let Some(server) = Server::start("away", &[]) else { return };
    for id in ["1", "2", "3"] {
        server.add("s", &[("agent", "ada"), ("event", "look"), ("id", id)]);
    }
    let engine = Walks { away: Mutex::new(4), ..Walks::default() };
    let (counts, notices) = while_taken(&server, &engine, server.drained("s")).await;
    assert_eq!((engine.taken().as_str(), counts.applied, counts.dead), ("1 2 3", 3, 0));
    let away = notices.iter().filter(|notice| matches!(notice, Notice::EngineAway(_))).count();
    assert_eq!(away, 1, "{notices:?}");
}
