//! Calls of a server on this machine that behaves, and of one that does not.

use crate::server::{Loopback, Reply};
use chartc_adapters::models::{Providers, Server, ServerError};
use chartc_core::arena::ChoiceId;
use chartc_core::host::Offer;
use chartc_runtime::budget::Usage;
use chartc_runtime::oracle::{Alternative, Kind, Model, Oracle, OracleError, Question};
use serde_json::{Value, json};
use std::time::Duration;

const KEY: &str = "sk-very-secret-0123456789";

pub(crate) fn option(name: &str, schema: &str) -> Alternative {
    let offer = Offer {
        choice: ChoiceId(0),
        tool: None,
        name: name.to_owned().into(),
        text: "".into(),
        arguments: Vec::new(),
    };
    Alternative { offer, schema: schema.to_owned() }
}

pub(crate) fn question() -> Question {
    Question {
        step: "reflect on".into(),
        kind: Kind::Ask,
        prompt: "What now?".into(),
        options: vec![option("ship", ""), option("pivot", "")],
        model: Model {
            model: "openai:gpt-5-mini-low".into(),
            temperature: Some(0.25),
            max_tokens: Some(77),
            ..Model::default()
        },
        ..Question::default()
    }
}

pub(crate) fn said(text: &str) -> Value {
    json!({
        "id": "1", "object": "chat.completion", "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 31, "completion_tokens": 7, "total_tokens": 38}
    })
}

async fn ask(
    reply: Reply,
    question: Question,
) -> Result<chartc_runtime::oracle::Answer, OracleError> {
    let server = Loopback::start(reply).await;
    let target = Server::with_timeout(&server.url(), Some(KEY.into()), Duration::from_secs(5));
    Providers::one(target.expect("an address")).ask(question.into()).await
}

#[tokio::test]
async fn the_plain_answer() {
    let server = Loopback::start(Reply::json(200, &said(r#"{"choice": "ship"}"#))).await;
    let target = Server::new(&server.url(), Some(KEY.into())).expect("an address");
    let answer = Providers::one(target).ask(question().into()).await.expect("an answer");
    assert_eq!(answer.text, r#"{"choice": "ship"}"#);
    assert_eq!(answer.usage, Some(Usage { input_tokens: 31, output_tokens: 7, cost: None }));
    let request = server.request().await;
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let body = request.body;
    assert_eq!(body["model"], "gpt-5-mini-low", "the name is sent as it stands");
    assert!(body.get("reasoning_effort").is_none(), "{body}");
    assert_eq!(body["temperature"], 0.25);
    assert_eq!(body["max_completion_tokens"], 77);
    assert_eq!(body["messages"][1], json!({"role": "user", "content": "What now?"}));
    let format = &body["response_format"]["json_schema"];
    assert_eq!((&format["strict"], &format["name"]), (&json!(true), &json!("reflect_on")));
    assert_eq!(format["schema"]["properties"]["choice"]["enum"], json!(["ship", "pivot"]));
}

#[tokio::test]
async fn refusals_to_answer_now_say_when() {
    let busy = json!({"error": {"message": "slow down"}});
    for (headers, retry_after) in [
        (vec![("retry-after", "7")], Some(7000)),
        (vec![("retry-after-ms", "250"), ("retry-after", "1")], Some(250)),
        (vec![("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")], Some(0)),
        (
            vec![
                ("date", "Wed, 21 Oct 2015 07:27:18 GMT"),
                ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"),
            ],
            Some(42_000),
        ),
        (vec![("retry-after", "later")], None),
        (vec![], None),
    ] {
        let reply = |status| Reply::json(status, &busy).with(&headers);
        assert_eq!(
            ask(reply(429), question()).await,
            Err(OracleError::RateLimited { retry_after })
        );
        let status = 503;
        assert_eq!(
            ask(reply(status), question()).await,
            Err(OracleError::Server { status, why: "slow down".into(), retry_after })
        );
    }
    let failed = ask(Reply::text(500, "text/html", "<h1>oh\n no</h1>"), question()).await;
    let why = "<h1>oh no</h1>".to_owned();
    assert_eq!(failed, Err(OracleError::Server { status: 500, why, retry_after: None }));
}

#[tokio::test]
async fn no_error_tells_the_key() {
    let wrong =
        json!({"error": {"message": format!("Incorrect API key provided: {KEY}. Look it up.")}});
    for status in [400, 401, 403, 404, 422, 500] {
        let error = ask(Reply::json(status, &wrong), question()).await.expect_err("it failed");
        let text = format!("{error} {error:?}");
        assert!(!text.contains(KEY) && text.contains("Incorrect API key"), "{text}");
        assert_eq!(error.is_unavailable(), status < 500, "{text}");
    }
    let mut refusal = said("");
    refusal["choices"][0]["message"]["refusal"] = json!(format!("not with {KEY}"));
    let error = ask(Reply::json(200, &refusal), question()).await.expect_err("a refusal");
    assert_eq!(error, OracleError::Refusal("not with …".into()));
    let server = Server::new("http://localhost:1/v1", Some(KEY.into())).expect("an address");
    assert!(!format!("{server:?}").contains(KEY));
    assert!(!format!("{:?}", Providers::one(server)).contains(KEY));
}

#[tokio::test]
async fn answers_without_sense_are_errors_of_their_own() {
    let other = |error: &str| Err(OracleError::Other(error.to_owned()));
    let form = "the answer has another form than OpenAI's";
    let cases = [
        (
            Reply::text(200, "text/html", "<h1>hello</h1>"),
            other("the answer is not JSON but `text/html`"),
        ),
        (Reply::json(200, &said("  \n")), Err(OracleError::Empty)),
        (Reply::json(200, &json!({"choices": []})), Err(OracleError::Empty)),
        (Reply::json(200, &json!({"detail": "no"})), other(form)),
    ];
    for (reply, expected) in cases {
        assert_eq!(ask(reply, question()).await, expected);
    }
    let broken = ask(Reply::text(200, "application/json", "{\"choices\": [{"), question()).await;
    assert!(
        matches!(&broken, Err(OracleError::Other(why)) if why.starts_with("the answer is no JSON")),
        "{broken:?}"
    );
    let odd = ask(Reply::json(200, &json!({"choices": "none", "usage": []})), question()).await;
    assert!(odd == Err(OracleError::Empty) || odd == other(form), "{odd:?}");
    let mut filtered = said("");
    filtered["choices"][0]["finish_reason"] = json!("content_filter");
    let refused = ask(Reply::json(200, &filtered), question()).await;
    assert_eq!(refused, Err(OracleError::Refusal("content_filter".into())));
}

#[tokio::test]
async fn usage_that_is_missing_or_odd_is_none() {
    for usage in [
        json!(null),
        json!({}),
        json!({"prompt_tokens": -5, "completion_tokens": 3}),
        json!("many"),
        json!({"prompt_tokens": "3"}),
    ] {
        let mut body = said("ship");
        body["usage"] = usage.clone();
        let answer = ask(Reply::json(200, &body), question()).await.expect("an answer");
        assert_eq!((answer.text.as_str(), answer.usage), ("ship", None), "{usage}");
    }
}

#[tokio::test]
async fn connections_that_break_are_lost_connections() {
    let body = said("ship").to_string();
    for reply in
        [Reply::cut(&body), Reply::reset(), Reply::close(), Reply::text(0, "", "what?\r\n\r\n")]
    {
        let lost = ask(reply, question()).await;
        assert!(matches!(lost, Err(OracleError::Connection(_))), "{lost:?}");
    }
    let nobody = Server::new("http://127.0.0.1:1/v1", None).expect("an address");
    let lost = Providers::one(nobody).ask(question().into()).await;
    let told = "no server answers at http://127.0.0.1:1/v1 (Connection refused): start the server, or correct the address";
    assert_eq!(lost, Err(OracleError::Unreachable(told.into())));
}

#[tokio::test]
async fn a_server_that_hangs_times_out_and_a_dropped_call_hangs_up() {
    for reply in [Reply::hang(), Reply::drip()] {
        let server = Loopback::start(reply).await;
        let target = Server::with_timeout(&server.url(), None, Duration::from_millis(300));
        let late = Providers::one(target.expect("an address")).ask(question().into()).await;
        assert_eq!(late, Err(OracleError::Timeout(300)));
    }
    let server = Loopback::start(Reply::hang()).await;
    let providers = Providers::one(Server::new(&server.url(), None).expect("an address"));
    let asking = tokio::spawn(providers.ask(question().into()));
    server.request().await;
    asking.abort();
    server.hung_up().await;
}

#[tokio::test]
async fn a_redirection_is_not_followed() {
    let there = Loopback::start(Reply::json(200, &said("ship"))).await;
    let reply = Reply::text(307, "text/plain", "")
        .with(&[("location", &format!("{}/chat/completions", there.url()))]);
    let answer = ask(reply, question()).await;
    assert!(matches!(answer, Err(OracleError::Rejected(_))), "{answer:?}");
    assert!(!there.was_asked());
}

#[tokio::test]
async fn each_client_has_its_provider() {
    let one = Loopback::start(Reply::json(200, &said("one"))).await;
    let two = Loopback::start(Reply::json(200, &said("two"))).await;
    let server = |at: &Loopback| Server::new(&at.url(), None).expect("an address");
    let providers = Providers::by_client()
        .with("openai", server(&one))
        .with("ollama", server(&two))
        .with_model("ollama:llama3:8b");
    let put = |model: &str| Question {
        model: Model { model: model.to_owned().into(), ..Model::default() },
        ..question()
    };
    let text = async |model: &str| providers.ask(put(model).into()).await.map(|answer| answer.text);
    assert_eq!(text("openai:gpt").await, Ok("one".to_owned()));
    assert_eq!(text("").await, Ok("two".to_owned()));
    assert_eq!(two.request().await.body["model"], "llama3:8b");
    // Whom nobody knows is the host's fault: the run ends with it.
    let unknown = text("other:x").await.expect_err("no such provider");
    assert!(unknown.is_fatal() && unknown.to_string().contains("`other`"), "{unknown}");
}

#[test]
fn addresses_that_are_none_are_refused() {
    for url in ["", "localhost:11434", "ftp://x/v1", "http://", "what"] {
        assert!(matches!(Server::new(url, None), Err(ServerError::Address(_))), "{url}");
    }
    for url in ["http://me:pass@host/v1", "https://host/v1?key=abc"] {
        let error = Server::new(url, None).expect_err("a secret");
        assert_eq!(error, ServerError::Secret);
        assert!(!error.to_string().contains("pass") && !error.to_string().contains("abc"));
    }
    assert_eq!(Server::new("http://h/v1", None).expect("an address").url(), "http://h/v1/");
}

/// A proxy that the environment names would catch calls of this machine.
#[test]
fn no_proxy_catches_loopback() {
    let this = std::env::current_exe().expect("this test");
    let run = std::process::Command::new(this)
        .args(["--exact", "loopback::the_plain_answer"])
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .env("http_proxy", "http://127.0.0.1:9")
        .env("ALL_PROXY", "http://127.0.0.1:9")
        .output();
    let run = run.expect("it runs");
    let out = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && out.contains("1 passed"), "{out}");
}
