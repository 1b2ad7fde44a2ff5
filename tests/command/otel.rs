//! `--otel`: what a collector gets from a run.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;
use test_support::project::root;

fn run(collector: &str, more: &[&str]) -> (Option<i32>, String) {
    let args = ["run", "charts/support.chart", "--llm", "script:charts/support.script.yaml"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_chartc"));
    command.current_dir(root()).args(args).args(["--events", "charts/support.events.jsonl"]);
    let output = command.args(["--param", "signature=Ann", "--otel", collector]).args(more);
    let output = output.output().expect("it runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// All that is posted to a collector, one body after the other.
fn collector() -> (String, mpsc::Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (to, bodies) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
            let (mut line, mut length) = (String::new(), 0);
            while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
                if let Some(bytes) = line.to_lowercase().strip_prefix("content-length: ") {
                    length = bytes.trim().parse().expect("a number");
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("a body");
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            write!(stream, "{head}\r\ncontent-length: 2\r\n\r\n{{}}").expect("it is read");
            let body = serde_json::from_slice(&body).expect("JSON");
            if to.send(body).is_err() {
                return;
            }
        }
    });
    (url, bodies)
}

#[test]
fn a_collector_gets_the_spans_of_a_run() {
    let (url, bodies) = collector();
    let (code, err) = run(&url, &[]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let body = bodies.recv_timeout(Duration::from_secs(30)).expect("spans came");
    let spans = &body["resourceSpans"][0]["scopeSpans"][0]["spans"];
    let names: Vec<&str> =
        spans.as_array().expect("spans").iter().filter_map(|span| span["name"].as_str()).collect();
    for name in ["invoke_agent Support", "turn 1", "ask_person approve"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert!(names.contains(&"chat"), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("execute_tool ")), "{names:?}");
    assert!(!body.to_string().contains("charged twice"), "{body}");
}

#[test]
fn a_collector_that_is_not_there_is_no_fault_of_the_run() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let (code, err) = run(&url, &[]);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("warning: spans did not arrive at the collector"), "{err}");
}
