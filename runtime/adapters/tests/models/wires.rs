//! What each provider is sent, and what is made of what it answers.

use crate::server::{Loopback, Reply, Request};
use chartc_adapters::models::{PROVIDERS, Providers, Server};
use chartc_runtime::budget::Usage;
use chartc_runtime::oracle::{Answer, Kind, Model, Oracle, OracleError, Question};
use serde_json::{Value, json};

const KEY: &str = "sk-very-secret-0123456789";
const PLACE: &str = r#"{"type":"object","properties":{"name":{"type":"string"},"far":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":["name"],"additionalProperties":false}"#;

fn question(schema: &str) -> Question {
    Question {
        step: "look".into(),
        kind: Kind::Llm,
        prompt: "Where?".into(),
        schema: schema.into(),
        model: Model {
            model: "x:some/model-1".into(),
            temperature: Some(0.5),
            max_tokens: Some(99),
            ..Model::default()
        },
        ..Question::default()
    }
}

async fn ask(
    provider: &str,
    reply: Reply,
    question: Question,
) -> (Result<Answer, OracleError>, Request) {
    let loopback = Loopback::start(reply).await;
    let server = Server::of(provider, &loopback.url(), Some(KEY.into())).expect("an address");
    let answer = Providers::one(server).ask(question.into()).await;
    (answer, loopback.request().await)
}

/// An answer in the words of a provider.
fn body(provider: &str, text: &str, stop: Stop) -> Value {
    match provider {
        "anthropic" => json!({
            "type": "message", "role": "assistant",
            "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}],
            "stop_reason": match stop { Stop::End => "end_turn", Stop::Cut => "max_tokens", Stop::Refused => "refusal" },
            "usage": {"input_tokens": 20, "cache_creation_input_tokens": 6, "cache_read_input_tokens": 5, "output_tokens": 7}
        }),
        "gemini" => json!({
            "candidates": [{
                "content": {"role": "model", "parts": [{"text": "hm", "thought": true}, {"text": text}]},
                "finishReason": match stop { Stop::End => "STOP", Stop::Cut => "MAX_TOKENS", Stop::Refused => "SAFETY" },
            }],
            "usageMetadata": {"promptTokenCount": 31, "candidatesTokenCount": 4, "thoughtsTokenCount": 3, "totalTokenCount": 38}
        }),
        _ => json!({
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text},
                "finish_reason": match stop { Stop::End => "stop", Stop::Cut => "length", Stop::Refused => "content_filter" }}],
            "usage": {"prompt_tokens": 31, "completion_tokens": 7}
        }),
    }
}

#[derive(Clone, Copy)]
enum Stop {
    End,
    Cut,
    Refused,
}

#[tokio::test]
async fn each_provider_reads_its_own_answers() {
    let usage = Some(Usage { input_tokens: 31, output_tokens: 7, cost: None });
    for provider in PROVIDERS {
        let name = provider.name;
        for (text, stop, expected) in [
            (r#"{"name":"a"}"#, Stop::End, Ok(false)),
            (r#"{"name":"#, Stop::Cut, Ok(true)),
            ("", Stop::End, Err(OracleError::Empty)),
            ("", Stop::Cut, Err(OracleError::Other(String::new()))),
            ("", Stop::Refused, Err(OracleError::Refusal(String::new()))),
        ] {
            let reply = Reply::json(200, &body(name, text, stop));
            let (answer, _) = ask(name, reply, question(PLACE)).await;
            match (answer, expected) {
                (Ok(answer), Ok(cut)) => {
                    assert_eq!(answer, Answer { text: text.into(), usage, cut }, "{name}");
                }
                (Err(why), Err(expected)) => {
                    assert_eq!(why.kind(), expected.kind(), "{name}: {why}");
                }
                (answer, expected) => panic!("{name}: {answer:?}, not {expected:?}"),
            }
        }
        let (answer, _) = ask(name, Reply::json(200, &json!({"x": []})), question(PLACE)).await;
        assert!(answer.is_err(), "{name}: {answer:?}");
    }
}

#[tokio::test]
async fn each_provider_is_sent_the_schema_and_the_limit() {
    let schema: Value = serde_json::from_str(PLACE).expect("JSON");
    for provider in PROVIDERS {
        let name = provider.name;
        let reply = Reply::json(200, &body(name, "{}", Stop::End));
        let (_, request) = ask(name, reply, question(PLACE)).await;
        let at = |pointer: &str| request.body.pointer(pointer).cloned().unwrap_or_default();
        match name {
            "anthropic" => {
                assert_eq!(request.path, "/v1/messages");
                assert_eq!(request.header("x-api-key"), Some(KEY));
                assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
                assert_eq!(at("/output_config/format/schema"), schema);
                assert_eq!((at("/max_tokens"), at("/temperature")), (json!(99), json!(0.5)));
                assert_eq!(at("/model"), "some/model-1");
                assert_eq!(at("/messages/0/content"), "Where?");
            }
            "gemini" => {
                assert_eq!(request.path, "/v1/models/some%2Fmodel-1:generateContent");
                assert_eq!(request.header("x-goog-api-key"), Some(KEY));
                assert_eq!(at("/generationConfig/responseJsonSchema"), schema);
                assert_eq!(at("/generationConfig/maxOutputTokens"), 99);
                assert_eq!(at("/generationConfig/temperature"), 0.5);
                assert_eq!(at("/contents/0/parts/0/text"), "Where?");
            }
            _ => {
                assert_eq!(request.path, "/v1/chat/completions");
                assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
                let format = at("/response_format/json_schema");
                assert_eq!(format["strict"], true);
                assert_eq!(format["schema"]["properties"], schema["properties"]);
                assert_eq!(format["schema"]["required"], json!(["name", "far"]));
                assert_eq!((at("/max_tokens"), at("/temperature")), (json!(99), json!(0.5)));
            }
        }
        // A limit is sent where nobody names one, too.
        let mut unbounded = question(PLACE);
        unbounded.model.max_tokens = None;
        let reply = Reply::json(200, &body(name, "{}", Stop::End));
        let (_, request) = ask(name, reply, unbounded).await;
        let limits = ["/max_tokens", "/generationConfig/maxOutputTokens"];
        let sent: Vec<&Value> = limits.iter().filter_map(|p| request.body.pointer(p)).collect();
        assert_eq!(sent, [4096], "{name}");
    }
}

#[tokio::test]
async fn a_schema_that_a_provider_refuses_is_not_forced_on_it() {
    let open = r#"{"type":"object","properties":{"all":{"type":"object","additionalProperties":{"type":"string"}}},"required":["all"],"additionalProperties":false}"#;
    let tree = r##"{"$defs":{"T":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/T"},{"type":"null"}]}},"required":[],"additionalProperties":false}},"type":"object","properties":{"t":{"$ref":"#/$defs/T"}},"required":["t"],"additionalProperties":false}"##;
    for (schema, is_strict) in [(open, false), (tree, true)] {
        let reply = |name| Reply::json(200, &body(name, "{}", Stop::End));
        let (_, request) = ask("openai", reply("openai"), question(schema)).await;
        assert_eq!(request.body["response_format"]["json_schema"]["strict"], is_strict);
        let (_, request) = ask("anthropic", reply("anthropic"), question(schema)).await;
        assert!(request.body.get("output_config").is_none(), "{}", request.body);
        assert!(request.body["system"].as_str().is_some_and(|words| words.contains("schema")));
    }
}

#[tokio::test]
async fn bodies_are_read_up_to_a_limit() {
    let json = "content-type: application/json\r\n";
    for (status, headers, expected) in [
        (200, json.to_owned(), "the answer is longer than 8 MiB"),
        (200, format!("{json}content-encoding: gzip\r\n"), "the answer is compressed with `gzip`"),
        (404, json.to_owned(), "404 Not Found"),
    ] {
        let loopback = Loopback::start(Reply::flood(status, &headers)).await;
        let server = Server::new(&loopback.url(), Some(KEY.into())).expect("an address");
        let error = Providers::one(server).ask(question("").into()).await.expect_err("too much");
        assert!(error.to_string().contains(expected), "{error}");
        let flooded = loopback.flooded().await;
        assert!(flooded < 64 << 20, "{flooded} bytes were taken");
    }
}

#[tokio::test]
async fn a_look_asks_for_models_and_shows_no_key() {
    for provider in PROVIDERS {
        for (status, ok) in [(200, true), (401, false)] {
            let told = json!({"error": {"message": format!("wrong: {KEY}")}});
            let loopback = Loopback::start(Reply::json(status, &told)).await;
            let server = Server::of(provider.name, &loopback.url(), Some(KEY.into()));
            let looked = server.expect("an address").models().await;
            assert_eq!(looked.is_ok(), ok, "{looked:?}");
            assert!(!format!("{looked:?}").contains(KEY), "{looked:?}");
        }
    }
}

#[tokio::test]
async fn ollama_is_spoken_to_as_itself_unless_its_address_ends_with_v1() {
    let done = |reason: &str, text: &str| {
        json!({
            "model": "m", "message": {"role": "assistant", "content": text, "thinking": "hm"},
            "done": true, "done_reason": reason, "prompt_eval_count": 31, "eval_count": 7
        })
    };
    let own = async |reply: Value| {
        let loopback = Loopback::start(Reply::json(200, &reply)).await;
        let server = Server::of("ollama", loopback.url().trim_end_matches("/v1"), None);
        let answer = Providers::one(server.expect("an address")).ask(question(PLACE).into()).await;
        (answer, loopback.request().await)
    };
    let (answer, sent) = own(done("stop", r#"{"name":"a"}"#)).await;
    let usage = Some(Usage { input_tokens: 31, output_tokens: 7, cost: None });
    assert_eq!(answer, Ok(Answer { text: r#"{"name":"a"}"#.into(), usage, cut: false }));
    assert_eq!((sent.path.as_str(), &sent.body["model"]), ("/api/chat", &json!("some/model-1")));
    assert_eq!(sent.body["options"], json!({"num_predict": 99, "temperature": 0.5}));
    assert_eq!(
        (&sent.body["stream"], &sent.body["format"]["type"]),
        (&json!(false), &json!("object"))
    );
    let (cut, _) = own(done("length", r#"{"name":"#)).await;
    assert!(cut.expect("an answer").cut);
    assert_eq!(own(done("stop", " ")).await.0, Err(OracleError::Empty));
    let (odd, _) = own(json!({"error": "what?"})).await;
    assert_eq!(odd, Err(OracleError::Other("the answer has another form than Ollama's".into())));
    let (_, sent) =
        ask("ollama", Reply::json(200, &body("openai", "x", Stop::End)), question("")).await;
    assert_eq!(sent.path, "/v1/chat/completions");
}

#[tokio::test]
async fn each_server_lists_its_models() {
    for (provider, list) in [
        ("openai", json!({"object": "list", "data": [{"id": "a"}, {"id": "b"}]})),
        ("gemini", json!({"models": [{"name": "models/a"}, {"name": "models/b"}]})),
        ("ollama", json!({"models": [{"name": "a:latest"}, {"name": "b"}]})),
    ] {
        let loopback = Loopback::start(Reply::json(200, &list)).await;
        let server = Server::of(provider, &loopback.url(), None).expect("an address");
        let models = server.models().await.expect("a list");
        assert_eq!(
            [models.has("a"), models.has("b"), models.has("c")],
            [Some(true), Some(true), Some(false)]
        );
    }
    for none in [json!([]), json!({"choices": []})] {
        let loopback = Loopback::start(Reply::json(200, &none)).await;
        let server = Server::new(&loopback.url(), None).expect("an address");
        assert_eq!(server.models().await.expect("an answer").has("a"), None);
    }
    // It has one model, and does not read its name.
    let llama =
        json!({"models": [{"name": "x.gguf"}], "data": [{"id": "x.gguf", "owned_by": "llamacpp"}]});
    let loopback = Loopback::start(Reply::json(200, &llama)).await;
    let models = Server::new(&loopback.url(), None).expect("an address").models().await;
    let models = models.expect("a list");
    assert_eq!((models.names(), models.has("any")), (&["x.gguf".to_owned()][..], Some(true)));
}

#[tokio::test]
async fn a_server_enforces_schemas_if_no_other_word_comes() {
    for (word, enforces) in
        [("\"left\"", true), ("right", true), ("banana", false), ("Banana.", false)]
    {
        let reply = Reply::json(200, &body("openai", word, Stop::End));
        let loopback = Loopback::start(reply).await;
        let server = Server::new(&loopback.url(), None).expect("an address");
        assert_eq!(server.enforces_schemas("m").await, Ok(enforces), "{word}");
        let sent = loopback.request().await.body.to_string();
        assert!(sent.contains("json_schema") && sent.matches("left").count() == 1, "{sent}");
    }
}

#[test]
fn what_users_run_themselves_costs_nothing() {
    for provider in PROVIDERS {
        let model = format!("{}:m", provider.name);
        assert_eq!(chartc_core::tables::is_free(&model), !provider.start.is_empty(), "{model}");
    }
    assert!(!chartc_core::tables::is_free("local:m") && !chartc_core::tables::is_free("ollama"));
}
