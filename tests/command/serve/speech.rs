//! The Model Context Protocol, spoken by a client that may be a model and wants more than it may.

use super::*;
use std::process::ChildStdin;

/// A message, as it goes over HTTP.
fn say(client: &Client, message: &Value) -> Reply {
    let headers = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-06-18\r\n";
    client.send("POST", "/mcp", headers, &message.to_string())
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn initialize(id: u64) -> Value {
    let client = json!({"name": "it", "version": "1"});
    request(
        id,
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}),
    )
}

/// A call of a tool over HTTP.
fn call(client: &Client, tool: &str, arguments: Value) -> Value {
    let reply =
        say(client, &request(7, "tools/call", json!({"name": tool, "arguments": arguments})));
    assert_eq!(reply.status, 200, "{tool}: {}", reply.body);
    reply.json()
}

/// The names of the tools.
pub(super) fn tools(client: &Client) -> Vec<String> {
    let tools = say(client, &request(2, "tools/list", json!({}))).json();
    let tools = tools["result"]["tools"].as_array().expect("a list").clone();
    tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

/// What a call that went well returned.
pub(super) fn result(client: &Client, tool: &str, arguments: Value) -> Value {
    let reply = call(client, tool, arguments);
    assert_ne!(reply["result"]["isError"], true, "{tool}: {reply}");
    reply["result"]["structuredContent"].clone()
}

/// Waits until a run has ended or waits for somebody.
pub(super) fn rested(client: &Client, run: &str) {
    let read = result(client, "read_run", json!({"run": run, "wait_seconds": 60}));
    assert_eq!(read["at_rest"], true, "{read}");
}

/// Whether a call was refused, by the tool or by the protocol.
fn is_refused(reply: &Value) -> bool {
    reply["result"]["isError"] == true || reply["error"].is_object()
}

/// Begins a run that waits for a person.
fn asked(client: &Client) -> String {
    let begin = json!({"run": "a", "params": {"owner": "Ada"}});
    let read = result(client, "Desk", begin);
    assert_eq!((&read["status"], &read["at_rest"]), (&json!("running"), &json!(true)));
    let read = result(client, "send_event", json!({"run": "a", "event": "ask"}));
    assert_eq!(read["waits_for"][0]["person"], true, "{read}");
    read["waits_for"][0]["step"].as_str().expect("a name").to_owned()
}

#[test]
fn charts_are_tools() {
    let server = Server::new(&charts("tools"), &["--param", "most=3"]);
    let client = server.client();
    let hello = say(&client, &initialize(1));
    assert_eq!(
        (hello.status, &hello.json()["result"]["serverInfo"]["name"]),
        (200, &json!("chartc"))
    );
    let tools = say(&client, &request(2, "tools/list", json!({}))).json();
    let tools = tools["result"]["tools"].as_array().expect("a list").clone();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["Desk", "Turns", "read_run", "send_event", "list_runs"]);
    let desk = &tools[0]["inputSchema"];
    assert_eq!(desk["required"], json!(["params"]));
    assert_eq!(desk["properties"]["params"]["required"], json!(["owner"]));
    assert_eq!(tools[1]["inputSchema"]["properties"]["params"]["properties"], json!({}));
    let read = result(&client, "Turns", json!({"run": "t"}));
    assert_eq!((&read["result"], &read["at_rest"]), (&json!({"turns": 3}), &json!(true)));
    assert_eq!(result(&client, "Turns", json!({"run": "t"}))["result"], json!({"turns": 3}));
    asked(&client);
    let runs = result(&client, "list_runs", json!({}));
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_client_cannot_answer_for_a_person() {
    let server = Server::new(&charts("person"), &[]);
    let client = server.client();
    let step = asked(&client);
    let id = client.get("/runs/a").json()["waits_for"][0]["id"].clone();
    let send = |event: &str, data: Value| {
        call(
            &client,
            "send_event",
            json!({"run": "a", "event": event, "data": data, "wait_seconds": 0}),
        )
    };
    let tries = [
        call(&client, "answer", json!({"run": "a", "step": step, "answer": "yes"})),
        call(&client, "answers", json!({"run": "a", "step": step, "answer": "yes"})),
        call(&client, "reply", json!({"run": "a", "step": step, "answer": "yes"})),
        call(&client, "answer", json!({"run": "a", "id": id, "answer": "yes"})),
        call(&client, "read_run", json!({"run": "a", "id": id, "answer": "yes"})),
        call(&client, "send_event", json!({"run": "a", "event": id, "answer": "yes"})),
        call(&client, &step, json!({"answer": "yes"})),
        call(&client, "approve", json!({"answer": "yes"})),
        send(&step, json!({})),
        send("approve", json!({})),
        send("approve", json!({"approve": "yes"})),
        send("reply", json!({"step": step, "answer": "yes"})),
        send("done.approve", json!({})),
        send("done", json!({})),
        send("", json!({"verdict": "yes"})),
        send("turn", json!({"verdict": "yes"})),
        send("turn", json!({"approve": "yes"})),
        call(&client, "send_event", json!({"run": "a", "event": "turn", "answer": "yes"})),
        call(
            &client,
            "Desk",
            json!({"run": "a", "params": {"owner": "Ada"}, "answers": {"approve": "yes"}}),
        ),
    ];
    for (nth, reply) in tries.iter().enumerate() {
        assert!(is_refused(reply), "try {nth}: {reply}");
    }
    for path in [
        "/runs/a/answers",
        "/runs/a/answers/",
        "//runs/a/answers",
        "/runs/a/answers?token=x",
        "/runs/a/%61nswers",
        "/mcp/../runs/a/answers",
    ] {
        let reply = client.post(path, &json!({"id": id, "answer": "yes"}));
        assert!(reply.status == 403 || reply.status == 404, "{path}: {}", reply.body);
    }
    let read = result(&client, "read_run", json!({"run": "a"}));
    assert_eq!((&read["status"], &read["waits_for"][0]["step"]), (&json!("running"), &json!(step)));
    assert_eq!(read["waits_for"][0]["id"], id, "what is refused leaves the question as it was");
    assert_eq!(read["variables"]["verdict"], "no");
    // A person can.
    let id = id.as_str().expect("an id");
    assert_eq!(answer(&server.person(), "a", id, "yes").status, 200);
    let read = result(&client, "read_run", json!({"run": "a", "wait_seconds": 60}));
    assert_eq!(read["result"], json!({"total": 0}));
}

#[test]
fn arguments_that_do_not_fit_are_told_to_the_model() {
    let server = Server::new(&charts("arguments"), &[]);
    let client = server.client();
    let tries = [
        ("Desk", json!({}), "owner"),
        ("Desk", json!({"params": {}}), "owner"),
        ("Desk", json!({"params": {"owner": 3}}), "owner"),
        ("Desk", json!({"params": {"owner": "Ada", "start": "x"}}), "start"),
        ("Desk", json!({"params": {"owner": "Ada"}, "nonsense": 1}), "nonsense"),
        ("Desk", json!({"params": []}), "params"),
        ("Desk", json!({"params": {"owner": "Ada"}, "run": "../x"}), "name of a run"),
        ("Desk", json!({"params": {"owner": "Ada"}, "turns": -1}), "turns"),
        ("Desk", json!({"params": {"owner": "Ada"}, "wait_seconds": "long"}), "wait_seconds"),
        ("send_event", json!({"run": "a"}), "event"),
        ("send_event", json!({"run": "nobody", "event": "add"}), "nobody"),
        ("read_run", json!({}), "run"),
        ("read_run", json!({"run": 3}), "run"),
        ("list_runs", json!({"all": true}), "all"),
    ];
    for (tool, arguments, words) in tries {
        let reply = call(&client, tool, arguments.clone());
        assert_eq!(reply["result"]["isError"], true, "{tool} {arguments}: {reply}");
        assert!(
            reply["result"]["content"][0]["text"].to_string().contains(words),
            "{tool} {arguments}: {reply}"
        );
    }
    assert_eq!(result(&client, "list_runs", json!({}))["runs"], json!([]));
    let unknown = call(&client, "nonsense", json!({}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[test]
fn a_call_that_is_left_begins_its_run_all_the_same() {
    let server = Server::new(&charts("left"), &[]);
    let client = server.client();
    asked(&client);
    let headers =
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    for nth in 0..20 {
        // The client has gone before there is a reply.
        let begin = request(
            nth,
            "tools/call",
            json!({"name": "Turns", "arguments": {"run": format!("m{nth}"), "wait_seconds": 600}}),
        );
        let mut stream = server.connect();
        let text = client.request("POST", "/mcp", headers, &begin.to_string());
        stream.write_all(text.as_bytes()).expect("it is taken");
        drop(stream);
        let order = json!({"chart": "Turns", "run": format!("h{nth}")});
        let mut stream = server.connect();
        let text = client.request("POST", "/runs", headers, &order.to_string());
        stream.write_all(text.as_bytes()).expect("it is taken");
        drop(stream);
    }
    // Whichever were begun make their turns.
    until("all that were begun have ended", || {
        let runs = client.get("/runs").json();
        let runs = runs.as_array().expect("a list");
        runs.iter().filter(|run| run["run"] != "a").all(|run| run["status"] != "running")
    });
    // A call that waits, and is cancelled.
    let waits = request(
        40,
        "tools/call",
        json!({"name": "send_event", "arguments": {"run": "a", "event": "add", "data": {"by": 1}, "wait_seconds": 1}}),
    );
    assert_eq!(say(&client, &waits).status, 200);
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 40, "reason": "no more"}});
    assert_eq!(say(&client, &cancelled).status, 202);
    assert_eq!(client.get("/runs/a").json()["variables"]["sum"], 1);
}

/// A server that speaks over its standard streams.
struct Spoken {
    child: Child,
    to: Option<ChildStdin>,
    from: std::sync::mpsc::Receiver<String>,
}

impl Spoken {
    fn new(name: &str) -> Self {
        let folder = charts(name);
        let mut child =
            command(&folder, &["desk.chart", "turns.chart", "--mcp"]).spawn().expect("chartc runs");
        let out = BufReader::new(child.stdout.take().expect("piped"));
        let (said, from) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if said.send(line).is_err() {
                    break;
                }
            }
        });
        let to = child.stdin.take();
        Self { child, to, from }
    }

    /// One that has been greeted.
    fn greeted(name: &str) -> Self {
        let mut spoken = Self::new(name);
        spoken.say(initialize(1).to_string().as_bytes());
        assert_eq!(spoken.heard()["result"]["serverInfo"]["name"], "chartc");
        spoken.say(br#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#);
        spoken
    }

    fn say(&mut self, line: &[u8]) {
        let to = self.to.as_mut().expect("it is open");
        to.write_all(line)
            .and_then(|()| to.write_all(b"\n"))
            .and_then(|()| to.flush())
            .expect("it reads");
    }

    fn heard(&self) -> Value {
        let line = self.from.recv_timeout(PATIENCE).expect("it answers");
        serde_json::from_str(&line).expect("each line is JSON")
    }

    /// The reply to a request, whatever came before it.
    fn replied(&mut self, id: u64) -> Value {
        loop {
            let heard = self.heard();
            if heard["id"] == id {
                return heard;
            }
        }
    }

    /// Closes the input; returns the exit code and what was said on standard error.
    fn left(mut self) -> (Option<i32>, String) {
        self.to = None;
        let code = ended(&mut self.child).code();
        let mut said = String::new();
        let err = self.child.stderr.as_mut().expect("piped");
        std::io::Read::read_to_string(err, &mut said).expect("text");
        assert!(!said.contains("panicked"), "{said}");
        (code, said)
    }
}

impl Drop for Spoken {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn over_standard_streams_a_client_calls_and_leaves() {
    let mut spoken = Spoken::greeted("stdio");
    let begin = json!({"name": "Turns", "arguments": {"run": "t"}});
    spoken.say(request(2, "tools/call", begin).to_string().as_bytes());
    assert_eq!(spoken.replied(2)["result"]["structuredContent"]["result"], json!({"turns": 5}));
    let begin = json!({"name": "Desk", "arguments": {"run": "a", "params": {"owner": "Ada"}}});
    spoken.say(request(3, "tools/call", begin).to_string().as_bytes());
    assert_eq!(spoken.replied(3)["result"]["structuredContent"]["at_rest"], true);
    let send = json!({"name": "send_event", "arguments": {"run": "a", "event": "ask"}});
    spoken.say(request(4, "tools/call", send).to_string().as_bytes());
    assert_eq!(spoken.replied(4)["result"]["structuredContent"]["waits_for"][0]["person"], true);
    let (code, said) = spoken.left();
    assert_eq!((code, said.as_str()), (Some(0), ""));
}

#[test]
fn over_standard_streams_garbage_ends_nothing() {
    let mut spoken = Spoken::greeted("garbage");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let huge = format!(
        r#"{{"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {{"x": "{}"}}}}"#,
        "x".repeat(1 << 25)
    );
    let garbage: [&[u8]; 9] = [
        b"",
        b"garbage",
        b"{",
        b"\xff\xfe\x00",
        b"[]",
        b"null",
        br#"{"jsonrpc": "2.0"}"#,
        deep.as_bytes(),
        huge.as_bytes(),
    ];
    for (nth, line) in garbage.iter().enumerate() {
        spoken.say(line);
        let id = 100 + nth as u64;
        spoken.say(request(id, "tools/list", json!({})).to_string().as_bytes());
        assert!(spoken.replied(id)["result"]["tools"].is_array(), "line {nth}");
    }
    // A call that waits for an hour, and is cancelled.
    let begin =
        json!({"name": "Desk", "arguments": {"run": "a", "params": {"owner": "Ada"}, "turns": 0}});
    spoken.say(request(200, "tools/call", begin).to_string().as_bytes());
    spoken.replied(200);
    let waits = json!({"name": "read_run", "arguments": {"run": "a", "wait_seconds": 600}});
    spoken.say(request(201, "tools/call", waits).to_string().as_bytes());
    spoken.say(
        br#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 201}}"#,
    );
    spoken.say(request(202, "tools/list", json!({})).to_string().as_bytes());
    assert!(spoken.replied(202)["result"]["tools"].is_array());
    let (code, said) = spoken.left();
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn over_standard_streams_a_client_that_says_nothing_or_something_else_leaves_in_peace() {
    let (code, said) = Spoken::new("silent-client").left();
    assert_eq!(code, Some(0), "{said}");
    let mut spoken = Spoken::new("rude-client");
    spoken.say(b"GET / HTTP/1.1");
    let (code, said) = spoken.left();
    assert_eq!(code, Some(0), "{said}");
}
