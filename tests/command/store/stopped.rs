//! Processes that are asked to end while a model answers: what was paid for is kept.

use super::*;
use crate::run::command::chartc;
use chartc_runtime::trace::What;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

const CHART: &str = "
client c { model \"openai:m\"  max_tokens 50 }
chart Two {
  var first: Text = \"\"
  var second: Text = \"\"
  initial a
  state a { llm one with c { prompt \"one\"  returns Text into first } -> b }
  state b { llm two with c { prompt \"two\"  returns Text into second } -> done(first, second) }
  final done(first: Text, second: Text)
}
";

/// Takes the next request of a model, and leaves it without an answer.
fn taken(listener: &TcpListener) -> TcpStream {
    let (stream, _) = listener.accept().expect("a request");
    let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().expect("a number");
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("the body");
    stream
}

fn answer(mut stream: TcpStream, words: &str) {
    let body = serde_json::json!({
        "choices": [{"message": {"content": serde_json::json!({"answer": words}).to_string()}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1}
    });
    let body = body.to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
    let text = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(text.as_bytes()).expect("it is read");
}

fn begun(folder: &Path, url: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_chartc"))
        .current_dir(folder)
        .args(["run", "two.chart", "--llm", url, "--store", "s.db", "--run", "ada"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("kill").success());
}

fn said(child: Child) -> (Option<i32>, String) {
    let done = child.wait_with_output().expect("it ends");
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

/// The lines of the run of which this holds.
fn count(folder: &Path, is: impl Fn(&What) -> bool) -> usize {
    let lines = Store::open(&folder.join("s.db")).and_then(|s| s.lines("ada")).expect("a run");
    lines.iter().filter(|line| is(&line.what)).count()
}

#[test]
fn a_run_that_is_asked_to_end_waits_for_its_answer_and_asks_no_further_question() {
    for signal in ["-TERM", "-INT"] {
        let folder = folder(&format!("stopped{signal}"));
        std::fs::write(folder.join("two.chart"), CHART).expect("a file");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let mut child = begun(&folder, &url);
        let open = taken(&listener);
        send(signal, &child);
        let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        err.read_line(&mut line).expect("a line");
        assert!(line.contains("calls under way are finished"), "{line}");
        answer(open, "paid");
        let mut rest = String::new();
        err.read_to_string(&mut rest).expect("text");
        assert!(rest.contains("the same command continues `ada`"), "{rest}");
        assert_eq!(said(child).0, Some(1), "{rest}");
        assert_eq!(count(&folder, |what| matches!(what, What::Answer { .. })), 1);
        // The second question was planned, and is asked by the next process; the first is not asked again.
        let child = begun(&folder, &url);
        answer(taken(&listener), "fine");
        let (code, err) = said(child);
        assert_eq!(code, Some(0), "{err}");
        assert_eq!(count(&folder, |what| matches!(what, What::Answer { .. })), 2);
        assert_eq!(count(&folder, |what| matches!(what, What::HostNote { .. })), 0);
        let is_whole = |what: &What| {
            matches!(what, What::Ended { result, .. }
                if *result == serde_json::from_str(r#"{"first": "paid", "second": "fine"}"#).expect("a value"))
        };
        assert_eq!(count(&folder, is_whole), 1);
    }
}

#[test]
fn a_second_signal_ends_the_process_at_once_and_its_call_is_in_doubt() {
    let folder = folder("stopped-twice");
    std::fs::write(folder.join("two.chart"), CHART).expect("a file");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let mut child = begun(&folder, &url);
    let _open = taken(&listener);
    send("-TERM", &child);
    let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
    err.read_line(&mut String::new()).expect("a line");
    send("-TERM", &child);
    let mut rest = String::new();
    err.read_to_string(&mut rest).expect("text");
    assert_eq!(said(child).0, Some(1), "{rest}");
    let (_, _, err) = chartc(
        &folder,
        &["run", "two.chart", "--llm", &url, "--store", "s.db", "--run", "ada", "--turns", "0"],
    );
    let doubts = count(
        &folder,
        |what| matches!(what, What::HostNote { text, .. } if text.contains("it is not known")),
    );
    assert_eq!(doubts, 1, "{err}");
}
