//! Runs for which there is no model: they end at their first call, and say what to start or set.

use crate::run::command::{chartc, folder};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const CHART: &str = r#"
chart Patient {
  client one { model "one:m"  fallback two  retry 3 }
  client two { model "two:m" }
  var fails: Int = 0
  limits { calls 40 }
  initial open
  state open {
    ask go with one on turn else stay { prompt "Go on? {options}" }
    may on "go on" -> open { fails = fails + 1 }
    may stop "stop" -> over
  }
  final over
}
"#;

/// What a server answers to a path and a body: a status and a body.
type Answers = dyn Fn(&str, &Value) -> (u16, Value) + Send + Sync;

/// A server on this machine. It ends with the process of the tests.
pub(crate) struct Stub {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Stub {
    pub(crate) fn new(
        answers: impl Fn(&str, &Value) -> (u16, Value) + Send + Sync + 'static,
    ) -> Self {
        Self::at(TcpListener::bind("127.0.0.1:0").expect("a port"), answers)
    }

    pub(crate) fn at(
        listener: TcpListener,
        answers: impl Fn(&str, &Value) -> (u16, Value) + Send + Sync + 'static,
    ) -> Self {
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let (seen, answers): (Arc<Mutex<Vec<String>>>, Arc<Answers>) =
            (Arc::default(), Arc::new(answers));
        let paths = seen.clone();
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let (paths, answers) = (paths.clone(), answers.clone());
                std::thread::spawn(move || served(stream, &paths, &*answers));
            }
        });
        Self { url, seen }
    }

    pub(crate) fn asked(&self) -> usize {
        let seen = self.seen.lock().expect("whole");
        seen.iter().filter(|path| path.ends_with("completions")).count()
    }
}

fn served(mut stream: TcpStream, seen: &Mutex<Vec<String>>, answers: &Answers) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut line, mut length, mut path) = (String::new(), 0, String::new());
    while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
        if path.is_empty() {
            line.split(' ').nth(1)?.clone_into(&mut path);
        }
        if let Some(rest) = line.to_lowercase().strip_prefix("content-length: ") {
            length = rest.trim().parse().ok()?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    seen.lock().expect("whole").push(path.clone());
    let (status, body) = answers(&path, &serde_json::from_slice(&body).unwrap_or_default());
    let body = body.to_string();
    let head = "content-type: application/json\r\nconnection: close\r\n";
    write!(stream, "HTTP/1.1 {status} X\r\n{head}content-length: {}\r\n\r\n{body}", body.len()).ok()
}

pub(crate) fn said(text: &str) -> (u16, Value) {
    let message = json!({"message": {"role": "assistant", "content": text}});
    (200, json!({"choices": [message], "usage": {"prompt_tokens": 4, "completion_tokens": 2}}))
}

fn refused(status: u16) -> (u16, Value) {
    (status, json!({"error": {"message": "not\u{1b}[31m like that"}}))
}

/// The address of a port where nobody listens.
pub(crate) fn nowhere() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    (listener, url)
}

fn dead() -> String {
    nowhere().1
}

fn patient(name: &str) -> PathBuf {
    let folder = folder(&format!("no-model-{name}"));
    std::fs::write(folder.join("patient.chart"), CHART).expect("a file");
    folder
}

/// Runs the chart with the servers of its two clients.
fn run(folder: &Path, (one, two): (&str, &str), more: &[&str]) -> (i32, String, String) {
    let env = format!("ONE_BASE_URL={one}\nTWO_BASE_URL={two}\n");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_chartc"))
        .current_dir(folder)
        .args(["run", "patient.chart", "--llm", "clients"])
        .args(more)
        .envs(env.lines().filter_map(|line| line.split_once('=')))
        .output()
        .expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_run_ends_at_its_first_call_if_nobody_can_be_asked() {
    let folder = patient("dead");
    let (one, two) = (dead(), dead());
    let (code, out, err) = run(&folder, (&one, &two), &["--trace", "t.jsonl", "--snapshot", "s"]);
    assert_eq!(code, 1, "{out}{err}");
    for url in [&one, &two] {
        let told = format!("no server answers at {url} (Connection refused): start the server");
        assert_eq!(err.matches(&told).count(), 1, "{err}");
    }
    assert!(err.starts_with("error: step `go`: ") && err.contains("ONE_BASE_URL"), "{err}");
    assert!(!out.contains("turn 2") && !out.contains("ended"), "{out}");
    assert!(!folder.join("s").exists(), "there is nothing to continue");
    let (code, out, err) = chartc(&folder, &["replay", "t.jsonl"]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn a_run_ends_at_its_first_call_if_all_refuse_for_good() {
    let folder = patient("refused");
    for status in [400, 401, 403, 404, 422] {
        let stub = Stub::new(move |_, _| refused(status));
        let (code, out, err) = run(&folder, (&stub.url, &stub.url), &[]);
        assert_eq!((code, stub.asked()), (1, 2), "{status}: {out}{err}");
        assert!(err.contains(&status.to_string()) && !err.contains('\u{1b}'), "{err}");
        assert!(!out.contains("turn 2"), "{out}");
    }
    let stub = Stub::new(|path, _| match path {
        "/v1/models" => (200, json!({"data": [{"id": "a"}, {"id": "b"}]})),
        _ => refused(404),
    });
    let (code, _, err) = run(&folder, (&stub.url, &dead()), &[]);
    assert_eq!(code, 1);
    assert!(
        err.contains(&format!("{} has no model `m`: it has a, b; no server", stub.url)),
        "{err}"
    );
}

#[test]
fn a_fallback_that_answers_is_enough() {
    let folder = patient("fallback");
    for one in [dead(), Stub::new(|_, _| refused(401)).url] {
        let two = Stub::new(|_, _| said("stop"));
        let (code, out, err) = run(&folder, (&one, &two.url), &[]);
        assert_eq!((code, err.as_str(), two.asked()), (0, "", 1), "{out}");
        assert!(out.contains("over: ended ok (1 turn, 2 model calls"), "{out}");
    }
}

#[test]
fn a_later_failure_is_the_charts_to_handle() {
    let folder = patient("later");
    let count = Mutex::new(0);
    let stub = Stub::new(move |_, _| {
        let mut count = count.lock().expect("whole");
        *count += 1;
        if *count == 1 { said("on") } else { refused(404) }
    });
    let (code, out, err) = run(&folder, (&stub.url, &stub.url), &["--turns", "3"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    // A call that is refused for good is not made again: one for each client in each of two turns.
    assert!(out.contains("(3 turns, 5 model calls"), "{out}");
    assert!(out.contains("404 Not Found: not\\u{1b}[31m like that; check the address"), "{out}");
}

#[test]
fn a_failure_that_may_pass_is_the_charts_to_handle() {
    let folder = patient("busy");
    let stub = Stub::new(|_, _| refused(500));
    let (code, out, err) = run(&folder, (&stub.url, &stub.url), &["--turns", "1"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(
        out.contains("failed: the provider failed with status 500: not\\u{1b}[31m like that"),
        "{out}"
    );
}

#[test]
fn a_stored_run_continues_when_there_is_a_model() {
    let folder = patient("store");
    let ((gone, one), (gone2, two)) = (nowhere(), nowhere());
    let place = gone.local_addr().expect("an address");
    drop((gone, gone2));
    let store = ["--store", "runs.db", "--run", "ada", "--turns", "3", "--trace", "t.jsonl"];
    for _ in 0..2 {
        let (code, out, err) = run(&folder, (&one, &two), &store);
        assert_eq!(code, 1, "{out}{err}");
        assert!(err.contains("no server answers at") && err.contains("continues it"), "{err}");
    }
    let (_, listed, _) = chartc(&folder, &["store", "runs.db", "list"]);
    assert!(listed.contains("ada") && listed.contains("no server answers at"), "{listed}");
    // Only the first client has a server again: the chain begins anew.
    let stub = Stub::at(TcpListener::bind(place).expect("the same port"), |_, _| said("on"));
    let (code, out, err) = run(&folder, (&one, &two), &store);
    assert_eq!((code, err.as_str(), stub.asked()), (0, "", 3), "{out}");
    assert!(out.contains("stopped (3 turns"), "{out}");
    let (code, out, err) = chartc(&folder, &["replay", "t.jsonl"]);
    assert_eq!(code, 0, "{out}{err}");
}

/// Two agents in one world, of which each has a server of its own.
fn world(name: &str) -> PathBuf {
    let folder = folder(&format!("no-model-{name}"));
    for (agent, client) in [("Ada", "one"), ("Bob", "two")] {
        std::fs::create_dir(folder.join(agent)).expect("a folder");
        let chart = CHART.replace("Patient", agent).replace("fallback two", "");
        let chart = chart.replace("ask go with one", &format!("ask go with {client}"));
        std::fs::write(folder.join(agent).join("agent.chart"), chart).expect("a file");
    }
    folder
}

#[test]
fn a_world_ends_if_no_agent_finds_a_model() {
    let folder = world("world");
    let run = |one: &str, two: &str, store: bool| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chartc"));
        command.current_dir(&folder).args(["run", ".", "--llm", "clients", "--ticks", "3"]);
        command.args(["--delay", "0"]);
        if store {
            command.args(["--store", "world.db"]);
        }
        let output = command.env("ONE_BASE_URL", one).env("TWO_BASE_URL", two).output();
        let output = output.expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let well = Stub::new(|_, _| said("on"));
    for store in [false, true] {
        let (code, out, err) = run(&dead(), &dead(), store);
        assert_eq!(code, Some(1), "{out}{err}");
        assert!(err.contains("error: Ada: step `go`: no server answers at"), "{err}");
        assert!(!out.contains("ended after"), "{out}");
    }
    // The stored one continues.
    let (code, out, err) = run(&well.url, &well.url, true);
    assert_eq!((code, err.as_str(), well.asked()), (Some(0), "", 6), "{out}");
}

#[test]
fn a_url_with_a_model_replaces_the_models_of_clients() {
    let folder = patient("model");
    let stub = Stub::new(|_, body| match body["model"].as_str() {
        Some("other") => said("stop"),
        _ => refused(404),
    });
    let short = stub.url.trim_start_matches("http://");
    for url in [stub.url.as_str(), short] {
        let line = ["run", "patient.chart", "--llm", url, "--model", "other"];
        let (code, out, err) = chartc(&folder, &line);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
    }
    let (code, _, _) = chartc(&folder, &["run", "patient.chart", "--llm", &stub.url]);
    assert_eq!(code, 1, "the clients' own model is not there");
}

/// What `chartc doctor` says of these arguments.
fn doctor(folder: &Path, arguments: &[&str]) -> (i32, Value) {
    let line = [&["doctor", "--format", "json"], arguments].concat();
    let (code, out, err) = chartc(folder, &line);
    (code, serde_json::from_str(&out).unwrap_or_else(|why| panic!("{why}: {out}{err}")))
}

/// A server that lists two models, and enforces schemas or does not.
fn listing(word: &'static str) -> Stub {
    Stub::new(move |path, body| match (path, body["model"].as_str()) {
        ("/v1/models", _) => (200, json!({"data": [{"id": "a"}, {"id": "b"}]})),
        (_, Some("a")) => said(word),
        _ => refused(404),
    })
}

#[test]
fn doctor_tries_the_model_that_llm_names() {
    let folder = patient("doctor");
    let (strict, loose) = (listing("left"), listing("banana"));
    for (stub, schemas) in [(&strict, "enforced"), (&loose, "ignored")] {
        let short = stub.url.trim_start_matches("http://");
        for url in [stub.url.as_str(), short] {
            let (code, told) = doctor(&folder, &["--llm", url, "--model", "a"]);
            let model = json!({"model": "a", "exists": true, "schemas": schemas, "why": null});
            assert_eq!((code, &told["providers"][0]["models"][0]), (0, &model), "{told}");
        }
    }
    let (code, told) = doctor(&folder, &["--llm", &strict.url, "patient.chart"]);
    let row = &told["providers"][0];
    assert_eq!(
        (code, &row["state"], &row["models"][0]["exists"]),
        (1, &json!("answers"), &json!(false))
    );
    assert_eq!(row["models"][0]["why"], "is not there: the server has a, b");
    assert_eq!(row["clients"].as_array().map(Vec::len), Some(2));
    let asked = strict.asked();
    let (code, _) = doctor(&folder, &["--llm", &strict.url, "--model", "a", "--offline"]);
    assert_eq!((code, strict.asked()), (0, asked), "nobody is asked");
    let (code, told) = doctor(&folder, &["--llm", &dead(), "--model", "a"]);
    assert_eq!((code, &told["providers"][0]["state"]), (1, &json!("unreachable")));
    for wrong in
        [&["--llm", "first"][..], &["--model", "a"], &["--llm", "ollama:a", "--model", "b"]]
    {
        assert_eq!(chartc(&folder, &[&["doctor"], wrong].concat()).0, 2, "{wrong:?}");
    }
}

#[test]
fn options_of_a_client_reach_its_server() {
    let folder = patient("options");
    let chart = CHART
        .replace("fallback two  retry 3", "options { num_ctx 8192  seed 7  deep { on true } }");
    std::fs::write(folder.join("patient.chart"), chart).expect("a file");
    let bodies: Arc<Mutex<Vec<Value>>> = Arc::default();
    let seen = bodies.clone();
    let stub = Stub::new(move |path, body| {
        seen.lock().expect("whole").push(body.clone());
        match path {
            "/api/chat" => (200, json!({"message": {"content": "stop"}, "done_reason": "stop"})),
            _ => said("stop"),
        }
    });
    let host = stub.url.trim_start_matches("http://").trim_end_matches("/v1");
    let run = |llm: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chartc"));
        command.current_dir(&folder).args(["run", "patient.chart", "--llm", llm]);
        let output = command.env("ONE_BASE_URL", &stub.url);
        let output = output.env("TWO_BASE_URL", &stub.url).env("OLLAMA_HOST", host).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        bodies.lock().expect("whole").pop().expect("a request")
    };
    let body = run("clients");
    assert_eq!((&body["num_ctx"], &body["deep"]), (&json!(8192), &json!({"on": true})), "{body}");
    let body = run("ollama:m");
    let options = &body["options"];
    assert_eq!((&options["num_ctx"], &options["seed"]), (&json!(8192), &json!(7)), "{body}");
}
