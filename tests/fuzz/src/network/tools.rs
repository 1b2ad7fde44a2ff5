//! A tool server that answers anything.

use chartc_adapters::tools::{Configuration, Pool};
use chartc_core::expr::Value;
use chartc_core::host::ToolCall;
use chartc_runtime::tools::Tools;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The types of result that a chart may declare.
const WANTED: [&str; 3] = [
    r#"{"type":"string"}"#,
    r#"{"description":"any JSON"}"#,
    r#"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}"#,
];

/// The number of tools that are called.
const CALLS: usize = 3;

/// Answers of a tool server, separated by zero bytes, one for each request. The pool must start, call each tool, and end in time. The
/// declarations that it writes for a chart must declare tools and nothing else.
pub(super) fn answers(data: &[u8]) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime").block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let text = format!("[servers.h]\nurl = \"http://{address}/\"\n");
        let read = Configuration::read("tools.toml", &text, ".".as_ref(), &|_| None);
        let pool = Pool::new(read.expect("it is sound"), &[], |_, _| {});
        let using = async {
            pool.begin().await;
            use_all(&pool).await;
            pool.close().await;
        };
        tokio::select! {
            done = tokio::time::timeout(Duration::from_hours(2), using) => done.expect("an end"),
            () = answer(listener, data) => {}
        }
    });
}

async fn use_all(pool: &Pool) {
    let chart = chartc_core::model::Chart::empty("T");
    drop(pool.check(&[&chart]));
    let servers = pool.servers();
    let mut taken = BTreeSet::new();
    let mut text = String::new();
    let mut count = 0;
    for tool in servers.iter().flat_map(|server| server.tools.iter().flatten()) {
        if let Some(declared) = pool.declaration("h", &tool.called, &mut taken) {
            text += &declared;
            count += 1;
        }
    }
    let loader = chartc::load::Memory::of("a.chart", &text);
    let done = chartc::check_within(&["a.chart".into()], &loader, 0);
    let broken = done.diagnostics.iter().find(|found| found.rule.code == "C0001");
    assert!(broken.is_none(), "{broken:?} in\n{text}");
    // Each declaration has a line of its own, so nothing from a server can begin another one.
    let is_one =
        |line: &str| ["tool ", "type ", "enum ", "///"].iter().any(|word| line.starts_with(word));
    assert!(text.lines().all(is_one), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("tool ")).count(), count, "{text}");
    let tools = servers.iter().flat_map(|server| server.tools.iter().flatten());
    for (tool, result) in tools.zip(WANTED).take(CALLS) {
        let arguments = tool.parameters.iter();
        let arguments = arguments.map(|(name, ..)| (name.clone(), Value::Int(1))).collect();
        let tool = format!("h.{}", tool.called);
        drop(pool.call(ToolCall { tool, arguments, result: result.to_owned() }).await);
    }
}

/// Answers the requests of all connections until no answer is left.
async fn answer(listener: TcpListener, data: &[u8]) {
    let mut messages = data.split(|byte| *byte == 0);
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        drop(respond(stream, &mut messages).await);
    }
}

async fn respond<'m>(
    mut stream: TcpStream,
    messages: &mut impl Iterator<Item = &'m [u8]>,
) -> std::io::Result<()> {
    stream.set_zero_linger()?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut sent = vec![0; length.and_then(|length| length.parse().ok()).unwrap_or(0)];
    stream.read_exact(&mut sent).await?;
    let is_note = !sent.windows(5).any(|five| five == b"\"id\":");
    let (head, message) = match (head.starts_with("post"), is_note) {
        (false, _) => ("405 X\r\n", &b""[..]),
        (true, true) => ("202 X\r\n", &b""[..]),
        (true, false) => {
            let message = messages.next().unwrap_or_default();
            // A message may say which status it has.
            match message.strip_prefix(b"!") {
                Some(rest) => ("503 X\r\nretry-after: 9\r\n", rest),
                None if message.starts_with(b"event:") || message.starts_with(b"data:") => {
                    ("200 X\r\ncontent-type: text/event-stream\r\n", message)
                }
                None => ("200 X\r\ncontent-type: application/json\r\n", message),
            }
        }
    };
    let head =
        format!("HTTP/1.1 {head}content-length: {}\r\nconnection: close\r\n\r\n", message.len());
    stream.write_all(&[head.as_bytes(), message].concat()).await?;
    stream.flush().await
}
