use super::*;
use chartc_core::expr::Map;
use chartc_runtime::agent::{Action, Done};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

fn new_agent(name: &str) -> NewAgent {
    NewAgent { name: name.to_owned(), ..NewAgent::default() }
}

fn world(names: &[&str]) -> World {
    let world = World::new(Settings::default());
    for name in names {
        world.add_agent(new_agent(name)).expect("the name is free");
    }
    world
}

/// An action as a model answers with it; what came of it, or the failure's name and reason.
fn act(world: &World, agent: &str, answer: &str) -> Result<Done, String> {
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

fn invoke(
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

fn write(world: &World, agent: &str, id: &str, content: &str) -> Result<Vec<String>, String> {
    let answer =
        format!(r#"{{"action":"write_artifact","artifact_id":"{id}","content":"{content}"}}"#);
    act(world, agent, &answer).map(|done| done.changes)
}

#[test]
fn scrip_moves_and_its_sum_stays() {
    let world = world(&["ada", "bob"]);
    invoke(&world, "ada", "genesis_ledger", "transfer", r#"["bob", 30]"#).expect("100 is enough");
    invoke(&world, "ada", "genesis_ledger", "transfer", r#"["ada", "bob", 5]"#).expect("65 left");
    assert_eq!(world.balances()["ada"], 65);
    assert_eq!(world.balances()["bob"], 135);
    assert_eq!(world.ledger().circulation(), 200);
    assert_eq!(world.view("bob").earned, 35);
}

#[test]
fn an_artifact_is_sold_through_escrow() {
    let world = world(&["ada", "bob"]);
    write(&world, "ada", "plan", "0123456789").expect("it is new");
    invoke(&world, "ada", "genesis_escrow", "deposit", r#"["plan", 40]"#).expect("it is ada's");
    write(&world, "ada", "plan", "worse").expect_err("it is offered");
    invoke(&world, "bob", "genesis_escrow", "purchase", r#"["plan"]"#).expect("100 is enough");
    assert_eq!(world.balances()["ada"], 140);
    assert_eq!(world.view("bob").own, [Value::Text("plan".into())]);
    write(&world, "ada", "plan", "worse").expect_err("it is bob's");
}
