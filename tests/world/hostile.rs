//! Agents that try what they should not: each fails by its name, and changes nothing.

use crate::door::{act, agent, empty, invoke, json, map, read, with, world, write};
use chartc_core::expr::Value;
use chartc_runtime::agent::Action;
use chartc_world::{Settings, World};

/// Ada has `plan`, which is offered for 40, and `note`. Bob has `tool`, which costs 60, and `secret`. Eve has nothing.
fn scene() -> World {
    let world = world(&["ada", "bob", "eve"]);
    for (agent, id, ty, content) in [
        ("ada", "plan", "data", "0123456789"),
        ("ada", "note", "data", "x"),
        ("bob", "tool", "chart", "echo again fail"),
        ("bob", "secret", "data", "gold"),
    ] {
        write(&world, agent, id, ty, content).expect("it is new");
    }
    invoke(&world, "ada", "genesis_escrow", "deposit", r#"["plan", 40]"#).expect("it is ada's");
    invoke(&world, "bob", "genesis_store", "set_policy", r#"["tool", {"price": 60}]"#)
        .expect("own");
    invoke(&world, "bob", "genesis_store", "set_policy", r#"["secret", {"read": "owner"}]"#)
        .expect("own");
    world
}

#[test]
fn what_is_not_allowed_changes_nothing() {
    for (agent, artifact, method, arguments, why) in [
        ("eve", "genesis_ledger", "transfer", r#"["ada", -5]"#, "intent_rejected: `amount` of"),
        ("eve", "genesis_ledger", "transfer", r#"["ada", 0]"#, "intent_rejected: `amount` of"),
        ("eve", "genesis_ledger", "transfer", r#"["ada", 1.5]"#, "intent_rejected: `amount` of"),
        ("eve", "genesis_ledger", "transfer", r#"["ada", "5"]"#, "intent_rejected: `amount` of"),
        ("eve", "genesis_ledger", "transfer", r#"["eve", 5]"#, "intent_rejected: eve cannot"),
        ("eve", "genesis_ledger", "transfer", r#"["ada", 101]"#, "insufficient_scrip: eve has 100"),
        (
            "eve",
            "genesis_ledger",
            "transfer",
            r#"["ada", 9223372036854775807]"#,
            "insufficient_scrip: eve has 100",
        ),
        ("eve", "genesis_ledger", "transfer", r#"["nobody", 5]"#, "not_found: there is nobody"),
        ("eve", "genesis_ledger", "transfer", r#"["mint", 5]"#, "not_found: there is nobody"),
        ("eve", "genesis_ledger", "transfer", r#"["ada", "eve", 5]"#, "permission_denied: `eve`"),
        ("eve", "genesis_ledger", "transfer", "[]", "intent_rejected: `transfer` of"),
        ("eve", "genesis_ledger", "transfer", "[1, 2, 3, 4]", "intent_rejected: `transfer` of"),
        ("eve", "genesis_ledger", "transfer_ownership", r#"["note", "eve"]"#, "permission_denied"),
        ("ada", "genesis_ledger", "transfer_ownership", r#"["plan", "eve"]"#, "permission_denied"),
        ("ada", "genesis_ledger", "transfer_ownership", r#"["note", "ada"]"#, "intent_rejected"),
        ("ada", "genesis_ledger", "transfer_ownership", r#"["note", "zed"]"#, "not_found"),
        ("ada", "genesis_ledger", "transfer_ownership", r#"["ada_memory", "bob"]"#, "permission"),
        ("eve", "genesis_ledger", "stop_principal", r#"["ada"]"#, "permission_denied: `ada` is of"),
        ("eve", "genesis_ledger", "steal", "[]", "not_found: `genesis_ledger` has no method"),
        ("ada", "genesis_escrow", "purchase", r#"["plan"]"#, "intent_rejected: `plan` is your own"),
        ("eve", "genesis_escrow", "purchase", r#"["note"]"#, "not_found: `note` is not offered"),
        (
            "eve",
            "genesis_escrow",
            "purchase",
            r#"["plan", 39]"#,
            "intent_rejected: `plan` costs 40",
        ),
        ("eve", "genesis_escrow", "cancel", r#"["plan"]"#, "permission_denied: `plan` is not"),
        ("ada", "genesis_escrow", "cancel", r#"["note"]"#, "not_found: `note` is not offered"),
        ("ada", "genesis_escrow", "deposit", r#"["plan", 50]"#, "permission_denied: `plan` is off"),
        ("eve", "genesis_escrow", "deposit", r#"["note", 50]"#, "permission_denied: `note` is of"),
        ("ada", "genesis_escrow", "deposit", r#"["note", 0]"#, "intent_rejected: `price` of"),
        (
            "ada",
            "genesis_escrow",
            "deposit",
            r#"["note", 5, "ada"]"#,
            "intent_rejected: `buyer` of",
        ),
        ("ada", "genesis_escrow", "deposit", r#"["note", 5, "zed"]"#, "not_found: there is nobody"),
        ("ada", "genesis_escrow", "deposit", r#"["ada_memory", 5]"#, "permission_denied"),
        ("ada", "genesis_escrow", "deposit", r#"["genesis_ledger", 5]"#, "not_found"),
        ("ada", "genesis_store", "delete", r#"["plan"]"#, "permission_denied: `plan` is offered"),
        ("eve", "genesis_store", "delete", r#"["note"]"#, "permission_denied: `note` is of `ada`"),
        ("ada", "genesis_store", "delete", r#"["ada"]"#, "permission_denied: `ada` belongs to"),
        ("ada", "genesis_store", "delete", r#"["ada_memory"]"#, "permission_denied"),
        ("eve", "genesis_store", "set_policy", r#"["note", {"write": "everyone"}]"#, "permission"),
        ("ada", "genesis_store", "set_policy", r#"["note", {"price": -1}]"#, "intent_rejected"),
        ("ada", "genesis_store", "set_policy", r#"["note", {"owner": "eve"}]"#, "intent_rejected"),
        (
            "ada",
            "genesis_store",
            "set_policy",
            r#"["note", {"write": "everyone", "read": "all"}]"#,
            "intent_rejected: `read` is everyone, owner, nobody",
        ),
        (
            "eve",
            "genesis_rights_registry",
            "transfer_quota",
            r#"["disk", "ada", 1000001]"#,
            "insufficient_disk: eve has",
        ),
        (
            "eve",
            "genesis_rights_registry",
            "transfer_quota",
            r#"["compute", "ada", 1001]"#,
            "insufficient_compute: `eve` has a quota of 1000",
        ),
        (
            "eve",
            "genesis_rights_registry",
            "transfer_quota",
            r#"["scrip", "ada", 1]"#,
            "intent_rejected: `resource` of",
        ),
        (
            "eve",
            "genesis_rights_registry",
            "transfer_quota",
            r#"["compute", "eve", 1]"#,
            "intent_rejected: eve cannot transfer to itself",
        ),
        (
            "eve",
            "genesis_rights_registry",
            "transfer_quota",
            r#"["disk", "eve", -9223372036854775808]"#,
            "intent_rejected",
        ),
        ("eve", "tool", "fail", "[]", "invocation_failed: `fail` fails"),
        ("eve", "tool", "again", "[]", "invocation_failed"),
        ("eve", "tool", "none", "[]", "not_found: `tool` has no method `none`; it has echo,"),
        ("eve", "tool", "echo", "[1]", "intent_rejected: `echo` of `tool` takes (said): `said`"),
        ("eve", "note", "run", "[]", "not_found: `note` has no method `run`; it has none"),
        ("eve", "ada", "sing", "[]", "not_found: `ada` has no method `sing`; it has hear"),
        ("eve", "ada", "hear", "[1, 2]", "intent_rejected: `hear` of `ada` takes (said)"),
        ("eve", "nothing", "run", "[]", "not_found: there is no artifact `nothing`"),
        ("zed", "tool", "echo", "[]", "not_found: there is nobody called `zed`"),
        (
            "eve",
            "genesis_ledger",
            "spawn_principal",
            r#"["note"]"#,
            "intent_rejected: `note` is no",
        ),
        ("eve", "genesis_ledger", "spawn_principal", r#"["tool", "ada"]"#, "permission_denied"),
        ("eve", "genesis_ledger", "spawn_principal", r#"["tool", "plan"]"#, "permission_denied"),
        (
            "eve",
            "genesis_ledger",
            "spawn_principal",
            r#"["tool", "x_memory"]"#,
            "permission_denied",
        ),
        ("eve", "genesis_ledger", "spawn_principal", r#"["tool", "genesis_x"]"#, "permission"),
        ("eve", "genesis_ledger", "spawn_principal", r#"["tool", "a\nb"]"#, "intent_rejected"),
        ("eve", "genesis_ledger", "spawn_principal", r#"["tool", "k", 101]"#, "insufficient_scrip"),
        ("eve", "genesis_ledger", "spawn_principal", r#"["tool", "k", -1]"#, "intent_rejected"),
    ] {
        let world = scene();
        let (before, ledger) = (world.save(), world.ledger());
        let found = invoke(&world, agent, artifact, method, arguments)
            .expect_err(&format!("{agent}: {artifact}.{method}{arguments}"));
        assert!(found.starts_with(why), "{artifact}.{method}{arguments}: {found}");
        // Scrip that was put aside for a chart that then fails is back.
        let is_paid_back = ["fail", "again"].contains(&method);
        assert!(is_paid_back || world.save() == before, "{artifact}.{method}{arguments}");
        for name in ["ada", "bob", "eve"] {
            let balance = world.ledger().scrip(name);
            assert_eq!(balance, ledger.scrip(name), "{artifact}.{method}{arguments}: {name}");
        }
        assert!(world.take_requests().is_empty(), "{artifact}.{method}{arguments}");
    }
}

#[test]
fn nobody_writes_what_is_not_theirs() {
    let long = "x".repeat(201);
    for (agent, id, ty, why) in [
        ("eve", "note", "", "permission_denied: `eve` may not write `note`"),
        ("ada", "plan", "", "permission_denied: `plan` is offered for sale"),
        ("eve", "ada", "", "permission_denied: `ada` is the record of another agent"),
        ("eve", "ada_memory", "", "permission_denied: `eve` may not write `ada_memory`"),
        ("eve", "zed_memory", "", "permission_denied: `zed_memory` is a reserved id, which only"),
        (
            "eve",
            "genesis_ledger",
            "",
            "permission_denied: `genesis_ledger` is a reserved id, which only",
        ),
        (
            "eve",
            "genesis_bank",
            "",
            "permission_denied: `genesis_bank` is a reserved id, which only",
        ),
        ("eve", "system", "", "permission_denied: `system` is a reserved id, which only"),
        ("eve", "mint", "", "permission_denied: `mint` is a reserved id, which only"),
        ("eve", "", "", "intent_rejected: an id has at least"),
        ("eve", " note", "", "intent_rejected: an id has no control"),
        ("eve", "a\u{7}", "", "intent_rejected: an id has no control"),
        ("eve", &long, "", "intent_rejected: an id has at most 200 bytes"),
        ("eve", "song", &long, "intent_rejected: a type is a word"),
        ("zed", "song", "", "permission_denied: `zed` has no account"),
    ] {
        let world = scene();
        let before = world.save();
        let found = write(&world, agent, id, ty, "mine").expect_err(id);
        assert!(found.starts_with(why), "{id}: {found}");
        assert!(world.save() == before, "{id}");
    }
    let world = scene();
    let secret = read(&world, "eve", "secret").expect_err("it is bob's");
    assert_eq!(secret, "permission_denied: `eve` may not read `secret`: only its owner `bob` may");
    let memory = read(&world, "eve", "ada_memory").expect_err("it is ada's");
    assert!(memory.starts_with("permission_denied"), "{memory}");
    let found = invoke(&world, "eve", "genesis_store", "search", r#"["gold"]"#).expect("it looks");
    assert_eq!(json(&found), "[]", "nobody finds what it may not read");
}

#[test]
fn an_agent_cannot_change_what_it_is() {
    let world = scene();
    let content = Value::Map(map(r#"{"has_standing": false, "working_memory": {"goal": "x"}}"#));
    let ty = Some("chart".to_owned());
    act(&world, "ada", &Action::Write { artifact: "ada".into(), ty, content }).expect("its own");
    let known = invoke(&world, "eve", "genesis_store", "get", r#"["ada"]"#).expect("all may");
    let known = json(&known);
    for part in [
        r#""type":"agent""#,
        r#""owner":"ada""#,
        r#""has_standing":true"#,
        r#""can_execute":true"#,
        r#""memory_artifact_id":"ada_memory""#,
    ] {
        assert!(known.contains(part), "{part}: {known}");
    }
    let record = world.shared().view("ada").record.expect("it has one");
    assert_eq!(json(&record), r#"{"has_standing":false,"working_memory":{"goal":"x"}}"#);
}

#[test]
fn a_working_memory_is_read_by_its_agent_only() {
    for shared in [false, true] {
        let settings = Settings { shared_working_memory: shared, ..Settings::default() };
        let world = with(settings, &["ada", "eve"]);
        let keep = |writer: &str, text: &str| {
            let content = Value::Map(map(text));
            act(&world, writer, &Action::Write { artifact: "ada".into(), ty: None, content })
        };
        keep("ada", r#"{"motto": "trade", "working_memory": {"plan": "buy gold"}}"#).expect("own");
        let own = json(&read(&world, "ada", "ada").expect("its own"));
        assert!(own.contains("buy gold"), "{own}");
        let seen = json(&read(&world, "eve", "ada").expect("all may"));
        assert_eq!((seen.contains("trade"), seen.contains("gold")), (true, shared), "{seen}");
        // Another writer, who cannot read the memory, does not remove it.
        invoke(&world, "ada", "genesis_store", "set_policy", r#"["ada", {"write": "everyone"}]"#)
            .expect("its own");
        keep("eve", r#"{"motto": "give"}"#).expect("all may");
        let own = json(&read(&world, "ada", "ada").expect("its own"));
        assert_eq!((own.contains("give"), own.contains("gold")), (true, !shared), "{own}");
    }
}

#[test]
fn a_price_is_paid_once_there_is_a_result() {
    let world = scene();
    let answer = invoke(&world, "eve", "tool", "echo", r#"["hello"]"#).expect("60 of 100");
    assert_eq!(answer, Value::Text("hello".into()));
    assert_eq!((world.ledger().scrip("eve"), world.ledger().scrip("bob")), (40, 160));
    assert_eq!(world.ledger().holds().count(), 0);
    let why = invoke(&world, "eve", "tool", "echo", r#"["hello"]"#).expect_err("40 is too little");
    assert_eq!(why, "insufficient_scrip: `echo` of `tool` costs 60 scrip, and there are 40");
    invoke(&world, "bob", "tool", "echo", r#"["mine"]"#).expect("the owner pays nobody");
    let why = world.shared().invoke("eve", "tool", "echo", &[]).expect_err("functions pay nothing");
    assert!(why.to_string().starts_with("permission_denied: `echo` of `tool` costs 60"), "{why}");
    let why =
        world.shared().invoke("eve", "genesis_ledger", "transfer", &[]).expect_err("an action");
    assert!(why.why.contains("intent") || why.why.contains("takes"), "{why}");
    let args = [Value::Text("bob".into()), Value::Int(1)];
    let why =
        world.shared().invoke("eve", "genesis_ledger", "transfer", &args).expect_err("an action");
    assert!(why.why.contains("changes the world"), "{why}");
}

#[test]
fn an_artifact_that_invokes_itself_ends() {
    let world = scene();
    let why = invoke(&world, "bob", "tool", "again", "[]").expect_err("it never answers");
    assert!(why.contains("artifacts invoke artifacts 4 deep at most"), "{why}");
}

#[test]
fn a_flood_of_artifacts_ends_at_its_bounds() {
    let settings =
        Settings { max_artifacts: 60, max_artifacts_per_agent: 50, ..Settings::default() };
    let world = with(settings, &["ada", "eve"]);
    let most =
        (0..1_000).filter(|n| write(&world, "eve", &format!("x{n}"), "", "").is_ok()).count();
    // Her own record and memory are two of the fifty.
    assert_eq!(most, 48);
    let why = write(&world, "eve", "more", "", "").expect_err("fifty");
    assert_eq!(why, "insufficient_disk: `eve` has made 50 artifacts, of 50: delete some");
    write(&world, "ada", "plan", "", "").expect("others still can");
    invoke(&world, "eve", "genesis_store", "delete", r#"["x1"]"#).expect("her own");
    write(&world, "eve", "more", "", "").expect("there is room again");
    let huge = "x".repeat(100_001);
    let why = write(&world, "eve", "more", "", &huge).expect_err("too large");
    assert!(why.starts_with("insufficient_disk: `more` would have 100001 bytes"), "{why}");
    for n in 2..12 {
        let part = "x".repeat(99_990);
        write(&world, "eve", &format!("x{n}"), "", &part).ok();
    }
    let (used, most) = world.shared().view("eve").disk.expect("it has a quota");
    assert!(used <= most && used > 900_000, "{used} of {most}");
}

#[test]
fn a_gift_brings_its_room() {
    let world = with(Settings { disk: 100, ..Settings::default() }, &["ada", "eve"]);
    write(&world, "eve", "junk", "", &"x".repeat(90)).expect("90 of 100");
    let before = world.shared().view("ada").disk.expect("it has a quota");
    invoke(&world, "eve", "genesis_ledger", "transfer_ownership", r#"["junk", "ada"]"#)
        .expect("own");
    let after = world.shared().view("ada").disk.expect("it has a quota");
    assert_eq!(after.1 - after.0, before.1 - before.0, "ada can write as much as before");
    assert_eq!(world.shared().view("eve").disk.expect("a quota").1, 10);
}

#[test]
fn who_buys_has_room_for_it() {
    let world = with(Settings { disk: 100, ..Settings::default() }, &["ada", "eve"]);
    write(&world, "ada", "plan", "", &"x".repeat(60)).expect("60 of 100");
    write(&world, "eve", "note", "", &"x".repeat(60)).expect("60 of 100");
    invoke(&world, "ada", "genesis_escrow", "deposit", r#"["plan", 40]"#).expect("own");
    let why = invoke(&world, "eve", "genesis_escrow", "purchase", r#"["plan"]"#).expect_err("full");
    assert!(why.starts_with("insufficient_disk: `plan` has 60 bytes"), "{why}");
    assert_eq!(world.ledger().scrip("eve"), 100, "nothing is paid");
    let why = invoke(&world, "eve", "genesis_store", "get", r#"["plan"]"#).expect("it is there");
    assert!(json(&why).contains(r#""owner":"ada""#));
}

#[test]
fn a_double_cancel_is_no_second_one() {
    let world = scene();
    invoke(&world, "ada", "genesis_escrow", "cancel", r#"["plan"]"#).expect("her own");
    let why = invoke(&world, "ada", "genesis_escrow", "cancel", r#"["plan"]"#).expect_err("again");
    assert_eq!(why, "not_found: `plan` is not offered for sale");
    let why = invoke(&world, "eve", "genesis_escrow", "purchase", r#"["plan"]"#).expect_err("late");
    assert_eq!(why, "not_found: `plan` is not offered for sale");
}

#[test]
fn a_name_is_one_thing() {
    let world = empty(Settings::default());
    world.add_agent(agent("ada")).expect("it is free");
    for name in ["ada", "ada_memory", "genesis_x", "system", "", "x_memory"] {
        assert!(world.add_agent(agent(name)).is_err(), "{name}");
    }
    write(&world, "ada", "bob", "", "squatted").expect("an id like any other");
    assert!(world.add_agent(agent("bob")).is_err(), "it is an artifact already");
    world.audit().expect("the books add up");
}
