//! Charts that agents write, invoke and make agents of, in a world.

use chartc::chart_compiler::Compiler;
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::{Action, ArtifactHost, Done};
use chartc_world::{Methods, NewAgent, Request, Settings, World};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use test_support::project::read;

/// A world with a compiler and these agents, who have 100 scrip each.
pub(super) fn world(agents: &[&str]) -> World {
    with(Settings::default(), agents)
}

fn with(settings: Settings, agents: &[&str]) -> World {
    let world =
        World::new(settings).with_workshop(Arc::new(Compiler)).with_invoke(Arc::new(Methods));
    for name in agents {
        let new = NewAgent { name: (*name).to_owned(), ..NewAgent::default() };
        world.add_agent(new).expect("the name is free");
    }
    world
}

/// An action as a model answers with it; what came of it, or the failure's name and reason.
pub(super) fn act(world: &World, agent: &str, answer: &str) -> Result<Done, String> {
    let answer: Map = serde_json::from_str(answer).expect("an answer is an object");
    let (action, _) = Action::read(&answer).map_err(|failure| failure.to_string())?;
    match pin!(world.act(agent, &action)).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => {
            world.audit().expect("the books add up");
            done.map_err(|failure| failure.to_string())
        }
        Poll::Pending => panic!("a world in memory waits for nothing"),
    }
}

pub(super) fn invoke(
    world: &World,
    agent: &str,
    artifact: &str,
    method: &str,
    args: &str,
) -> Result<Value, String> {
    let answer = format!(
        r#"{{"action":"invoke_artifact","artifact_id":"{artifact}","method":"{method}","args":{args}}}"#
    );
    act(world, agent, &answer).map(|done| done.value)
}

/// Writes an artifact of a type.
fn write(world: &World, agent: &str, id: &str, ty: &str, text: &str) -> Result<Done, String> {
    let content = serde_json::to_string(text).expect("a text is JSON");
    let answer = format!(
        r#"{{"action":"write_artifact","artifact_id":"{id}","artifact_type":"{ty}","content":{content}}}"#
    );
    act(world, agent, &answer)
}

#[test]
fn a_chart_that_one_agent_writes_is_invoked_by_another() {
    let world = world(&["ada", "bob"]);
    let oracle = read("charts/price_oracle.chart");
    write(&world, "ada", "oracle", "chart", &oracle).expect("it is sound");
    invoke(&world, "ada", "genesis_store", "set_policy", r#"["oracle", {"price": 4}]"#)
        .expect("it is ada's");
    assert_eq!(invoke(&world, "bob", "oracle", "quote", "[12]"), Ok(Value::Int(54)));
    assert_eq!((world.balances()["ada"], world.balances()["bob"]), (104, 96));
    // What fails costs nothing.
    let told = invoke(&world, "bob", "oracle", "quote", "[0]").expect_err("none are not for sale");
    assert_eq!(told, "invocation_failed: it ended as error in `declined`");
    assert_eq!(world.balances()["bob"], 96);
}

#[test]
fn a_chart_with_errors_comes_back_and_nothing_is_written() {
    let world = world(&["ada"]);
    let faulty =
        read("charts/price_oracle.chart").replace("quote(pieces: Int)", "quot(pieces: Int)");
    let told = write(&world, "ada", "oracle", "chart", &faulty).expect_err("it has errors");
    assert!(told.starts_with("does_not_compile: "), "{told}");
    assert!(told.contains("12:8: C0102: no event `quote`; did you mean `quot`?"), "{told}");
    assert!(world.view("ada").own.is_empty());
}

#[test]
fn an_import_is_another_artifact_that_the_writer_may_read() {
    let world = world(&["ada", "bob"]);
    let lib = "fn unit() -> Int from \"oracle\" \"unit\" else 5\n";
    let chart = "import \"lib\"\nchart Shop {\n  event buy(n: Int)\n  initial open\n  state open { on buy(n) -> sold(n * unit()) }\n  final sold(price: Int)\n}\n";
    let told = write(&world, "bob", "shop", "chart", chart).expect_err("there is no lib");
    assert!(told.contains("1:8: C0002: "), "{told}");
    write(&world, "ada", "lib", "data", lib).expect("it is text");
    write(&world, "bob", "shop", "chart", chart).expect("it is sound");
    assert_eq!(invoke(&world, "ada", "shop", "buy", "[3]"), Ok(Value::Int(15)));
    // Nobody may read it any more.
    invoke(&world, "ada", "genesis_store", "set_policy", r#"["lib", {"read": "owner"}]"#)
        .expect("it is ada's");
    let again = chart.replace("Shop", "Store");
    write(&world, "bob", "store", "chart", &again).expect_err("it is ada's own");
}

#[test]
fn charts_that_invoke_each_other_come_to_an_end() {
    let ping = |other: &str| {
        format!(
            "fn other() -> Int from \"{other}\" \"go\"\nchart A {{\n  event go\n  initial a\n  state a {{\n    on go if other() + other() > 0 -> b(1)\n    on go -> b(0)\n  }}\n  final b(n: Int)\n}}\n"
        )
    };
    let generous = Settings {
        max_invocation_depth: u32::MAX,
        invocation_fuel: u64::MAX / 2,
        ..Settings::default()
    };
    for settings in [Settings::default(), generous] {
        let world = with(settings, &["ada"]);
        write(&world, "ada", "ping", "chart", &ping("pong")).expect("it is sound");
        write(&world, "ada", "pong", "chart", &ping("ping")).expect("it is sound");
        // The deepest have no answer, which a condition takes for false.
        assert_eq!(invoke(&world, "ada", "ping", "go", "[]"), Ok(Value::Int(0)));
    }
}

#[test]
fn a_spawn_asks_for_an_agent_with_its_charts() {
    let world = world(&["ada"]);
    write(&world, "ada", "worker", "chart", &read("charts/worker.chart")).expect("it is sound");
    let arguments = r#"["worker", "w1", 20, {"task": "Draw an owl."}]"#;
    invoke(&world, "ada", "genesis_ledger", "spawn_principal", arguments).expect("ada may");
    let requests = world.take_requests();
    let [Request::Spawn(spawn)] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!((spawn.agent.as_str(), spawn.parent.as_str(), spawn.depth), ("w1", "ada", 1));
    assert_eq!(spawn.family.root().name, "Worker");
    assert_eq!(spawn.params.get("task"), Some(&Value::Text("Draw an owl.".into())));
    assert_eq!((world.balances()["ada"], world.balances()["w1"]), (80, 20));
}

#[test]
fn a_spawned_chart_uses_no_more_than_its_spawner() {
    let world = world(&["ada"]);
    let greedy = read("charts/worker.chart")
        .replacen("  var draft", "  client c { model \"openai:gpt-4o\" }\n\n  var draft", 1)
        .replace("llm work {", "llm work with c {");
    write(&world, "ada", "greedy", "chart", &greedy).expect("it is sound");
    let told = invoke(&world, "ada", "genesis_ledger", "spawn_principal", r#"["greedy"]"#)
        .expect_err("ada asks no such model");
    let why =
        "permission_denied: `Worker` asks the model `openai:gpt-4o`, which its spawner does not";
    assert_eq!(told, why);
    assert!(world.take_requests().is_empty());
}
