//! What agents know of the world.

use crate::door::{Echo, Words, agent, empty, invoke, json, world, write};
use chartc_core::expr::Value;
use chartc_runtime::trace::{Line, VERSION, What};
use chartc_world::{Census, Moment, Settings, World};
use std::sync::Arc;

#[test]
fn a_view_has_all_of_it() {
    let world = world(&["ada", "bob"]);
    write(&world, "ada", "plan", "", "0123456789").expect("it is new");
    write(&world, "bob", "note", "", "x").expect("it is new");
    invoke(&world, "bob", "genesis_store", "set_policy", r#"["note", {"read": "owner"}]"#)
        .expect("own");
    invoke(&world, "bob", "genesis_ledger", "transfer", r#"["ada", 7]"#).expect("own");
    world.set_moment(Moment { tick: Some(3), now_ms: 50, total_ms: Some(200) });
    let view = world.shared().view("ada");
    assert_eq!((view.balance, view.earned), (107, 7));
    assert_eq!((view.tick, view.time), (Some(3), Some((50, 200))));
    assert_eq!(view.own, [Value::Text("plan".into())]);
    assert_eq!(view.others, [Value::Text("bob".into())]);
    assert_eq!(view.balances.get("bob"), Some(&Value::Int(93)));
    assert_eq!(view.quotas.get("compute"), Some(&Value::Int(1_000)));
    // Her record and her memory are on her disk, too.
    assert_eq!(view.disk, Some((14, 1_000_000)));
    assert_eq!(view.economy, "200 scrip in circulation; you are number 1 of 2 by scrip");
    let rows = serde_json::to_string(&view.artifacts).expect("JSON");
    let plan =
        r#"{"id":"plan","type":"data","created_by":"ada","executable":false,"is_genesis":false}"#;
    assert!(rows.contains(plan) && rows.contains(r#""id":"genesis_ledger""#), "{rows}");
    assert!(!rows.contains("note"), "{rows}");
    let last = view.recent_events.last().expect("there are some");
    let last = serde_json::to_string(last).expect("JSON");
    assert!(last.contains("transferred") || last.contains("invoked"), "{last}");
    assert!(view.event_number > 5);
    let log = invoke(&world, "ada", "genesis_event_log", "read", "[500]").expect("all may");
    let log = serde_json::to_string(&log).expect("JSON");
    assert!(log.contains("plan") && !log.contains("policy_set"), "what is not hers to know: {log}");
}

#[test]
fn lists_of_a_large_world_are_bounded() {
    let world = empty(Settings { max_artifacts: 10_000, ..Settings::default() });
    for n in 0..300 {
        world.add_agent(agent(&format!("a{n:03}"))).expect("the name is free");
        write(&world, &format!("a{n:03}"), &format!("x{n:03}"), "", "x").expect("it is new");
    }
    invoke(&world, "a299", "genesis_ledger", "transfer", r#"["a000", 99]"#).expect("own");
    let view = world.shared().view("a299");
    assert_eq!(view.others.len(), 100);
    assert_eq!(view.balances.len(), 101, "the richest, and its own");
    assert_eq!(view.balances.get("a299"), Some(&Value::Int(1)));
    assert_eq!(view.artifacts.len(), 107, "the newest, and those of the world itself");
    assert_eq!(view.recent_events.len(), 20);
    assert!(view.economy.contains("you are below the first 100 of 300"), "{}", view.economy);
}

#[test]
fn a_world_says_how_much_its_agents_see() {
    let world = empty(Settings { max_seen: 2, ..Settings::default() });
    for name in ["a", "b", "c", "d"] {
        world.add_agent(agent(name)).expect("the name is free");
        write(&world, name, &format!("of_{name}"), "", "x").expect("it is new");
    }
    let view = world.shared().view("d");
    assert_eq!(view.others, [Value::Text("a".into()), Value::Text("b".into())]);
    assert_eq!(view.balances.len(), 3, "the richest, and its own");
    assert_eq!(view.artifacts.len(), 7 + 2);
    assert_eq!(view.own, [Value::Text("of_d".into())]);
}

#[test]
fn what_is_there_from_the_beginning_is_told() {
    let text = "balances: {bob: 5}\nartifacts: {shop: {owner: bob, content: gold}}\n";
    let world = World::parse(text, Settings::default()).expect("it can be read");
    let world = world.with_workshop(Arc::new(Words)).with_invoke(Arc::new(Echo));
    world.add_agent(agent("ada")).expect("the name is free");
    write(&world, "ada", "seed", "chart", "hear").expect("it compiles");
    invoke(&world, "ada", "genesis_ledger", "spawn_principal", r#"["seed", "kid"]"#).expect("made");
    let is_genesis = |world: &World, id: &str| {
        let known = invoke(world, "ada", "genesis_store", "get", &format!(r#"["{id}"]"#));
        json(&known.expect("it is there")).contains(r#""is_genesis":true"#)
    };
    let again = World::parse(text, Settings::default()).expect("it can be read");
    let again = again.with_workshop(Arc::new(Words)).with_invoke(Arc::new(Echo));
    again.add_agent(agent("ada")).expect("the name is free");
    again.load(&world.save()).expect("the same world");
    for world in [&world, &again] {
        let found = ["ada", "shop", "kid", "seed"].map(|id| is_genesis(world, id));
        assert_eq!(found, [true, true, false, false]);
        let list = json(&invoke(world, "ada", "genesis_store", "list", "[]").expect("it looks"));
        assert!(list.contains(r#""executable":false,"is_genesis":true"#), "{list}");
        let rows = world.agents().into_iter().map(|row| (row.name, row.is_genesis));
        assert_eq!(rows.collect::<Vec<_>>(), [("ada".to_owned(), true), ("kid".to_owned(), false)]);
    }
}

#[test]
fn agents_can_count_who_is_in_a_state() {
    let world = world(&["ada"]);
    let mut census = Census::new();
    for (seq, agent, state) in [(1, "ada", "busy"), (2, "ben", "busy.hard"), (3, "cyd", "idle")] {
        let run = What::Entered { state: state.into() };
        let line = Line { v: VERSION, seq, at_ms: 0, child: String::new(), what: run };
        census.observe(agent, &line);
    }
    let ask = |method: &str, arguments: &[Value]| {
        let found = world.shared().invoke("ada", "genesis_census", method, arguments);
        found.map_err(|failure| failure.to_string())
    };
    let busy = [Value::Text("busy".into())];
    let why = ask("agents_in_state", &busy).expect_err("nobody has counted");
    assert_eq!(why, "not_found: no agent's chart has a state `busy`");
    world.set_census(&census);
    assert_eq!(ask("agents_in_state", &busy), Ok(Value::Int(2)));
    assert_eq!(ask("agents_in_state", &[Value::Text("hard".into())]), Ok(Value::Int(1)));
    let all = ask("state_distribution", &[]).expect("it looks");
    assert_eq!(json(&all), r#"{"":{"busy":1,"busy.hard":1,"idle":1}}"#);
    let why = ask("state_distribution", &busy).expect_err("no chart");
    assert_eq!(why, "not_found: no agent has a chart `busy`");
    // It is counted anew, and nobody pays: guards ask it.
    world.load(&world.save()).expect("its own");
    assert_eq!(ask("agents_in_state", &busy), Ok(Value::Int(2)));
}
