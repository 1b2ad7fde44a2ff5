//! Many agents on a model that fails, drips, hangs and resets: every call is accounted for, and memory stays flat.

use super::{chartc, folder};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use test_support::project::number;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const CHART: &str = r#"
/// Thinks, and thinks again.
chart Thinker {
  param agent_id: Text
  client quick { model "local:tiny"  max_tokens 50  timeout 2s  retry 1 }
  defaults { retry 1 then skip }
  initial open
  state open {
    llm think with quick { prompt """You are {agent_id}. What now?""" }
  }
}
"#;

/// What a server does with a request, by its number.
async fn serve(mut stream: TcpStream, nth: usize) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let read = stream.read(&mut chunk).await?;
        if read == 0 {
            return Ok(());
        }
        request.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&request);
        let Some(head) = text.find("\r\n\r\n") else { continue };
        let length = text.to_lowercase().split("content-length: ").nth(1).and_then(|rest| {
            rest.split("\r\n").next().and_then(|length| length.trim().parse::<usize>().ok())
        });
        if request.len() >= head + 4 + length.unwrap_or(0) {
            break;
        }
    }
    let words = r#"{\"reasoning\":\"so it is\",\"action\":\"noop\"}"#;
    let body = format!(
        r#"{{"choices":[{{"index":0,"finish_reason":"stop","message":{{"role":"assistant","content":"{words}"}}}}],"usage":{{"prompt_tokens":40,"completion_tokens":8}}}}"#
    );
    let reply = |status: u16, body: &str| {
        format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    match nth % 10 {
        3 => stream.write_all(reply(500, r#"{"error":{"message":"broken"}}"#).as_bytes()).await,
        5 => {
            // It hangs: whoever asks gives up.
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).await.map(drop)
        }
        7 => {
            for byte in reply(200, &body).as_bytes() {
                stream.write_all(&[*byte]).await?;
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            Ok(())
        }
        9 => {
            stream.write_all(&reply(200, &body).as_bytes()[..60]).await?;
            // The connection is reset in the middle of the answer.
            stream.set_zero_linger()
        }
        _ => stream.write_all(reply(200, &body).as_bytes()).await,
    }
}

/// A server in a thread of its own; its address, and how many requests it has taken.
fn server() -> (String, Arc<AtomicUsize>) {
    let (tell, told) = std::sync::mpsc::channel();
    let taken = Arc::new(AtomicUsize::new(0));
    let count = taken.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            tell.send(listener.local_addr().expect("an address")).expect("somebody listens");
            while let Ok((stream, _)) = listener.accept().await {
                let nth = count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(async move { drop(serve(stream, nth).await) });
            }
        });
    });
    let address = told.recv().expect("the server has begun");
    (format!("http://{address}/v1"), taken)
}

/// `CHARTC_WORLD_AGENTS=1000 CHARTC_WORLD_SECONDS=600` is the whole campaign.
#[test]
fn every_call_to_a_bad_provider_is_accounted_for() {
    let agents = number("CHARTC_WORLD_AGENTS", 40_u32);
    let seconds = number("CHARTC_WORLD_SECONDS", 2_u32);
    // About a hundred calls a second.
    let interval = f64::from(agents) / 100.0;
    let (url, taken) = server();
    let folder = folder("provider");
    std::fs::write(folder.join("thinker.chart"), CHART).expect("a file");
    std::fs::write(
        folder.join("run.yaml"),
        format!(
            "execution: {{interval: {interval}, max_consecutive_errors: 1000000, max_backoff: 1}}\nagents: [{{file: thinker.chart, id: t, count: {agents}}}]\n"
        ),
    )
    .expect("a file");
    let log = folder.join("log.jsonl");
    let seconds = seconds.to_string();
    let mut child = chartc(&folder, &["run", ".", "--duration", &seconds, "--llm", &url])
        .args(["--format", "json", "--log", "log.jsonl"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it runs");
    let status = format!("/proc/{}/status", child.id());
    let mut memory = Vec::new();
    while child.try_wait().expect("it can be waited for").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let resident = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        memory
            .extend(resident.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok()));
        std::thread::sleep(Duration::from_millis(200));
    }
    let output = child.wait_with_output().expect("it has ended");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for line in std::fs::read_to_string(&log).expect("a log").lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        *kinds.entry(line["kind"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    let of = |kind: &str| kinds.get(kind).copied().unwrap_or_default();
    let ended = of("answer") + of("call_failed") + of("unusable") + of("cancelled");
    assert!(of("question") > 0 && of("answer") > 0 && of("call_failed") > 0, "{kinds:?}");
    assert_eq!(of("question"), ended, "each call has ended in one way: {kinds:?}");
    assert_eq!(of("question"), taken.load(Ordering::SeqCst), "each call has reached the server");
    eprintln!("{} calls, {} answers, memory in KiB {memory:?}", of("question"), of("answer"));
    let quarter = memory.len() / 4;
    if quarter > 10 {
        let most = |part: &[u64]| part.iter().copied().max().unwrap_or_default();
        let (early, late) = (most(&memory[..2 * quarter]), most(&memory[2 * quarter..]));
        assert!(late < early + early / 5, "memory grows from {early} to {late} KiB");
    }
}
