//! Calls of a server on this machine that behaves, and of one that does not.

use crate::server::{Loopback, Reply};
use chartc_core::arena::ChoiceId;
use chartc_core::host::Offer;
use chartc_core::model::ActionForm;
use chartc_providers::{Providers, Server, ServerError};
use chartc_runtime::budget::Usage;
use chartc_runtime::oracle::{Alternative, Kind, Model, Oracle, OracleError, Question};
use serde_json::{Value, json};
use std::time::Duration;

const KEY: &str = "sk-very-secret-0123456789";

fn option(name: &str, schema: &str) -> Alternative {
    let offer = Offer {
        choice: ChoiceId(0),
        tool: None,
        name: name.to_owned().into(),
        text: "".into(),
        arguments: Vec::new(),
    };
    Alternative { offer, schema: schema.to_owned() }
}

fn question() -> Question {
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

fn said(text: &str) -> Value {
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
async fn arguments_of_options_and_answers_of_types_have_their_schemas() {
    let schema = r##"{"$defs":{"M":{"enum":["good","bad"]}},"type":"object","properties":{"mood":{"$ref":"#/$defs/M"}},"required":["mood"]}"##;
    let mut asked = question();
    asked.options = vec![option("ship", ""), option("finish", schema)];
    let server = Loopback::start(Reply::json(200, &said("{}"))).await;
    let providers = Providers::one(Server::new(&server.url(), None).expect("an address"));
    providers.ask(asked.into()).await.expect("an answer");
    let request = server.request().await;
    assert_eq!(request.header("authorization"), None, "no key, no header");
    let sent = &request.body["response_format"]["json_schema"]["schema"];
    // Arguments belong to their option.
    let forms = &sent["properties"]["choice"]["anyOf"];
    assert_eq!(forms[0]["required"], json!(["name", "arguments"]));
    assert_eq!(forms[0]["properties"]["name"]["enum"], json!(["finish"]));
    assert_eq!(forms[0]["properties"]["arguments"]["required"], json!(["mood"]));
    assert_eq!(forms[1]["properties"]["name"]["enum"], json!(["ship"]));
    assert!(forms[1]["properties"].get("arguments").is_none(), "{sent}");
    assert!(sent["$defs"]["M"].is_object(), "{sent}");

    // A schema that is no object's stands in one, and its answer is taken out again.
    let server = Loopback::start(Reply::json(200, &said(r#"{"value": "bad"}"#))).await;
    let providers = Providers::one(Server::new(&server.url(), None).expect("an address"));
    let typed = Question {
        kind: Kind::Llm,
        schema: r##"{"$defs":{"M":{"enum":["good","bad"],"type":"string"}},"$ref":"#/$defs/M"}"##
            .into(),
        options: Vec::new(),
        ..question()
    };
    let answer = providers.ask(typed.into()).await.expect("an answer");
    assert_eq!(answer.text, r#""bad""#);
    let sent = server.request().await.body["response_format"]["json_schema"]["schema"].clone();
    assert_eq!((&sent["type"], &sent["required"]), (&json!("object"), &json!(["value"])));

    let server = Loopback::start(Reply::json(200, &said(r#"{"action": "noop"}"#))).await;
    let providers = Providers::one(Server::new(&server.url(), None).expect("an address"));
    let action = Question { kind: Kind::Llm, options: Vec::new(), ..question() };
    assert_eq!(
        providers.ask(action.into()).await.expect("an answer").text,
        r#"{"action": "noop"}"#
    );
    let sent = server.request().await.body["response_format"]["json_schema"].clone();
    assert_eq!(sent["schema"]["required"], json!(["reasoning", "action"]));
    assert_eq!(sent["strict"], false, "what an action needs is not known");

    // A record is sent as itself, one that holds itself with its definition.
    for (held, defined) in [(r#"{"type":"string"}"#, false), (r##"{"$ref":"#/$defs/R"}"##, true)] {
        let server = Loopback::start(Reply::json(200, &said("{}"))).await;
        let providers = Providers::one(Server::new(&server.url(), None).expect("an address"));
        let record = format!(
            r##"{{"$defs":{{"R":{{"type":"object","properties":{{"a":{held}}},"required":["a"],"additionalProperties":false}}}},"$ref":"#/$defs/R"}}"##
        );
        let asked = Question { kind: Kind::Llm, schema: record, options: Vec::new(), ..question() };
        providers.ask(asked.into()).await.expect("an answer");
        let sent = server.request().await.body["response_format"]["json_schema"]["schema"].clone();
        assert_eq!((&sent["type"], &sent["required"]), (&json!("object"), &json!(["a"])));
        assert_eq!(sent["$defs"]["R"].is_object(), defined, "{sent}");
    }

    let said_so =
        r#"{"situation_assessment":"a","action_rationale":"b","action":{"action_type":"noop"}}"#;
    let server = Loopback::start(Reply::json(200, &said(said_so))).await;
    let providers = Providers::one(Server::new(&server.url(), None).expect("an address"));
    let model = Model { actions: ActionForm::Ooda, ..question().model };
    let action = Question { kind: Kind::Llm, options: Vec::new(), model, ..question() };
    assert_eq!(providers.ask(action.into()).await.expect("an answer").text, said_so);
    let sent = server.request().await.body["response_format"]["json_schema"]["schema"].clone();
    assert_eq!(sent["required"], json!(["situation_assessment", "action_rationale", "action"]));
    assert_eq!(sent["properties"]["action"]["anyOf"][3]["required"][2], "method");
}

#[tokio::test]
async fn a_step_with_tools_may_be_answered_by_a_call() {
    let query =
        r#"{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}"#;
    let said_so = r#"{"value": {"tool": "web.search", "arguments": {"query": "owls"}}}"#;
    let server = Loopback::start(Reply::json(200, &said(said_so))).await;
    let providers = Providers::one(Server::new(&server.url(), None).expect("an address"));
    let asked = Question {
        kind: Kind::Llm,
        schema: r##"{"$defs":{"M":{"enum":["good","bad"]}},"$ref":"#/$defs/M"}"##.into(),
        options: vec![option("web.search", query), option("web.home", "")],
        ..question()
    };
    let answer = providers.ask(asked.into()).await.expect("an answer");
    assert_eq!(answer.text, r#"{"tool":"web.search","arguments":{"query":"owls"}}"#);
    let sent = server.request().await.body["response_format"]["json_schema"]["schema"].clone();
    let any = &sent["properties"]["value"]["anyOf"];
    assert_eq!(any[0]["properties"]["tool"]["enum"], json!(["web.search"]));
    assert_eq!(any[0]["properties"]["arguments"]["required"], json!(["query"]));
    assert_eq!(any[1]["required"], json!(["tool"]));
    assert_eq!(any[2], json!({"$ref": "#/$defs/M"}));
    assert_eq!(sent["$defs"]["M"]["enum"], json!(["good", "bad"]));
}

/// What is held for a call has to be at least what it takes, and no token is shorter than a byte.
#[tokio::test]
async fn no_request_is_longer_than_what_is_held_for_it() {
    let long = r#"{"type":"object","properties":{"why":{"type":"string"},"count":{"type":"integer"}},"required":["why","count"]}"#;
    let typed = |schema: &str| Question {
        kind: Kind::Llm,
        schema: schema.into(),
        options: Vec::new(),
        prompt: "?".into(),
        ..question()
    };
    let mut many = question();
    many.prompt = "?".into();
    many.options =
        (0..40).map(|i| option(&format!("o{i}"), if i % 2 == 0 { long } else { "" })).collect();
    let bare = Question { prompt: "?".into(), ..question() };
    let with = |schema: &str, options: &[Alternative]| {
        let typed = typed(schema);
        Question { options: options.to_vec(), ..typed }
    };
    let in_form = |actions: ActionForm, options: &[Alternative]| {
        let asked = with("", options);
        Question { model: Model { actions, ..asked.model.clone() }, ..asked }
    };
    let forms = [
        in_form(ActionForm::Simple, &[]),
        in_form(ActionForm::Ooda, &[]),
        in_form(ActionForm::Ooda, &many.options),
    ];
    let tools = [with("", &many.options), with(long, &many.options), with(long, &bare.options)];
    let typed = [typed(""), typed(long), typed(r#"{"enum":["a","b"],"type":"string"}"#)];
    for asked in [bare, many].into_iter().chain(typed).chain(tools).chain(forms) {
        let server = Loopback::start(Reply::json(200, &said("x"))).await;
        let providers = Providers::one(Server::new(&server.url(), None).expect("an address"));
        let bound = asked.token_bound();
        providers.ask(asked.into()).await.expect("an answer");
        let body = server.request().await.body;
        let texts = body["messages"].as_array().expect("messages").iter();
        let texts: usize = texts.map(|m| m["content"].as_str().map_or(0, str::len) + 16).sum();
        let sent = texts + body["response_format"].to_string().len();
        assert!(sent as u64 <= bound, "{sent} bytes, {bound} held: {body}");
    }
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
