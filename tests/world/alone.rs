//! The world of a single agent, which its snapshot contains.

use crate::door::{Words, map};
use chartc_core::expr::Value;
use chartc_runtime::agent::{Action, ArtifactHost, FailureKind};
use chartc_world::{Methods, NewAgent, Settings, World};
use std::sync::Arc;

const FILE: &str = "
agent: ada
balances: {ada: 10, bob: 0}
disk: {ada: 20000, bob: 100}
artifacts:
  shop:
    owner: bob
    content: sells gold
    price: {buy: 6}
    methods:
      price: [3, 4]
      buy: [sold, {fail: sold out}, sold again]
";

fn world() -> Arc<dyn ArtifactHost> {
    of(FILE)
}

fn of(text: &str) -> Arc<dyn ArtifactHost> {
    let world = World::parse(text, Settings::default()).expect("it can be read");
    let ada = NewAgent { name: "ada".into(), disk: Some(20_000), ..NewAgent::default() };
    world.add_agent(ada).expect("the file knows her");
    world.with_workshop(Arc::new(Words)).with_invoke(Arc::new(Methods)).alone()
}

async fn act(world: &Arc<dyn ArtifactHost>, answer: &str) -> Result<Vec<String>, String> {
    let (action, _) = Action::read(&map(answer)).expect("an action");
    let done = world.act("ada", &action).await;
    done.map(|done| done.changes).map_err(|failure| failure.to_string())
}

const BUY: &str = r#"{"action":"invoke_artifact","artifact_id":"shop","method":"buy"}"#;
const WRITE: &str = r#"{"action":"write_artifact","artifact_id":"plan","content":{"z":1,"a":2}}"#;

#[tokio::test(flavor = "current_thread")]
async fn it_goes_on_where_it_was_saved() {
    let first = world();
    assert_eq!(act(&first, BUY).await.expect("10 is enough"), ["ada pays 6 scrip to bob"]);
    act(&first, WRITE).await.expect("it is new");
    assert_eq!(first.invoke("ada", "shop", "price", &[]), Ok(Value::Int(3)));
    let text = serde_json::to_string(&first.save()).expect("JSON");
    let again = world();
    again.load(&serde_json::from_str(&text).expect("JSON")).expect("the same world");
    assert_eq!(again.save(), first.save());
    assert_eq!(again.view("ada"), first.view("ada"));
    assert_eq!(again.invoke("ada", "shop", "price", &[]), Ok(Value::Int(4)));
    let other = of("balances: {ada: 1}");
    assert!(other.load(&first.save()).expect_err("another file").contains("another world"));
}

/// A snapshot of the version that had balances and artifacts only.
#[tokio::test(flavor = "current_thread")]
async fn it_goes_on_from_an_earlier_snapshot() {
    let file = match world().save() {
        Value::Map(saved) => saved.get("file").cloned().expect("a hash"),
        other => panic!("{other:?}"),
    };
    let file = serde_json::to_string(&file).expect("JSON");
    let text = format!(
        r#"{{"file": {file}, "balances": {{"ada": 4, "bob": 6}}, "artifacts": {{
            "ada": {{"owner": "ada", "type": "data", "content": {{"working_memory": {{"goal": "gold"}}}}}},
            "plan": {{"owner": "ada", "type": "note", "content": "sell"}},
            "shop": {{"owner": "bob", "type": "executable", "content": "sells gold", "used": {{"buy": 1, "price": 1}}}}
        }}}}"#
    );
    let world = world();
    world.load(&serde_json::from_str(&text).expect("JSON")).expect("the same file");
    let view = world.view("ada");
    assert_eq!((view.balance, world.view("bob").balance), (4, 6));
    assert_eq!(view.own, [Value::Text("plan".into())]);
    assert_eq!(view.record, Some(Value::Map(map(r#"{"working_memory": {"goal": "gold"}}"#))));
    assert_eq!(world.invoke("ada", "shop", "price", &[]), Ok(Value::Int(4)));
    let why = act(&world, BUY).await.expect_err("the second fails");
    assert_eq!(why, "insufficient_scrip: `buy` of `shop` costs 6 scrip, and there are 4");
    let other = text.replace(r#""balances""#, r#""other": 1, "balances""#);
    world.load(&serde_json::from_str(&other).expect("JSON")).expect_err("no world");
}

#[tokio::test(flavor = "current_thread")]
async fn nobody_else_runs_in_it() {
    let world = world();
    let view = world.view("ada");
    assert_eq!((view.event_number, view.recent_events.len()), (0, 0), "turns are counted instead");
    assert_eq!(view.others, [Value::Text("bob".into())]);
    let seed = r#"{"action":"write_artifact","artifact_id":"seed","artifact_type":"chart","content":"hear"}"#;
    act(&world, seed).await.expect("it compiles");
    let spawn = r#"{"action":"invoke_artifact","artifact_id":"genesis_ledger","method":"spawn_principal","args":["seed"]}"#;
    let why = act(&world, spawn).await.expect_err("nobody would run it");
    assert_eq!(why, "invocation_failed: a run of one agent makes no others: run a folder");
    // A function pays nothing, so it cannot call what has a price.
    let why = world.invoke("ada", "shop", "buy", &[]).expect_err("6 scrip");
    assert_eq!(why.kind, FailureKind::PermissionDenied);
    // Compiling takes compute, which is full again in the next turn.
    assert_eq!(world.view("ada").quotas.get("compute"), Some(&Value::Int(1_000)));
}
