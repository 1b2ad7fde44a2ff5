//! Requests that no friend sends, and what becomes of each.

use super::client::{raw, rest};
use super::*;

const JSON: &str = "Content-Type: application/json\r\n";

/// The status of a reply as it came, or 0 if the server hung up without one.
pub(super) fn status(reply: &str) -> u16 {
    reply.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok()).unwrap_or(0)
}

/// The server is there, and the run of the table is as it was.
pub(super) fn is_well(server: &Server, what: &str) {
    let read = server.client().get("/runs/a");
    assert_eq!(read.status, 200, "after {what}");
    let read = read.json();
    assert_eq!(
        (&read["status"], &read["variables"]["sum"]),
        (&json!("running"), &json!(0)),
        "after {what}: {read}"
    );
}

#[test]
fn bodies_that_are_no_request_are_refused() {
    let server = Server::new(&charts("bodies"), &[]);
    let client = server.client();
    begin(&client, "a");
    let deep = |depth: usize, open: &str, close: &str| {
        format!("{}{}", open.repeat(depth), close.repeat(depth))
    };
    let (lists, deeper) = (deep(129, "[", "]"), deep(40_000, "[", "]"));
    let (deepest, records) = (deep(100_000, "[", "]"), deep(100_000, "{\"a\":", "}"));
    let hidden = format!(r#"{{"event": "note", "data": {{"what": {lists}}}}}"#);
    let table: Vec<(&str, &str, &str, u16, &str)> = vec![
        ("no kind", "", r#"{"event": "ask"}"#, 415, "content_type"),
        (
            "another kind",
            "Content-Type: text/plain\r\n",
            r#"{"event": "ask"}"#,
            415,
            "content_type",
        ),
        (
            "a form",
            "Content-Type: application/x-www-form-urlencoded\r\n",
            "event=ask",
            415,
            "content_type",
        ),
        (
            "nearly the kind",
            "Content-Type: application/jsonp\r\n",
            r#"{"event": "ask"}"#,
            415,
            "content_type",
        ),
        ("nothing", JSON, "", 400, "json"),
        ("no JSON", JSON, "event=ask", 400, "json"),
        ("half of JSON", JSON, r#"{"event": "ask""#, 400, "json"),
        ("more than JSON", JSON, r#"{"event": "ask"} {}"#, 400, "json"),
        ("a list", JSON, "[]", 400, "json"),
        ("a text", JSON, r#""ask""#, 400, "json"),
        ("the same field twice", JSON, r#"{"event": "ask", "event": "finish"}"#, 400, "json"),
        ("an unknown field", JSON, r#"{"event": "ask", "run": "b"}"#, 400, "json"),
        ("no number", JSON, r#"{"event": "add", "data": {"by": NaN}}"#, 400, "json"),
        ("a number without end", JSON, r#"{"event": "add", "data": {"by": 1e400}}"#, 400, "json"),
        ("half a letter", JSON, r#"{"event": "\ud800"}"#, 400, "json"),
        ("deep lists", JSON, &lists, 400, "json"),
        ("deeper lists", JSON, &deeper, 400, "json"),
        ("lists 100,000 deep", JSON, &deepest, 413, "too_many_values"),
        ("records 100,000 deep", JSON, &records, 413, "too_many_values"),
        ("deep data", JSON, &hidden, 400, "json"),
    ];
    for (what, headers, body, expected, kind) in table {
        let reply = client.send("POST", "/runs/a/events", headers, body);
        assert_eq!(
            (reply.status, reply.kind().as_str()),
            (expected, kind),
            "{what}: {}",
            reply.body
        );
        assert!(reply.body.len() < 1000, "{what}: {}", reply.body.len());
        let reply = client.send("POST", "/runs", headers, body);
        assert!((400..500).contains(&reply.status), "{what}: {}", reply.body);
        let accept = format!("{headers}Accept: application/json, text/event-stream\r\n");
        let reply = client.send("POST", "/mcp", &accept, body);
        assert!(
            (400..500).contains(&reply.status),
            "{what}, spoken: {} {}",
            reply.status,
            reply.body
        );
        is_well(&server, what);
    }
    let wide = r#"{"event": "add", "data": {"by": 99999999999999999999}}"#;
    let reply = client.send("POST", "/runs/a/events", JSON, wide);
    assert!((400..=422).contains(&reply.status), "{}", reply.body);
    is_well(&server, "a wide number");
}

#[test]
fn addresses_that_are_none_are_not_there() {
    let server = Server::new(&charts("addresses"), &[]);
    let client = server.client();
    begin(&client, "a");
    for path in [
        "/",
        "//",
        "/charts/",
        "/Charts",
        "/runs/",
        "/runs//",
        "/runs/a/",
        "/runs/a/trace/x",
        "/runs/../../etc/passwd",
        "/../etc/passwd",
        "/runs/%2e%2e/%2e%2e/etc/passwd",
        "/runs/a%00",
        "/runs/..",
        "/runs/a/b",
        "/mcp/",
        "/docs/serve.md",
        "/runs/%1b%5b31m",
        "*",
    ] {
        let reply = client.get(path);
        assert_eq!(reply.status, 404, "{path}: {}", reply.body);
        assert!(!reply.body.contains('\u{1b}') && !reply.body.contains("root:"), "{path}");
    }
    for (method, path, allowed) in [
        ("DELETE", "/runs/a", "get,head"),
        ("PUT", "/runs", "get,head,post"),
        ("POST", "/charts", "get,head"),
        ("GET", "/runs/a/events", "post"),
        ("GET", "/runs/a/answers", "post"),
        ("POST", "/runs/a/stream", "get,head"),
        ("PATCH", "/runs/a/trace", "get,head"),
        ("BREW", "/runs", "get,head,post"),
    ] {
        let reply = client.send(method, path, JSON, "{}");
        assert_eq!((reply.status, reply.kind().as_str()), (405, "method"), "{method} {path}");
        assert!(reply.head.contains(&format!("allow: {allowed}")), "{}", reply.head);
    }
    for method in ["GET", "DELETE", "PUT"] {
        assert_eq!(
            client.send(method, "/mcp", "Accept: text/event-stream\r\n", "").status,
            405,
            "{method}"
        );
    }
    // Longer than any head may be.
    for length in [300_000, 1_000_000] {
        let text = client.request("GET", &format!("/runs/{}", "x".repeat(length)), "", "");
        let reply = raw(server.address, text.as_bytes());
        assert!([0, 400, 404, 414, 431].contains(&status(&reply)), "{length}: {reply}");
        let text =
            client.request("GET", "/charts", &format!("X-Long: {}\r\n", "x".repeat(length)), "");
        let reply = raw(server.address, text.as_bytes());
        assert!([0, 400, 431].contains(&status(&reply)), "{length}: {reply}");
    }
    let many: String = (0..5000).map(|nth| format!("X-{nth}: y\r\n")).collect();
    let reply = raw(server.address, client.request("GET", "/charts", &many, "").as_bytes());
    assert!([0, 400, 431].contains(&status(&reply)), "{reply}");
    is_well(&server, "addresses");
}

#[test]
fn control_characters_never_reach_a_terminal() {
    let folder = charts("control");
    let server = Server::new(&folder, &["--store", "s.db"]);
    let client = server.client();
    begin(&client, "a");
    let rude = "\u{1b}[2J\u{1b}]0;title\u{7}\r\u{9b}31m\u{202e}";
    let data = json!({"what": {"text": rude, "weight": 1}});
    let reply = client.post("/runs/a/events", &json!({"event": "note", "data": data, "id": rude}));
    assert_eq!(reply.status, 200, "{}", reply.body);
    for event in [rude, "add\u{1b}[31m"] {
        let reply = client.post("/runs/a/events", &json!({"event": event}));
        assert_eq!(reply.status, 422);
    }
    for path in ["/runs/a", "/runs/a/trace", "/runs"] {
        let reply = client.get(path);
        assert!(
            !reply.body.contains('\u{1b}') && !reply.body.contains('\u{7}'),
            "{path}: {:?}",
            reply.body
        );
    }
    assert_eq!(client.get("/runs/a").json()["variables"]["said"], rude);
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    for arguments in [
        vec!["store", "s.db", "list"],
        vec!["store", "s.db", "show", "a"],
        vec!["store", "s.db", "log", "a"],
        vec!["replay", "--store", "s.db", "a"],
    ] {
        let (_, out, err) = crate::run::command::chartc(&folder, &arguments);
        for text in [&out, &err, &said] {
            assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{arguments:?}: {text:?}");
        }
    }
}

#[test]
fn slow_clients_are_left_behind() {
    let server = Server::new(&charts("slow"), &[]);
    let client = server.client();
    begin(&client, "a");
    // Half a head, a letter at a time, and then nothing: none of them stays.
    let mut dripping = server.connect();
    dripping.write_all(b"GET /charts HTTP/1.1\r\nX: ").expect("it is taken");
    let mut silent = server.connect();
    let mut used = server.connect();
    used.write_all(client.head("GET", "/charts", "\r\n").as_bytes()).expect("it is taken");
    let mut body = server.connect();
    let begun = format!("{}Content-Length: 50\r\n\r\n{{", client.head("POST", "/runs", JSON));
    body.write_all(begun.as_bytes()).expect("it is taken");
    let mut chunks = server.connect();
    let begun = format!(
        "{}Transfer-Encoding: chunked\r\n\r\n1\r\n{{\r\n",
        client.head("POST", "/runs", JSON)
    );
    chunks.write_all(begun.as_bytes()).expect("it is taken");
    let dripped = dripping.try_clone().expect("a socket");
    let drips = std::thread::spawn(move || {
        let mut to = dripped;
        // Until the server hangs up.
        while to.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    // Meanwhile others are served.
    is_well(&server, "slow clients");
    assert!([0, 408].contains(&status(&rest(&mut dripping))), "a slow head");
    assert!([0, 408].contains(&status(&rest(&mut silent))), "no head");
    assert_eq!(status(&rest(&mut used)), 200, "no second head");
    assert_eq!(status(&rest(&mut body)), 408, "a slow body");
    assert_eq!(status(&rest(&mut chunks)), 408, "slow chunks");
    drips.join().expect("it was hung up on");
    is_well(&server, "slow clients");
}
