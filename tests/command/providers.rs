//! `chartc run` with a real model: a server on this machine that speaks OpenAI's chat interface.

use crate::run::command::folder;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};

const KEY: &str = "sk-very-secret-0123456789";

const CHART: &str = r#"
chart Small {
  client quick { model "local:tiny-low"  max_tokens 50  timeout 5s  input_price 1.0  output_price 2.0  retry 1 }
  limits { tokens 5000  cost 1.0 }
  initial open
  state open {
    ask triage with quick on turn else stay { prompt """What now? {options}""" }
    may answer   "you know the answer"  -> answered
    may escalate "a person has to look" -> escalated
  }
  state answered {}
  final escalated
}
"#;

/// Takes a request from whoever connects next; gives it with the key that it came with.
fn taken(listener: &TcpListener) -> Option<(TcpStream, Value)> {
    let (stream, _) = listener.accept().ok()?;
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let (mut line, mut length, mut key) = (String::new(), 0, String::new());
    while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
        let lower = line.to_lowercase();
        if let Some(rest) = lower.strip_prefix("content-length: ") {
            length = rest.trim().parse().expect("a number");
        }
        if lower.starts_with("authorization: ") {
            line["authorization: ".len()..].trim().clone_into(&mut key);
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let mut request: Value = serde_json::from_slice(&body).expect("JSON");
    request["key"] = json!(key);
    Some((stream, request))
}

fn answered(mut stream: TcpStream, status: u16, words: &str) {
    let body = if status == 200 {
        json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": words}}],
               "usage": {"prompt_tokens": 40, "completion_tokens": 8}})
    } else {
        json!({"error": {"message": words}})
    };
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nretry-after-ms: 20\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).expect("it is read");
}

fn listening() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    (listener, url)
}

/// Answers each request in turn with a status and the model's words; keeps what it was sent.
fn server(replies: Vec<(u16, &'static str)>) -> (String, Arc<Mutex<Vec<Value>>>) {
    let (listener, url) = listening();
    let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
    let requests = seen.clone();
    std::thread::spawn(move || {
        for (status, words) in replies {
            let Some((stream, request)) = taken(&listener) else { return };
            requests.lock().expect("whole").push(request);
            answered(stream, status, words);
        }
    });
    (url, seen)
}

fn run(name: &str, env: &[(&str, &str)], args: &[&str]) -> (Option<i32>, String, String, String) {
    let folder = folder(name);
    std::fs::write(folder.join("small.chart"), CHART).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_chartc"));
    command.current_dir(&folder).args(["run", "small.chart", "--turns", "3", "--trace", "t.jsonl"]);
    command.env_remove("OPENAI_API_KEY").env_remove("LOCAL_BASE_URL").env_remove("CHARTC_API_KEY");
    let output = command.args(args).envs(env.iter().copied()).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let trace = std::fs::read_to_string(folder.join("t.jsonl")).unwrap_or_default();
    (output.status.code(), text(&output.stdout), text(&output.stderr), trace)
}

#[test]
fn a_chart_runs_on_a_model() {
    let (url, seen) = server(vec![(429, "slow down"), (200, r#"{"choice": "escalate"}"#)]);
    let (code, out, err, trace) = run("live", &[("CHARTC_API_KEY", KEY)], &["--llm", &url]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(out.contains("triage: failed: too many requests"), "{out}");
    assert!(out.contains("open -> escalated  (may escalate)"), "{out}");
    // 40 * 1 + 8 * 2 millionths.
    assert!(
        out.ends_with("escalated: ended ok (1 turn, 2 model calls, 48 tokens, 0.0001 spent)\n"),
        "{out}"
    );
    let seen = seen.lock().expect("whole");
    assert_eq!(seen[1]["key"], format!("Bearer {KEY}"));
    assert_eq!(seen[1]["model"], "tiny-low");
    assert_eq!(seen[1]["response_format"]["type"], "json_schema");
    assert!(trace.contains(r#""kind":"usage""#) && !trace.contains(KEY), "{trace}");
}

#[test]
fn clients_say_where_their_models_are() {
    let (url, seen) = server(vec![(200, "escalate")]);
    let env = [("LOCAL_BASE_URL", url.as_str()), ("LOCAL_API_KEY", KEY)];
    let (code, out, err, _) = run("clients", &env, &["--llm", "clients"]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert_eq!(seen.lock().expect("whole")[0]["key"], format!("Bearer {KEY}"));
    let (code, _, err, _) = run("nowhere", &[], &["--llm", "clients"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("set LOCAL_BASE_URL"), "{err}");
}

#[test]
fn a_wrong_key_is_told_and_never_shown() {
    let (url, _) = server(vec![(401, "Incorrect API key provided: sk-very-secret-0123456789"); 6]);
    let (code, out, err, trace) = run("denied", &[("CHARTC_API_KEY", KEY)], &["--llm", &url]);
    assert_eq!(code, Some(1), "there is no model to ask: {out}");
    let all = format!("{out}{err}{trace}");
    assert!(all.contains("Incorrect API key provided: …") && !all.contains(KEY), "{all}");
}

#[test]
fn real_models_need_real_time() {
    let (code, _, err, _) =
        run("time", &[], &["--llm", "http://127.0.0.1:1/v1", "--clock", "virtual"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("real time"), "{err}");
}

/// Two regions that ask, and a state that reads both answers.
const PAIR: &str = r#"
client quick { model "local:tiny-low"  max_tokens 50  timeout 20s }
chart Pair {
  var one: Text = ""
  var two: Text = ""
  initial both
  parallel both {
    state left { initial asking state asking { llm first with quick { prompt "one"  returns Text into one } -> told } final told }
    state right { initial asking state asking { llm second with quick { prompt "two"  returns Text into two } -> told } final told }
    on done(both) -> last
  }
  state last { llm third with quick { prompt "{one} {two}"  returns Text } -> over }
  final over
}
"#;

#[test]
fn the_calls_of_two_regions_are_open_at_once() {
    let (listener, url) = listening();
    let server = std::thread::spawn(move || {
        // Nobody is answered before both have asked, and the one that asked last is answered first.
        let mut asked: Vec<(TcpStream, Value)> =
            (0..2).map(|_| taken(&listener).expect("a request")).collect();
        let prompt = |request: &Value| request["messages"].to_string();
        let prompts = [prompt(&asked[0].1), prompt(&asked[1].1)];
        while let Some((stream, request)) = asked.pop() {
            let word = if prompt(&request).contains("one") { "\"1\"" } else { "\"2\"" };
            answered(stream, 200, word);
        }
        let (stream, request) = taken(&listener).expect("a request");
        answered(stream, 200, "\"3\"");
        (prompts, prompt(&request))
    });
    let folder = folder("live-regions");
    std::fs::write(folder.join("pair.chart"), PAIR).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_chartc"));
    command.current_dir(&folder).args(["run", "pair.chart", "--turns", "1", "--llm", &url]);
    let output = command.args(["--trace", "t.jsonl"]).output().expect("it runs");
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{out}");
    assert!(out.contains("over: ended ok (1 turn, 3 model calls"), "{out}");
    let (prompts, last) = server.join().expect("it was asked three times");
    for word in ["one", "two"] {
        assert_eq!(prompts.iter().filter(|p| p.contains(word)).count(), 1, "{prompts:?}");
    }
    assert!(last.contains("1 2"), "{last}");
    let trace = std::fs::read_to_string(folder.join("t.jsonl")).expect("it was written");
    let rows: Vec<&str> = trace
        .lines()
        .filter_map(|line| {
            ["question", "answer"].into_iter().find(|k| line.contains(&format!("\"kind\":\"{k}\"")))
        })
        .collect();
    assert_eq!(rows, ["question", "question", "answer", "answer", "question", "answer"], "{trace}");
    let again = Command::new(env!("CARGO_BIN_EXE_chartc"))
        .current_dir(&folder)
        .args(["replay", "t.jsonl"])
        .output()
        .expect("it runs");
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stdout));
}

#[test]
fn one_model_answers_all_steps() {
    let (url, seen) = server(vec![(200, "escalate")]);
    let env = [("OTHER_BASE_URL", url.as_str()), ("OTHER_API_KEY", KEY)];
    let (code, out, err, _) = run("named", &env, &["--llm", "other:large:70b"]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    let seen = seen.lock().expect("whole");
    assert_eq!((&seen[0]["model"], &seen[0]["max_tokens"]), (&json!("large:70b"), &json!(50)));
    let wrong: [(&[&str], &str); 3] = [
        (&["--llm", "openai:gpt-4o-mini"], "set OPENAI_API_KEY"),
        (&["--llm", "nowhere:m"], "set NOWHERE_BASE_URL"),
        (&["--llm", "other:m", "--model", "other:n"], "omit `--model other:n`"),
    ];
    for (args, cure) in wrong {
        let (code, _, err, _) = run("named-wrong", &[], args);
        assert_eq!(code, Some(2), "{args:?}");
        assert!(err.contains(cure), "{args:?}: {err}");
    }
}

#[test]
fn more_tokens_than_allowed_are_told() {
    let (listener, url) = listening();
    std::thread::spawn(move || {
        let (mut stream, _) = taken(&listener).expect("a request");
        let body =
            json!({"choices": [{"finish_reason": "length", "message": {"content": "escalate"}}],
                          "usage": {"prompt_tokens": 40, "completion_tokens": 80}})
            .to_string();
        let head = "HTTP/1.1 200 X\r\ncontent-type: application/json\r\nconnection: close\r\n";
        write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).expect("it is read");
    });
    let (code, out, _, trace) = run("overrun", &[], &["--llm", &url]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("triage: the server reports 80 output tokens, 50 were allowed"), "{out}");
    assert!(trace.contains(r#""cut":true,"allowed":50"#), "{trace}");
}

/// What `chartc doctor` says of the chart.
fn doctor(env: &[(&str, &str)], args: &[&str]) -> (Option<i32>, String) {
    let folder = folder("doctor");
    std::fs::write(folder.join("small.chart"), CHART).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_chartc"));
    command.current_dir(&folder).args(["doctor", "small.chart"]).args(args);
    command.env_remove("LOCAL_BASE_URL").env_remove("LOCAL_API_KEY");
    let output = command.envs(env.iter().copied()).output().expect("it runs");
    let all = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&all).into_owned())
}

#[test]
fn doctor_says_of_each_server_whether_it_can_be_asked() {
    let secret = format!("http://ada:{KEY}@127.0.0.1:1/v1");
    let answers = |status: u16, words: &'static str| {
        let (listener, url) = listening();
        std::thread::spawn(move || {
            let (stream, _) = listener.accept().ok()?;
            let mut reader = BufReader::new(stream.try_clone().ok()?);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
                line.clear();
            }
            answered(stream, status, words);
            Some(())
        });
        url
    };
    let (well, denies) = (answers(200, ""), answers(401, "no such key: sk-very-secret-0123456789"));
    let (gone, url) = listening();
    drop(gone);
    let rows: [(&str, Option<&str>, &str); 5] = [
        ("no address", None, "no_address"),
        ("a key in the address", Some(&secret), "wrong"),
        ("well", Some(&well), "answers"),
        ("denied", Some(&denies), "denied"),
        ("gone", Some(&url), "unreachable"),
    ];
    for (name, url, state) in rows {
        let mut env = vec![("LOCAL_API_KEY", KEY)];
        env.extend(url.map(|url| ("LOCAL_BASE_URL", url)));
        let (code, told) = doctor(&env, &["--format", "json"]);
        let json: Value = serde_json::from_str(&told).expect("JSON");
        let is_well = state == "answers";
        assert_eq!((code, &json["ok"]), (Some(i32::from(!is_well)), &json!(is_well)), "{name}");
        let row = &json["providers"][0];
        assert_eq!(
            (&row["state"], &row["key"], &row["clients"][0]),
            (&json!(state), &json!("set"), &json!({"client": "Small.quick", "model": "tiny-low"})),
            "{name}: {told}"
        );
        assert!(!told.contains(KEY), "{name}: {told}");
    }
    let (code, told) = doctor(&[("LOCAL_BASE_URL", "http://127.0.0.1:1/v1")], &["--offline"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("not asked") && told.contains("Small.quick (tiny-low)"), "{told}");
}
