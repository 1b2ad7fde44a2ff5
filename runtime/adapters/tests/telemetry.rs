//! Spans as a collector gets them.

use chartc_adapters::telemetry::{Models, Otel};
use chartc_core::model::{ActionForm, Chart, Client};
use chartc_runtime::trace::Line;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::{Duration, UNIX_EPOCH};

/// Takes requests until nobody sends any more; gives their bodies.
fn collector() -> (String, mpsc::Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let (to, bodies) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) <= 2 {
                    break;
                }
                if let Some(bytes) = line.to_lowercase().strip_prefix("content-length: ") {
                    length = bytes.trim().parse().expect("a number");
                }
                head += &line;
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("a body");
            let body = serde_json::from_slice(&body).expect("JSON");
            let reply = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";
            stream.write_all(reply.as_bytes()).expect("it is read");
            if to.send((head, body)).is_err() {
                return;
            }
        }
    });
    (address, bodies)
}

/// A run with a turn, two tries of a model, a tool and a call that nobody waits for.
fn lines() -> Vec<Line> {
    let lines = [
        json!({"kind": "run", "chart": "Support", "hash": "1", "oracle": "openai", "variables": {}}),
        json!({"kind": "turn", "turn": 1}),
        json!({"kind": "question", "step": "sort", "attempt": 1, "client": "quick", "prompt": "secret question", "options": [], "state": "open"}),
        json!({"kind": "call_failed", "step": "sort", "attempt": 1, "error": "rate_limited", "why": "too many requests", "state": "open"}),
        json!({"kind": "question", "step": "sort", "attempt": 2, "prompt": "secret question", "options": [], "state": "open"}),
        json!({"kind": "usage", "step": "sort", "attempt": 2, "input_tokens": 40, "output_tokens": 8, "cost": 0.5, "cut": true, "state": "open"}),
        json!({"kind": "answer", "step": "sort", "attempt": 2, "text": "secret answer", "rung": "whole", "state": "open"}),
        json!({"kind": "tool_call", "step": "find", "tool": "web.search", "arguments": {"query": "secret owls"}, "state": "open"}),
        json!({"kind": "tool_result", "step": "find", "tool": "web.search", "value": ["secret owl"], "state": "open"}),
        json!({"kind": "taken", "line": {"state": "open", "nth": 0, "trigger": "done sort", "targets": ["shut"]}}),
        json!({"kind": "question", "step": "late", "attempt": 1, "prompt": "", "options": [], "state": "open", "child": "deep"}),
        json!({"kind": "turn_ended", "turn": 1}),
        json!({"kind": "ended", "status": "ok", "result": {}}),
    ];
    (1u64..)
        .zip(lines)
        .map(|(seq, mut line)| {
            line["v"] = 1.into();
            line["seq"] = seq.into();
            line["at_ms"] = (seq * 10).into();
            serde_json::from_value(line).expect("a line")
        })
        .collect()
}

/// The spans of the run by name, and all that was sent as text.
fn exported(has_content: bool) -> (BTreeMap<String, Vec<Value>>, String) {
    let (address, bodies) = collector();
    let mut chart = Chart::empty("Support");
    chart.clients.push(Client {
        name: "quick".into(),
        model: "ollama:llama3.2".into(),
        temperature: Some(0.5),
        max_tokens: Some(50),
        timeout: None,
        options: String::new(),
        retry: None,
        input_price: None,
        output_price: None,
        actions: ActionForm::default(),
        fallback: None,
    });
    // One model answers all steps, also those with a client.
    let models = Models::new([&chart], Some("openai:gpt-4o-mini"));
    let mut otel = Otel::new(&address, models, has_content).expect("an address");
    for line in lines() {
        otel.line("ada", &line, UNIX_EPOCH + Duration::from_millis(1_000_000 + line.at_ms));
    }
    otel.end().expect("the collector took them");
    let (head, body) = bodies.recv_timeout(Duration::from_secs(30)).expect("spans came");
    assert!(head.starts_with("POST /v1/traces "), "{head}");
    let mut spans: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let scope = &body["resourceSpans"][0]["scopeSpans"][0];
    for span in scope["spans"].as_array().expect("spans") {
        spans.entry(span["name"].as_str().expect("a name").into()).or_default().push(span.clone());
    }
    (spans, body.to_string())
}

/// An attribute, without the word for its type.
fn attribute(span: &Value, name: &str) -> Value {
    let all = span["attributes"].as_array().expect("attributes");
    let found = all.iter().find(|one| one["key"] == name).map(|one| one["value"].clone());
    match found {
        Some(Value::Object(value)) => value.values().next().cloned().unwrap_or_default(),
        found => found.unwrap_or_default(),
    }
}

#[test]
fn a_run_is_a_tree_of_spans() {
    let (spans, sent) = exported(false);
    let one = |name: &str| spans[name][0].clone();
    let (root, turn) = (one("invoke_agent Support"), one("turn 1"));
    assert_eq!(attribute(&root, "gen_ai.operation.name"), "invoke_agent");
    assert_eq!(attribute(&root, "gen_ai.agent.name"), "Support");
    assert_eq!(attribute(&root, "gen_ai.conversation.id"), "ada");
    assert_eq!(attribute(&root, "chartc.status"), "ok");
    assert_eq!(turn["parentSpanId"], root["spanId"]);
    assert_eq!(turn["events"][0]["name"], "transition");
    let mut chats = spans["chat gpt-4o-mini"].clone();
    chats.sort_by_key(|span| span["startTimeUnixNano"].as_str().map(str::to_owned));
    let [failed, answered, late] = &chats[..] else { panic!("three questions: {chats:?}") };
    for chat in &chats {
        assert_eq!(chat["parentSpanId"], turn["spanId"]);
        assert_eq!(attribute(chat, "gen_ai.operation.name"), "chat");
        assert_eq!(attribute(chat, "gen_ai.provider.name"), "openai");
    }
    assert_eq!(attribute(failed, "gen_ai.request.max_tokens"), "50");
    assert_eq!(attribute(failed, "error.type"), "rate_limited");
    assert_eq!(failed["status"]["code"], 2);
    assert_eq!(failed["startTimeUnixNano"], "1000030000000");
    assert_eq!(failed["endTimeUnixNano"], "1000040000000");
    assert_eq!(attribute(answered, "gen_ai.usage.input_tokens"), "40");
    assert_eq!(attribute(answered, "gen_ai.usage.output_tokens"), "8");
    assert_eq!(
        attribute(answered, "gen_ai.response.finish_reasons")["values"][0]["stringValue"],
        "length"
    );
    assert_eq!(attribute(answered, "chartc.attempt"), "2");
    assert_eq!(attribute(late, "chartc.child"), "deep");
    assert_eq!(attribute(late, "error.type"), "cancelled");
    let tool = one("execute_tool web.search");
    assert_eq!(attribute(&tool, "gen_ai.tool.name"), "web.search");
    assert!(!sent.contains("secret"), "{sent}");
}

#[test]
fn contents_are_exported_where_that_is_asked_for() {
    let (spans, _) = exported(true);
    let tool = &spans["execute_tool web.search"][0];
    assert_eq!(attribute(tool, "gen_ai.tool.call.arguments"), r#"{"query":"secret owls"}"#);
    assert_eq!(attribute(tool, "gen_ai.tool.call.result"), r#"["secret owl"]"#);
    let chats = &spans["chat gpt-4o-mini"];
    let said = |name: &str| {
        let said: Vec<String> =
            chats.iter().map(|span| attribute(span, name).to_string()).collect();
        said.concat()
    };
    assert!(said("gen_ai.input.messages").contains("secret question"));
    assert!(said("gen_ai.output.messages").contains("secret answer"));
}

#[test]
fn an_address_without_a_collector_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let mut otel = Otel::new(&address, Models::default(), false).expect("an address");
    for line in lines() {
        otel.line("ada", &line, UNIX_EPOCH);
    }
    let why = otel.end().expect_err("nobody is there").to_string();
    assert!(why.contains("did not arrive"), "{why}");
}
