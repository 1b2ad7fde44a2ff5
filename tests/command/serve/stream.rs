//! Traces that grow.

use super::*;

/// The trace as it is now.
fn trace(client: &Client, run: &str) -> Vec<Value> {
    let reply = client.get(&format!("/runs/{run}/trace"));
    assert_eq!(reply.status, 200);
    reply.body.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_stream_begins_behind_a_line_and_ends_with_the_run() {
    let server = Server::new(&charts("stream"), &[]);
    let client = server.client();
    begin(&client, "a");
    for nth in 0..5 {
        assert_eq!(add(&client, "a", &format!("before {nth}"), 1).status, 200);
    }
    let sender = client.clone();
    let behind = trace(&client, "a").len() as u64 / 2;
    let mut streams = vec![client.follow("a", None), client.follow("a", Some(behind))];
    let sending = std::thread::spawn(move || {
        for nth in 0..200 {
            assert_eq!(add(&sender, "a", &format!("after {nth}"), 1).status, 200);
        }
        assert_eq!(event(&sender, "a", "finish").status, 200);
    });
    // It is left and followed again while the run goes on.
    let mut left: Vec<(u64, Value)> = Vec::new();
    loop {
        let after = left.last().map(|(seq, _)| *seq);
        let before = left.len();
        left.extend(client.follow("a", after).take(7));
        if left.len() - before < 7 {
            break;
        }
    }
    sending.join().expect("all was taken");
    let whole: Vec<(u64, Value)> = streams.remove(0).collect();
    let part: Vec<(u64, Value)> = streams.remove(0).collect();
    let mut lines = trace(&client, "a");
    let end = lines.iter().position(|line| line["kind"] == "ended").expect("it has ended");
    lines.truncate(end + 1);
    let numbered: Vec<(u64, Value)> =
        lines.iter().map(|line| (line["seq"].as_u64().expect("a number"), line.clone())).collect();
    assert!(lines.len() > 200, "{}", lines.len());
    assert!(numbered.iter().zip(1..).all(|((seq, _), nth)| *seq == nth), "numbered without gaps");
    assert!(whole == numbered, "the stream is the trace");
    assert!(left == numbered, "the stream that was left is the trace");
    assert!(part == numbered[behind as usize..], "the stream begins behind line {behind}");
    assert_eq!(client.get("/runs/a").json()["result"], json!({"total": 205}));
}

#[test]
fn a_stream_of_a_run_that_has_ended_ends() {
    let server = Server::new(&charts("over"), &[]);
    let client = server.client();
    assert_eq!(client.post("/runs", &json!({"chart": "Turns", "run": "a"})).status, 201);
    let all: Vec<(u64, Value)> = client.follow("a", None).collect();
    let (last, _) = all.last().expect("lines");
    // What comes too late is in the trace, and changes nothing.
    for late in ["turn", "turn"] {
        assert_eq!(event(&client, "a", late).status, 409);
    }
    assert_eq!(trace(&client, "a").len(), all.len() + 2);
    assert_eq!(client.get("/runs/a").json()["result"], json!({"turns": 5}));
    assert_eq!(client.follow("a", None).count(), all.len());
    // A browser asks again when a stream ends. Without content it does not come back.
    for after in [*last, last + 1, u64::MAX] {
        let reply =
            client.send("GET", "/runs/a/stream", &format!("Last-Event-ID: {after}\r\n"), "");
        assert_eq!((reply.status, reply.body.as_str()), (204, ""), "{after}");
    }
    for after in ["x", "-1", "1.5", "99999999999999999999999"] {
        let reply =
            client.send("GET", "/runs/a/stream", &format!("Last-Event-ID: {after}\r\n"), "");
        assert_eq!((reply.status, reply.kind().as_str()), (422, "misfit"), "{after}");
    }
    assert_eq!(client.get("/runs/b/stream").status, 404);
    assert_eq!(client.get("/runs/b/trace").status, 404);
}

#[test]
fn a_run_makes_turns_by_itself_until_nothing_happens() {
    let server = Server::new(&charts("turns"), &[]);
    let client = server.client();
    let order = json!({"chart": "Turns", "run": "a", "params": {"most": 40}});
    assert_eq!(client.post("/runs", &order).status, 201);
    let all: Vec<(u64, Value)> = client.follow("a", None).collect();
    let turns = all.iter().filter(|(_, line)| line["event"] == "turn").count();
    assert!(turns >= 40 || all.len() > 80, "{all:?}");
    assert_eq!(client.get("/runs/a").json()["result"], json!({"turns": 40}));
    // As many as its client says, and no more: the next are the client's.
    let order = json!({"chart": "Turns", "run": "b", "params": {"most": 4}, "turns": 3});
    assert_eq!(client.post("/runs", &order).status, 201);
    until("three turns are made", || client.get("/runs/b").json()["variables"]["n"] == 3);
    assert_eq!(event(&client, "b", "turn").status, 200);
    assert_eq!(client.get("/runs/b").json()["result"], json!({"turns": 4}));
}
