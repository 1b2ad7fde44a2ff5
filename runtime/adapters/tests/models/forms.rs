//! The forms of answers that a server is sent.

use crate::loopback::{option, question, said};
use crate::server::{Loopback, Reply};
use chartc_adapters::models::{Providers, Server};
use chartc_core::model::ActionForm;
use chartc_runtime::oracle::{Alternative, Kind, Model, Oracle, Question};
use serde_json::json;

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

    // A schema that is no object's stands in one. The reader takes its answer out again.
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
    assert_eq!(answer.text, r#"{"value": "bad"}"#);
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
    assert_eq!(answer.text, said_so);
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
