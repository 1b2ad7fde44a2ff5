//! Charts that agents write.

use crate::door::{Words, act, agent, empty, invoke, read, with, world, write};
use chartc_core::expr::Value;
use chartc_runtime::agent::{Action, FailureKind};
use chartc_world::{Family, Finding, Form, Read, Settings, Workshop, World};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn what_does_not_compile_is_not_stored_and_says_why() {
    let world = world(&["ada", "bob"]);
    let why = write(&world, "ada", "seed", "chart", "hear bad bad").expect_err("it is bad");
    assert_eq!(why, "does_not_compile: 1:2: C0001: it is bad\n1:3: C0001: it is bad");
    assert_eq!(FailureKind::Rejected.word(), "does_not_compile");
    assert!(read(&world, "ada", "seed").is_err(), "nothing is stored");
    write(&world, "ada", "seed", "chart", "echo").expect("it compiles");
    write(&world, "ada", "seed", "", "bad").expect_err("its type says what it is");
    assert_eq!(invoke(&world, "bob", "seed", "echo", r#"["x"]"#), Ok(Value::Text("x".into())));
    let content = Value::Int(3);
    let ty = Some("agent".to_owned());
    let action = Action::Write { artifact: "other".into(), ty, content };
    let why = act(&world, "ada", &action).expect_err("no text");
    assert_eq!(why, "intent_rejected: an artifact of type agent is a text");
    write(&world, "ada", "seed", "data", "bad").expect("data is data");
    assert!(invoke(&world, "bob", "seed", "echo", "[]").is_err(), "it is no chart any more");
}

#[test]
fn compiling_is_charged_whatever_comes_of_it() {
    let world = with(Settings { compute: 3, ..Settings::default() }, &["ada"]);
    let left = || match world.shared().view("ada").quotas.get("compute") {
        Some(Value::Int(left)) => *left,
        other => panic!("{other:?}"),
    };
    write(&world, "ada", "seed", "chart", "echo").expect("it compiles");
    assert_eq!(left(), 2);
    write(&world, "ada", "seed", "chart", "bad").expect_err("it is bad");
    assert_eq!(left(), 1);
    let why = write(&world, "ada", "seed", "chart", &"x ".repeat(200)).expect_err("400 bytes");
    assert!(why.starts_with("insufficient_compute: ada has 1 compute, and 2"), "{why}");
    write(&world, "ada", "bob_memory", "chart", "echo").expect_err("an id of the world's");
    assert_eq!(left(), 1, "what may not be written is not compiled");
    write(&world, "ada", "note", "data", "bad").expect("data costs nothing");
    world.renew();
    assert_eq!(left(), 3);
    world.audit().expect("the books add up");
}

#[test]
fn imports_are_artifacts_that_the_writer_may_read() {
    let world = world(&["ada", "bob"]);
    write(&world, "bob", "part", "data", "x").expect("it is new");
    write(&world, "ada", "seed", "chart", "echo import:part").expect("all may read it");
    invoke(&world, "bob", "genesis_store", "set_policy", r#"["part", {"read": "owner"}]"#)
        .expect("own");
    let why = write(&world, "ada", "seed2", "chart", "echo import:part").expect_err("bob's alone");
    assert!(why.contains("there is no `part`"), "{why}");
    write(&world, "bob", "seed3", "chart", "echo import:part").expect("his own");
    write(&world, "bob", "loop", "chart", "import:loop").expect_err("it reads itself");
}

struct Counted(AtomicUsize);

impl Workshop for Counted {
    fn build(
        &self,
        id: &str,
        form: Form,
        text: &str,
        read: Read<'_>,
    ) -> Result<Arc<Family>, Vec<Finding>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Words.build(id, form, text, read)
    }
}

#[test]
fn one_text_is_compiled_once_while_what_it_reads_is_the_same() {
    let counted = Arc::new(Counted(AtomicUsize::new(0)));
    let world = World::new(Settings::default()).with_workshop(counted.clone());
    for name in ["ada", "bob"] {
        world.add_agent(agent(name)).expect("the name is free");
    }
    write(&world, "bob", "part", "data", "x").expect("it is new");
    for _ in 0..3 {
        write(&world, "ada", "s1", "chart", "import:part").expect("it compiles");
    }
    assert_eq!(counted.0.load(Ordering::Relaxed), 1);
    write(&world, "bob", "part", "data", "y").expect("his own");
    write(&world, "ada", "s1", "chart", "import:part").expect("it compiles");
    assert_eq!(counted.0.load(Ordering::Relaxed), 2);
    // Which of its charts runs may follow from the id.
    write(&world, "bob", "s2", "chart", "import:part").expect("it compiles");
    assert_eq!(counted.0.load(Ordering::Relaxed), 3);
    let why = invoke(&world, "ada", "s1", "echo", "[]").expect_err("it has no such event");
    assert!(why.starts_with("not_found"), "{why}");
}

#[test]
fn without_a_workshop_charts_are_text() {
    let world = World::new(Settings::default());
    world.add_agent(agent("ada")).expect("the name is free");
    write(&world, "ada", "seed", "chart", "bad").expect("it is text");
    let why = invoke(&world, "ada", "seed", "echo", "[]").expect_err("it is only text");
    assert!(why.starts_with("not_found"), "{why}");
    let why = invoke(&world, "ada", "genesis_ledger", "spawn_principal", r#"["seed"]"#);
    assert!(why.expect_err("it is only text").contains("has compiled"));
}

#[test]
fn every_method_is_documented_by_help() {
    let world = empty(Settings::default());
    world.add_agent(agent("ada")).expect("the name is free");
    for (id, methods) in [
        (
            "genesis_ledger",
            &[
                "balance",
                "all_balances",
                "transfer",
                "transfer_ownership",
                "spawn_principal",
                "pause_principal",
                "resume_principal",
                "stop_principal",
            ][..],
        ),
        ("genesis_store", &["list", "search", "get", "set_policy", "delete", "agents"]),
        ("genesis_event_log", &["read"]),
        ("genesis_escrow", &["deposit", "purchase", "cancel", "list"]),
        ("genesis_mint", &["submit", "withdraw", "status", "history", "submissions"]),
        ("genesis_rights_registry", &["quotas", "transfer_quota"]),
    ] {
        let help = invoke(&world, "ada", id, "help", "[]").expect("all may");
        assert_eq!(read(&world, "ada", id), Ok(help.clone()));
        let Value::Map(help) = help else { panic!("{id}") };
        let Some(Value::Map(about)) = help.get("methods") else { panic!("{id}") };
        let names: Vec<&str> = about.iter().map(|(name, _)| name).collect();
        assert_eq!(names, methods, "{id}");
    }
}
