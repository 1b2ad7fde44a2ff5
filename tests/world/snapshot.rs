//! Worlds from files, and worlds that were saved.

use crate::door::{Echo, Words, act, agent, family, invoke, json, read, write};
use chartc_core::expr::Value;
use chartc_runtime::agent::Action;
use chartc_world::{NewAgent, Settings, World};
use std::sync::Arc;

const FILE: &str = "
agent: ada
balances: {ada: 10, bob: 5}
disk: {ada: 2000}
artifacts:
  ada: {owner: ada, content: {working_memory: {goal: gold}}}
  ada_memory: {owner: ada, content: [{kind: action, tick: 1, text: found gold}]}
  shop:
    owner: bob
    price: {buy: 6}
    methods:
      price: [3, 4]
      buy: [sold, {fail: sold out}]
  genesis_ledger: {methods: {balance: 3}}
";

fn world() -> World {
    let world = World::parse(FILE, Settings::default()).expect("it can be read");
    let world = world.with_workshop(Arc::new(Words)).with_invoke(Arc::new(Echo));
    let mut content = chartc_core::expr::Map::new();
    content.insert("model".into(), Value::Text("m".into()));
    let family = Some(family(&["hear"]));
    let name = "ada".into();
    let ada = NewAgent { name, scrip: Some(500), content, family, ..NewAgent::default() };
    world.add_agent(ada).expect("the file knows her");
    world.add_agent(agent("eve")).expect("she is new");
    world
}

#[test]
fn a_file_says_how_it_begins() {
    let world = world();
    assert_eq!(world.ledger().scrip("ada"), 10, "the file goes before the configuration");
    assert_eq!(world.ledger().scrip("eve"), 100);
    let view = world.shared().view("ada");
    let record = json(&view.record.expect("she has one"));
    assert_eq!(record, r#"{"model":"m","working_memory":{"goal":"gold"}}"#);
    assert_eq!(view.disk.expect("a quota").1, 2_000);
    assert_eq!(view.others, [Value::Text("bob".into()), Value::Text("eve".into())]);
    let memory = json(&read(&world, "ada", "ada_memory").expect("her own"));
    assert!(memory.contains("found gold"), "{memory}");
    assert!(!world.is_agent("bob"), "he has an account only");
    assert!(world.artifact("ada").is_some_and(|ada| ada.has_standing() && ada.can_execute()));
    let memory = world.artifact("ada_memory").expect("the world makes it");
    assert!(!memory.has_standing() && !memory.can_execute());
    invoke(&world, "ada", "shop", "buy", "[]").expect("6 of 10");
    assert_eq!((world.ledger().scrip("ada"), world.ledger().scrip("bob")), (4, 11));
    let balance = invoke(&world, "ada", "genesis_ledger", "balance", r#"["bob"]"#);
    assert_eq!(balance, Ok(Value::Int(11)), "what the world has itself is no script");
    let fault = World::parse("balances: {ada: -1}", Settings::default()).expect_err("no amount");
    assert!(fault.to_string().contains("`balances.ada`"), "{fault}");
}

#[test]
fn the_results_that_functions_had_are_each_agents_own() {
    let world = world();
    let ask = |agent: &str| world.shared().invoke(agent, "shop", "price", &[]).expect("it is free");
    assert_eq!([ask("ada"), ask("ada")], [Value::Int(3), Value::Int(4)]);
    assert_eq!(ask("eve"), Value::Int(3), "whoever thinks first, each has the first result first");
    assert!(world.shared().invoke("ada", "shop", "price", &[]).is_err(), "two are all");
}

#[test]
fn it_goes_on_where_it_was_saved() {
    let first = world();
    write(&first, "eve", "part", "data", "x").expect("it is new");
    write(&first, "eve", "seed", "chart", "echo import:part").expect("it compiles");
    invoke(&first, "eve", "genesis_ledger", "spawn_principal", r#"["seed", "kid", 5]"#)
        .expect("ok");
    invoke(&first, "ada", "shop", "buy", "[]").expect("6 of 10");
    first.shared().invoke("ada", "shop", "price", &[]).expect("it is free");
    // What the chart was compiled with is gone: it is still what it was.
    invoke(&first, "eve", "genesis_store", "delete", r#"["part"]"#).expect("her own");
    let saved = first.save();
    let second = world();
    second.load(&saved).expect("the same world");
    assert_eq!(second.save(), saved);
    assert_eq!(second.spawned().len(), 1, "whoever runs agents finds those that agents have made");
    assert_eq!(second.spawned()[0].family, first.spawned()[0].family);
    for world in [&first, &second] {
        let heard = invoke(world, "ada", "seed", "echo", r#"["hello"]"#);
        assert_eq!(heard, Ok(Value::Text("hello".into())));
        invoke(world, "ada", "kid", "echo", r#"["hello"]"#).expect("it hears");
        let why = invoke(world, "ada", "shop", "buy", "[]").expect_err("4 of 6");
        assert!(why.starts_with("insufficient_scrip"), "{why}");
        assert_eq!(world.shared().invoke("ada", "shop", "price", &[]), Ok(Value::Int(4)));
    }
    assert_eq!(second.save(), first.save());
    let other = World::parse("balances: {ada: 1}", Settings::default()).expect("it can be read");
    assert!(other.load(&saved).expect_err("another file").contains("another world"));
    assert!(other.load(&Value::Int(3)).expect_err("no world").contains("it has no world"));
}

#[test]
fn a_snapshot_that_does_not_add_up_is_refused() {
    let world = world();
    write(&world, "ada", "note", "", "four").expect("it is new");
    let text = serde_json::to_string(&world.save()).expect("JSON");
    for (from, to) in [
        (r#"{"of":"ada"},[10,"#, r#"{"of":"ada"},[11,"#),
        (r#""content":"four""#, r#""content":"fifth""#),
    ] {
        assert!(text.contains(from), "{from}: {text}");
        let changed: Value = serde_json::from_str(&text.replace(from, to)).expect("JSON");
        let before = world.save();
        world.load(&changed).expect_err(from);
        assert!(world.save() == before, "the world stays as it is");
    }
}

#[test]
fn requests_and_notices_come_once() {
    let world = world();
    world.take_notices();
    world.take_summary();
    invoke(&world, "ada", "eve", "hear", r#"["hi"]"#).expect("she hears");
    invoke(&world, "ada", "genesis_ledger", "transfer", r#"["eve", 3]"#).expect("own");
    act(&world, "ada", &Action::Noop).expect("nothing");
    invoke(&world, "ada", "genesis_ledger", "balance", "[]").expect("she looks");
    write(&world, "ada", "note", "", "four").expect("it is new");
    let events: Vec<String> = world.take_notices().into_iter().map(|notice| notice.event).collect();
    assert_eq!(events, ["invoked", "transferred", "invoked", "created"]);
    assert!(world.take_notices().is_empty());
    assert_eq!(world.take_requests().len(), 1);
    assert!(world.take_requests().is_empty());
    let summary = world.take_summary();
    assert_eq!((summary.scrip_transferred, summary.artifacts_created), (3, 1));
    assert_eq!(world.take_summary().artifacts_created, 0);
}
