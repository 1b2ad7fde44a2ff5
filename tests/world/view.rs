//! What agents know of the world.

use crate::door::{agent, empty, invoke, world, write};
use chartc_core::expr::Value;
use chartc_world::{Moment, Settings};

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
    let plan = r#"{"id":"plan","type":"data","created_by":"ada","executable":false}"#;
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
    assert_eq!(view.artifacts.len(), 106, "the newest, and those of the world itself");
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
    assert_eq!(view.artifacts.len(), 6 + 2);
    assert_eq!(view.own, [Value::Text("of_d".into())]);
}
