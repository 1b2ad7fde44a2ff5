//! Agents that agents make, own, sell and stop.

use crate::door::{act, invoke, map, with, world, write};
use chartc_core::expr::Value;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::agent::Action;
use chartc_world::{
    AgentEntry, AgentSet, Family, Request, Settings, SpawnLimits, StatechartConfig,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn agents_that_agents_make_are_bounded() {
    let spawn = SpawnLimits { per_parent: 3, max_agents: 6, cost: 5, ..SpawnLimits::default() };
    let world = with(Settings { spawn, ..Settings::default() }, &["ada"]);
    write(&world, "ada", "seed", "chart", "hear").expect("it compiles");
    let spawn = |by: &str, name: &str| {
        let arguments = format!(r#"["seed", "{name}", 10]"#);
        invoke(&world, by, "genesis_ledger", "spawn_principal", &arguments)
    };
    spawn("ada", "kid").expect("the first");
    assert_eq!((world.ledger().scrip("ada"), world.ledger().scrip("kid")), (85, 10));
    assert_eq!(world.ledger().circulation(), 95, "the cost leaves circulation");
    assert!(world.is_agent("kid"));
    let row = world.agents().into_iter().find(|row| row.name == "kid").expect("it is there");
    assert_eq!((row.owner.as_str(), row.depth, row.memory.as_str()), ("ada", 1, "kid_memory"));
    assert!(matches!(&world.take_requests()[..], [Request::Spawn(spawn)] if spawn.agent == "kid"));
    // Quotas are the parent's own: nobody gets more of them by making agents.
    assert_eq!(world.shared().view("ada").disk.expect("a quota").1, 990_000);
    assert_eq!(world.shared().view("kid").disk.expect("a quota").1, 10_000);
    let why = spawn("kid", "grandkid").expect_err("its disk is as large as what one takes");
    assert!(why.starts_with("insufficient_disk: an agent takes"), "{why}");
    for resource in [r#"["disk", "kid", 30000]"#, r#"["compute", "kid", 300]"#] {
        invoke(&world, "ada", "genesis_rights_registry", "transfer_quota", resource).expect("own");
    }
    let why = spawn("kid", "grandkid").expect_err("5 and 10 of 10");
    assert!(why.starts_with("insufficient_scrip"), "{why}");
    invoke(&world, "ada", "genesis_ledger", "transfer", r#"["kid", 30]"#).expect("85");
    spawn("kid", "grandkid").expect("two deep");
    for resource in [r#"["disk", "grandkid", 15000]"#, r#"["compute", "grandkid", 100]"#] {
        invoke(&world, "kid", "genesis_rights_registry", "transfer_quota", resource).expect("own");
    }
    invoke(&world, "ada", "genesis_ledger", "transfer", r#"["grandkid", 20]"#).expect("55");
    let why = spawn("grandkid", "fourth").expect_err("three deep");
    assert!(why.starts_with("permission_denied: agents may be spawned 2 levels deep"), "{why}");
    spawn("ada", "kid2").expect("the second");
    invoke(&world, "kid", "genesis_ledger", "transfer", r#"["ada", 10]"#).expect("own");
    spawn("ada", "kid3").expect("the third");
    let why = spawn("ada", "kid4").expect_err("the fourth");
    assert!(why.starts_with("permission_denied: `ada` has made 3 agents"), "{why}");
}

#[test]
fn an_agent_is_sold_and_stopped_by_its_owner() {
    let world = world(&["ada", "bob"]);
    write(&world, "ada", "seed", "chart", "hear").expect("it compiles");
    invoke(&world, "ada", "genesis_ledger", "spawn_principal", r#"["seed", "kid"]"#).expect("made");
    invoke(&world, "ada", "genesis_escrow", "deposit", r#"["kid", 20, "bob"]"#).expect("its owner");
    let content = Value::Map(map(r#"{"working_memory": {"goal": "x"}}"#));
    act(&world, "kid", &Action::Write { artifact: "kid".into(), ty: None, content })
        .expect("an agent keeps its working memory, offered or not");
    let why = invoke(&world, "kid", "genesis_escrow", "purchase", r#"["kid"]"#).expect_err("bob's");
    assert!(why.starts_with("permission_denied"), "{why}");
    invoke(&world, "bob", "genesis_escrow", "purchase", r#"["kid"]"#).expect("100");
    let why =
        invoke(&world, "ada", "genesis_ledger", "stop_principal", r#"["kid"]"#).expect_err("no");
    assert!(why.starts_with("permission_denied: `kid` is of `bob`"), "{why}");
    world.take_requests();
    invoke(&world, "ada", "kid", "hear", r#"["hello"]"#).expect("it hears");
    assert!(matches!(
        &world.take_requests()[..],
        [Request::Deliver { to, event, arguments, from }]
            if to == "kid" && event == "hear" && from == "ada"
                && arguments == &[Value::Text("hello".into())]
    ));
    for method in ["pause_principal", "resume_principal"] {
        let why = invoke(&world, "ada", "genesis_ledger", method, r#"["kid"]"#).expect_err("no");
        assert!(why.starts_with("permission_denied: `kid` is of `bob`"), "{why}");
        invoke(&world, "bob", "genesis_ledger", method, r#"["kid"]"#).expect("its owner");
    }
    assert!(matches!(
        &world.take_requests()[..],
        [Request::Pause { agent, by }, Request::Resume { agent: other }]
            if agent == "kid" && by == "bob" && other == "kid"
    ));
    invoke(&world, "bob", "genesis_ledger", "stop_principal", r#"["kid"]"#).expect("its owner");
    invoke(&world, "bob", "genesis_ledger", "resume_principal", r#"["kid"]"#).expect_err("stopped");
    assert!(matches!(&world.take_requests()[..], [Request::Stop { agent }] if agent == "kid"));
    let why = invoke(&world, "ada", "kid", "hear", "[]").expect_err("it is stopped");
    assert_eq!(why, "invocation_failed: `kid` is stopped");
    invoke(&world, "bob", "genesis_ledger", "stop_principal", r#"["kid"]"#).expect_err("once");
}

#[test]
fn nobody_gets_compute_by_making_agents_or_giving_it_away() {
    let world = with(Settings { compute: 100, ..Settings::default() }, &["ada", "bob"]);
    let quotas = |of: &str| {
        let found =
            invoke(&world, "bob", "genesis_rights_registry", "quotas", &format!(r#"["{of}"]"#));
        let Ok(Value::Map(found)) = found else { panic!("{found:?}") };
        let number = |name: &str| match found.get(name) {
            Some(Value::Int(n)) => *n,
            other => panic!("{other:?}"),
        };
        (number("compute_left"), number("compute_quota"))
    };
    write(&world, "ada", "seed", "chart", "hear").expect("it compiles");
    assert_eq!(quotas("ada"), (99, 100));
    invoke(&world, "ada", "genesis_ledger", "spawn_principal", r#"["seed", "kid"]"#).expect("made");
    assert_eq!((quotas("ada"), quotas("kid")), ((49, 50), (50, 50)));
    world.spend_compute("ada", 40, "thinking").expect("49");
    let give = r#"["compute", "bob", 30]"#;
    invoke(&world, "ada", "genesis_rights_registry", "transfer_quota", give).expect("50");
    assert_eq!((quotas("ada"), quotas("bob")), ((0, 20), (109, 130)), "what is left goes along");
    world.spend_compute("ada", 1, "thinking").expect_err("there is none left");
    world.renew();
    assert_eq!([quotas("ada"), quotas("bob"), quotas("kid")], [(20, 20), (130, 130), (50, 50)]);
    world.audit().expect("the books add up");
}

#[test]
fn whoever_is_asked_before_spawns_is_asked_last_and_nothing_moves_after_a_no() {
    let world = world(&["ada"]);
    write(&world, "ada", "seed", "chart", "hear").expect("it compiles");
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    world.ask_before_spawns(move |parent| {
        assert_eq!(parent, "ada");
        match count.fetch_add(1, Ordering::SeqCst) {
            0 => Ok(()),
            _ => Err("not now".to_owned()),
        }
    });
    let spawn =
        |arguments: &str| invoke(&world, "ada", "genesis_ledger", "spawn_principal", arguments);
    spawn(r#"["seed", "kid", 1000]"#).expect_err("it cannot pay");
    spawn(r#"["seed", "kid", 10, {"x": 1}]"#).expect_err("no such param");
    assert_eq!(asked.load(Ordering::SeqCst), 0, "what fails uses nothing of a rate");
    spawn(r#"["seed", "kid", 10]"#).expect("the first");
    // The answer does not come with a snapshot: it stays that of whoever runs the agents.
    world.load(&world.save()).expect("its own");
    world.take_requests();
    let before = (world.ledger(), world.agents());
    let why = spawn(r#"["seed", "kid2", 10]"#).expect_err("the second");
    assert_eq!(why, "invocation_failed: not now");
    assert_eq!((world.ledger(), world.agents()), before);
    assert!(world.take_requests().is_empty() && world.artifact("kid2").is_none());
}

#[test]
fn a_run_file_shortens_what_agents_remember_and_never_lengthens_it() {
    let kept = |own: Option<u32>, said: Option<u32>| {
        let mut chart = Chart::empty("Lamp");
        chart.history_kept = own;
        let family = Family { plans: [Plan::new(&Arc::new(chart))].into() };
        let mut agents = AgentSet::default();
        agents.add("lamp.chart".into(), Arc::new(family), AgentEntry::default());
        let said = StatechartConfig { max_history_depth: said, ..StatechartConfig::default() };
        agents.follow(&said);
        agents.groups[0].family.root().history_kept
    };
    // `None` keeps everything.
    assert_eq!(kept(None, Some(3)), Some(3));
    assert_eq!(kept(Some(20), Some(3)), Some(3));
    assert_eq!(kept(Some(2), Some(3)), Some(2));
    assert_eq!(kept(Some(20), None), Some(20));
    assert_eq!(kept(None, None), None);
}
