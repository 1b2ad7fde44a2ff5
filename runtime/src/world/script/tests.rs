use super::*;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

const WORLD: &str = "
agent: ada
balances: {ada: 10, bob: 0}
disk: {ada: 20, bob: 100}
artifacts:
  shop:
    owner: bob
    content: sells gold
    price: {buy: 6}
    invoke: [ada]
    methods:
      price: 3
      buy: [sold, {fail: sold out}, sold again]
  secret: {owner: bob, content: x, read: owner}
  gate: {invoke: nobody, write: everyone, methods: {open: true}}
  tool: {owner: ada, price: 100, methods: {run: ran}}
";

fn world() -> World {
    World::parse(WORLD).expect("it can be read")
}

/// An action as a model answers with it; what came of it, or the failure's name and reason.
fn act(world: &World, agent: &str, answer: &str) -> Result<Done, String> {
    let answer: Map = serde_json::from_str(answer).expect("an answer is an object");
    let (action, _) = Action::read(&answer).map_err(|failure| failure.to_string())?;
    match pin!(world.act(agent, &action)).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done.map_err(|failure| failure.to_string()),
        Poll::Pending => panic!("a world in memory waits for nothing"),
    }
}

#[test]
fn each_failure_has_its_name() {
    let world = world();
    for (agent, answer, why) in [
        (
            "ada",
            r#"{"action":"read_artifact","artifact_id":"shpo"}"#,
            "not_found: there is no artifact `shpo`",
        ),
        (
            "ada",
            r#"{"action":"invoke_artifact","artifact_id":"shop","method":"prise"}"#,
            "not_found: `shop` has no method `prise`; it has buy, price",
        ),
        (
            "ada",
            r#"{"action":"read_artifact","artifact_id":"secret"}"#,
            "permission_denied: `ada` may not read `secret`",
        ),
        (
            "ada",
            r#"{"action":"write_artifact","artifact_id":"shop","content":""}"#,
            "permission_denied: `ada` may not write `shop`",
        ),
        (
            "bob",
            r#"{"action":"invoke_artifact","artifact_id":"shop","method":"price"}"#,
            "permission_denied: `bob` may not invoke `shop`",
        ),
        (
            "ada",
            r#"{"action":"invoke_artifact","artifact_id":"gate","method":"open"}"#,
            "permission_denied: `ada` may not invoke `gate`",
        ),
        (
            "ada",
            r#"{"action":"write_artifact","artifact_id":"bob","content":""}"#,
            "permission_denied: `bob` is the record of another agent",
        ),
        (
            "ada",
            r#"{"action":"write_artifact","artifact_id":"plan","content":"0123456789é123456789"}"#,
            "insufficient_disk: `plan` of 21 bytes makes 21 of `ada`, who may have 20",
        ),
        (
            "ada",
            r#"{"action":"read_artifact"}"#,
            "intent_rejected: `read_artifact` needs `artifact_id`",
        ),
        (
            "ada",
            r#"{"action":"read_artifact","artifact_id":3}"#,
            "intent_rejected: `artifact_id` of `read_artifact` is a text",
        ),
        (
            "ada",
            r#"{"action":"invoke_artifact","artifact_id":"shop","method":"buy","args":"x"}"#,
            "intent_rejected: `args` of `invoke_artifact` is a list",
        ),
        (
            "ada",
            r#"{"action":"query_kernel"}"#,
            "intent_rejected: there is no action `query_kernel`; there are noop, read_artifact,",
        ),
    ] {
        let found = act(&world, agent, answer).expect_err(answer);
        assert!(found.starts_with(why), "{answer}: {found}");
    }
    assert_eq!(world.save(), self::world().save(), "what fails changes nothing");
}

#[test]
fn an_invocation_is_paid_once_it_has_a_result() {
    let world = world();
    let buy = r#"{"action":"invoke_artifact","artifact_id":"shop","method":"buy"}"#;
    let done = act(&world, "ada", buy).expect("10 is enough");
    assert_eq!(done.value, Value::Text("sold".into()));
    assert_eq!(done.changes, ["ada pays 6 scrip to bob"]);
    assert_eq!((world.view("ada").balance, world.view("bob").balance), (4, 6));
    let why = act(&world, "ada", buy).expect_err("4 is not");
    assert_eq!(why, "insufficient_scrip: `buy` of `shop` costs 6 scrip, and there are 4");
    let price = r#"{"action":"invoke_artifact","artifact_id":"shop","method":"price"}"#;
    assert_eq!(act(&world, "ada", price).expect("it is free").changes, [""; 0]);
    let own = r#"{"action":"invoke_artifact","artifact_id":"tool","method":"run"}"#;
    assert_eq!(act(&world, "ada", own).expect("the owner pays nobody").changes, [""; 0]);
}

#[test]
fn a_method_that_fails_is_not_paid() {
    let world = World::parse(&WORLD.replace("ada: 10", "ada: 12")).expect("it can be read");
    let buy = r#"{"action":"invoke_artifact","artifact_id":"shop","method":"buy"}"#;
    act(&world, "ada", buy).expect("the first is sold");
    let why = act(&world, "ada", buy).expect_err("the second fails");
    assert_eq!(why, "invocation_failed: `buy` of `shop`: sold out");
    assert_eq!(world.view("ada").balance, 6);
}

#[test]
fn a_function_looks_and_pays_nothing() {
    let world = world();
    let ask = |artifact, method| world.invoke("ada", artifact, method, &[]);
    assert_eq!(ask("shop", "price"), Ok(Value::Int(3)));
    assert_eq!(ask("shop", "buy"), Ok(Value::Text("sold".into())));
    assert_eq!(world.view("ada").balance, 10);
    assert_eq!(ask("gate", "open").map_err(|f| f.kind), Err(FailureKind::PermissionDenied));
}

#[test]
fn disk_is_that_of_the_owner() {
    let world = world();
    let write = |id: &str, text: &str| {
        let answer =
            format!(r#"{{"action":"write_artifact","artifact_id":"{id}","content":"{text}"}}"#);
        act(&world, "ada", &answer)
    };
    let done = write("plan", "0123456789").expect("10 of 20");
    assert_eq!(done.changes, ["plan is made, 10 bytes"]);
    assert_eq!(world.view("ada").disk, Some((10, 20)));
    assert_eq!(world.view("ada").own, [Value::Text("plan".into()), Value::Text("tool".into())]);
    assert!(write("more", "01234567890").is_err(), "21 of 20");
    assert!(write("plan", "01234567890123456789").is_ok(), "20 in place of 10");
    assert!(write("plan", "0").is_ok(), "less is always possible");
    write("gate", &"x".repeat(50)).expect("the system's, which has no quota");
    assert_eq!(world.view("ada").disk, Some((1, 20)));
}

#[test]
fn an_agent_has_its_record_by_its_name() {
    let world = world();
    assert_eq!(world.view("ada").record, None);
    act(&world, "ada", r#"{"action":"write_artifact","artifact_id":"ada","content":"é"}"#)
        .expect("its own");
    assert_eq!(world.view("ada").record, Some(Value::Text("é".into())));
    assert_eq!(
        world.view("ada").own,
        [Value::Text("tool".into())],
        "its record is no artifact of its"
    );
    assert_eq!(world.view("ada").others, [Value::Text("bob".into())]);
}

#[test]
fn it_goes_on_where_it_was_saved() {
    let world = world();
    for answer in [
        r#"{"action":"invoke_artifact","artifact_id":"shop","method":"buy"}"#,
        r#"{"action":"write_artifact","artifact_id":"plan","artifact_type":"note","content":{"z":1,"a":2}}"#,
    ] {
        act(&world, "ada", answer).expect("it can be done");
    }
    let saved = world.save();
    let text = serde_json::to_string(&saved).expect("JSON");
    let again = self::world();
    again.load(&serde_json::from_str(&text).expect("JSON")).expect("the same world");
    assert_eq!(again.save(), saved);
    assert_eq!(again.view("ada"), world.view("ada"));
    // Also how many results were given, and the order of keys.
    let why = again.invoke("ada", "shop", "buy", &[]).expect_err("4 is too little");
    assert_eq!(why.kind, FailureKind::InsufficientScrip);
    let plan = act(&again, "ada", r#"{"action":"read_artifact","artifact_id":"plan"}"#);
    let plan = plan.expect("it is there").value;
    assert_eq!(serde_json::to_string(&plan).expect("JSON"), r#"{"z":1,"a":2}"#);
    let other = World::parse("balances: {ada: 1}").expect("it can be read");
    assert!(other.load(&saved).expect_err("another file").contains("another world"));
}

#[test]
fn a_file_that_cannot_be_read_says_where_and_what_would_be_right() {
    for (text, why) in [
        ("[1]", "a world is a mapping of agent, balances, disk, artifacts"),
        ("balance: {}", "`balance` is unknown; there are agent, balances, disk, artifacts"),
        ("balances: {ada: -1}", "`balances.ada` is a whole number of scrip, 0 or more"),
        ("balances: {ada: 1.5}", "`balances.ada` is a whole number of scrip, 0 or more"),
        ("disk: lots", "`disk` is a whole number of bytes, 0 or more"),
        ("artifacts: [a]", "`artifacts` is a mapping of artifacts by their ids"),
        ("artifacts: {a: 1}", "`artifacts.a` is a mapping of owner, type,"),
        ("artifacts: {a: {ownr: x}}", "`artifacts.a.ownr` is unknown; there are owner, type,"),
        ("artifacts: {a: {read: all}}", "`artifacts.a.read` is everyone, owner, nobody or a list"),
        ("artifacts: {a: {price: {b: 1}}}", "`artifacts.a.price.b` is unknown; there are none"),
        ("artifacts: {a: {methods: {b: {cases: 3}}}}", "`artifacts.a.methods.b` `cases` is a list"),
        (
            "artifacts: {a: {methods: {b: [{answer: 1, after: 2s}]}}}",
            "`artifacts.a.methods.b` has a result that comes later",
        ),
        (
            "disk: 3\nartifacts: {a: {owner: x, content: four}}",
            "`disk` is 3 bytes for `x`, whose artifacts have 4: write less, or allow more",
        ),
        ("artifacts: {a: {}, a: {}}", "duplicate"),
        ("a: [", "line 1 column"),
    ] {
        let found = World::parse(text).expect_err(text).to_string();
        assert!(found.contains(why), "{text}: {found}");
    }
    let unknown = World::parse("artifacts: {a: {ownr: x}}").expect_err("no such key").stranger;
    let (key, known) = unknown.expect("it is told");
    assert!(key == "ownr" && known.contains(&"owner".to_owned()));
    assert!(World::parse("").is_ok_and(|world| world.agent().is_none()));
}
