//! A chart in a store is the chart in memory.

use super::*;
use chartc_core::machine::Receipt;
use chartc_runtime::agents::{AgentState, Engine, EngineError, Memory, Quiet};
use std::collections::BTreeMap;

const AGENTS: usize = 7;

/// What a host does with some agents, and what it is told.
async fn host<E: Quiet>(
    engine: &E,
    advance: impl AsyncFn(&E, u64),
) -> (Vec<String>, Vec<AgentState>) {
    let mut told = Vec::new();
    for round in 0..4 {
        for agent in 0..AGENTS {
            let name = format!("agent {agent}");
            let events = [
                Event::turn(format!("{round}")),
                go(&format!("go {}", round % 3), &format!("word {agent}")),
                // There is a walk: it is not taken, and may come again.
                Event::turn(format!("{round}.again")),
                Event::new("misfit", "went"),
            ];
            for event in events {
                told.push(match engine.fire(&name, event).await {
                    Ok(reply) => format!("{agent}: {reply:?}"),
                    Err(why @ EngineError::Event { .. }) => why.to_string(),
                    Err(why) => panic!("{why}"),
                });
            }
        }
        engine.quiet().await;
        advance(engine, 400_000).await;
    }
    let mut states = Vec::new();
    for agent in 0..AGENTS {
        let state = engine.read(&format!("agent {agent}")).await.expect("it runs");
        states.push(state.expect("it was fired at"));
    }
    assert_eq!(engine.read("nobody").await.expect("it can be asked"), None);
    (told, states)
}

#[test]
fn a_store_keeps_what_memory_keeps() {
    let charts = charts(WHOLE);
    let plans = plans(&charts);
    let clock = VirtualClock::new();
    let slow = World { slow: Some(clock.clone()), ..World::default() };
    let world: Arc<dyn Driver> = Arc::new(slow);
    let memory = Memory::new(Arc::new(clock), |name: &str, clock: Arc<dyn Clock>| {
        let machine = Interpreter::new(&plans[0], Script::empty(), Map::new()).expect("no params");
        let session =
            Session::new(machine.with_charts(plans.clone()), Arc::new(Deny), clock, Vec::new());
        Ok(session.with_driver(world.clone()).with_run(name))
    });
    let advance = async |engine: &Memory<'_, _, _>, time| engine.advance(time).await;
    let (told, states) = wait(host(&memory, advance));
    let lines: BTreeMap<String, Vec<String>> = memory
        .into_sessions()
        .into_iter()
        .map(|(name, session)| (name, timeless(&session.into_parts().1)))
        .collect();
    assert!(told.iter().any(|one| one.contains("Busy")), "{told:?}");
    assert!(told.iter().any(|one| one.contains("is_repeated: true")), "{told:?}");
    assert!(states.iter().all(|state| state.configuration == ["end"]), "{states:?}");

    let file = fresh("same");
    let clock = VirtualClock::new();
    let world = Arc::new(World { slow: Some(clock.clone()), ..World::default() });
    let store = Store::own(&file, Safety::Process).expect("a store");
    let (handle, mut worker) =
        engine_at(&plans, store, clock, world.clone(), Box::new(|_, _| Ok(()))).expect("a store");
    let advance = async |engine: &Sqlite, time| engine.advance(time).await.expect("it works");
    let same = wait(while_worked(&mut worker, async {
        let handle = handle;
        host(&handle, advance).await
    }))
    .expect("a disk");
    drop(worker);
    for (nth, (here, there)) in same.0.iter().zip(&told).enumerate() {
        assert_eq!(here, there, "answer {nth}");
    }
    assert_eq!(same, (told, states));
    let store = Store::open(&file).expect("a store");
    for (name, lines) in &lines {
        assert_eq!(&timeless(&store.lines(name).expect("as written")), lines, "{name}");
    }
    assert_eq!(store.check().expect("it can be read"), [""; 0]);
    // Each call was made once, although one in three failed at first.
    let mut paid = world.paid();
    let count = paid.len();
    paid.sort();
    paid.dedup();
    assert_eq!((paid.len(), count > 60), (count, true), "{count} calls");
}

#[test]
fn a_busy_agent_has_not_taken_the_turn_in() {
    let charts = charts(
        "chart T { initial a  state a { llm think { prompt \"?\"  returns Text } -> b }  state b {} }",
    );
    let plans = plans(&charts);
    let file = fresh("busy");
    let world = Arc::new(World { silent: Mutex::new(Some(0)), ..World::default() });
    let (handle, mut worker) =
        engine(&plans, &file, world.clone(), Box::new(|_, _| Ok(()))).expect("a store");
    let fire = async |handle: &Sqlite, id: &str| {
        let reply = handle.fire("ada", Event::turn(id)).await.expect("a turn");
        (reply.receipt, handle.has("ada", id).await.expect("it works"))
    };
    let host = async {
        let handle = handle;
        assert_eq!(fire(&handle, "1").await, (Receipt::Handled, true));
        world.stuck.notified().await;
        assert_eq!(fire(&handle, "2").await, (Receipt::Busy, false));
    };
    wait(while_worked(&mut worker, host)).expect("a disk");
    drop(worker);
    *world.silent.lock().expect("one thread") = None;
    // The next process, whose world knows nothing of the call: the step has failed, and the turn can come.
    let (handle, mut worker) =
        engine(&plans, &file, world.clone(), Box::new(|_, _| Ok(()))).expect("a store");
    let host = async {
        let handle = handle;
        assert_eq!(fire(&handle, "2").await, (Receipt::Handled, true));
        handle.quiet().await;
    };
    wait(while_worked(&mut worker, host)).expect("a disk");
    assert_eq!(world.paid().len(), 2, "{:?}", world.paid());
}

#[test]
fn old_ids_are_forgotten_by_their_prefix_and_age() {
    let charts = charts(
        "chart T { event add  var n: Int = 0  initial a  state a { on add { n = n + 1 } } }",
    );
    let plans = plans(&charts);
    let world = Arc::new(World::default());
    let (handle, mut worker) =
        engine(&plans, &fresh("forget"), world, Box::new(|_, _| Ok(()))).expect("a store");
    let host = async {
        let engine = handle;
        let is_new = async |agent: &str, id: &str| {
            let reply = engine.fire(agent, Event::new(id, "add")).await.expect("an event");
            !reply.is_repeated
        };
        // More than one piece.
        let old: Vec<String> = (0..6_000).map(|nth| format!("redis:s:{nth}")).collect();
        for id in &old {
            assert!(is_new("ada", id).await);
        }
        assert!(is_new("bob", "redis:s:1").await && is_new("bob", "redis:t:1").await);
        engine.advance(1_000).await.expect("it goes on");
        assert!(is_new("bob", "redis:s:2").await);
        engine.advance(500).await.expect("it goes on");
        assert_eq!(engine.forget("redis:s:", 2_000).await.expect("it works"), 0);
        assert_eq!(engine.forget("redis:s:", 1_000).await.expect("it works"), 6_001);
        assert!(is_new("ada", "redis:s:5999").await && is_new("bob", "redis:s:1").await);
        assert!(!is_new("bob", "redis:t:1").await && !is_new("bob", "redis:s:2").await);
    };
    wait(while_worked(&mut worker, host)).expect("a disk");
}
