//! What the tests share.
#![allow(clippy::disallowed_methods, reason = "tests start servers and read what they wrote")]

use chartc_adapters::tools::{Configuration, Pool};
use chartc_core::expr::Value;
use chartc_core::host::ToolCall;
use chartc_core::model::{Chart, Field, Tool, Type, TypeDef, TypeKind};
use chartc_runtime::oracle::OracleError;
use chartc_runtime::tools::Tools;
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) const TEXT: &str = r#"{"type":"string"}"#;
pub(crate) const INT: &str = r#"{"type":"integer"}"#;
pub(crate) const ANY: &str = r#"{"description":"any JSON"}"#;

/// Lines that servers wrote to standard error.
pub(crate) type Lines = Arc<Mutex<Vec<String>>>;

/// The folder below `target` with the servers that many use.
pub(crate) fn installed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools")
}

/// Whether a program runs; says so if not.
pub(crate) fn has(program: impl AsRef<Path>) -> bool {
    let program = program.as_ref();
    let runs = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !runs {
        eprintln!("skipped, not found: {}", program.display());
    }
    runs
}

/// A new folder for a test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp").join(name);
    drop(std::fs::remove_dir_all(&folder));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// The configuration of one hostile server `h`, with more lines for it.
pub(crate) fn hostile(mode: &str, file: &Path, more: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile.py");
    let args = json!([script, mode, file]);
    format!("[servers.h]\ncommand = \"python3\"\nargs = {args}\nstart_timeout = \"20s\"\n{more}\n")
}

pub(crate) fn configuration(text: &str, folder: &Path) -> Configuration {
    let variables = |name: &str| match name {
        "TOKEN" => Some("tok-0123456789".to_owned()),
        "OPENAI_API_KEY" => Some("sk-must-not-be-seen".to_owned()),
        _ => std::env::var(name).ok(),
    };
    Configuration::read("tools.toml", text, folder, &variables)
        .unwrap_or_else(|fault| panic!("{fault}"))
}

/// A pool with all servers of a configuration, and what they write.
pub(crate) async fn pool(text: &str, folder: &Path) -> (Pool, Lines) {
    let lines = Lines::default();
    let heard = lines.clone();
    let pool = Pool::start(configuration(text, folder), &[], move |name, line| {
        heard.lock().expect("whole").push(format!("{name}: {line}"));
    });
    (pool.await, lines)
}

pub(crate) fn tool_call(tool: &str, arguments: serde_json::Value, result: &str) -> ToolCall {
    let arguments: Value = serde_json::from_value(arguments).expect("a value");
    let Value::Map(arguments) = arguments else { panic!("arguments are an object") };
    ToolCall {
        tool: tool.to_owned(),
        arguments: arguments.into_iter().collect(),
        result: result.to_owned(),
    }
}

pub(crate) async fn call(
    pool: &Pool,
    tool: &str,
    arguments: serde_json::Value,
    result: &str,
) -> Result<serde_json::Value, OracleError> {
    let value = pool.call(tool_call(tool, arguments, result)).await?;
    Ok(serde_json::to_value(value).expect("JSON"))
}

/// A tool of a chart: its name, its parameters, its result.
pub(crate) type Declared<'d> = (&'d str, &'d [(&'d str, Type)], Type);

/// A chart with these tools, and an enum `Kind` and a record `Place`, which are types 0 and 1.
pub(crate) fn chart(tools: &[Declared<'_>]) -> Chart {
    let field = |name: &str, ty: &Type| Field { name: name.into(), ty: ty.clone(), range: None };
    let tool = |(name, params, result): &Declared<'_>| Tool {
        idempotent: false,
        name: (*name).into(),
        doc: String::new(),
        params: params.iter().map(|(name, ty)| field(name, ty)).collect(),
        result: result.clone(),
    };
    let height = Type::Optional(Box::new(Type::Float));
    let place = vec![field("name", &Type::Text), field("height", &height)];
    let ty = |name: &str, kind| TypeDef { name: name.into(), doc: String::new(), kind };
    Chart {
        tools: tools.iter().map(tool).collect(),
        types: vec![
            ty("Kind", TypeKind::Enum(vec!["hill".into(), "lake".into()])),
            ty("Place", TypeKind::Record(place)),
        ],
        ..Chart::empty("T")
    }
}

/// Waits until something holds, at most 20 seconds.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting)
        .await
        .unwrap_or_else(|_| panic!("{what}"));
}

/// Whether a process runs; a zombie does not.
pub(crate) fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

pub(crate) fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

/// The pids after a word that the hostile server wrote to its file.
pub(crate) fn pids(file: &Path, word: &str) -> Vec<u32> {
    let text = read(file);
    let lines = text.lines().filter_map(|line| line.strip_prefix(word));
    lines.flat_map(str::split_whitespace).map(|pid| pid.parse().expect("a pid")).collect()
}

/// A status, headers and a body.
pub(crate) type Reply = (u16, &'static str, String);

/// Answers each request in turn, then nobody; keeps what it was sent.
pub(crate) fn server(replies: Vec<Reply>) -> (String, Arc<Mutex<Vec<String>>>) {
    let count = replies.len();
    let mut replies = replies.into_iter();
    serving(Some(count), move |_| replies.next().expect("one for each"))
}

/// Answers each request by what it says, in lower case.
pub(crate) fn replying(
    reply: impl FnMut(&str) -> Reply + Send + 'static,
) -> (String, Arc<Mutex<Vec<String>>>) {
    serving(None, reply)
}

fn serving(
    count: Option<usize>,
    mut reply: impl FnMut(&str) -> Reply + Send + 'static,
) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let requests = seen.clone();
    std::thread::spawn(move || {
        for _ in 0..count.unwrap_or(usize::MAX) {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
            let (mut text, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) <= 2 {
                    break;
                }
                let lower = line.to_lowercase();
                if let Some(rest) = lower.strip_prefix("content-length: ") {
                    length = rest.trim().parse().expect("a number");
                }
                text.push_str(&lower);
            }
            let mut sent = vec![0; length];
            if reader.read_exact(&mut sent).is_err() {
                continue;
            }
            text.push_str(&String::from_utf8_lossy(&sent));
            let (status, headers, body) = reply(&text);
            requests.lock().expect("whole").push(text);
            let answer = format!(
                "HTTP/1.1 {status} X\r\n{headers}connection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            // Whoever asked may be gone.
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    (url, seen)
}
