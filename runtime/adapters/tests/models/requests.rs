//! Requests for every kind of question, checked with the types of the providers' own Python packages.

use crate::server::{Loopback, Reply};
use chartc_adapters::models::{Providers, Server};
use chartc_core::arena::ChoiceId;
use chartc_core::host::Offer;
use chartc_core::model::ActionForm;
use chartc_runtime::oracle::{Alternative, Kind, Model, Oracle, Question};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;

const RECORD: &str = r#"{"type":"object","properties":{"name":{"type":"string"},"far":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":["name"],"additionalProperties":false}"#;
const ENUM: &str = r#"{"enum":["left","right"],"type":"string"}"#;
const LIST: &str = r#"{"type":"array","items":{"type":"string"}}"#;
const OPEN: &str = r#"{"description":"any JSON"}"#;
const CITY: &str = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}"#;

fn option(name: &'static str, schema: &str) -> Alternative {
    let offer = Offer {
        choice: ChoiceId(0),
        tool: None,
        name: name.into(),
        text: "what it does".into(),
        arguments: Vec::new(),
    };
    Alternative { offer, schema: schema.into() }
}

fn question(kind: Kind, schema: &str, options: Vec<Alternative>) -> Question {
    Question {
        step: "look".into(),
        kind,
        prompt: "Where?".into(),
        schema: schema.into(),
        options,
        model: Model {
            temperature: Some(0.5),
            max_tokens: Some(99),
            options: r#"{"seed":7}"#.into(),
            ..Model::default()
        },
        ..Question::default()
    }
}

/// Every kind of question, each with a name.
fn questions() -> Vec<(&'static str, Question)> {
    let llm = |schema| question(Kind::Llm, schema, Vec::new());
    let acting = |actions| {
        let mut asked = llm("");
        asked.model.actions = actions;
        asked
    };
    let (bare, with) = (option("stay", ""), option("go", CITY));
    let tools = || vec![option("maps.find", CITY), option("maps.list", "")];
    let plain = Question { model: Model::default(), ..llm(RECORD) };
    vec![
        ("ask", question(Kind::Ask, "", vec![bare.clone(), option("leave", "")])),
        ("ask with arguments", question(Kind::Ask, "", vec![bare, with])),
        ("a record", llm(RECORD)),
        ("an enum", llm(ENUM)),
        ("a list", llm(LIST)),
        ("a text", llm(r#"{"type":"string"}"#)),
        ("a number", llm(r#"{"type":"number"}"#)),
        ("yes or no", llm(r#"{"type":"boolean"}"#)),
        ("any JSON", llm(OPEN)),
        ("an action", acting(ActionForm::Any)),
        ("a simple action", acting(ActionForm::Simple)),
        ("an OODA action", acting(ActionForm::Ooda)),
        ("an action or tools", question(Kind::Llm, "", tools())),
        ("a record or tools", question(Kind::Llm, RECORD, tools())),
        ("nothing set", plain),
    ]
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[tokio::test]
async fn the_packages_of_providers_take_what_is_sent() {
    let python = root().join("target/models/bin/python");
    if !python.exists() {
        let list = "tests/models/requirements.txt";
        eprintln!("skipped, not found: {} (install {list} there)", python.display());
        return;
    }
    let mut lines = String::new();
    for provider in ["openai", "anthropic", "gemini", "ollama"] {
        for (name, asked) in questions() {
            let mut asked = asked;
            if provider == "anthropic" && !asked.model.options.is_empty() {
                // Its package has neither of them any more: newer models take no sampling parameters.
                asked.model.temperature = None;
                asked.model.options = r#"{"metadata":{"user_id":"u"}}"#.into();
            }
            lines += &sent(provider, name, asked).await;
        }
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("requests.jsonl");
    std::fs::write(&file, lines).expect("a file");
    let mut command = Command::new(python);
    let checked = command.arg(root().join("tests/models/validate.py")).arg(file).output();
    let checked = checked.expect("Python runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let told = text(&checked.stdout) + &text(&checked.stderr);
    assert!(checked.status.success(), "{told}");
    assert!(told.contains("60 requests, 0 refused"), "{told}");
}

/// The request for a question, as a line.
async fn sent(provider: &str, name: &str, asked: Question) -> String {
    let loopback = Loopback::start(Reply::json(200, &json!({}))).await;
    let url = loopback.url();
    // Without `/v1`, Ollama is spoken to as itself.
    let server = Server::of(provider, url.trim_end_matches("/v1"), None).expect("an address");
    // What comes back does not matter here.
    drop(Providers::only(server, "some-model").ask(asked.into()).await);
    let request = loopback.request().await;
    let (path, body) = (request.path, request.body);
    let line = json!({"provider": provider, "question": name, "path": path, "body": body});
    format!("{line}\n")
}
