//! `chartc serve`: what clients can do, what it outlives, and what hostile clients get.

mod answers;
mod client;
mod crowds;
mod durable;
mod flagship;
mod flips;
mod garbage;
mod hostile;
mod independent;
mod no_model;
mod outside;
mod page;
mod routes;
mod schedules;
mod soak;
mod speech;
mod stream;
mod till;
mod tokens;
mod trouble;
mod waits;

use crate::run::command::folder;
use client::{Client, Reply};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use test_support::chance::Chance;
use test_support::project::{number, until};

/// A chart that counts what clients send, and asks a person.
const DESK: &str = include_str!("desk.chart");
/// A chart that makes turns by itself.
const TURNS: &str = include_str!("turns.chart");

const TOKEN: &str = "client-token-0123456789";
/// Of a second client.
const OTHER: &str = "other-token-0123456789";
const PEOPLE: &str = "people-token-0123456789";

/// Both charts, with the tokens of the environment.
const OWN: [&str; 6] =
    ["desk.chart", "turns.chart", "--token-env", "TOKEN", "--people-token-env", "PEOPLE"];

/// How long anything may take before a test says that the server hangs.
const PATIENCE: Duration = Duration::from_secs(90);

/// A fresh folder with the charts.
fn charts(name: &str) -> PathBuf {
    let folder = folder(&format!("serve-{name}"));
    std::fs::write(folder.join("desk.chart"), DESK).expect("a file");
    std::fs::write(folder.join("turns.chart"), TURNS).expect("a file");
    folder
}

/// A command that has the tokens in its environment.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chartc"));
    command
        .current_dir(folder)
        .arg("serve")
        .args(arguments)
        .env("COLUMNS", "100")
        .env("TOKEN", TOKEN)
        .env("OTHER", OTHER)
        .env("PEOPLE", PEOPLE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A server on a free port of this machine.
struct Server {
    child: Child,
    address: SocketAddr,
    said: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Server {
    /// Both charts, with the tokens of the environment.
    fn new(folder: &Path, arguments: &[&str]) -> Self {
        Self::of(folder, &[&OWN, arguments].concat())
    }

    /// One with these arguments.
    fn of(folder: &Path, arguments: &[&str]) -> Self {
        Self::tried(folder, arguments)
            .unwrap_or_else(|(_, said)| panic!("the server ended: {said}"))
    }

    /// As [`Self::of`], for a server that may end before it listens. The error then has its exit code and its output.
    fn tried(folder: &Path, arguments: &[&str]) -> Result<Self, (Option<i32>, String)> {
        let arguments = [arguments, &["--listen", "127.0.0.1:0"]].concat();
        let mut child = command(folder, &arguments).spawn().expect("chartc runs");
        let mut err = BufReader::new(child.stderr.take().expect("piped"));
        let mut said = String::new();
        let address = loop {
            let mut line = String::new();
            let read = err.read_line(&mut line).expect("text");
            said.push_str(&line);
            if read == 0 {
                return Err((ended(&mut child).code(), said));
            }
            if let Some((_, address)) = line.trim().split_once("listening on http://") {
                break address.parse().expect("an address");
            }
        };
        let said = Arc::new(Mutex::new(said));
        let reader = Some(read_on(err, said.clone()));
        Ok(Self { child, address, said, reader })
    }

    fn client(&self) -> Client {
        Client { address: self.address, token: TOKEN.into() }
    }

    /// A second client, of a server with `--token-env OTHER`.
    fn other(&self) -> Client {
        Client { address: self.address, token: OTHER.into() }
    }

    /// A client with the token of people.
    fn person(&self) -> Client {
        Client { address: self.address, token: PEOPLE.into() }
    }

    fn connect(&self) -> TcpStream {
        client::connect(self.address)
    }

    /// What it has said on standard error by now.
    fn said(&self) -> String {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A number of kilobytes from the status of the process.
    fn memory(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("Linux tells it");
        let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("it is there");
        line.trim_matches(|c: char| !c.is_ascii_digit()).parse().expect("a number")
    }

    /// Whether the server keeps its end of a connection. What was sent and not read hides the end from the client.
    fn holds(&self, stream: &TcpStream) -> bool {
        const ESTABLISHED: &str = "01";
        let client = stream.local_addr().expect("it is connected");
        let ends = [self.address.port(), client.port()].map(|port| format!(":{port:04X}"));
        let table = std::fs::read_to_string("/proc/net/tcp").expect("Linux tells it");
        table.lines().any(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            matches!(&words[..], [_, own, other, ESTABLISHED, ..]
                if own.ends_with(&ends[0]) && other.ends_with(&ends[1]))
        })
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.expect("kill").success());
    }

    /// Kills the process at once.
    fn kill(mut self) {
        self.child.kill().expect("it is there");
        self.end();
    }

    /// Asks the process to end; returns its exit code and what it has said.
    fn stop(mut self) -> (Option<i32>, String) {
        self.signal("-TERM");
        let code = self.end().code();
        (code, self.said())
    }

    fn end(&mut self) -> ExitStatus {
        let status = ended(&mut self.child);
        if let Some(reader) = self.reader.take() {
            reader.join().expect("it reads to the end");
        }
        status
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
        if std::thread::panicking() {
            eprintln!("the server has said: {}", self.said());
        } else {
            assert!(!self.said().contains("panicked"), "{}", self.said());
        }
    }
}

/// Waits for a process to end.
fn ended(child: &mut Child) -> ExitStatus {
    let mut status = None;
    until("the process ends", || {
        status = child.try_wait().expect("it is a child");
        status.is_some()
    });
    status.expect("it was seen")
}

/// Reads what a server says until it ends, so that it never waits for a reader.
fn read_on(err: BufReader<ChildStderr>, said: Arc<Mutex<String>>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        for line in err.lines().map_while(Result::ok) {
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            said.push_str(&line);
            said.push('\n');
        }
    })
}

/// Begins a run of the desk.
fn begin(client: &Client, run: &str) -> Reply {
    let order = json!({"chart": "Desk", "run": run, "params": {"owner": "Ada"}});
    let reply = client.post("/runs", &order);
    assert_eq!(reply.status, 201, "{}", reply.body);
    until("the desk is open", || {
        client.get(&format!("/runs/{run}")).json()["configuration"] == json!(["counting"])
    });
    reply
}

/// Sends an event with an id.
fn add(client: &Client, run: &str, id: &str, by: i64) -> Reply {
    let event = json!({"event": "add", "data": {"by": by}, "id": id});
    client.post(&format!("/runs/{run}/events"), &event)
}

fn event(client: &Client, run: &str, event: &str) -> Reply {
    client.post(&format!("/runs/{run}/events"), &json!({"event": event}))
}

/// Sends the run to the person, and waits until the question is there. Returns the id of the question.
fn ask(client: &Client, run: &str) -> String {
    assert_eq!(event(client, run, "ask").status, 200);
    let mut asked = Value::Null;
    until("a person is asked", || {
        let read = client.get(&format!("/runs/{run}")).json();
        asked = read["waits_for"][0].clone();
        asked["person"] == true
    });
    asked["id"].as_str().expect("an id").to_owned()
}

/// Answers a question of a run.
fn answer(client: &Client, run: &str, id: &str, text: &str) -> Reply {
    client.post(&format!("/runs/{run}/answers"), &json!({"id": id, "answer": text}))
}
