//! Servers that refuse for good, and servers that take their time.

use crate::server::{Loopback, Reply};
use chartc_adapters::models::{Providers, Server};
use chartc_runtime::oracle::{Kind, Model, Oracle, OracleError, Question};
use serde_json::{Value, json};
use std::time::Duration;

const KEY: &str = "sk-very-secret-0123456789";

fn question() -> Question {
    let schema = r#"{"type":"string"}"#.into();
    let model = Model { model: "any:m".into(), ..Model::default() };
    let step = "look".into();
    Question {
        step,
        kind: Kind::Llm,
        prompt: "Where?".into(),
        schema,
        model,
        ..Question::default()
    }
}

fn said(text: &str) -> Value {
    json!({"choices": [{"message": {"role": "assistant", "content": text}}]})
}

#[tokio::test]
async fn who_refuses_for_good_says_what_to_do() {
    let told = async |provider: &str, reply: Reply, key: Option<&str>| {
        let server = Loopback::start(reply).await;
        let target = Server::of(provider, &server.url(), key.map(str::to_owned));
        let target = target.expect("an address").set_by("X_BASE_URL", "X_API_KEY");
        let asked = Providers::only(target, "x").ask(question().into()).await;
        let Err(OracleError::Rejected(why)) = asked else { panic!("{asked:?}") };
        why.replace(&server.url(), "URL")
    };
    let no = |status| Reply::json(status, &json!({"error": {"message": "no"}}));
    let cases = [
        (no(401), None, "URL: 401 Unauthorized: no; set X_API_KEY"),
        (no(401), Some(KEY), "URL: 401 Unauthorized: no; check X_API_KEY"),
        (no(403), Some(KEY), "URL: 403 Forbidden: no; check X_API_KEY"),
        (no(404), None, "URL: 404 Not Found: no; check the address and the name of the model"),
        (
            no(400),
            None,
            "URL: 400 Bad Request: no; change the prompt, the client or the model: the same request will not be taken",
        ),
    ];
    for (reply, key, expected) in cases {
        assert_eq!(told("x", reply, key).await, expected);
    }
    let list = |names: &[&str]| {
        let data: Vec<Value> = names.iter().map(|name| json!({"id": name})).collect();
        Reply::json(404, &json!({"error": "no model"})).with_get(200, &json!({"data": data}))
    };
    let few = told("x", list(&["a", "b"]), None).await;
    assert_eq!(few, "URL has no model `x`: it has a, b");
    let many: Vec<String> = (0..20).map(|n| format!("m{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let many = told("ollama", list(&many), None).await;
    assert_eq!(
        many,
        "URL has no model `x`: it has m0, m1, m2, m3, m4, m5, m6, m7 and 12 more; `ollama pull x` fetches it"
    );
    let there = told("x", list(&["x"]), None).await;
    assert_eq!(there, "URL: 404 Not Found: no model; check the address and the name of the model");
}

#[tokio::test]
async fn a_client_may_wait_longer_than_its_server_usually_does() {
    let server = Loopback::start(Reply::json(200, &said("ship")).after(600)).await;
    let target = Server::with_timeout(&server.url(), None, Duration::from_millis(200));
    let providers = Providers::one(target.expect("an address"));
    let patient = |timeout| {
        let model = Model { timeout, ..question().model };
        Question { model, ..question() }
    };
    assert_eq!(providers.ask(patient(None).into()).await, Err(OracleError::Timeout(200)));
    let answer = providers.ask(patient(Some(3_600_000)).into()).await.expect("an answer");
    assert_eq!(answer.text, "ship");
    assert_eq!(providers.ask(patient(Some(100)).into()).await, Err(OracleError::Timeout(100)));
}
