//! Runs for which there is no model: their clients are told, and can try again.

use super::{PATIENCE, Server, TOKEN, charts};
use crate::no_model::{Stub, nowhere, said};
use serde_json::json;
use std::net::TcpListener;
use std::time::Instant;

const ASKS: &str = r#"
chart Asks {
  event more
  initial open
  state open {
    ask go on turn else stay { prompt "Go on? {options}" }
    may stop "stop" -> over
    may on "go on" -> open
    on more -> open
  }
  final over
}
"#;

#[test]
fn a_client_is_told_that_there_is_no_model_and_can_try_again() {
    let folder = charts("no-model");
    std::fs::write(folder.join("asks.chart"), ASKS).expect("a file");
    let (listener, url) = nowhere();
    let place = listener.local_addr().expect("an address");
    drop(listener);
    let arguments = ["asks.chart", "--token-env", "TOKEN", "--people-token-env", "PEOPLE"];
    let model = ["--llm", &url, "--model", "m"];
    let server = Server::of(&folder, &[&arguments[..], &model].concat());
    let client = server.client();
    assert_eq!(client.token, TOKEN);
    let order = json!({"run": "a"});
    assert_eq!(client.post("/runs", &order).status, 201);
    let begun = Instant::now();
    let until = |wanted: &str| loop {
        let run = client.get("/runs/a").json();
        if run["status"] == wanted {
            return run;
        }
        assert!(begun.elapsed() < PATIENCE, "{run}");
        std::thread::yield_now();
    };
    let run = until("broken");
    let told = format!("no server answers at {url} (Connection refused)");
    assert!(run["stopped"].as_str().is_some_and(|why| why.contains(&told)), "{run}");
    // Whoever follows it sees what has happened, and then that nothing more will.
    let seen = client.follow("a", None).map(|(id, _)| id).collect::<Vec<_>>();
    assert!(!seen.is_empty(), "its lines are there");
    assert_eq!(client.follow("a", seen.last().copied()).count(), 0);
    let event = client.post("/runs/a/events", &json!({"event": "more"}));
    assert!(event.status == 409 && event.body.contains(&told), "{event:?}");
    let stub = Stub::at(TcpListener::bind(place).expect("the same port"), |_, _| said("stop"));
    assert_eq!(client.post("/runs", &order).status, 200);
    until("ok");
    assert_eq!(stub.asked(), 1);
    assert_eq!(server.stop().0, Some(0));
}
