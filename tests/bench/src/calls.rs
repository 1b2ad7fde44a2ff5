//! What a call of a model costs beside the openai package for Python: the same request, to a server that answers at once, or to a real one.

use chartc::load::Memory;
use chartc_adapters::models::{Providers, Server};
use chartc_core::expr::Map;
use chartc_core::interpreter::Interpreter;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::clock::RealClock;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A question a turn, with a choice that a small model gets right: any.
const CHART: &str = r#"
chart Ask {
  client c { model "any:any"  temperature 0.0  max_tokens 32 }
  initial a
  state a { ask go with c on turn always else stay { prompt "Left or right?" }  may left -> b  may right -> b }
  state b { ask back with c on turn always else stay { prompt "Left or right?" }  may left -> a  may right -> a }
}
"#;

const ROUNDS: usize = 5;
/// Calls that do not count.
const WARM: u32 = 3;

/// Measures `python`, which has the package, and chartc in turn: at a server without delay, or at `url`.
pub(crate) fn run(python: &str, url: Option<&str>) {
    let seen: Arc<Mutex<Value>> = Arc::default();
    let stub = stub(seen.clone());
    let chart = checked();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    // The request that both send.
    runtime.block_on(calls(&chart, &stub, 1));
    let body = seen.lock().expect("whole").clone();
    let (url, count) = url.map_or((stub.as_str(), 500), |url| (url, 20));
    println!("{:<9} {:>14} {:>14} {:>8}", "round", "chartc µs", "Python µs", "ratio");
    let mut ratios = Vec::new();
    for round in 1..=ROUNDS {
        let own = runtime.block_on(calls(&chart, url, count));
        let other = of_python(python, url, count, &body);
        println!("{round:<9} {:>14.0} {:>14.0} {:>8.3}", own * 1e6, other * 1e6, own / other);
        ratios.push(own / other);
    }
    ratios.sort_by(f64::total_cmp);
    println!("{:<9} {:>38.3}", "median", ratios[ROUNDS / 2]);
}

fn checked() -> Arc<Chart> {
    let files = Memory::of("a.chart", CHART);
    let done = chartc::check_within(&["a.chart".to_owned()], &files, 0);
    done.charts[0].chart().clone()
}

/// Seconds of one call of a session.
async fn calls(chart: &Arc<Chart>, url: &str, count: u32) -> f64 {
    let plan = Plan::new(chart);
    let machine = Interpreter::new(&plan, (), Map::new()).expect("it has no params");
    let oracle = Providers::only(Server::new(url, None).expect("an address"), "any");
    let clock = Arc::new(RealClock::starting_at(0));
    let mut session = Session::new(machine, Arc::new(oracle), clock, ());
    session.run_turns(WARM).await.expect("the server answers");
    let begin = Instant::now();
    session.run_turns(count).await.expect("the server answers");
    let took = begin.elapsed().as_secs_f64();
    assert_eq!(session.calls(), WARM + count, "each turn has one call, whose answer is usable");
    took / f64::from(count)
}

/// Seconds of one call of the package.
fn of_python(python: &str, url: &str, count: u32, body: &Value) -> f64 {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/calls.py");
    let mut child = Command::new(python)
        .args([script, url, &count.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python runs");
    let text = body.to_string();
    child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("it reads");
    let told = child.wait_with_output().expect("it ends").stdout;
    String::from_utf8_lossy(&told).trim().parse().expect("the seconds of one call")
}

/// A server that answers every request at once; it keeps what it was sent last.
fn stub(seen: Arc<Mutex<Value>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let seen = seen.clone();
            std::thread::spawn(move || serve(stream, &seen));
        }
    });
    url
}

fn serve(mut stream: TcpStream, seen: &Mutex<Value>) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let message = json!({"role": "assistant", "content": "{\"choice\":\"left\"}"});
    let choice = json!({"index": 0, "finish_reason": "stop", "message": message});
    let usage = json!({"prompt_tokens": 40, "completion_tokens": 8, "total_tokens": 48});
    let answer = json!({"id": "x", "object": "chat.completion", "created": 1, "model": "any", "choices": [choice], "usage": usage});
    let answer = answer.to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";
    let answer = format!("{head}{}\r\n\r\n{answer}", answer.len());
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line).ok()? > 2 {
            if let Some(rest) = line.to_lowercase().strip_prefix("content-length: ") {
                length = rest.trim().parse().ok()?;
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        *seen.lock().ok()? = serde_json::from_slice(&body).ok()?;
        stream.write_all(answer.as_bytes()).ok()?;
    }
}
