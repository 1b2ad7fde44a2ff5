//! `chartc intake`: agents of a store, with events from a Redis server on this machine.
#![allow(clippy::disallowed_methods, reason = "tests start programs")]

use crate::run::command::folder;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use test_support::project::until;

const PASSWORD: &str = "very-secret-0123456789";

const CHART: &str = "
chart Sum {
  event add(n: Int)
  var sum: Int = 0
  initial open
  state open { on add(n) { sum = sum + n }  when sum >= 6 -> full }
  final full
}";

/// A process that ends with its test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A server, and its port; without a program it says so, and there is none.
fn server(folder: &Path) -> Option<(Process, u16)> {
    let program = std::env::var_os("REDIS_SERVER").unwrap_or("redis-server".into());
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let started = Command::new(program)
        .args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", "", "--dir"])
        .arg(folder)
        .args(["--requirepass", PASSWORD])
        .stdout(Stdio::null())
        .spawn();
    let Ok(child) = started else {
        println!("skipped, not found: redis-server");
        return None;
    };
    Some((Process(child), port))
}

/// Says something to the server; gives the first line of what it says to the last command.
fn ask(port: u16, commands: &[&[&str]]) -> Option<String> {
    let mut stream = BufReader::new(TcpStream::connect(("127.0.0.1", port)).ok()?);
    let mut line = String::new();
    for words in [&["AUTH", PASSWORD][..]].iter().chain(commands) {
        let mut text = format!("*{}\r\n", words.len());
        for word in *words {
            write!(text, "${}\r\n{word}\r\n", word.len()).expect("a text");
        }
        stream.get_mut().write_all(text.as_bytes()).ok()?;
        line.clear();
        stream.read_line(&mut line).ok()?;
        if let Some(length) = line.strip_prefix('$') {
            let mut rest = vec![0; length.trim().parse::<usize>().ok()? + 2];
            stream.read_exact(&mut rest).ok()?;
        }
    }
    Some(line.trim().to_owned())
}

#[test]
fn events_reach_the_agents_of_a_store_and_the_password_nobody() {
    let folder = folder("intake");
    let Some((_server, port)) = server(&folder) else { return };
    until("the server answers", || ask(port, &[&["PING"]]).as_deref() == Some("+PONG"));
    std::fs::write(folder.join("sum.chart"), CHART).expect("a disk");
    let chartc = |words: &[&str], password: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chartc"));
        command.current_dir(&folder).args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("REDIS_URL", format!("redis://:{password}@127.0.0.1:{port}"));
        command
    };
    let words = ["intake", "sum.chart", "--store", "s.db", "--stream", "s", "--group", "g"];
    let add = |agent: &str, event: &str, n: &str| {
        let data = format!("{{\"n\": {n}}}");
        let entry = ["XADD", "s", "*", "agent", agent, "event", event, "data", &data];
        ask(port, &[&entry]).expect("it is added");
    };
    add("ada", "add", "1");
    add("bob", "sub", "1");
    add("ada", "add", "2");
    let list = || {
        let listed = chartc(&["store", "s.db", "list"], "").output().expect("it runs");
        String::from_utf8_lossy(&listed.stdout).into_owned()
    };
    let mut first = Process(chartc(&words, PASSWORD).spawn().expect("it starts"));
    until("all is taken", || {
        ask(port, &[&["XLEN", "s:dead"]]).as_deref() == Some(":1") && list().contains("ada: Sum")
    });
    // As by `kill -9`.
    first.0.kill().expect("it is there");
    let out = first.0.stderr.take().map(|mut err| {
        let mut text = String::new();
        err.read_to_string(&mut text).expect("text");
        text
    });
    let out = out.expect("it is read");
    assert!(out.contains("put aside: agent `bob`: no event `sub`"), "{out}");
    add("ada", "add", "3");
    let mut next = Process(chartc(&words, PASSWORD).spawn().expect("it starts"));
    until("the run has ended", || list().contains("ada: Sum, ok in full"));
    let ended = Command::new("kill").args(["-TERM", &next.0.id().to_string()]).status();
    assert!(ended.expect("it runs").success());
    assert!(next.0.wait().expect("it ends").success());
    let mut said = String::new();
    next.0.stdout.take().map(|mut out| out.read_to_string(&mut said)).expect("it is read").ok();
    assert!(said.contains("put aside"), "{said}");
    let wrong = chartc(&words, "wrong-password").output().expect("it runs");
    let wrong = (wrong.status.code(), String::from_utf8_lossy(&wrong.stderr).into_owned());
    assert!(wrong.0 == Some(2) && wrong.1.contains("refuses"), "{wrong:?}");
    for text in [out, said, wrong.1] {
        assert!(!text.contains(PASSWORD) && !text.contains("wrong-password"), "{text}");
    }
}
